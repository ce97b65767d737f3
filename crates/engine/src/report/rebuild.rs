//! The outcome of a rebuild, for a database and for each of its tables.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::frame::{ErrorKind, Frame, Line, Subject};
use super::strings::{json_name, json_path, write_line};

/// The outcome for a database.
#[derive(Default, Debug)]
pub struct RebuildReport {
    /// The database as a whole.
    pub data: RebuildData,
    /// The tables by level, then by the name of the new file.
    pub tables: Vec<RebuiltTable>,
    /// Facts that are good to know, such as the files that were cleared away, and those that could not be
    /// cleared away after the commit.
    pub notes: Vec<String>,
    /// Why the run did not succeed. If the run had begun to change the database, also the state that the
    /// database is in. `None`: the run succeeded.
    pub error: Option<String>,
    /// The kind of fault in the files, if there is one.
    pub error_kind: Option<ErrorKind>,
}

/// The line of JSON of a database.
#[derive(Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RebuildData {
    /// `rebuilt`, `dry-run`, `undone` and `discarded`: the run did just that. `finished`: it only completed
    /// an earlier run that had been cut off. `refused`: the request or the state of the files does not allow
    /// it. `in-use`: another program has the database open. `interrupted`: a signal ended the run. `failed`:
    /// any other error.
    pub status: RebuildStatus,
    /// All tables in numbers.
    #[serde(flatten)]
    pub sums: RebuildSums,
    /// Name of the policy of the new filters. `None`: filters were dropped, or no filters were made.
    pub policy: Option<String>,
    /// Name of the MANIFEST that CURRENT names now, with `--to` in the new database. `None`: this run
    /// committed nothing, or did not succeed.
    pub manifest: Option<String>,
    /// Folder of the new database, with `--to`. `None`: no new database was made, or the run did not succeed.
    #[serde(serialize_with = "path")]
    pub target: Option<PathBuf>,
    /// Folder that keeps the tables from before the rebuild until `--undo` or `--discard`. `None`: there is
    /// no such folder, or the run did not rebuild a database in place.
    #[serde(serialize_with = "path")]
    pub undo: Option<PathBuf>,
}

/// The outcome for a database, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RebuildStatus {
    /// Filters were made anew or dropped, in the database or in a new copy of it.
    #[default]
    Rebuilt,
    /// Nothing was written: the report shows what a rebuild would do.
    DryRun,
    /// The tables are again those from before a rebuild.
    Undone,
    /// The tables that were kept from before a rebuild are gone.
    Discarded,
    /// This run only completed an earlier one that had been cut off.
    Finished,
    /// The request or the state of the files does not allow the run.
    Refused,
    /// Another program has the database open.
    InUse,
    /// A signal asked the program to stop.
    Interrupted,
    /// An error of the system, a file that cannot be read, or wrong new filters prevented the run.
    Failed,
}

/// All tables of a report in numbers. Sizes are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RebuildSums {
    /// Number of tables. 0 unless `status` is `rebuilt` or `dry-run`.
    pub tables: u64,
    /// Number of tables that were left as they are. 0 if `tables` is 0.
    pub unchanged: u64,
    /// Bytes of all tables before the rebuild. 0 if `tables` is 0.
    pub old_size: u64,
    /// Bytes of all tables after the rebuild. 0 if `tables` is 0.
    pub new_size: u64,
    /// Bytes of all filter blocks before the rebuild. 0 if `tables` is 0.
    pub old_filter_size: u64,
    /// Bytes of all filter blocks after the rebuild. 0 if `tables` is 0.
    pub new_filter_size: u64,
}

/// The outcome for a table.
#[derive(Debug)]
pub struct RebuiltTable {
    /// The file's name before the rebuild.
    pub old_name: String,
    /// What became of it.
    pub data: RebuiltData,
    /// Why the table was left as it is. `None`: it was rebuilt.
    pub error: Option<String>,
    /// The kind of fault for which the table was left as it is. `None`: the table was not left for a fault.
    pub error_kind: Option<ErrorKind>,
}

/// The line of JSON of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RebuiltData {
    /// `rebuilt`: the table was rewritten or, with `--dry-run`, would be. `unchanged`: it was left as it is,
    /// because of `--keep-undecodable`.
    pub status: RebuiltStatus,
    /// Level that the MANIFEST has the table on.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub level: u8,
    /// Name of the new file, in the same folder with `--in-place` and in `target` with `--to`. `path` is the
    /// old file, which is gone after `--in-place`.
    pub new_name: String,
    /// Number of entries. `None`: the filters were dropped, so that no entry was decoded, or the table was
    /// left as it is.
    pub entries: Option<u64>,
    /// Size of the old file in bytes.
    pub old_size: u64,
    /// Size of the new file in bytes.
    pub new_size: u64,
    /// The filter block before the rebuild. `None`: the table had no filter block, or could not be opened.
    #[serde(rename = "old_filter")]
    pub old_filters: Option<FiltersReport>,
    /// The filter block after the rebuild. `None`: the table has no filter block, or it was left as it is and
    /// could not be opened.
    #[serde(rename = "new_filter")]
    pub new_filters: Option<FiltersReport>,
}

/// The outcome for a table, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RebuiltStatus {
    /// The table was rewritten or, with `--dry-run`, would be.
    Rebuilt,
    /// The table was left as it is.
    Unchanged,
}

/// The filters of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FiltersReport {
    /// Name of the filter policy, without `filter.`
    #[serde(serialize_with = "name")]
    pub policy: String,
    /// Size of the filter block in bytes.
    pub size: u64,
    /// A filter covers the data blocks that begin in a range of 2^base_lg bytes. `None`: the filter block is
    /// malformed, or of no known policy.
    pub base_lg: Option<u8>,
    /// Bits a key that the filters were made with. `None`: not known, as for every filter from before the
    /// rebuild.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: Option<u32>,
}

fn path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(json_path).serialize(serializer)
}

fn name<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
    json_name(name.as_bytes()).serialize(serializer)
}

impl RebuildReport {
    pub(crate) fn conclude(&mut self) {
        self.tables.sort_by(|RebuiltTable { data: a, .. }, RebuiltTable { data: b, .. }| {
            (a.level, &a.new_name).cmp(&(b.level, &b.new_name))
        });
        let tables = || self.tables.iter().map(|table| &table.data);
        let sum = |of: fn(&RebuiltData) -> u64| tables().map(of).fold(0, u64::saturating_add);
        self.data.sums = RebuildSums {
            tables: self.tables.len() as u64,
            unchanged: sum(|table| u64::from(table.status == RebuiltStatus::Unchanged)),
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
        for table in &self.tables {
            let path = dir.join(&table.old_name);
            let frame = Frame::new("table", &Subject { path: &path, ..subject }, table.error_kind);
            let frame = frame.error(table.error.as_deref());
            write_line(&mut to, &Line { frame, of: &table.data })?;
        }
        let frame = Frame::new("database", &subject, self.error_kind).error(self.error.as_deref());
        let frame = frame.note(self.notes.iter().cloned());
        write_line(to, &Line { frame, of: &self.data })
    }
}
