//! The facts about a table, or about a filter block without its table.

use std::borrow::Cow;
use std::path::Path;

use filterblock::database::LiveTable;
use serde::{Serialize, Serializer};

use super::estimate::{Estimate, KeyCount};
use super::filter_list::{Dialect, FilterBlock, Filters, KeyFormat};
use super::frame::{Depth, ErrorKind, Frame, Remark, Subject};
use super::strings::{Name, words};
use super::verdict::Verdict;
use super::verify::{CheckNote, Checked};
use crate::audit::{LostKeys, TruncatedKey, rates::FenceKeys, stats::KeySketch};
use crate::walk::TableRecord;

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
    #[serde(rename = "filter_policies", serialize_with = "policies")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub metaindex: Vec<Name>,
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

    /// The fault of the table, and the number of further ones.
    #[serde(skip)]
    pub error: Option<String>,
    /// The file was found in a database's folder, the database does not use it, and it is not a complete table: it is
    /// being written, or was left behind.
    #[serde(skip)]
    pub is_incomplete: bool,
    /// The keys of the table, if all of them were seen and they were not too many to be noted.
    #[serde(skip)]
    pub(crate) seen: Option<KeySketch>,
    /// The places of the table's entries in the range of keys, if the keys are internal keys.
    #[serde(skip)]
    pub(crate) marks: FenceKeys,
    /// The notes, which `frame` has as text.
    #[serde(skip)]
    pub remarks: Vec<Remark>,
    /// The kind of `error`.
    #[serde(skip)]
    pub kind: Option<ErrorKind>,
    /// The kind of `filter_error`.
    #[serde(skip)]
    pub filter_error_kind: Option<ErrorKind>,
    /// The filter error means that the filters are in an encoding that is not relied on.
    #[serde(skip)]
    pub filter_unsupported: bool,
    /// The reason why `key_format` is not known. `None`: it is known, or there was no table to open.
    #[serde(skip)]
    pub no_key_format: Option<String>,
    /// The table or a part of it could not be read, which does not mean that it is damaged.
    #[serde(skip)]
    pub unreadable: bool,
    /// The file is too short for a table, or does not end like one.
    #[serde(skip)]
    pub(crate) is_not_whole: bool,
    /// The contradiction between the size of the file and the one that the MANIFEST records; `None`: the sizes are
    /// equal, or one of them is not known.
    #[serde(skip)]
    pub size_mismatch: Option<String>,
    /// The number that the MANIFEST gives the table, if it is live.
    #[serde(skip)]
    pub number: Option<u64>,
    /// The first and the last user key that the MANIFEST records for the table, if it is live.
    #[serde(skip)]
    pub ends: Option<[TruncatedKey; 2]>,
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

/// The facts about a table, with its filters.
#[derive(Clone, Default, Debug)]
pub struct Inspected {
    /// The table.
    pub table: TableData,
    /// The table's filters, as large in memory as in the file. `None`: the field `filter` of the table is `None`.
    pub filters: Option<Filters>,
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

/// The state of a table in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TableState {
    /// The table has filters, and nothing wrong was seen.
    Filtered,
    /// The table has no filters.
    NoFilter,
    /// The filters are of a policy that this program does not know, or in an encoding that it does not support.
    UnknownPolicy,
    /// The file is not a complete table, and the database does not use it.
    Unfinished,
    /// The blocks or the filters of the table are damaged, or its size is wrong.
    Damaged,
    /// The MANIFEST lists the table, but there is no file.
    Missing,
    /// The table, or a part of it, cannot be read.
    Unreadable,
}

impl From<TableData> for Inspected {
    fn from(table: TableData) -> Self {
        Self { table, filters: None }
    }
}

impl TableData {
    /// A file that cannot be opened or read.
    pub fn unreadable(message: String, kind: ErrorKind) -> Self {
        let (error, kind, compression) = (Some(message), Some(kind), Some(Vec::new()));
        Self { error, kind, compression, unreadable: true, ..Self::default() }
    }

    /// A live table that has no file.
    pub fn missing(message: String) -> Self {
        Self { unreadable: false, ..Self::unreadable(message, ErrorKind::Missing) }
    }

