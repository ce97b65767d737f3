//! The policies that tables can be given filters of.

use std::sync::Arc;

use filterblock::policy::{OWN_POLICIES, OwnPolicy};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy};
use serde::Serialize;

use super::stats::OLD_NAME;

/// A policy, without the number of bits a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(into = "String")]
pub enum Policy {
    /// That of LevelDB since 1.18.
    Builtin2,
    /// That of goleveldb and of LevelDB up to 1.17, which differ by the hash.
    Builtin(LegacyHash),
    /// One of this library's own.
    Own(OwnPolicy),
}

impl Policy {
    /// The policy of this name, as it stands in files.
    pub fn of(name: &str, hash: LegacyHash) -> Option<Self> {
        Self::all(hash).find(|policy| policy.name() == name)
    }

    /// All of them, with `hash` for the one that has two.
    pub fn all(hash: LegacyHash) -> impl Iterator<Item = Self> {
        [Self::Builtin2, Self::Builtin(hash)].into_iter().chain(OWN_POLICIES.map(Self::Own))
    }

    /// The policy with so many bits a key.
    pub fn with_bits(self, bits_per_key: u32) -> SharedPolicy {
        match self {
            Self::Builtin2 => Arc::new(BloomFilterPolicy::new(bits_per_key)),
            Self::Builtin(hash) => Arc::new(LegacyBloomPolicy::new(bits_per_key).with_hash(hash)),
            Self::Own(policy) => policy.with_bits(bits_per_key),
        }
    }

    /// The name in files, without `filter.` before it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Builtin2 => "leveldb.BuiltinBloomFilter2",
            Self::Builtin(_) => OLD_NAME,
            Self::Own(policy) => policy.name(),
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
        assert_eq!(Policy::all(LegacyHash::Signed).count(), 4);
        assert_eq!(Policy::of("rocksdb.BuiltinBloomFilter", LegacyHash::Signed), None);
    }
}
