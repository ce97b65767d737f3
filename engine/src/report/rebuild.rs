//! What becomes of a database that is rebuilt.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::error_kind::ErrorKind;
use super::frame::{Frame, Framed};
use super::line::write_line;
use super::strings::{json_name, json_path};
use super::subject::Subject;

/// The outcome for a database.
#[derive(Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// What became of it.
    pub status: RebuildStatus,
    /// The reason why nothing did.
    pub error: Option<String>,
    /// All tables in numbers.
    #[serde(flatten)]
    pub sums: Sums,
    /// The name of the policy of the new filters; `None` if filters were dropped.
    pub policy: Option<String>,
    /// The new MANIFEST's name; `None` if nothing was written.
    pub manifest: Option<String>,
    /// The new tables were verified.
    pub verified: bool,
    /// The new database, if it is a second one.
    #[serde(serialize_with = "path")]
    pub target: Option<PathBuf>,
    /// The folder that `--undo` uses.
    #[serde(serialize_with = "path")]
    pub undo: Option<PathBuf>,
    /// By level, then by number. Each is a line of its own.
    #[serde(skip)]
    pub tables: Vec<TableReport>,
    /// Good to know: what was cleared away, and what could not be after the commit.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The kind of fault in the files, if there is one.
    #[serde(skip)]
    pub error_kind: Option<ErrorKind>,
}

/// What became of a database.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RebuildStatus {
    /// Its tables, or those of a second one, have new filters.
    #[default]
    Rebuilt,
    /// Nothing was written: this is what would become of it.
    DryRun,
    /// The tables are those from before a rebuild.
    Undone,
    /// The tables from before a rebuild are gone.
    Discarded,
    /// Nothing but an earlier run was finished, which had been cut off.
    Finished,
    /// What was found or asked for does not allow it.
    Refused,
    /// Another program has the database open.
    InUse,
    /// The system, or a file that cannot be read, does not allow it.
    Failed,
    /// A signal asked the program to stop.
    Interrupted,
}

/// All tables of a report in numbers. Sizes are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sums {
    /// Their number.
    pub tables: u64,
    /// Those that were left as they are.
    pub kept: u64,
    /// The size of their files before.
    pub old_size: u64,
    /// The same afterwards.
    pub new_size: u64,
    /// The size of their filter blocks before.
    pub old_filter_size: u64,
    /// The same afterwards.
    pub new_filter_size: u64,
}

/// The outcome for a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableReport {
    /// What became of it.
    pub status: TableStatus,
    /// The reason why it was left as it is.
    pub error: Option<String>,
    /// Its level.
    pub level: u8,
    /// The file's name afterwards.
    pub new_name: String,
    /// The number of entries; `None` if none was decoded.
    pub entries: Option<u64>,
    /// The file's size in bytes before.
    pub old_size: u64,
    /// The same afterwards.
    pub new_size: u64,
    /// The filters before.
    #[serde(rename = "old_filter")]
    pub old_filters: Option<FiltersReport>,
    /// The filters afterwards.
    #[serde(rename = "new_filter")]
    pub new_filters: Option<FiltersReport>,
    /// The file's name before.
    #[serde(skip)]
    pub old_name: String,
    /// The kind of fault for which it was left as it is.
    #[serde(skip)]
    pub error_kind: Option<ErrorKind>,
}

/// What became of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TableStatus {
    /// It has other filters.
    Rebuilt,
    /// It was left as it is.
    Kept,
}

/// The filters of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FiltersReport {
    /// The policy's name, escaped.
    #[serde(serialize_with = "name")]
    pub policy: String,
    /// The filter block's size in bytes.
    pub size: u64,
    /// `None` if the filter block is malformed.
    pub base_lg: Option<u8>,
    /// `None` if it is not known.
    pub bits_per_key: Option<u32>,
}

fn path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(json_path).serialize(serializer)
}

fn name<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
    json_name(name.as_bytes()).serialize(serializer)
}

impl Report {
    /// Puts the tables in order, and adds them up.
    pub(crate) fn conclude(&mut self) {
        self.tables.sort_by(|a, b| (a.level, &a.new_name).cmp(&(b.level, &b.new_name)));
        let sum = |of: fn(&TableReport) -> u64| self.tables.iter().map(of).fold(0, u64::saturating_add);
        self.sums = Sums {
            tables: self.tables.len() as u64,
            kept: sum(|table| u64::from(table.status == TableStatus::Kept)),
            old_size: sum(|table| table.old_size),
            new_size: sum(|table| table.new_size),
            old_filter_size: sum(|table| table.old_filters.as_ref().map_or(0, |filters| filters.size)),
            new_filter_size: sum(|table| table.new_filters.as_ref().map_or(0, |filters| filters.size)),
        };
    }

    /// Writes a line of JSON for each table, and then one for the database at `dir`.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_json(&self, dir: &Path, mut to: impl Write) -> io::Result<()> {
        let subject = Subject::of(dir);
        for of in &self.tables {
            let path = dir.join(&of.old_name);
            let frame = Frame::new("table", &Subject { path: &path, ..subject }, of.error_kind);
            write_line(&mut to, &Framed { frame, of })?;
        }
        let frame = Frame::new("database", &subject, self.error_kind).note(self.notes.iter().cloned());
        write_line(to, &Framed { frame, of: self })
    }
}
