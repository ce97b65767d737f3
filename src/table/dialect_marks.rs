//! The origin of a table, as far as the names in its metaindex reveal it.

use crate::Origin;

/// The prefixes in RocksDB's names for filters of the whole table, stored in one part or in several.
/// The policy's name follows them.
const WHOLE_TABLE_PREFIXES: [&[u8]; 2] = [b"fullfilter.", b"partitionedfilter."];

/// The origin that `name`, a key of the metaindex, indicates, or `None` if `name` is not a mark.
pub(super) fn origin_of_name(name: &[u8]) -> Option<Origin> {
    let is_rocksdb =
        name.starts_with(b"rocksdb.") || name.starts_with(b"filter.rocksdb.") || is_whole_table_filter(name);
    match name {
        b"stats.sst1" => Some(Origin::Basho),
        _ if is_rocksdb => Some(Origin::RocksDb),
        _ => None,
    }
}

/// Returns true if `name`, a key of the metaindex, belongs to a RocksDB filter of the whole table,
/// which is not a filter block.
pub(super) fn is_whole_table_filter(name: &[u8]) -> bool {
    WHOLE_TABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
