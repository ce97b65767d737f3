//! The hash of filters under the name that two hashes share, as the stored keys reveal it.

use filterblock::table::{ReadAt, Table};
use filterblock::{FilterBlockReader, FilterPolicy as _, LegacyHash, SharedPolicy};

use super::input::Input;
use super::lookups::TableFilters;
use super::walk::EntryWalk;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::policies::{Policy, has_one_hash};
use crate::audit::stats::LEGACY_POLICY_NAME;

/// Tables looked at for their hash.
const LOOKED_AT: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct HashEvidence {
    /// All keys of some data block match with the signed hash, and not all of them with the unsigned one.
    signed: bool,
    /// The reverse.
    unsigned: bool,
    /// The two hashes of some key differ.
    differ: bool,
}

impl HashEvidence {
    pub(super) fn merge(&mut self, other: Self) {
        self.signed |= other.signed;
        self.unsigned |= other.unsigned;
        self.differ |= other.differ;
    }

    /// `None`: nothing reveals the hash, or some filters reveal one and some the other.
    pub(super) const fn revealed(self) -> Option<LegacyHash> {
        match (self.signed, self.unsigned) {
            (true, false) => Some(LegacyHash::Signed),
            (false, true) => Some(LegacyHash::Unsigned),
            _ => None,
        }
    }

    /// False: the two hashes of every key are the same.
    pub(super) const fn is_needed(self) -> bool {
        self.signed || self.unsigned || self.differ
    }
}

/// Gathers the evidence of a table, block by block.
pub(super) struct HashCheck<'a> {
    /// Read with the signed and the unsigned hash; `None`: the table has no filters under the shared name.
    filters: Option<[FilterBlockReader<SharedPolicy, &'a [u8]>; 2]>,
    pub(super) evidence: HashEvidence,
    /// By hash: all keys of the current data block so far match.
    fits: [bool; 2],
}

impl<'a> HashCheck<'a> {
    pub(super) fn new<R>(table: &'a Table<R>) -> Self {
        let filters = table.filter().filter(|filters| filters.policy().name() == LEGACY_POLICY_NAME);
        let filters = filters.map(|filters| {
            [LegacyHash::Signed, LegacyHash::Unsigned]
                .map(|hash| FilterBlockReader::new(Policy::Builtin(hash).with_bits(10), filters.contents()))
        });
        Self { filters, evidence: HashEvidence::default(), fits: [true; 2] }
    }

    /// `key`: the part that filters are made from. `offset`: of its data block.
    pub(super) fn key(&mut self, offset: u64, key: &[u8]) {
        self.evidence.differ |= !has_one_hash(key);
        if let Some(filters) = &self.filters {
            for (fits, filters) in self.fits.iter_mut().zip(filters) {
                *fits = *fits && filters.key_may_match(offset, key);
            }
        }
    }

    /// A filter that hides keys with either hash is damaged and does not count: it may match with the wrong one.
    pub(super) fn end_block(&mut self) {
        let [signed, unsigned] = std::mem::replace(&mut self.fits, [true; 2]);
        self.evidence.signed |= signed && !unsigned;
        self.evidence.unsigned |= unsigned && !signed;
    }
}

/// `None`: none of the first tables with filters under the shared name reveals their hash.
pub(super) fn hash_in(input: &Input<'_>, survey: &[Option<TableFilters>]) -> Option<LegacyHash> {
    let is_named = |of: &TableFilters| of.sound && of.name.as_deref() == Some(LEGACY_POLICY_NAME);
    let named = survey.iter().enumerate().filter(|(_, filters)| filters.as_ref().is_some_and(is_named));
    named.take(LOOKED_AT).find_map(|(table, _)| hash_of(&input.open(table).ok()?, input.encoding))
}

/// Stops at the data block that reveals the hash.
fn hash_of<R: ReadAt>(table: &Table<R>, encoding: KeyEncoding) -> Option<LegacyHash> {
    let (mut check, mut walk) = (HashCheck::new(table), EntryWalk::new(table));
    while check.evidence.revealed().is_none()
        && let Some(offset) = walk.next_block().ok()?
    {
        while let Some(key) = walk.next_key().ok()? {
            encoding.filtered(key).into_iter().for_each(|key| check.key(offset, key));
        }
        check.end_block();
    }
    check.evidence.revealed()
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
        let mut walk = EntryWalk::new(&table);
        while let Some(offset) = walk.next_block().unwrap() {
            while let Some(key) = walk.next_key().unwrap() {
                check.key(offset, key);
            }
            check.end_block();
        }
        check.evidence
    }

    #[test]
    fn sound_filters_beside_those_that_deny_keys_tell_the_hash() {
        let high = |number: u32| [&b"a key"[..], &number.to_be_bytes(), &[0xff]].concat();
        let low = |number: u32| format!("{number:08}").into_bytes();
        for hash in [LegacyHash::Signed, LegacyHash::Unsigned] {
            for cleared in [0, 1, 10] {
                assert_eq!(evidence(hash, high, cleared).revealed(), Some(hash), "{cleared}");
            }
            // Every filter hides keys.
            for (key, is_needed) in [(high as fn(u32) -> Vec<u8>, true), (low, false)] {
                let evidence = evidence(hash, key, usize::MAX);
                assert_eq!((evidence.revealed(), evidence.is_needed()), (None, is_needed));
            }
        }
        let mut both = evidence(LegacyHash::Signed, high, 0);
        both.merge(evidence(LegacyHash::Unsigned, high, 0));
        assert!(both.revealed().is_none() && both.is_needed());
    }
}
