//! Whose table it is, as far as the names in its metaindex tell.

use crate::Origin;

/// What RocksDB puts before a policy's name where one filter, or one of several parts, is for the whole table.
const WHOLE_TABLE_PREFIXES: [&[u8]; 2] = [b"fullfilter.", b"partitionedfilter."];

/// Whose mark `name` in the metaindex is.
pub(super) fn origin_of_name(name: &[u8]) -> Option<Origin> {
    let is_rocksdb =
        name.starts_with(b"rocksdb.") || name.starts_with(b"filter.rocksdb.") || is_whole_table_filter(name);
    match name {
        b"stats.sst1" => Some(Origin::Basho),
        _ if is_rocksdb => Some(Origin::RocksDb),
        _ => None,
    }
}

/// Whether `name` in the metaindex is that of a filter which is no filter block.
pub(super) fn is_whole_table_filter(name: &[u8]) -> bool {
    WHOLE_TABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
