//! The filters of a damaged table: they prove keys absent from lost blocks.

use std::{io, ops::Range, sync::Arc};

use bytes::Bytes;
use filterblock::policy::default_read_policies;
use filterblock::table::{BlockHandle, ReadAt, ReadOptions};
use filterblock::{
    FilterBlockReader, FilterPolicy as _, InternalFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy,
};

use super::stored::{self, split};
use super::{SavedTable, TableCursor};
use crate::audit::has_one_hash;
use crate::repair::patched::Patch;

pub(in crate::repair) struct FilterMeasures {
    pub(in crate::repair) policy: String,
    /// In bytes, without the byte of each filter that holds the probes; 0 if damaged, or of no known policy.
    pub(in crate::repair) size: u64,
    /// Of the first filter of a known shape.
    pub(in crate::repair) probes: Option<u32>,
    /// The hash with which filters of the policy whose name stands for two rule out no stored key, if they do with the
    /// other. `None` also for a table that is not sound.
    pub(in crate::repair) hash: Option<LegacyHash>,
}

pub(super) struct FoundFilters {
    pub(super) measures: FilterMeasures,
    /// `None`: damaged, or of no known policy.
    pub(super) reader: Option<FilterBlockReader<SharedPolicy>>,
}

/// Reads the filters that the metaindex lists first, if it can be read. May correct one bit of it and one of the filter
/// block.
pub(super) fn read<R: ReadAt>(
    source: &R,
    metaindex: BlockHandle,
    patches: &mut Vec<Patch>,
    options: &ReadOptions,
) -> io::Result<Option<FoundFilters>> {
    let named = stored::accept(source, metaindex, patches, |stored| named(stored, options))?;
    let Some((policy, handle)) = named.flatten() else { return Ok(None) };
    let contents = stored::accept(source, handle, patches, contents)?;
    let known = default_read_policies().into_iter().find(|known| known.name() == policy);
    let reader = known.clone().zip(contents).map(|(known, contents)| {
        FilterBlockReader::new(Arc::new(InternalFilterPolicy::new(known)) as SharedPolicy, contents)
    });
    let reader = reader.filter(|reader| reader.check().is_ok());
    let all = || reader.iter().flat_map(FilterBlockReader::iter).flat_map(|(_, filter)| filter);
    let size = all().fold(0, |sum: u64, filter| sum.saturating_add(filter.len().saturating_sub(1) as u64));
    let probes = known.and_then(|known| all().find_map(|filter| Some(known.describe(filter)?.probes)));
    Ok(Some(FoundFilters { measures: FilterMeasures { policy, size, probes, hash: None }, reader }))
}

/// The first policy, and where its filters are. `Some(None)`: there is none. `None`: the metaindex cannot be read.
fn named(metaindex: &Bytes, options: &ReadOptions) -> Option<Option<(String, BlockHandle)>> {
    let mut entries = stored::entries(metaindex, options)?;
    let mut found = None;
    while entries.next().ok()? {
        let name = entries.key().strip_prefix(b"filter.").and_then(|name| str::from_utf8(name).ok());
        if let (None, Some(name)) = (&found, name) {
            found = Some((name.to_owned(), entries.handle().ok()?));
        }
    }
    Some(found)
}

/// `None`: too short, or compressed, which no filter block of a database is.
fn contents(stored: &Bytes) -> Option<Bytes> {
    let len = stored.len().checked_sub(stored::TRAILER)?;
    (*stored.get(len)? == 0).then(|| stored.slice(..len))
}

/// Asks the filters for the keys of which the two hashes differ, until one of the hashes is ruled out.
pub(super) fn hash_told<R: ReadAt>(
    source: R,
    table: &SavedTable,
    filters: &[u8],
) -> io::Result<Option<LegacyHash>> {
    let reader = |hash| {
        let policy = LegacyBloomPolicy::new(10).with_hash(hash);
        (hash, FilterBlockReader::new(InternalFilterPolicy::new(policy), filters))
    };
    let mut fitting = vec![reader(LegacyHash::Signed), reader(LegacyHash::Unsigned)];
    let mut entries = TableCursor::new(source, table)?;
    while fitting.len() == 2 && entries.next()? {
        if split(entries.key()).is_some_and(|(user_key, _)| !has_one_hash(user_key)) {
            fitting.retain(|(_, reader)| reader.key_may_match(entries.block(), entries.key()));
        }
    }
    Ok(if let [(hash, _)] = &fitting[..] { Some(*hash) } else { None })
}

/// One offset within the range of each filter that covers blocks which begin in `bytes`.
pub(super) fn blocks_in(bytes: &Range<u64>, base_lg: u8) -> Vec<u64> {
    let Some(last) = bytes.end.checked_sub(1) else { return Vec::new() };
    let (Some(first), Some(last)) =
        (bytes.start.checked_shr(base_lg.into()), last.checked_shr(base_lg.into()))
    else {
        return vec![0];
    };
    (first..=last).map(|filter| filter << base_lg).collect()
}

#[cfg(test)]
mod tests {
    use filterblock::table::{TableBuilder, WriteOptions};
    use filterblock::{FilterPolicy, Keys};

    use super::super::{Expected, Limits};
    use super::*;
    use crate::repair::order::KeyOrder;

    /// Filters of one of the hashes, or of neither: all of their bits are set.
    enum Legacy {
        Of(LegacyHash),
        Full,
    }

    impl FilterPolicy for Legacy {
        fn name(&self) -> &str {
            "leveldb.BuiltinBloomFilter"
        }

        fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
            match self {
                Self::Of(hash) => LegacyBloomPolicy::new(10).with_hash(*hash).create_filter(keys, dst)?,
                Self::Full => dst.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 6]),
            }
            Ok(())
        }

        fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
            true
        }
    }

    fn told(policy: Legacy, first: u8) -> Option<LegacyHash> {
        let options = WriteOptions::default().internal_keys(true).filter_policies(vec![Arc::new(policy)]);
        let mut builder = TableBuilder::new(Vec::new(), options);
        for number in 0..50 {
            builder.add(&[first, number, 1, 0, 0, 0, 0, 0, 0, 0], b"value").unwrap();
        }
        let (table, _) = builder.finish().unwrap();
        let limits = Limits::new(None, table.len() as u64);
        let expected = Expected { order: &KeyOrder::Bytewise, record: None, limits: &limits };
        SavedTable::read(Bytes::from(table), &expected).unwrap().filters.unwrap().hash
    }

    #[test]
    fn a_hash_is_told_only_where_the_other_does_not_fit() {
        for hash in [LegacyHash::Signed, LegacyHash::Unsigned] {
            assert_eq!(told(Legacy::Of(hash), 0xff), Some(hash));
            // The hashes of such keys are the same.
            assert_eq!(told(Legacy::Of(hash), b'k'), None);
        }
        assert_eq!(told(Legacy::Full, 0xff), None);
    }
}