    /// Adds the subject and the MANIFEST's record. `listed`: found in a folder, where an incomplete unused file may
    /// still be being written.
    pub(crate) fn about(&mut self, subject: &Subject<'_>, record: Option<TableRecord<'_>>, listed: bool) {
        let live = record.and_then(|record| record.live);
        self.comparator = record.and_then(|record| record.comparator).map(Name::cut);
        self.level = live.map(|live| live.level);
        self.live = record.map(|record| record.live.is_some());
        self.recorded_size = live.map(|live| live.size);
        self.number = live.map(|live| live.number);
        self.ends = live.map(|live| ends_of(live).map(TruncatedKey::new));
        self.size_mismatch = match (self.recorded_size, self.file_size) {
            (Some(recorded), Some(found)) if recorded != found => {
                Some(format!("expected {recorded} bytes, as the MANIFEST has it, found {found}"))
            }
            _ => None,
        };
        let is_unused = self.live == Some(false);
        self.is_incomplete = self.error.is_some() && listed && is_unused && self.is_not_whole;
        let note = self.is_incomplete.then(|| CheckNote::Incomplete.to_string());
        if note.is_some() {
            self.error = None;
        }
        if !self.is_opened() && self.error.is_some() {
            self.lost = live.and_then(LostKeys::of_table);
        }
        let object = if self.is_opened() || self.filter.is_none() { "table" } else { "filter_block" };
        self.verdict = self.judge();
        self.filter_status = self.judge_filters();
        // Filters that are not known here are no fault.
        let is_fault = self.verdict != Verdict::Fine;
        let error = self.problems().next().filter(|_| is_fault).map(|(what, text)| match what {
            "error" => text.to_owned(),
            _ => format!("{what}: {text}"),
        });
        let faults =
            self.filter.as_ref().and_then(|filter| filter.unsound.clone().or(filter.malformed.clone()));
        let frame = Frame::new(object, subject, self.error_kind().filter(|_| is_fault)).error(error);
        self.filter_error = self.filter_error.take().or(faults);
        self.frame = frame.note(note.into_iter()).into_owned();
        self.remarks = subject.remarks.to_vec();
    }

    /// Takes over the numbers of entries and keys, and the keys seen, from a verification that decoded all entries.
    pub(crate) fn count(&mut self, verdict: &mut Checked) {
        if verdict.is_complete {
            self.entries = Some(Estimate::exact(verdict.entries));
            self.distinct_keys = Some(Estimate::exact(verdict.distinct_keys).into());
            self.seen = verdict.seen.take();
        }
    }

    /// Returns true if there is a table, and it could be opened.
    pub fn is_opened(&self) -> bool {
        self.data_blocks.is_some()
    }

    /// Returns the kind of the first of the [`problems`](Self::problems), if any.
    fn error_kind(&self) -> Option<ErrorKind> {
        match self.problems().next()?.0 {
            "error" => self.kind,
            "filter error" => self.filter_error_kind,
            _ => Some(ErrorKind::Damaged),
        }
    }

    /// Judges the table as far as it was read.
    fn judge(&self) -> Verdict {
        let filter = self.filter.as_ref();
        match () {
            () if self.unreadable && self.error.is_some() => Verdict::CannotTell,
            () if self.error.is_some() || self.size_mismatch.is_some() => Verdict::Damaged,
            () if filter.is_some_and(|filter| filter.unsound.is_some()) => Verdict::FalseNegatives,
            () if self.unreadable => Verdict::CannotTell,
            () if self.filter_error.is_some() && !self.filter_unsupported => Verdict::Damaged,
            () if filter.is_some_and(|filter| filter.malformed.is_some()) => Verdict::CouldBeBetter,
            () => Verdict::Fine,
        }
    }

    fn judge_filters(&self) -> Option<FilterStatus> {
        let has_names = self.filter_names().next().is_some();
        Some(match &self.filter {
            Some(filter) if filter.unsound.is_some() => FilterStatus::FalseNegatives,
            Some(filter) if filter.malformed.is_some() => FilterStatus::Malformed,
            _ if self.filter_unsupported => FilterStatus::UnknownPolicy,
            Some(_) => FilterStatus::Ok,
            None if !self.is_opened() => return None,
            None if self.filter_error.is_some() => FilterStatus::Unusable,
            None if has_names => FilterStatus::UnknownPolicy,
            None => FilterStatus::None,
        })
    }

