//! Options for reading a table.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use super::meter::Meter;
use super::order::KeyOrder;
use crate::key::comparator::{BytewiseComparator, Comparator, SharedComparator};
use crate::key::internal_comparator::BashoKeyComparator;
use crate::key::internal_comparator::InternalKeyComparator;
use crate::policy::default_read_policies;
use crate::{BashoInternalFilterPolicy, FilterPolicy, InternalFilterPolicy, SharedPolicy};
use crate::{KeyFormat, Origin};

/// Options for reading a table (LevelDB's `Options` and `ReadOptions`,
/// `include/leveldb/options.h`).
///
/// ```
/// use filterblock::table::{ReadOptions, Table};
/// # let bytes: &[u8] = b"";
/// let options = ReadOptions::default().internal_keys(true).max_block_size(1 << 20);
/// let table = Table::open(bytes, &options);
/// # assert!(table.is_err());
/// ```
#[derive(Clone)]
#[must_use]
pub struct ReadOptions {
    pub(in crate::table) verify_checksums: bool,
    pub(in crate::table) max_block_size: usize,
    max_output: u64,
    max_output_factor: u64,
    pub(in crate::table) tail_size: usize,
    pub(in crate::table) internal_keys: bool,
    /// The comparator; `None` if it is known to be the [`BytewiseComparator`].
    comparator: Option<SharedComparator>,
    filter_policies: Vec<SharedPolicy>,
    pub(in crate::table) meter: Option<Arc<Meter>>,
}

impl Default for ReadOptions {
    /// Checksums are verified, compressed blocks may hold up to 256 MiB, keys are in bytewise order
    /// and not internal keys, and all [known](crate::policy::default_read_policies) filter policies
    /// are looked for.
    fn default() -> Self {
        Self {
            verify_checksums: true,
            max_block_size: 256 << 20,
            max_output: u64::MAX,
            max_output_factor: 0,
            tail_size: 64 << 10,
            internal_keys: false,
            comparator: None,
            filter_policies: default_read_policies(),
            meter: None,
        }
    }
}

impl ReadOptions {
    /// Sets whether the checksum of every block read is verified. Default: true, unlike LevelDB.
    ///
    /// Without verification, damage can go unnoticed and give wrong answers, but it never causes a
    /// panic.
    pub fn verify_checksums(self, verify: bool) -> Self {
        Self { verify_checksums: verify, ..self }
    }

    /// Sets the greatest size of a compressed block's contents once decompressed, in bytes. Default: 256 MiB, since
    /// values can be long and are never split between blocks. Larger contents cause
    /// [`Error::Limit`](crate::Error::Limit): before memory is allocated for them if their length is declared,
    /// otherwise as soon as they exceed the limit.
    ///
    /// A block never takes more than its codec can make from the stored bytes: 64 bytes from three with
    /// Snappy, 255 from one with LZ4, 1032 from one with zlib. Zstandard sets no such bound; its buffers grow
    /// with the contents. A small file can thus take much memory only with Zstandard, or if its contents
    /// really are that large.
    ///
    /// Zstandard's decoder needs memory of its own. Contents, window and decoder together take at most twice
    /// the file's size plus this limit, which counts as 5 MiB if it is lower. In small files, contents well
    /// below the limit may thus be refused.
    ///
    /// The limit is lower if a file decompresses to so much that its index, metaindex, filter block and one
    /// data block together would take more than this limit plus twice the file's size. Uncompressed blocks
    /// are bounded by the file's size.
    pub fn max_block_size(self, bytes: usize) -> Self {
        Self { max_block_size: bytes, ..self }
    }

    /// Sets the greatest number of bytes that one [`Cursor`](crate::table::Cursor) or
    /// [`Rewriter`](crate::table::Rewriter) decodes: those of data blocks, including blocks decoded again, and those
    /// of keys that have to be put together because they share their beginning with the previous key. Beyond this
    /// limit, the cursor or rewriter stops with [`Error::Limit`](crate::Error::Limit). In a
    /// [`Scan`](crate::database::Scan) of a database, the limit applies to each table. Default: no limit.
    ///
    /// The index of a small file can name the same block many times, and the keys in a block can
    /// share long prefixes. For untrusted files, set this limit to the number of bytes that a walk may
    /// decode.
    pub fn max_output(self, bytes: u64) -> Self {
        Self { max_output: bytes, ..self }
    }

    /// Raises [`max_output`](Self::max_output) to this many times the file's size if the limit is
    /// lower than that, so that one setting suits files of all sizes. Default: 0, which never
    /// raises the limit.
    pub fn max_output_factor(self, times: u64) -> Self {
        Self { max_output_factor: times, ..self }
    }

    /// Sets the number of bytes that are read first, at the end of the file. Default: 64 KiB. A number below 48
    /// counts as 48.
    ///
    /// The footer, the index, the metaindex and the filter block take no further read if they are
    /// in these bytes.
    pub fn tail_size(self, bytes: usize) -> Self {
        Self { tail_size: bytes, ..self }
    }

    /// Sets the order of the keys or, in a database's tables, of the user keys. Default: [`BytewiseComparator`].
    pub fn comparator(self, comparator: impl Comparator + 'static) -> Self {
        let is_bytewise = comparator.type_id() == TypeId::of::<BytewiseComparator>();
        Self { comparator: (!is_bytewise).then(|| Arc::new(comparator) as SharedComparator), ..self }
    }

