//! The check that no filter hides a stored key, in batches of stored keys.

use std::sync::Arc;

use bytes::Bytes;
use filterblock::KeyBuf;
use filterblock::{
    FilterBlockReader, FilterPolicy as _, LegacyBloomPolicy, LegacyHash, SharedPolicy, quote, table::Table,
};

use crate::audit::key_encoding::KeyEncoding;
use crate::report::{Code, Problem, Problems};

/// For which LevelDB's old policy name may stand. If both fit equally well, the first is taken.
const LEGACY: [LegacyHash; 2] = [LegacyHash::Unsigned, LegacyHash::Signed];

pub(super) struct FalseNegativeCheck<'a> {
    /// Once for each hash that the policy's name may stand for. Empty: the table has no filters.
    filters: Vec<FilterBlockReader<SharedPolicy, &'a [u8]>>,
    counts: Vec<InEncoding>,
    /// Of the current data block.
    offset: u64,
    /// Of the current data block so far.
    keys: u64,
}

struct InEncoding {
    encoding: KeyEncoding,
    /// Keys that cannot be in this encoding. The filters are not checked for them.
    misfits: u64,
    /// By hash.
    hidden: Vec<HiddenKeys>,
}

#[derive(Default)]
struct HiddenKeys {
    total: u64,
    /// In the current data block.
    in_block: u64,
    first: Vec<u8>,
    problems: Problems,
}

impl<'a> FalseNegativeCheck<'a> {
    /// Takes the combination of encodings and hashes that matches the most keys for the right one.
    pub(super) fn new<R>(table: &'a Table<R>, encodings: &[KeyEncoding]) -> Self {
        let with_hashes = |filters: &'a FilterBlockReader<SharedPolicy, Bytes>| {
            let policies = hashes(filters.policy()).into_iter();
            policies.map(|policy| FilterBlockReader::new(policy, filters.contents())).collect()
        };
        let filters: Vec<_> = table.filter().map(with_hashes).unwrap_or_default();
        let counts = encodings.iter().map(|&encoding| InEncoding {
            encoding,
            misfits: 0,
            hidden: filters.iter().map(|_| HiddenKeys::default()).collect(),
        });
        Self { counts: counts.collect(), filters, offset: 0, keys: 0 }
    }

    pub(super) fn begin_block(&mut self, offset: u64) {
        self.end_block();
        self.offset = offset;
        self.keys = 0;
    }

    /// Takes at most [`BATCH_KEYS`] keys of the data block.
    pub(super) fn keys(&mut self, keys: &[StoredKey<'_>]) {
        self.keys += keys.len() as u64;
        debug_assert!(keys.len() <= BATCH_KEYS, "all keys are asked for");
        let Some(filters) = self.filters.first() else { return };
        let index = self.offset.checked_shr(filters.base_lg().into());
        let filter = index.and_then(|index| filters.filter(usize::try_from(index).ok()?));
        // Without a filter, all keys get the same answer.
        let alike = filter.is_none() && filters.key_may_match(self.offset, b"");
        for (at, count) in self.counts.iter_mut().enumerate() {
            let filtered = keys
                .iter()
                .filter_map(|key| if at == 0 { key.filtered } else { count.encoding.filtered(key.key) });
            let mut probes: [(&[u8], &[u8]); BATCH_KEYS] = [(&[], &[]); BATCH_KEYS];
            let mut asked = 0;
            for (probe, key) in probes.iter_mut().zip(filtered) {
                *probe = (key, filter.unwrap_or_default());
                asked += 1;
            }
            let probes = probes.get(..asked).unwrap_or_default();
            count.misfits += (keys.len() - asked) as u64;
            for (filters, hidden) in self.filters.iter().zip(&mut count.hidden) {
                let mut answers = [alike; BATCH_KEYS];
                if filter.is_some() {
                    filters.policy().keys_may_match(probes, &mut answers);
                }
                for (&(key, _), may_match) in probes.iter().zip(answers) {
                    if !may_match {
                        hidden.note(key);
                    }
                }
            }
        }
    }

    fn end_block(&mut self) {
        let (offset, keys) = (self.offset, self.keys);
        let base_lg = self.filters.first().map_or(0, FilterBlockReader::base_lg);
        for hidden in self.counts.iter_mut().flat_map(|count| &mut count.hidden) {
            let number = std::mem::take(&mut hidden.in_block);
            if number == 0 {
                continue;
            }
            hidden.total += number;
            let first = quote(&hidden.first);
            hidden.problems.add(Code::FalseNegative, || {
                let filter = offset.checked_shr(base_lg.into()).unwrap_or_default();
                let expected = format!("filter {filter} to have the stored key {first}");
                let found = format!("it ruled out, one of {number} among the {keys} keys of this data block");
                let plain = Some(format!("filters hide {number} of {keys} keys, the first {first}"));
                Problem { plain, ..Problem::new(Code::FalseNegative, offset, expected, found) }
            });
        }
    }

    /// The keys hidden, the problems, and the hash if several are possible.
    pub(super) fn finish(mut self) -> (u64, Problems, Option<LegacyHash>) {
        self.end_block();
        let hashes = if self.filters.len() > 1 { LEGACY.map(Some).to_vec() } else { vec![None] };
        let all = self.counts.into_iter().flat_map(|InEncoding { misfits, hidden, .. }| {
            let with_hashes = hidden.into_iter().zip(hashes.clone());
            with_hashes.map(move |(hidden, hash)| (hidden.total + misfits, hidden, hash))
        });
        let best = all.min_by_key(|(against, ..)| *against);
        best.map(|(_, hidden, hash)| (hidden.total, hidden.problems, hash)).unwrap_or_default()
    }
}

