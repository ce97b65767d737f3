//! Whose table it is, as far as the names in its metaindex tell.

/// A relative of LevelDB that leaves its mark in the metaindex of its tables: [`Table::origin`](crate::table::Table::origin).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// Basho's LevelDB (Riak): `stats.sst1`.
    ///
    /// Its filters under `leveldb.BuiltinBloomFilter2` are not LevelDB's, and its keys that expire carry eight bytes more.
    Basho,
    /// RocksDB, in its oldest format, which ends in LevelDB's magic: `rocksdb.properties`, or a filter under a name of RocksDB's.
    ///
    /// Its filters are in another encoding, as are compressed blocks but for Snappy and zlib.
    RocksDb,
}

/// What RocksDB puts before a policy's name where one filter, or one of several parts, is for the whole table.
const WHOLE_TABLE_PREFIXES: [&[u8]; 2] = [b"fullfilter.", b"partitionedfilter."];

impl Origin {
    /// Whose mark `name` in the metaindex is.
    pub(super) fn of_name(name: &[u8]) -> Option<Self> {
        let is_rocksdb = name.starts_with(b"rocksdb.")
            || name.starts_with(b"filter.rocksdb.")
            || is_whole_table_filter(name);
        match name {
            b"stats.sst1" => Some(Self::Basho),
            _ if is_rocksdb => Some(Self::RocksDb),
            _ => None,
        }
    }
}

/// Whether `name` in the metaindex is that of a filter which is no filter block.
pub(super) fn is_whole_table_filter(name: &[u8]) -> bool {
    WHOLE_TABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
