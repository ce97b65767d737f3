//! The policies whose names are found in tables, and the one for what cannot be read.

use std::borrow::Cow;
use std::sync::Arc;

use super::{BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy, LegacyBloomPolicy, Murmur3BloomPolicy};
use super::{KeyHash, SharedPolicy};
use crate::{Error, Keys, Result};

/// A policy for each name that tables are known to have filters under, for reading: what
/// [`ReadOptions`](crate::table::ReadOptions) looks for unless told otherwise, in this order.
///
/// | name | written by | read as |
/// |---|---|---|
/// | `leveldb.BuiltinBloomFilter2` | LevelDB since 1.18, Minecraft Bedrock | [`BloomFilterPolicy`] |
/// | `leveldb.BuiltinBloomFilter` | LevelDB up to 1.17, goleveldb, Riak | [`LegacyBloomPolicy`], by either hash |
/// | `filterblock.CassandraBloomFilter1` | this library | [`CassandraBloomPolicy`] |
/// | `filterblock.Murmur3BloomFilter1` | this library | [`Murmur3BloomPolicy`] |
/// | `rocksdb.BuiltinBloomFilter` | RocksDB, Pebble | [`OpaquePolicy`]: every key may match |
///
/// [`BashoBloom2Policy`](crate::policy::BashoBloom2Policy) is not among them: it has to be asked for.
pub fn default_read_policies() -> Vec<SharedPolicy> {
    // How many bits a key takes matters only in writing.
    vec![
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(LegacyBloomPolicy::new(10)),
        Arc::new(CassandraBloomPolicy::new(10)),
        Arc::new(Murmur3BloomPolicy::new(10)),
        Arc::new(OpaquePolicy::new("rocksdb.BuiltinBloomFilter")),
    ]
}

/// Stands for filters in an encoding that is not known: every key may match. It makes no filters.
///
/// Used as a table's policy, it gives access to the filter block's structure and denies no key.
///
/// ```
/// use filterblock::{FilterPolicy, OpaquePolicy};
/// let policy = OpaquePolicy::new("rocksdb.BuiltinBloomFilter");
/// assert!(policy.key_may_match(b"any key", b"any filter"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpaquePolicy {
    name: Cow<'static, str>,
}

impl OpaquePolicy {
    /// For filters under this name, without `filter.` before it.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into() }
    }
}

impl FilterPolicy for OpaquePolicy {
    fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    ///
    /// Always [`Error::InvalidOption`].
    fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::InvalidOption {
            option: "filter_policy",
            expected: "a policy that makes filters".into(),
            found: format!("one that only stands for \"{}\"", crate::escape(self.name.as_bytes())).into(),
        })
    }

    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn hash_may_match(&self, _: KeyHash, _: &[u8]) -> bool {
        true
    }
}
