//! The argument `--policy`.

use clap::ValueEnum;
use filterblock::{LegacyHash, SharedPolicy};
use filterblock_engine::audit::Policy;

/// The policies that tables can be built with. Basho's has the name of another one, and a table by
/// it needs marks that only Riak's tables have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum PolicyName {
    /// For LevelDB since 1.18 (short: new)
    #[value(name = "leveldb.BuiltinBloomFilter2", alias = "new")]
    BuiltinBloomFilter2,
    /// For goleveldb, and LevelDB up to 1.17 on ARM (short: old)
    #[value(name = "leveldb.BuiltinBloomFilter", alias = "old")]
    BuiltinBloomFilter,
    /// For readers by this library alone (short: cassandra)
    #[value(name = "filterblock.CassandraBloomFilter1", alias = "cassandra")]
    CassandraBloomFilter1,
    /// For readers by this library alone (short: murmur3)
    #[value(name = "filterblock.Murmur3BloomFilter1", alias = "murmur3")]
    Murmur3BloomFilter1,
}

impl PolicyName {
    /// The policy that makes filters under this name, by goleveldb's hash if there are two.
    pub(super) fn policy(self, bits_per_key: u32) -> SharedPolicy {
        self.kind(LegacyHash::Unsigned).with_bits(bits_per_key)
    }

    /// The policy, by `hash` if there are two.
    pub(super) const fn kind(self, hash: LegacyHash) -> Policy {
        match self {
            Self::BuiltinBloomFilter2 => Policy::Builtin2,
            Self::BuiltinBloomFilter => Policy::Builtin(hash),
            Self::CassandraBloomFilter1 => Policy::Cassandra,
            Self::Murmur3BloomFilter1 => Policy::Murmur3,
        }
    }
}
