//! The policies whose names are found in tables, the policy for filters that cannot be read, and the
//! formats that leave a mark in their tables.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy, LegacyBloomPolicy, Murmur3BloomPolicy};
use super::{KeyHash, SharedPolicy};
use crate::{Error, Keys, Result};

/// Returns a policy for each name under which tables are known to have filters.
/// [`ReadOptions`](crate::table::ReadOptions) looks for these names by default, in this order.
///
/// | name | written by | read as |
/// |---|---|---|
/// | `leveldb.BuiltinBloomFilter2` | LevelDB 1.18+, Minecraft Bedrock | [`BloomFilterPolicy`] |
/// | `leveldb.BuiltinBloomFilter` | LevelDB up to 1.17, goleveldb, Riak | [`LegacyBloomPolicy`] |
/// | `filterblock.CassandraBloomFilter1` | this library | [`CassandraBloomPolicy`] |
/// | `filterblock.Murmur3BloomFilter1` | this library | [`Murmur3BloomPolicy`] |
/// | `rocksdb.BuiltinBloomFilter` | RocksDB, Pebble | [`OpaquePolicy`]: every key may match |
///
/// [`LegacyBloomPolicy`] reads filters made with either hash, signed or unsigned.
/// [`BashoBloom2Policy`](crate::policy::BashoBloom2Policy) is not among the policies: the caller
/// has to name it.
pub fn default_read_policies() -> Vec<SharedPolicy> {
    // The number of bits per key matters only for writing.
    let leveldbs: [SharedPolicy; 2] = [BloomFilterPolicy::new(10).into(), LegacyBloomPolicy::new(10).into()];
    let own = OWN_POLICIES.iter().map(|policy| policy.with_bits(10));
    let others: [SharedPolicy; 1] = [Arc::new(OpaquePolicy::new("rocksdb.BuiltinBloomFilter"))];
    leveldbs.into_iter().chain(own).chain(others).collect()
}

/// The policies whose names are this library's own. Programs that offer a choice of policies can take them
/// from this list.
pub static OWN_POLICIES: [OwnPolicy; 2] = [
    OwnPolicy {
        name: "filterblock.CassandraBloomFilter1",
        short_name: "cassandra",
        make: |bits| Arc::new(CassandraBloomPolicy::new(bits)),
    },
    OwnPolicy {
        name: "filterblock.Murmur3BloomFilter1",
        short_name: "murmur3",
        make: |bits| Arc::new(Murmur3BloomPolicy::new(bits)),
    },
];

/// A policy whose filters only this library reads.
#[derive(Clone, Copy)]
pub struct OwnPolicy {
    name: &'static str,
    short_name: &'static str,
    make: fn(u32) -> SharedPolicy,
}

impl OwnPolicy {
    /// Returns the name under which tables store the policy's filters, without the prefix `filter.`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a short name, for command-line arguments.
    pub const fn short_name(&self) -> &'static str {
        self.short_name
    }

    /// Returns the policy with this number of bits per key.
    pub fn with_bits(&self, bits_per_key: u32) -> SharedPolicy {
        (self.make)(bits_per_key)
    }
}

impl PartialEq for OwnPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.short_name == other.short_name
    }
}

impl Eq for OwnPolicy {}

impl fmt::Debug for OwnPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnPolicy").field(&self.short_name).finish()
    }
}

/// A policy for filters in an unknown encoding: every key may match. It makes no filters.
///
/// Used as a table's policy, it gives access to the filter block's structure and rules out no key.
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
    /// Returns a policy for filters under this name, which is given without the prefix `filter.`.
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

/// A format that leaves its mark in the metaindex of its tables: see `Table::origin`.
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
