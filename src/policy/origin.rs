//! The relatives of LevelDB that leave a mark in their tables.

/// A relative of LevelDB that leaves its mark in the metaindex of its tables: see `Table::origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// Basho's LevelDB (Riak). The mark is `stats.sst1`.
    ///
    /// Its filters under `leveldb.BuiltinBloomFilter2` are not LevelDB's, and its internal keys
    /// with a time are eight bytes longer.
    Basho,
    /// RocksDB, in its oldest format, which ends in LevelDB's magic. The mark is a name that begins
    /// with `rocksdb.`, such as `rocksdb.properties`, or a filter under a name of RocksDB's.
    ///
    /// Its filters are not encoded as LevelDB's are. Neither are its compressed blocks, except those
    /// compressed with Snappy or zlib.
    RocksDb,
}
