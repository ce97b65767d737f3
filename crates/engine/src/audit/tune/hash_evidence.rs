//! The hash of filters under the name that two hashes share, as the stored keys reveal it.

use filterblock::table::Table;
use filterblock::{FilterBlockReader, FilterPolicy as _, LegacyHash, SharedPolicy};

use crate::audit::policies::{Policy, has_one_hash};
use crate::audit::stats::LEGACY_POLICY_NAME;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct HashEvidence {
    /// All keys of some data block match with the signed hash, and not all of them with the unsigned one.
    signed: bool,
    /// The reverse.
    unsigned: bool,
    /// The two hashes of some key differ.
    differ: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HashNeeded {
    /// All filters that reveal a hash reveal this one.
    This(LegacyHash),
    /// The two hashes of every key are the same.
    Either,
    /// Nothing reveals the hash, or some filters reveal one and some the other.
    Unknown,
}

impl HashEvidence {
    pub(super) fn merge(&mut self, other: Self) {
        self.signed |= other.signed;
        self.unsigned |= other.unsigned;
        self.differ |= other.differ;
    }

    pub(super) fn needed(self) -> HashNeeded {
        match (self.signed, self.unsigned) {
            (true, false) => HashNeeded::This(LegacyHash::Signed),
            (false, true) => HashNeeded::This(LegacyHash::Unsigned),
            (false, false) if !self.differ => HashNeeded::Either,
            _ => HashNeeded::Unknown,
        }
    }
}

/// Gathers the evidence of a table, block by block.
pub(super) struct HashCheck<'a> {
    /// Read with the signed and the unsigned hash; `None`: the table has no filters under the shared name.
    filters: Option<[FilterBlockReader<SharedPolicy, &'a [u8]>; 2]>,
    offset: u64,
    /// By hash: all keys of the current data block so far match.
    fits: [bool; 2],
    evidence: HashEvidence,
}

impl<'a> HashCheck<'a> {
    pub(super) fn new<R>(table: &'a Table<R>) -> Self {
        let filters = table.filter().filter(|filters| filters.policy().name() == LEGACY_POLICY_NAME);
        let filters = filters.map(|filters| {
            [LegacyHash::Signed, LegacyHash::Unsigned]
                .map(|hash| FilterBlockReader::new(Policy::Builtin(hash).with_bits(10), filters.contents()))
        });
        Self { filters, offset: 0, fits: [true; 2], evidence: HashEvidence::default() }
    }

    pub(super) fn begin_block(&mut self, offset: u64) {
        self.end_block();
        self.offset = offset;
    }

    /// The hash that the data blocks before the current one reveal.
    pub(super) fn revealed(&self) -> Option<LegacyHash> {
        match self.evidence.needed() {
            HashNeeded::This(hash) => Some(hash),
            HashNeeded::Either | HashNeeded::Unknown => None,
        }
    }

    /// `key`: the part that filters are made from.
    pub(super) fn key(&mut self, key: &[u8]) {
        self.evidence.differ |= !has_one_hash(key);
        if let Some(filters) = &self.filters {
            for (fits, filters) in self.fits.iter_mut().zip(filters) {
                *fits = *fits && filters.key_may_match(self.offset, key);
            }
        }
    }

    /// A filter that hides keys with either hash is damaged and does not count: it may match with the wrong one.
    fn end_block(&mut self) {
        let [signed, unsigned] = std::mem::replace(&mut self.fits, [true; 2]);
        self.evidence.signed |= signed && !unsigned;
        self.evidence.unsigned |= unsigned && !signed;
    }

    pub(super) fn finish(mut self) -> HashEvidence {
        self.end_block();
        self.evidence
    }
}

#[cfg(test)]
mod tests {
    use filterblock::LegacyBloomPolicy;
    use filterblock::table::{Compression, ReadOptions, TableBuilder, WriteOptions};

    use super::*;

    /// Clears all bits of the first filters of a filter block. The last byte of each, its number of probes, stays.
    fn clear(block: &mut [u8], filters: usize) {
        let array = block.len() - 5;
        let at = |place: usize, block: &[u8]| u32::from_le_bytes(block[place..place + 4].try_into().unwrap());
        let end = at(array, block) as usize;
        let starts: Vec<_> = (end..=array).step_by(4).map(|place| at(place, block) as usize).collect();
        starts.windows(2).take(filters).filter(|pair| pair[0] < pair[1]).for_each(|pair| {
            block[pair[0]..pair[1] - 1].fill(0);
        });
    }

    /// The evidence of a table with filters of this hash, of which the first `cleared` have no bit set.
    fn evidence(hash: LegacyHash, key: impl Fn(u32) -> Vec<u8>, cleared: usize) -> HashEvidence {
        let policy = LegacyBloomPolicy::new(10).with_hash(hash);
        let options = WriteOptions::default().compression(Compression::None).filter_policy(policy);
        let mut builder = TableBuilder::new(Vec::new(), options);
        (0..2000).for_each(|number| builder.add(&key(number), &[0; 20]).unwrap());
        let mut file = builder.finish().unwrap().0;
        let options = ReadOptions::default().filter_policy(policy).verify_checksums(false);
        let handle = Table::open(file.clone(), &options).unwrap().filter_handle().unwrap();
        let (start, len) = (handle.offset as usize, handle.size as usize);
        clear(&mut file[start..start + len], cleared);
        let table = Table::open(file, &options).unwrap();
        let mut check = HashCheck::new(&table);
        let mut block = table.index();
        for handle in table.data_blocks() {
            let handle = handle.unwrap();
            block.enter(&table, handle).unwrap();
            check.begin_block(handle.offset);
            while block.next().unwrap() {
                check.key(block.key());
            }
        }
        check.finish()
    }

    #[test]
    fn sound_filters_beside_those_that_deny_keys_tell_the_hash() {
        let high = |number: u32| [&b"a key"[..], &number.to_be_bytes(), &[0xff]].concat();
        let low = |number: u32| format!("{number:08}").into_bytes();
        for hash in [LegacyHash::Signed, LegacyHash::Unsigned] {
            for cleared in [0, 1, 10] {
                assert_eq!(evidence(hash, high, cleared).needed(), HashNeeded::This(hash), "{cleared}");
            }
            // Every filter hides keys.
            assert_eq!(evidence(hash, high, usize::MAX).needed(), HashNeeded::Unknown);
            assert_eq!(evidence(hash, low, usize::MAX).needed(), HashNeeded::Either);
        }
        let mut both = evidence(LegacyHash::Signed, high, 0);
        both.merge(evidence(LegacyHash::Unsigned, high, 0));
        assert_eq!(both.needed(), HashNeeded::Unknown);
    }
}
