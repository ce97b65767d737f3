//! The origin of a table, as far as the names in its metaindex show it.

use crate::Origin;

/// RocksDB's prefixes to the policy's name for a filter of the whole table, in one part or in
/// several.
const WHOLE_TABLE_PREFIXES: [&[u8]; 2] = [b"fullfilter.", b"partitionedfilter."];

/// The origin that `name`, a key of the metaindex, is a mark of.
pub(super) fn origin_of_name(name: &[u8]) -> Option<Origin> {
    let is_rocksdb =
        name.starts_with(b"rocksdb.") || name.starts_with(b"filter.rocksdb.") || is_whole_table_filter(name);
    match name {
        b"stats.sst1" => Some(Origin::Basho),
        _ if is_rocksdb => Some(Origin::RocksDb),
        _ => None,
    }
}

/// Returns true if `name`, a key of the metaindex, belongs to a filter that is not a filter block.
pub(super) fn is_whole_table_filter(name: &[u8]) -> bool {
    WHOLE_TABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
