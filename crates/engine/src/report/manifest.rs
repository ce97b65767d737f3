//! The results of `manifest`: the records of a MANIFEST, the live tables that result from them, and its
//! state.

use std::borrow::Cow;
use std::io::{self, Write};

use filterblock::KeyFormat;
use filterblock::database::{LiveTable, Manifest, VersionEdit};
use serde::Serialize;

use super::advice::HugeManifest;
use super::fault::Fault;
use super::frame::{Frame, Line, Subject};
use super::scan::{EntryTag, FaultData};
use super::strings::{Hex, Name, write_line};

/// A record of a MANIFEST: the changes from one state of the database to the next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestEdit<'a> {
    /// Number of the record in the file, counted from 1. Damaged records are not counted.
    pub record: u64,
    /// Offset of the record in the file, in bytes.
    pub offset: u64,
    /// Length of the record in bytes.
    pub size: u64,
    /// Comparator that orders the user keys. `None`: the record does not name it.
    pub comparator: Option<Name>,
    /// Number of the first log whose writes are in no table yet. `None`: the record does not give it.
    pub log_number: Option<u64>,
    /// Number of one more log whose writes are in no table yet; 0: there is no such log. `None`: the record
    /// does not give it.
    pub previous_log_number: Option<u64>,
    /// Number for the next new file. `None`: the record does not give it.
    pub next_file_number: Option<u64>,
    /// Greatest sequence number used so far, not counting writes that only logs hold. `None`: the record does
    /// not give it.
    pub last_sequence: Option<u64>,
    /// Keys at which the next compactions of levels start.
    pub compact_pointers: Vec<CompactPointer<'a>>,
    /// Tables that are no longer live.
    pub deleted: Vec<DeletedTable>,
    /// Tables that become live. They are added after the tables in `deleted` are removed.
    pub added: Vec<AddedTable<'a>>,
}

/// A key at which the next compaction of a level starts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactPointer<'a> {
    /// The level.
    pub level: u8,
    /// The key.
    pub key: InternalKeyParts<'a>,
}

/// A table that is no longer live.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeletedTable {
    /// Level that the table was on.
    pub level: u8,
    /// Number in the name of the table's file.
    pub number: u64,
}

/// A table on a level.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedTable<'a> {
    /// Level that the table is on.
    pub level: u8,
    /// Number in the name of the table's file.
    pub number: u64,
    /// Size that the table's file has to have, in bytes.
    pub size: u64,
    /// First key of the table.
    pub first: InternalKeyParts<'a>,
    /// Last key of the table.
    pub last: InternalKeyParts<'a>,
}

/// The parts of a key as databases store it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InternalKeyParts<'a> {
    /// User key in lowercase hexadecimal.
    pub key: Hex<'a>,
    /// Sequence number of the write.
    pub sequence: u64,
    /// Type of the entry: `value`, `deletion`, or `type N` for one of LevelDB's relatives.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
}

/// The state that the records of a MANIFEST before the first fault lead to.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestState {
    /// Number of records that lead to the state: those before the first fault.
    pub records: u64,
    /// Number of damaged places and of records that contradict other records. Records after the first of
    /// these are shown, but are not part of the state. Faults that LevelDB takes no notice of are not counted.
    pub faults: u64,
    /// Offset of the record within which the file ends. LevelDB uses only the records before it. `None`: the
    /// file ends after a complete record.
    pub torn: Option<u64>,
    /// Comparator that orders the user keys. `None`: no record names it.
    pub comparator: Option<Name>,
    /// Number of the first log whose writes are in no table yet.
    pub log_number: u64,
    /// Number of one more log whose writes are in no table yet; 0: there is no such log.
    pub previous_log_number: u64,
    /// Number for the next new file.
    pub next_file_number: u64,
    /// Greatest sequence number used so far, not counting writes that only logs hold.
    pub last_sequence: u64,
    /// The levels that have tables.
    pub levels: Vec<ManifestLevel>,
}

/// The tables of a level in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestLevel {
    /// The level.
    pub level: u8,
    /// Number of tables on the level.
    pub tables: u64,
    /// Bytes of all tables on the level.
    pub size: u64,
}

