//! The answers of `query`: an answer for each key and each table or log, or counts of the answers for each
//! table or log.

use serde::Serialize;

use super::fault::Fault;
use super::folder::CheckedFolder;
use super::frame::{Frame, Subject};
use super::strings::{Hex, words};

words! {
    /// The newest write of a log for one key.
    LogAnswer {
        /// The write sets a value.
        Value = "value",
        /// The write deletes the key.
        Deletion = "deletion",
        /// The log has no write for the key.
        Absent = "absent",
    }
}

/// The data blocks that may hold a key.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct KeyBlocks {
    /// The offsets of the blocks.
    pub offsets: Vec<u64>,
    /// True if the index or the MANIFEST's key range narrowed the search; false if all filters were checked, or none.
    pub by_index: bool,
    /// The chance, 0 to 1, that the answer for an absent key is "may be there".
    pub fpr: f64,
    /// Data blocks of the table that a lookup reads at most; 0 if the table is unused. `None`: the index could not be
    /// used.
    pub lookup_blocks: Option<u64>,
}

/// The facts known about a key.
#[derive(Clone, PartialEq, Debug)]
pub enum QueryAnswer {
    /// From a table: the data blocks that may hold the key.
    Blocks(KeyBlocks),
    /// From a log: its newest write for the key.
    Log(LogAnswer),
    /// No facts: the table or log could not be opened.
    Unknown,
}

/// The answer for one table or log and one key.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer<'a> {
    /// The table or log.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// The key. `None`: it is not UTF-8.
    pub key: Option<&'a str>,
    /// The key in lowercase hexadecimal.
    pub key_hex: Hex<'a>,
    /// False if the key is not in the table, or the log has no value for it; true if it may be there.
    pub may_match: bool,
    /// Offsets of the data blocks that may hold the key. Empty if no data block may hold it, for a log, and if the
    /// table could not be opened.
    pub blocks: Vec<u64>,
    /// The newest write of this log for the key: a value, a deletion, or no write. `None`: the file is a
    /// table, or could not be opened.
    pub log: Option<LogAnswer>,
    /// True if the index or the key range in the MANIFEST narrowed the search: to at most one data block,
    /// unless keys can be read in several ways. False: the filters of all data blocks were asked, or no
    /// filters were.
    pub by_index: bool,
    /// The maximum number of data blocks of the table that a lookup in its database reads; 0 for a log, or if the
    /// database does not use the table. `None`: the index could not be used, or the file could not be opened.
    pub lookup_blocks: Option<u64>,
    /// Chance, 0 to 1, that this answer is "may be there" for an absent key. 1 with an `error`. Otherwise 0
    /// for a log, or if the index or the MANIFEST alone excludes the key; else 1 without a filter.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: f64,
}

fn framed<'a>(object: &'static str, subject: &Subject<'a>, error: Option<&'a Fault>) -> Frame<'a> {
    Frame::new(object, subject, error.map(|error| error.kind)).error(error.map(|error| &*error.text))
}

impl<'a> Answer<'a> {
    /// The answer for `key`. `error`: the reason why every key may be there, whatever `reply` says.
    pub fn new(subject: Subject<'a>, key: &'a [u8], error: Option<&'a Fault>, reply: QueryAnswer) -> Self {
        let unknown = KeyBlocks { fpr: 1.0, ..KeyBlocks::default() };
        let (may_match, log, blocks) = match reply {
            QueryAnswer::Unknown => (true, None, unknown),
            QueryAnswer::Log(log) => {
                let none = KeyBlocks { lookup_blocks: Some(0), ..KeyBlocks::default() };
                (log == LogAnswer::Value, Some(log), none)
            }
            QueryAnswer::Blocks(blocks) => (!blocks.offsets.is_empty(), None, blocks),
        };
        Self {
            frame: framed("answer", &subject, error),
            key: str::from_utf8(key).ok(),
            key_hex: Hex(key),
            may_match: may_match || error.is_some(),
            blocks: blocks.offsets,
            log,
            by_index: blocks.by_index,
            lookup_blocks: blocks.lookup_blocks,
            estimated_fpr: if error.is_some() { 1.0 } else { blocks.fpr },
        }
    }
}

/// The answers for one table or log, counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count<'a> {
    /// The table or log.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// Number of keys that were looked for.
    pub keys: u64,
    /// Number of keys that may be there. With an `error`, these are all keys.
    pub matches: u64,
    /// Chance, 0 to 1, that the answer for an absent key is "may be there": the mean over the keys asked for.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: f64,
}

impl<'a> Count<'a> {
    /// Counts the answers for a table or log. `error`: the reason why every key may be there.
    pub fn new(
        subject: Subject<'a>,
        error: Option<&'a Fault>,
        answers: impl Iterator<Item = Answer<'a>>,
    ) -> Self {
        let mut count =
            Self { frame: framed("count", &subject, error), keys: 0, matches: 0, estimated_fpr: 0.0 };
        for answer in answers {
            count.keys += 1;
            count.matches += u64::from(answer.may_match);
            count.estimated_fpr += answer.estimated_fpr;
        }
        count.estimated_fpr /= count.keys.max(1) as f64;
        count
    }
}

/// A result of a query. A folder comes before the answers for its tables and logs, and the cost of lookups after them.
#[expect(missing_debug_implementations, reason = "it holds iterators")]
pub enum QueryLine<'a> {
    /// The folder whose tables and logs the next answers are for.
    Folder(Box<CheckedFolder>),
    /// The answers for a table or log.
    Table {
        /// The table or log.
        subject: Subject<'a>,
        /// The reason why every key may be there.
        error: Option<&'a Fault>,
        /// The number of the table's data blocks.
        data_blocks: u64,
        /// There are filters to check.
        has_filters: bool,
        /// The answers that are wanted: all, those that match, or no answers if only counts are wanted.
        answers: &'a mut dyn Iterator<Item = Answer<'a>>,
    },
    /// The answers for a table or log, counted.
    Count(Count<'a>),
    /// The cost of lookups in the preceding database.
    Lookups {
        /// The keys, each with the data blocks that a lookup reads at most. If only matches are wanted, those without
        /// any are left out.
        keys: &'a mut dyn Iterator<Item = (&'a [u8], u64)>,
        /// Files that are not counted: missing, not opened, or without an index that can be used.
        tables_left_out: u64,
    },
}
