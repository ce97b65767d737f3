//! A table as a line of JSON.

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;

use super::estimate::{Estimate, KeyCount};
use super::filter_list::{Dialect, FilterBlock, KeyFormat};
use super::frame::{Depth, Frame};
use super::strings::{Name, words};
use super::verdict::Verdict;
use crate::audit::LostKeys;

/// A table, or a filter block without its table.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableData {
    /// The subject. The kind of object is `table` or `filter_block`.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// How the table is, as far as it was read.
    pub verdict: Verdict,
    /// Size of the file in bytes. `None`: the file could not be opened, or the parts needed to open the table
    /// could not be read from it.
    pub file_size: Option<u64>,
    /// Number of data blocks that the index names, each counted once. Blocks that would lie outside the file are
    /// not counted. `None`: the table could not be opened, or the file is a bare filter block.
    pub data_blocks: Option<u64>,
    /// Entries of the table, including deletions and older versions of keys. Filters are sized by these.
    /// `None`: too few data blocks could be decoded, or no data block was looked at.
    pub entries: Option<Estimate<u64>>,
    /// Different keys among the entries: all versions of a key, including deletions, count once, because they set the
    /// same bits of a filter. `None`: as for `entries`.
    pub distinct_keys: Option<KeyCount>,
    /// Codecs of the data blocks that were looked at: `none`, `snappy`, `zstd`, `zlib`, `deflate`, `lz4`. A
    /// compression type whose codec could not be determined is `type N`, with the candidates in parentheses if
    /// there are any. Empty: there is no data block whose type could be read, the table could not be opened, or
    /// the file is a bare filter block. `None`: no data block was looked at, because `depth` is `tail`.
    pub compression: Option<Vec<Cow<'static, str>>>,
    /// Names of the policies that have filters in the metaindex, in the order of the file. They are among the first 16
    /// names of the metaindex.
    pub filter_policies: Vec<Name>,
    /// Part of a stored key that filters are made from. `internal`: the user key within an internal key, as
    /// databases write it. `user`: the whole key. `None`: the keys tried do not decide it, or no key was
    /// tried: there are no filters that deny keys, or no data block was decoded.
    pub key_format: Option<KeyFormat>,
    /// Format of another program, whose mark is in the metaindex: `riak` or `rocksdb`. `None`: there is no mark.
    pub format: Option<Dialect>,
    /// The hash with which all stored keys that were tried may match, where `leveldb.BuiltinBloomFilter` leaves it open:
    /// `unsigned`, `signed` or `either`. `None`: no hash was tried, or neither fits.
    pub hash: Option<Dialect>,
    /// Comparator that the MANIFEST names. `None`: the MANIFEST names no comparator or cannot be relied on, or
    /// the table is in no database.
    pub comparator: Option<Name>,
    /// Level that the MANIFEST has the table on. `None`: the table is not live or in no database, or the MANIFEST
    /// cannot be relied on.
    pub level: Option<u8>,
    /// True if the MANIFEST lists the table; false if the database does not use it any longer, or not yet. `None`: the
    /// table is in no database, or the MANIFEST cannot be relied on.
    pub live: Option<bool>,
    /// Size of the file that the MANIFEST records, in bytes. LevelDB looks for the footer where a file of that size
    /// ends. `None`: the table is not live or in no database, or the MANIFEST cannot be relied on.
    pub recorded_size: Option<u64>,
    /// The keys that cannot be read because of the fault in `error`. `None`: there is no fault, or the keys
    /// are not known.
    pub lost: Option<LostKeys>,
    /// How the filters are. `ok`: no fault was found. `none`: there are none. `unknown-policy`: those there are have a
    /// policy that is not known here, or another encoding than its name implies. `unusable`: they cannot be read.
    /// `malformed`: they contradict themselves. `false-negatives`: they hide stored keys. `None`: the table could not be
    /// opened.
    pub filter_status: Option<FilterStatus>,
    /// The fault of the filters. `None`: there is none.
    pub filter_error: Option<String>,
    /// The filter block. `None`: the table has no filter block of a known policy, or the filter block could not be
    /// read.
    pub filter: Option<FilterBlock>,
    /// Estimated size of a filter block of 10 bits per key, for a table without a filter block. `None`: the table has, or
    /// may have, a filter block of any policy, or too little of the table was read for an estimate.
    pub filter_size_at_10_bits: Option<u64>,
    /// Parts of a table that are read. `tail`: index, metaindex and filters, so that nothing is known of the entries.
    /// `sample`: also some data blocks, from which numbers are estimated. `all`: every data block. `None`: the file
    /// could not be opened, or is a bare filter block.
    pub depth: Option<Depth>,
}

words! {
    /// How the filters of a table are.
    FilterStatus {
        /// No fault was found.
        Ok = "ok",
        /// The table has no filters.
        None = "none",
        /// The policy is not known, or its filters have another encoding than its name implies.
        UnknownPolicy = "unknown-policy",
        /// The filters cannot be read.
        Unusable = "unusable",
        /// The filters contradict themselves.
        Malformed = "malformed",
        /// The filters hide stored keys.
        FalseNegatives = "false-negatives",
    }
}

/// The level of a table in a database, or the reason why there is no level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TableLevel {
    /// The level, 0 to 6.
    Level(u8),
    /// The level is not known, because the table is in no database, or the MANIFEST cannot be relied on.
    Unknown,
    /// The database does not use the table any longer, or not yet.
    NotLive,
}

impl TableData {
    /// Returns true if there is a table, and it could be opened.
    pub fn is_opened(&self) -> bool {
        self.data_blocks.is_some()
    }

    /// Returns true if the table was opened and has no filter block of a known policy that could be read.
    pub fn is_unfiltered(&self) -> bool {
        self.is_opened() && self.filter.is_none()
    }

    /// The level of the table in its database, or the reason why there is no level.
    pub const fn place(&self) -> TableLevel {
        match (self.live, self.level) {
            (None, _) => TableLevel::Unknown,
            (_, Some(level)) => TableLevel::Level(level),
            (_, None) => TableLevel::NotLive,
        }
    }

    /// The policy of the table's filters, known or not: of several unknown ones, the first in the file, if any.
    pub fn policy(&self) -> Option<&[u8]> {
        let known = self.filter.as_ref().map(|filter| filter.policy.as_bytes());
        known.or_else(|| self.filter_policies.first().map(Name::as_bytes))
    }

    /// The size of the file in bytes; without `file_size`, the size that the MANIFEST records, or else 0.
    pub fn size(&self) -> u64 {
        self.file_size.or(self.recorded_size).unwrap_or_default()
    }

    /// The bits of the table's filters for each of its entries; `None` if either number is 0 or not known.
    pub fn bits_per_entry(&self) -> Option<Estimate> {
        self.entries?.bits_per_entry(self.filter.as_ref()?.bits)
    }

    /// The name of the file, or the whole path if it does not end with a name.
    pub fn name(&self) -> &[u8] {
        name_of(&self.frame.path)
    }
}

/// The name of a file, or the whole path if it does not end with a name.
pub fn name_of(path: &Path) -> &[u8] {
    path.file_name().unwrap_or(path.as_os_str()).as_encoded_bytes()
}
