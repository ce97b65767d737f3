//! Options for writing a table.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use super::summary::FilterBuilder;
use crate::bytes::escape::quote;
use crate::filter_block::{DEFAULT_BASE_LG, check_base_lg};
use crate::key::comparator::{BytewiseComparator, Comparator, SharedComparator};
use crate::key::internal_comparator::InternalKeyComparator;
use crate::table::codec::Compression;
use crate::{Error, FilterBlockBuilder, FilterPolicy, InternalFilterPolicy, Result, SharedPolicy};

/// Options of a [`TableBuilder`](crate::table::TableBuilder): LevelDB's `Options`, as far as they
/// concern tables. A [`Rewriter`](crate::table::Rewriter) uses only the options that concern filters
/// and metaindex.
///
/// The defaults are LevelDB's: blocks of 4 KiB, a restart every 16 entries, Snappy, no filters.
///
/// ```
/// use filterblock::BloomFilterPolicy;
/// use filterblock::table::{Compression, WriteOptions};
///
/// let options = WriteOptions::default()
///     .filter_policy(BloomFilterPolicy::new(10))
///     .compression(Compression::None)
///     .block_size(16 * 1024);
/// ```
#[derive(Clone)]
#[must_use]
pub struct WriteOptions {
    pub(in crate::table) block_size: usize,
    pub(in crate::table) restart_interval: u32,
    pub(in crate::table) compression: Compression,
    pub(in crate::table) internal_keys: bool,
    comparator: SharedComparator,
    /// True if `comparator` is known to be the [`BytewiseComparator`].
    is_bytewise: bool,
    filter_policies: Vec<SharedPolicy>,
    base_lg: u8,
    max_filter_block_size: Option<u64>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            block_size: 4096,
            restart_interval: 16,
            compression: Compression::Snappy,
            internal_keys: false,
            comparator: Arc::new(BytewiseComparator),
            is_bytewise: true,
            filter_policies: Vec::new(),
            base_lg: DEFAULT_BASE_LG,
            max_filter_block_size: None,
        }
    }
}

impl WriteOptions {
    /// Sets the size of a data block, in bytes before compression. A block ends with the entry that brings it to this
    /// size. Default: 4096.
    ///
    /// Larger blocks compress better and make the index smaller, but each lookup reads a whole
    /// block.
    pub fn block_size(mut self, bytes: usize) -> Self {
        self.block_size = bytes;
        self
    }

    /// Sets the number of entries from one restart of a block to the next. At a restart the key is stored in full.
    /// Default: 16; at least 1. In the index, the number is always 1.
    ///
    /// After its binary search, a seek reads entries one by one, at most `restart_interval + 1` of them.
    pub fn restart_interval(mut self, entries: u32) -> Self {
        self.restart_interval = entries;
        self
    }

    /// Sets the compression of data blocks, index and metaindex. Each of these blocks is compressed only if that
    /// saves more than an eighth. Default: Snappy.
    ///
    /// Readers limit the decompressed size of a block
    /// ([`ReadOptions::max_block_size`](crate::table::ReadOptions::max_block_size), 256 MiB by
    /// default). With larger blocks or values, raise that limit or do not compress.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the policy that makes the table's filters. Default: no filters.
    pub fn filter_policy(self, policy: impl FilterPolicy + 'static) -> Self {
        self.filter_policies(vec![Arc::new(policy)])
    }

    /// Sets several policies, each of which makes a filter block of its own: for example one under an old name and
    /// one under the new name. Without policies, there are no filters. The names have to differ.
    pub fn filter_policies(mut self, policies: Vec<SharedPolicy>) -> Self {
        self.filter_policies = policies;
        self
    }

    /// Sets the range of a filter: there is one filter for every `1 << base_lg` bytes of data blocks. `base_lg` is 0
    /// to 63. Default: 11, which is 2 KiB.
    ///
    /// The keys of a range, or their hashes, are kept in memory until its filter is made. LevelDB
    /// reads filters of any range.
    pub fn base_lg(mut self, base_lg: u8) -> Self {
        self.base_lg = base_lg;
        self
    }