    /// Sets the only filter policy to look for. Default: all that are [known](crate::policy::default_read_policies).
    ///
    /// Filters are read whatever their number of bits per key. The policy's own number matters only
    /// for writing.
    pub fn filter_policy(self, policy: impl FilterPolicy + 'static) -> Self {
        self.filter_policies(vec![Arc::new(policy)])
    }

    /// Sets the filter policies to look for. The first of them whose name is in the table's metaindex is used,
    /// whatever the order of the names there. (goleveldb takes the first entry of the metaindex whose policy it has.)
    /// Without any policies, tables are read without filters. Default: all that are
    /// [known](crate::policy::default_read_policies).
    ///
    /// In a table with [Basho's mark](Origin::Basho), filters under `leveldb.BuiltinBloomFilter2`
    /// are used only with a policy that [reads that dialect](FilterPolicy::reads_dialect), such as
    /// [`BashoBloom2Policy`](crate::BashoBloom2Policy). Without such a policy, every key may match.
    pub fn filter_policies(self, policies: Vec<SharedPolicy>) -> Self {
        Self { filter_policies: policies, ..self }
    }

    /// Sets whether the keys are a database's internal keys: user key, then sequence number and type in eight bytes.
    /// Default: false. A [`Database`](crate::database::Database) sets it for the tables that it opens itself.
    ///
    /// A database's tables need it: without it stored keys are hidden. Other tables must not have it.
    ///
    /// If set, the comparator orders the user keys ([`InternalKeyComparator`]), and filters are checked for the user
    /// key ([`InternalFilterPolicy`]). In tables with [Basho's mark](Origin::Basho), keys with a time have 16 bytes
    /// after the user key.
    pub fn internal_keys(self, internal: bool) -> Self {
        Self { internal_keys: internal, ..self }
    }

    /// Counts the cost of reading in `meter`. Default: nothing is counted, at no cost.
    pub fn meter(self, meter: Arc<Meter>) -> Self {
        Self { meter: Some(meter), ..self }
    }

    /// The order of the stored keys.
    pub(in crate::table) fn order(&self, format: KeyFormat) -> KeyOrder {
        let user = || self.user_order();
        let is_bytewise = self.comparator.is_none();
        match format {
            _ if !self.internal_keys && is_bytewise => KeyOrder::Bytewise,
            _ if !self.internal_keys => KeyOrder::Other(user()),
            KeyFormat::Basho => KeyOrder::Other(Arc::new(BashoKeyComparator::new(user()))),
            _ if is_bytewise => KeyOrder::Internal,
            _ => KeyOrder::Other(Arc::new(InternalKeyComparator::new(user()))),
        }
    }

    /// The order of the user keys.
    pub(crate) fn user_order(&self) -> SharedComparator {
        self.comparator.clone().unwrap_or_else(|| Arc::new(BytewiseComparator))
    }

    /// The limit on output for a file of this size.
    pub(in crate::table) fn max_output_of(&self, file_len: u64) -> u64 {
        self.max_output.max(file_len.saturating_mul(self.max_output_factor))
    }

    /// The length of the longest name of a policy, in bytes.
    pub(in crate::table) fn longest_policy_name(&self) -> usize {
        self.filter_policies.iter().map(|policy| policy.name().len()).max().unwrap_or_default()
    }

    /// The same options without the filter policies, for a table that is already open: its filters
    /// have been looked for.
    pub(in crate::table) fn without_policies(&self) -> Self {
        let Self {
            verify_checksums,
            max_block_size,
            max_output,
            max_output_factor,
            tail_size,
            internal_keys,
            ..
        } = *self;
        let (comparator, meter) = (self.comparator.clone(), self.meter.clone());
        Self {
            verify_checksums,
            max_block_size,
            max_output,
            max_output_factor,
            tail_size,
            internal_keys,
            comparator,
            filter_policies: Vec::new(),
            meter,
        }
    }

    /// The policies as the caller gave them: with internal keys, they take user keys.
    pub(in crate::table) fn policies(&self) -> &[SharedPolicy] {
        &self.filter_policies
    }

    /// Wraps `policy` if needed, so that it takes stored keys.
    pub(in crate::table) fn for_stored_keys(
        &self,
        policy: &SharedPolicy,
        origin: Option<Origin>,
    ) -> SharedPolicy {
        let policy = Arc::clone(policy);
        match origin {
            _ if !self.internal_keys => policy,
            Some(Origin::Basho) => Arc::new(BashoInternalFilterPolicy::new(policy)),
            _ => Arc::new(InternalFilterPolicy::new(policy)),
        }
    }
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policies: Vec<&str> = self.filter_policies.iter().map(|policy| policy.name()).collect();
        f.debug_struct("ReadOptions")
            .field("verify_checksums", &self.verify_checksums)
            .field("max_block_size", &self.max_block_size)
            .field("max_output", &self.max_output)
            .field("max_output_factor", &self.max_output_factor)
            .field("tail_size", &self.tail_size)
            .field("internal_keys", &self.internal_keys)
            .field("comparator", &self.user_order().name())
            .field("filter_policies", &policies)
            .finish()
    }
}
