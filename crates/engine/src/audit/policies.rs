//! The policies with which filters for tables can be made.

use std::collections::BTreeMap;

use filterblock::policy::{OWN_POLICIES, OwnPolicy};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, LegacyHash, SharedPolicy};
use serde::Serialize;

use super::stats::LEGACY_POLICY_NAME;

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

/// The number of tables with each policy, by name.
pub(crate) struct PolicyCounts<'a>(BTreeMap<&'a [u8], u64>);

impl<'a> PolicyCounts<'a> {
    pub(crate) fn of(names: &mut dyn Iterator<Item = &'a [u8]>) -> Self {
        let mut counts = BTreeMap::new();
        names.for_each(|name| *counts.entry(name).or_default() += 1);
        Self(counts)
    }

    /// `None`: none of them is known here. The hash is assumed to be unsigned if there are two.
    pub(crate) fn most_frequent(&self) -> Option<Policy> {
        let known = self.0.iter().filter_map(|(name, count)| {
            Some((*count, Policy::of(std::str::from_utf8(name).ok()?, LegacyHash::Unsigned)?))
        });
        known.max_by_key(|(count, _)| *count).map(|(_, policy)| policy)
    }

    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    pub(crate) fn has(&self, policy: Policy) -> bool {
        self.0.contains_key(policy.name().as_bytes())
    }

    pub(crate) fn has_other_than(&self, policy: Policy) -> bool {
        self.0.len() > usize::from(self.has(policy))
    }
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
            Self::Builtin(_) => LEGACY_POLICY_NAME,
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

/// True if that is certain: they differ only in bytes from 0x80 on after the last whole word of four bytes.
pub(crate) fn has_one_hash(key: &[u8]) -> bool {
    key.as_chunks::<4>().1.iter().all(|byte| *byte < 0x80)
}

#[cfg(test)]
mod tests {
    use filterblock::{FilterPolicy as _, KeyBuf};

    use super::*;

    #[test]
    fn only_high_bytes_behind_the_last_word_have_two_hashes() {
        for (key, is_one) in [
            (&b""[..], true),
            (b"abc\x7f", true),
            (b"\xff\xff\xff\xff", true),
            (b"\xff\xff\xff\xffa", true),
            (b"\xff", false),
            (b"abcd\x80", false),
            (b"abcda\x80c", false),
        ] {
            assert_eq!(has_one_hash(key), is_one, "{key:?}");
            let policy = |hash| LegacyBloomPolicy::new(100).with_hash(hash);
            let (mut filter, keys) = (Vec::new(), KeyBuf::from_iter([key]));
            policy(LegacyHash::Signed).create_filter(keys.as_keys(), &mut filter).unwrap();
            assert_eq!(policy(LegacyHash::Unsigned).key_may_match(key, &filter), is_one, "{key:?}");
        }
    }

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