    /// Sets the greatest size of a filter block, in bytes. Default: 1 GiB; the format allows no more than 4 GiB.
    pub fn max_filter_block_size(mut self, bytes: u64) -> Self {
        self.max_filter_block_size = Some(bytes);
        self
    }

    /// Sets the order of the keys or, with [`internal_keys`](Self::internal_keys), of the user keys. Default:
    /// [`BytewiseComparator`].
    pub fn comparator(mut self, comparator: impl Comparator + 'static) -> Self {
        self.is_bytewise = comparator.type_id() == TypeId::of::<BytewiseComparator>();
        self.comparator = Arc::new(comparator);
        self
    }

    /// Sets whether the keys are a database's internal keys: user key, then `sequence << 8 | type` (fixed64,
    /// little-endian). Default: false.
    ///
    /// If they are, the keys are ordered by [`InternalKeyComparator`], and their filters made by
    /// [`InternalFilterPolicy`], as in LevelDB's databases. A key of fewer than eight bytes is an error.
    pub fn internal_keys(mut self, internal_keys: bool) -> Self {
        self.internal_keys = internal_keys;
        self
    }

    /// Checks all options together, as starting a table does.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] for the first option that is invalid.
    pub fn check(&self) -> Result<()> {
        self.filter_builders().map(drop)
    }

    /// True if keys are known to be in bytewise order.
    pub(in crate::table) fn in_bytewise_order(&self) -> bool {
        self.is_bytewise && !self.internal_keys
    }

    /// The order of the keys as they are added.
    pub(in crate::table) fn key_order(&self) -> SharedComparator {
        if self.internal_keys {
            Arc::new(InternalKeyComparator::new(Arc::clone(&self.comparator)))
        } else {
            Arc::clone(&self.comparator)
        }
    }

    /// Checks all options and makes a builder for each policy. Returns the builders with their
    /// policies' names, in the order of the names, which is that of the metaindex.
    pub(in crate::table) fn filter_builders(&self) -> Result<Vec<FilterBuilder>> {
        if self.restart_interval == 0 {
            return Err(Error::InvalidOption {
                option: "restart_interval",
                expected: "at least 1".into(),
                found: "0".into(),
            });
        }
        check_base_lg(self.base_lg)?;
        // Each name is read once: a name that changed between two comparisons could make the sort
        // panic.
        let named = |policy: &SharedPolicy| (policy.name().to_owned(), Arc::clone(policy));
        let mut policies: Vec<(String, SharedPolicy)> = self.filter_policies.iter().map(named).collect();
        policies.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut neighbours = policies.iter().zip(policies.iter().skip(1));
        if let Some(((twice, _), _)) = neighbours.find(|((a, _), (b, _))| a == b) {
            return Err(Error::InvalidOption {
                option: "filter_policies",
                expected: "policies of different names".into(),
                found: format!("{} twice", quote(twice.as_bytes())).into(),
            });
        }
        let builder = |(name, mut policy): (String, SharedPolicy)| {
            if self.internal_keys {
                policy = Arc::new(InternalFilterPolicy::new(policy));
            }
            let builder = FilterBlockBuilder::with_base_lg(policy, self.base_lg)?;
            let builder = match self.max_filter_block_size {
                Some(bytes) => builder.with_max_size(bytes),
                None => builder,
            };
            Ok((name, builder))
        };
        policies.into_iter().map(builder).collect()
    }
}

impl fmt::Debug for WriteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policies = self.filter_policies.iter().map(|policy| policy.name()).collect::<Vec<_>>();
        f.debug_struct("WriteOptions")
            .field("block_size", &self.block_size)
            .field("restart_interval", &self.restart_interval)
            .field("compression", &self.compression)
            .field("filter_policies", &policies)
            .field("base_lg", &self.base_lg)
            .field("max_filter_block_size", &self.max_filter_block_size)
            .field("comparator", &self.comparator.name())
            .field("internal_keys", &self.internal_keys)
            .finish()
    }
}
