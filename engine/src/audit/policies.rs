//! The policies with which filters for tables can be made.

use filterblock::policy::{OWN_POLICIES, OwnPolicy};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy};
use serde::Serialize;

use super::stats::OLD_NAME;

/// A policy, without the number of bits a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(into = "String")]
pub enum Policy {
    /// The policy of LevelDB since 1.18.
    Builtin2,
    /// The policy of goleveldb, and of LevelDB up to 1.17. On x86, the hash of these versions of
    /// LevelDB differs from goleveldb's.
    Builtin(LegacyHash),
    /// A policy of this library's own.
    Own(OwnPolicy),
}

impl Policy {
    /// The policy with this name in files; `None` if no policy has it.
    pub fn of(name: &str, hash: LegacyHash) -> Option<Self> {
        Self::all(hash).find(|policy| policy.name() == name)
    }

    /// All policies, with `hash` for the one that has two hashes.
    pub fn all(hash: LegacyHash) -> impl Iterator<Item = Self> {
        [Self::Builtin2, Self::Builtin(hash)].into_iter().chain(OWN_POLICIES.map(Self::Own))
    }

    /// The policy with `bits_per_key` bits a key.
    pub fn with_bits(self, bits_per_key: u32) -> SharedPolicy {
        match self {
            Self::Builtin2 => BloomFilterPolicy::new(bits_per_key).into(),
            Self::Builtin(hash) => LegacyBloomPolicy::new(bits_per_key).with_hash(hash).into(),
            Self::Own(policy) => policy.with_bits(bits_per_key),
        }
    }

    /// The name in files, without the prefix `filter.`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Builtin2 => "leveldb.BuiltinBloomFilter2",
            Self::Builtin(_) => OLD_NAME,
            Self::Own(policy) => policy.name(),
        }
    }

    /// The name of the program that the policy belongs to.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Builtin2 => "LevelDB",
            Self::Builtin(_) => "goleveldb",
            Self::Own(_) => "filterblock",
        }
    }
}

impl From<Policy> for String {
    fn from(policy: Policy) -> Self {
        policy.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_found_by_the_names_in_files() {
        for policy in Policy::all(LegacyHash::Signed) {
            assert_eq!(Policy::of(policy.name(), LegacyHash::Signed), Some(policy));
            assert_eq!(policy.with_bits(10).name(), policy.name());
        }
        // LevelDB's two policies, and this library's own.
        assert_eq!(Policy::all(LegacyHash::Signed).count(), 2 + OWN_POLICIES.len());
        assert_eq!(Policy::of("rocksdb.BuiltinBloomFilter", LegacyHash::Signed), None);
    }
}
