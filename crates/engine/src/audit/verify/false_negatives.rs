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
    /// Once for each hash that the policy's name may stand for.
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
    false_negatives: Vec<Denials>,
}

#[derive(Default)]
struct Denials {
    total: u64,
    /// In the current data block.
    in_block: u64,
    first: Vec<u8>,
    problems: Problems,
}

impl<'a> FalseNegativeCheck<'a> {
    /// Takes the combination of encodings and hashes that matches the most keys for the right one.
    pub(super) fn new(
        filters: &'a FilterBlockReader<SharedPolicy, Bytes>,
        encodings: &[KeyEncoding],
    ) -> Self {
        let filters: Vec<_> = hashes(filters.policy())
            .into_iter()
            .map(|policy| FilterBlockReader::new(policy, filters.contents()))
            .collect();
        let counts = encodings.iter().map(|&encoding| InEncoding {
            encoding,
            misfits: 0,
            false_negatives: filters.iter().map(|_| Denials::default()).collect(),
        });
        Self { counts: counts.collect(), filters, offset: 0, keys: 0 }
    }

    pub(super) fn begin_block(&mut self, offset: u64) {
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
            for (filters, false_negatives) in self.filters.iter().zip(&mut count.false_negatives) {
                let mut answers = [alike; BATCH_KEYS];
                if filter.is_some() {
                    filters.policy().keys_may_match(probes, &mut answers);
                }
                for (&(key, _), may_match) in probes.iter().zip(answers) {
                    if !may_match {
                        false_negatives.note(key);
                    }
                }
            }
        }
    }

    pub(super) fn end_block(&mut self) {
        let (offset, keys) = (self.offset, self.keys);
        let base_lg = self.filters.first().map_or(0, FilterBlockReader::base_lg);
        for false_negatives in self.counts.iter_mut().flat_map(|count| &mut count.false_negatives) {
            let denied = std::mem::take(&mut false_negatives.in_block);
            if denied == 0 {
                continue;
            }
            false_negatives.total += denied;
            let first = &false_negatives.first;
            false_negatives.problems.add(Code::FalseNegative, || {
                let filter = offset.checked_shr(base_lg.into()).unwrap_or_default();
                let expected = format!("filter {filter} to have the stored key {}", quote(first));
                let found = format!("it ruled out, one of {denied} among the {keys} keys of this data block");
                let plain = Some(format!("filters hide {denied} of {keys} keys, the first {}", quote(first)));
                Problem { plain, ..Problem::new(Code::FalseNegative, offset, expected, found) }
            });
        }
    }

    /// The keys hidden, the problems, and the hash if several are possible.
    pub(super) fn finish(self) -> (u64, Problems, Option<LegacyHash>) {
        let hashes = if self.filters.len() > 1 { LEGACY.map(Some).to_vec() } else { vec![None] };
        let all = self.counts.into_iter().flat_map(|InEncoding { misfits, false_negatives, .. }| {
            false_negatives
                .into_iter()
                .map(move |false_negatives| (false_negatives.total + misfits, false_negatives))
                .zip(hashes.clone())
        });
        let best = all.min_by_key(|((against, _), _)| *against);
        best.map(|((_, false_negatives), hash)| (false_negatives.total, false_negatives.problems, hash))
            .unwrap_or_default()
    }
}

/// Counts the stored keys that filters of a known policy hide.
pub(crate) struct FalseNegativeCount<'a> {
    check: Option<FalseNegativeCheck<'a>>,
    encoding: KeyEncoding,
    batch: Batch,
}

impl<'a> FalseNegativeCount<'a> {
    pub(crate) fn new<R>(table: &'a Table<R>, encoding: KeyEncoding) -> Self {
        let check = table.filter().map(|filters| FalseNegativeCheck::new(filters, &[encoding]));
        Self { check, encoding, batch: Batch::default() }
    }

    pub(crate) fn begin_block(&mut self, offset: u64) {
        self.ask(true);
        self.check.iter_mut().for_each(|check| check.begin_block(offset));
    }

    pub(crate) fn key(&mut self, key: &[u8]) {
        if self.check.is_some() {
            self.batch.push(key);
            if self.batch.is_full(u64::MAX) {
                self.ask(false);
            }
        }
    }

    fn ask(&mut self, is_end: bool) {
        let Some(check) = &mut self.check else { return };
        let mut keys = [StoredKey::default(); BATCH_KEYS];
        for (stored, key) in keys.iter_mut().zip(self.batch.keys.as_keys().iter()) {
            *stored = StoredKey { key, filtered: self.encoding.filtered(key) };
        }
        check.keys(keys.get(..self.batch.keys.len()).unwrap_or_default());
        self.batch.clear();
        if is_end {
            check.end_block();
        }
    }

    pub(crate) fn finish(mut self) -> u64 {
        self.ask(true);
        self.check.map_or(0, |check| check.finish().0)
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

/// Keys to check together.
pub(super) const BATCH_KEYS: usize = 64;
/// Bytes of the keys to check together, approximately.
const BATCH_BYTES: u64 = 64 << 10;

/// Keys of one data block. They take at most 64 KiB more than the longest, however many keys the block has.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) keys: KeyBuf,
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
