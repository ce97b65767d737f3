//! The relatives of LevelDB that leave a mark in their tables.

/// A relative of LevelDB that leaves its mark in the metaindex of its tables: `Table::origin`.
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