/// Counts the stored keys that filters of a known policy hide.
pub(crate) struct FalseNegativeCount<'a> {
    check: FalseNegativeCheck<'a>,
    encoding: KeyEncoding,
    batch: Batch,
}

impl<'a> FalseNegativeCount<'a> {
    pub(crate) fn new<R>(table: &'a Table<R>, encoding: KeyEncoding) -> Self {
        Self { check: FalseNegativeCheck::new(table, &[encoding]), encoding, batch: Batch::default() }
    }

    pub(crate) fn begin_block(&mut self, offset: u64) {
        self.check_batch();
        self.check.begin_block(offset);
    }

    pub(crate) fn key(&mut self, key: &[u8]) {
        if !self.check.filters.is_empty() {
            self.batch.push(key);
            if self.batch.is_full(u64::MAX) {
                self.check_batch();
            }
        }
    }

    fn check_batch(&mut self) {
        let mut keys = [StoredKey::default(); BATCH_KEYS];
        self.check.keys(self.batch.stored(self.encoding, &mut keys));
        self.batch.clear();
    }

    pub(crate) fn finish(mut self) -> u64 {
        self.check_batch();
        self.check.finish().0
    }
}

/// Once for each hash that its name may stand for. Not one policy for both hashes: the wrong hash lets some hidden keys
/// match by chance.
fn hashes(policy: &SharedPolicy) -> Vec<SharedPolicy> {
    let legacy = LegacyBloomPolicy::new(10);
    if policy.name() != legacy.name() {
        return vec![policy.clone()];
    }
    LEGACY.map(|hash| Arc::new(legacy.with_hash(hash)) as _).to_vec()
}

impl HiddenKeys {
    #[cold]
    fn note(&mut self, key: &[u8]) {
        if self.in_block == 0 {
            self.first.clear();
            self.first.extend_from_slice(key);
        }
        self.in_block += 1;
    }
}

/// Keys to check together.
pub(super) const BATCH_KEYS: usize = 64;
/// Bytes of the keys to check together, approximately.
const BATCH_BYTES: u64 = 64 << 10;

/// Keys of one data block. They take at most 64 KiB more than the longest, however many keys the block has.
#[derive(Default)]
pub(super) struct Batch {
    keys: KeyBuf,
    pub(super) bytes: usize,
}

impl Batch {
    #[inline]
    pub(super) fn push(&mut self, key: &[u8]) {
        self.bytes = self.bytes.saturating_add(key.len());
        self.keys.push(key);
    }

    #[inline]
    pub(super) fn is_full(&self, max_bytes: u64) -> bool {
        self.keys.len() >= BATCH_KEYS || self.bytes as u64 > max_bytes.min(BATCH_BYTES)
    }

    /// Fills `keys`, and returns the part of it that is filled.
    pub(super) fn stored<'k, 'b>(
        &'b self,
        encoding: KeyEncoding,
        keys: &'k mut [StoredKey<'b>; BATCH_KEYS],
    ) -> &'k [StoredKey<'b>] {
        debug_assert!(self.keys.len() <= BATCH_KEYS, "no key is left out");
        for (stored, key) in keys.iter_mut().zip(self.keys.as_keys().iter()) {
            *stored = StoredKey { key, filtered: encoding.filtered(key) };
        }
        keys.get(..self.keys.len()).unwrap_or_default()
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.bytes = 0;
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct StoredKey<'k> {
    pub(super) key: &'k [u8],
    /// The part that filters are made from, in the first encoding; `None` if the key is too short for it.
    pub(super) filtered: Option<&'k [u8]>,
}
