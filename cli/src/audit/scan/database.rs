//! The entries of a database.

use std::path::Path;

use filterblock::Error;
use filterblock::database::{Database, EntryFile, Scan, TableStatus};
use filterblock::table::ReadOptions;

use super::range::KeyRange;
use super::row::{Fault, Row, Rows, State, Version};

pub(crate) struct DatabaseRows<'d> {
    scan: Scan<'d>,
    range: &'d KeyRange,
    ended: bool,
}

impl<'d> DatabaseRows<'d> {
    /// `all`: all versions instead of the newest of each key.
    ///
    /// # Errors
    ///
    /// If the keys are not in bytewise order by the MANIFEST.
    pub(crate) fn new(
        database: &'d Database,
        options: &ReadOptions,
        range: &'d KeyRange,
        all: bool,
    ) -> Result<Self, Error> {
        let mut scan = if all { database.scan_versions(options)? } else { database.scan(options)? };
        if let Some(start) = range.start() {
            scan.seek(start);
        }
        Ok(Self { scan, range, ended: false })
    }
}

impl Rows for DatabaseRows<'_> {
    fn advance(&mut self) -> Result<bool, Fault> {
        while !self.ended && self.scan.next()? {
            let Some(entry) = self.scan.entry() else { break };
            let key = entry.key.user_key;
            self.ended = self.range.is_past(key);
            // A table whose keys are not in order may have any key here.
            if !self.ended && self.range.contains(key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> Option<Row<'_>> {
        self.scan.entry().map(|entry| Row {
            path: entry.file.path().unwrap_or(Path::new("")),
            offset: entry.offset,
            state: state(entry.file),
            key: entry.key.user_key,
            version: Some(Version { sequence: entry.key.sequence, kind: entry.key.kind }),
            value: entry.value,
        })
    }
}

const fn state(file: EntryFile<'_>) -> State {
    match file {
        EntryFile::Log(log) if log.is_live => State::Log,
        EntryFile::Log(_) => State::Obsolete,
        EntryFile::Table(table) => match table.status {
            TableStatus::Live(_) => State::Live,
            TableStatus::Obsolete => State::Obsolete,
            TableStatus::Unlisted => State::Unlisted,
            _ => State::Unknown,
        },
    }
}
