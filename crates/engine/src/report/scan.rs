//! The results of `scan`: entries and where they are, parts that were skipped, and the end of each file or database.

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;

use super::fault::Fault;
use super::frame::{Frame, Subject};
use super::state::StateFault;
use super::strings::{Hex, words};

/// One version of a key, and the place where it was found.
#[derive(Debug)]
pub struct EntryRef<'a> {
    /// The path of the file that holds the entry.
    pub path: &'a Path,
    /// The offset of the data block, or of the log's record, in the file.
    pub offset: u64,
    /// The byte in the file in which one wrong bit of the block or record was corrected. `None`: it is as stored.
    pub corrected: Option<u64>,
    /// The role of the file in its database; `None` if it was given by itself.
    pub state: Option<FileRole>,
    /// The user key, or the stored key of a table whose keys are not internal keys.
    pub key: &'a [u8],
    /// The sequence number and type. `None`: the keys are not internal keys.
    pub version: Option<EntryTag>,
    /// The value; empty for a deletion.
    pub value: &'a [u8],
}

/// The sequence number and the type of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryTag {
    /// The sequence number.
    pub sequence: u64,
    /// The type: 0 for a deletion, 1 for a value, and other numbers for LevelDB's relatives.
    pub kind: u8,
}

impl EntryTag {
    /// Returns true for a deletion.
    pub const fn is_deletion(self) -> bool {
        self.kind == 0
    }

    /// The word for the type.
    pub fn type_name(self) -> Cow<'static, str> {
        match self.kind {
            0 => "deletion".into(),
            1 => "value".into(),
            other => format!("type {other}").into(),
        }
    }
}

words! {
    /// The role of a file in its database.
    FileRole {
        /// A table that the MANIFEST lists.
        Live = "live",
        /// A file that is no longer used, such as a log whose writes are all in tables.
        Obsolete = "obsolete",
        /// A table that is newer than the MANIFEST, or a second file with a table's number.
        Unlisted = "unlisted",
        /// There is no MANIFEST that can be relied on.
        Unknown = "unknown",
        /// A log that may hold writes that are in no table.
        Log = "log",
    }
}

/// An entry as a line of JSON.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryData<'a> {
    /// The file.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// The user key, or the stored key of a table whose keys are not internal keys. `None`: it is not UTF-8.
    pub key: Option<&'a str>,
    /// The key in lowercase hexadecimal.
    pub key_hex: Hex<'a>,
    /// The value. `None`: it is not UTF-8, or there is no value to show.
    pub value: Option<&'a str>,
    /// The value in lowercase hexadecimal. `None`: it is UTF-8, or there is no value to show.
    pub value_hex: Option<Hex<'a>>,
    /// Size of the value in bytes, even with `--keys` or `--sizes`. `None`: a deletion.
    pub value_size: Option<usize>,
    /// Sequence number of the write. `None`: the keys are not internal keys.
    pub sequence: Option<u64>,
    /// Type of the entry: `value`, `deletion`, or `type N` for one of LevelDB's relatives. `None`: the keys
    /// are not internal keys.
    #[serde(rename = "type")]
    pub kind: Option<Cow<'a, str>>,
    /// Role of the file in its database. `live`: the MANIFEST lists it. `obsolete`: it is no longer used.
    /// `unlisted`: the MANIFEST does not account for it. `unknown`: there is no sound MANIFEST. `log`: it may
    /// hold writes that no table has. `None`: the file was given by itself.
    pub state: Option<FileRole>,
    /// Offset of the entry's data block or log record in the file, in bytes.
    pub offset: u64,
    /// Offset in the file of the byte in which one wrong bit of that block or record was corrected. `None`: the
    /// block or record is as stored.
    pub corrected: Option<u64>,
}

impl<'a> EntryData<'a> {
    /// An entry found at `input`, the path as the user gave it. `with_value`: the value is wanted.
    pub fn new(input: &'a Path, row: &EntryRef<'a>, with_value: bool) -> Self {
        let is_deletion = row.version.is_some_and(EntryTag::is_deletion);
        let bytes = (with_value && !is_deletion).then_some(row.value);
        let value = bytes.and_then(|value| str::from_utf8(value).ok());
        Self {
            frame: Frame::new("entry", &Subject { path: row.path, ..Subject::of(input) }, None),
            key: str::from_utf8(row.key).ok(),
            key_hex: Hex(row.key),
            value,
            value_hex: bytes.filter(|_| value.is_none()).map(Hex),
            value_size: (!is_deletion).then_some(row.value.len()),
            sequence: row.version.map(|version| version.sequence),
            kind: row.version.map(EntryTag::type_name),
            state: row.state,
            offset: row.offset,
            corrected: row.corrected,
        }
    }
}

/// A fault as a line of JSON.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultData<'a> {
    /// The file.
    #[serde(flatten)]
    pub frame: Frame<'a>,
}

impl<'a> FaultData<'a> {
    /// A fault of the file that `subject` names.
    pub fn new(subject: Subject<'a>, fault: &'a Fault) -> Self {
        Self { frame: Frame::new("fault", &subject, Some(fault.kind)).error(Some(&*fault.text)) }
    }
}

/// The end of a file or database as a line of JSON.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndData<'a> {
    /// The file or the folder.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// Number of entries that were shown.
    pub entries: u64,
}

impl<'a> EndData<'a> {
    /// The end of the file or database that `subject` names. `entries`: the number of entries shown.
    pub fn new(subject: Subject<'a>, entries: u64) -> Self {
        Self { frame: Frame::new("end", &subject, None), entries }
    }
}

/// A result of a scan. The end of a file or database comes after its entries and faults.
#[derive(Debug)]
pub enum ScanLine<'a> {
    /// An entry, and the path as the user gave it.
    Entry(&'a Path, EntryRef<'a>),
    /// A part that cannot be shown. The subject names the file.
    Fault(Subject<'a>, &'a Fault),
    /// A fault of a database as a whole, because of which entries are not shown, also as a fault in words.
    State(Subject<'a>, &'a StateFault, &'a Fault),
    /// The end of a file or database, with the number of its entries that were shown.
    End(Subject<'a>, u64),
}