/// A result for a MANIFEST: first the records, with the faults among or after them, then the live tables, and the state
/// last.
#[derive(Debug)]
pub enum ManifestLine<'a> {
    /// A record.
    Edit(Subject<'a>, ManifestEdit<'a>),
    /// A part that cannot be read, or a record that contradicts other records. The subject names the file.
    Fault(Subject<'a>, &'a Fault),
    /// A table that is live in the state.
    Table(Subject<'a>, AddedTable<'a>),
    /// The state that the records before the first fault lead to.
    State(Subject<'a>, ManifestState, ManifestSize),
}

/// The size of a MANIFEST.
#[derive(Clone, Debug)]
pub struct ManifestSize {
    /// In bytes. `None`: not known.
    pub len: Option<u64>,
    /// Set if programs notice how much larger it is than it has to be.
    pub huge: Option<HugeManifest>,
}

impl ManifestLine<'_> {
    /// Writes the result as a line of JSON.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_json(&self, to: impl Write) -> io::Result<()> {
        fn framed<T: Serialize>(
            object: &'static str,
            subject: &Subject<'_>,
            of: &T,
            to: impl Write,
        ) -> io::Result<()> {
            write_line(to, &Line { frame: Frame::new(object, subject, None), of })
        }
        match self {
            Self::Edit(subject, of) => framed("edit", subject, of, to),
            Self::Fault(subject, fault) => write_line(to, &FaultData::new(*subject, fault)),
            Self::Table(subject, of) => framed("table", subject, of, to),
            Self::State(subject, of, _) => framed("state", subject, of, to),
        }
    }
}

impl<'a> ManifestEdit<'a> {
    pub(crate) fn new(record: u64, (offset, size): (u64, u64), edit: &'a VersionEdit) -> Self {
        let pointers = edit.compact_pointers.iter();
        let deleted = edit.deleted_tables.iter();
        Self {
            record,
            offset,
            size,
            comparator: edit.comparator.as_deref().map(Name::cut),
            log_number: edit.log_number,
            previous_log_number: edit.prev_log_number,
            next_file_number: edit.next_file_number,
            last_sequence: edit.last_sequence,
            compact_pointers: pointers
                .map(|(level, key)| CompactPointer { level: *level, key: InternalKeyParts::of(key) })
                .collect(),
            deleted: deleted.map(|&(level, number)| DeletedTable { level, number }).collect(),
            added: edit.new_tables.iter().map(AddedTable::of).collect(),
        }
    }
}

impl<'a> AddedTable<'a> {
    pub(crate) fn of(table: &'a LiveTable) -> Self {
        let LiveTable { level, number, size, .. } = *table;
        let [first, last] = [&table.smallest, &table.largest].map(|key| InternalKeyParts::of(key));
        Self { level, number, size, first, last }
    }
}

impl<'a> InternalKeyParts<'a> {
    fn of(key: &'a [u8]) -> Self {
        // The reader rejects keys that are too short to be split.
        let (user_key, tag) = KeyFormat::LevelDb.split(key).unwrap_or((key, 0));
        let version = EntryTag { sequence: tag >> 8, kind: tag as u8 };
        Self { key: Hex(user_key), sequence: version.sequence, kind: version.type_name() }
    }
}

impl ManifestState {
    pub(crate) fn new(manifest: &Manifest, faults: u64) -> Self {
        let mut levels: Vec<ManifestLevel> = Vec::new();
        // The tables are ordered by level.
        for table in manifest.tables() {
            match levels.last_mut().filter(|last| last.level == table.level) {
                Some(last) => {
                    last.tables = last.tables.saturating_add(1);
                    last.size = last.size.saturating_add(table.size);
                }
                None => levels.push(ManifestLevel { level: table.level, tables: 1, size: table.size }),
            }
        }
        Self {
            records: manifest.records(),
            faults,
            torn: manifest.incomplete_tail(),
            comparator: manifest.comparator().map(Name::cut),
            log_number: manifest.log_number(),
            previous_log_number: manifest.prev_log_number(),
            next_file_number: manifest.next_file_number(),
            last_sequence: manifest.last_sequence(),
            levels,
        }
    }
}
