//! The policies that tables can be given filters of.

use std::sync::Arc;

use filterblock::{
    BloomFilterPolicy, CassandraBloomPolicy, LegacyBloomPolicy, LegacyHash, Murmur3BloomPolicy, SharedPolicy,
};
use serde::Serialize;

/// A policy, without the number of bits a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(into = "String")]
pub enum Policy {
    /// That of LevelDB since 1.18.
    Builtin2,
    /// That of goleveldb and of LevelDB up to 1.17, which differ by the hash.
    Builtin(LegacyHash),
    Cassandra,
    Murmur3,
}

impl Policy {
    /// The policy of this name, as it stands in files.
    pub fn of(name: &str, hash: LegacyHash) -> Option<Self> {
        let all = [Self::Builtin2, Self::Builtin(hash), Self::Cassandra, Self::Murmur3];
        all.into_iter().find(|policy| policy.name() == name)
    }

    pub fn with_bits(self, bits_per_key: u32) -> SharedPolicy {
        match self {
            Self::Builtin2 => Arc::new(BloomFilterPolicy::new(bits_per_key)),
            Self::Builtin(hash) => Arc::new(LegacyBloomPolicy::new(bits_per_key).with_hash(hash)),
            Self::Cassandra => Arc::new(CassandraBloomPolicy::new(bits_per_key)),
            Self::Murmur3 => Arc::new(Murmur3BloomPolicy::new(bits_per_key)),
        }
    }

    /// The name in files.
    pub fn name(self) -> String {
        self.with_bits(0).name().to_owned()
    }
}

impl From<Policy> for String {
    fn from(policy: Policy) -> Self {
        policy.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_found_by_the_names_in_files() {
        for name in [
            "leveldb.BuiltinBloomFilter2",
            "leveldb.BuiltinBloomFilter",
            "filterblock.CassandraBloomFilter1",
            "filterblock.Murmur3BloomFilter1",
        ] {
            let policy = Policy::of(name, LegacyHash::Signed).unwrap();
            assert_eq!((&*policy.name(), policy.with_bits(10).name()), (name, name));
        }
        assert_eq!(Policy::of("rocksdb.BuiltinBloomFilter", LegacyHash::Signed), None);
    }
}
