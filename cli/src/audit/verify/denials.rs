//! The filters, asked for every stored key.

use std::sync::Arc;

use bytes::Bytes;
use filterblock::{FilterBlockReader, FilterPolicy as _, LegacyBloomPolicy, LegacyHash, SharedPolicy, quote};

use super::batch::{BATCH, Entry};
use super::finding::{Code, Finding, Findings};
use crate::audit::key_encoding::Reading;

/// What filters under LevelDB's old name may be by. Of two that fit as well as each other, the first is taken.
const LEGACY: [LegacyHash; 2] = [LegacyHash::Unsigned, LegacyHash::Signed];

/// Counts the stored keys that their filters deny.
pub(crate) struct Stored<'a> {
    /// More than one where the name of the policy leaves open by which hash the filters are.
    filters: Vec<FilterBlockReader<SharedPolicy, &'a [u8]>>,
    readings: Vec<Tally>,
    /// The data block being asked about, and how many keys it has had so far.
    offset: u64,
    keys: u64,
}

/// One way to read the keys.
struct Tally {
    reading: Reading,
    /// Keys that cannot be read this way. They match every filter.
    misfits: u64,
    /// What is denied by each of the hashes.
    denials: Vec<Denials>,
}

#[derive(Default)]
struct Denials {
    total: u64,
    /// In the data block being asked about.
    in_block: u64,
    first: Vec<u8>,
    findings: Findings,
}

impl<'a> Stored<'a> {
    /// With several readings, or several hashes, those which fit the most keys are taken to be right.
    pub(crate) fn new(filters: &'a FilterBlockReader<SharedPolicy, Bytes>, readings: &[Reading]) -> Self {
        let filters: Vec<_> = hashes(filters.policy())
            .into_iter()
            .map(|policy| FilterBlockReader::new(policy, filters.contents()))
            .collect();
        let readings = readings.iter().map(|&reading| Tally {
            reading,
            misfits: 0,
            denials: filters.iter().map(|_| Denials::default()).collect(),
        });
        Self { readings: readings.collect(), filters, offset: 0, keys: 0 }
    }

    pub(crate) fn begin_block(&mut self, offset: u64) {
        self.offset = offset;
        self.keys = 0;
    }

    /// The next keys of the data block, at most [`BATCH`].
    pub(crate) fn keys(&mut self, entries: &[Entry<'_>]) {
        self.keys += entries.len() as u64;
        debug_assert!(entries.len() <= BATCH, "all keys are asked for");
        let Some(filters) = self.filters.first() else { return };
        let index = self.offset.checked_shr(filters.base_lg().into());
        let filter = index.and_then(|index| filters.filter(usize::try_from(index).ok()?));
        // Where there is no filter, all keys get the same answer.
        let alike = filter.is_none() && filters.key_may_match(self.offset, b"");
        for (at, tally) in self.readings.iter_mut().enumerate() {
            let keys = entries
                .iter()
                .filter_map(|entry| if at == 0 { entry.filtered } else { tally.reading.filtered(entry.key) });
            let mut probes: [(&[u8], &[u8]); BATCH] = [(&[], &[]); BATCH];
            let mut asked = 0;
            for (probe, key) in probes.iter_mut().zip(keys) {
                *probe = (key, filter.unwrap_or_default());
                asked += 1;
            }
            let probes = probes.get(..asked).unwrap_or_default();
            tally.misfits += (entries.len() - asked) as u64;
            for (filters, denials) in self.filters.iter().zip(&mut tally.denials) {
                let mut answers = [alike; BATCH];
                if filter.is_some() {
                    filters.policy().keys_may_match(probes, &mut answers);
                }
                for (&(key, _), may_match) in probes.iter().zip(answers) {
                    if !may_match {
                        denials.note(key);
                    }
                }
            }
        }
    }

    pub(crate) fn end_block(&mut self) {
        let (offset, keys) = (self.offset, self.keys);
        let base_lg = self.filters.first().map_or(0, FilterBlockReader::base_lg);
        for denials in self.readings.iter_mut().flat_map(|tally| &mut tally.denials) {
            let denied = std::mem::take(&mut denials.in_block);
            if denied == 0 {
                continue;
            }
            denials.total += denied;
            let first = &denials.first;
            denials.findings.add(Code::FilterDeniesKey, || {
                let filter = offset.checked_shr(base_lg.into()).unwrap_or_default();
                let expected = format!("filter {filter} to let the stored key {} pass", quote(first));
                let found = format!("it denied, one of {denied} among the {keys} keys of this data block");
                Finding::new(Code::FilterDeniesKey, offset, expected, found)
            });
        }
    }

    /// How many keys are denied, the findings, and by which of several hashes that is.
    pub(crate) fn finish(self) -> (u64, Findings, Option<LegacyHash>) {
        let hashes = if self.filters.len() > 1 { LEGACY.map(Some).to_vec() } else { vec![None] };
        let all = self.readings.into_iter().flat_map(|Tally { misfits, denials, .. }| {
            denials.into_iter().map(move |denials| (denials.total + misfits, denials)).zip(hashes.clone())
        });
        let best = all.min_by_key(|((against, _), _)| *against);
        best.map(|((_, denials), hash)| (denials.total, denials.findings, hash)).unwrap_or_default()
    }
}

/// The policy, once for each hash that its name may stand for.
///
/// Asked by either hash at once, a key would pass that the right one denies, if the other lets it by chance.
fn hashes(policy: &SharedPolicy) -> Vec<SharedPolicy> {
    let legacy = LegacyBloomPolicy::new(10);
    if policy.name() != legacy.name() {
        return vec![policy.clone()];
    }
    LEGACY.map(|hash| Arc::new(legacy.with_hash(hash)) as _).to_vec()
}

impl Denials {
    #[cold]
    fn note(&mut self, key: &[u8]) {
        if self.in_block == 0 {
            self.first.clear();
            self.first.extend_from_slice(key);
        }
        self.in_block += 1;
    }
}