    /// Returns true if the file was there when its folder was listed, and is gone.
    pub fn has_vanished(&self) -> bool {
        self.kind == Some(ErrorKind::Vanished)
    }

    /// Returns true for a live table that has no file.
    pub fn is_missing(&self) -> bool {
        self.kind == Some(ErrorKind::Missing) && !self.unreadable
    }

    /// Returns true if the table cannot be read, or has a fault in its blocks, its filters or its size.
    pub fn is_damaged(&self) -> bool {
        let filter = self.filter.as_ref();
        self.error.is_some()
            || self.size_mismatch.is_some()
            || (self.filter_error.is_some() && !self.filter_unsupported)
            || filter.is_some_and(|filter| filter.malformed.is_some() || filter.unsound.is_some())
    }

    /// Returns true if the table was opened and has no filter block of a known policy that could be read.
    pub fn is_unfiltered(&self) -> bool {
        self.is_opened() && self.filter.is_none()
    }

    /// All problems, each after the name of its kind.
    pub fn problems(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let filter = self.filter.as_ref();
        let problems = [
            ("error", self.error.as_deref()),
            ("size", self.size_mismatch.as_deref()),
            ("filter error", self.filter_error.as_deref()),
            ("malformed", filter.and_then(|filter| filter.malformed.as_deref())),
            ("unsound", filter.and_then(|filter| filter.unsound.as_deref())),
        ];
        problems.into_iter().filter_map(|(what, problem)| Some((what, problem?)))
    }

    /// The level of the table in its database, or the reason why there is no level.
    pub const fn place(&self) -> TableLevel {
        match (self.live, self.level) {
            (None, _) => TableLevel::Unknown,
            (_, Some(level)) => TableLevel::Level(level),
            (_, None) => TableLevel::NotLive,
        }
    }

    /// The state of the table.
    pub fn state(&self) -> TableState {
        match &self.filter {
            _ if self.is_missing() => TableState::Missing,
            _ if self.unreadable => TableState::Unreadable,
            _ if self.is_damaged() => TableState::Damaged,
            None if !self.is_opened() => TableState::Unfinished,
            None if self.filter_names().next().is_none() => TableState::NoFilter,
            Some(_) if !self.filter_unsupported => TableState::Filtered,
            _ => TableState::UnknownPolicy,
        }
    }

    /// The policies that have filters in this table, known or not, as far as `metaindex` lists them.
    pub fn filter_names(&self) -> impl Iterator<Item = &[u8]> {
        self.metaindex.iter().filter_map(|name| name.as_bytes().strip_prefix(b"filter."))
    }

    /// The policy of the table's filters, known or not: of several unknown ones, the first in `metaindex`, if any.
    pub fn policy(&self) -> Option<&[u8]> {
        let known = self.filter.as_ref().map(|filter| filter.policy.as_bytes());
        known.or_else(|| self.filter_names().next())
    }

    /// The filter block, if it is in an encoding that can be judged.
    pub fn judged(&self) -> Option<&FilterBlock> {
        self.filter.as_ref().filter(|_| !self.filter_unsupported)
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

fn policies<S: Serializer>(metaindex: &[Name], serializer: S) -> Result<S::Ok, S::Error> {
    let names = metaindex.iter().filter_map(|name| name.as_bytes().strip_prefix(b"filter."));
    serializer.collect_seq(names.map(Name::cut))
}

/// The first and the last user key of a table, as the MANIFEST records them.
pub fn ends_of(live: &LiveTable) -> [&[u8]; 2] {
    // After the user key come eight bytes of sequence number and type.
    [&live.smallest, &live.largest].map(|key| key.get(..key.len().saturating_sub(8)).unwrap_or_default())
}

/// The name of a file, or the whole path if it does not end with a name.
pub fn name_of(path: &Path) -> &[u8] {
    path.file_name().unwrap_or(path.as_os_str()).as_encoded_bytes()
}
