//! The entries of a database.

use std::cmp::Ordering;
use std::path::Path;

use filterblock::database::{Database, EntryFile, Scan, TableStatus};
use filterblock::table::ReadOptions;
use filterblock::{Error, InternalKey};

use super::range::KeyRange;
use super::row::{Fault, Row, Rows, State, Version};

pub(crate) struct DatabaseRows<'d> {
    scan: Scan<'d>,
    range: &'d KeyRange,
    all: bool,
    /// The last entry that was shown. Those up to it are passed over.
    place: Option<Place>,
    is_resumed: bool,
    ended: bool,
}

/// The place of an entry in the order of a database.
pub(crate) struct Place {
    user_key: Vec<u8>,
    sequence: u64,
}

impl Place {
    /// Tells whether this entry is at the place or before it. `all`: of each key, the newest is first.
    fn has_passed(&self, key: &InternalKey<'_>, all: bool) -> bool {
        match key.user_key.cmp(&self.user_key) {
            Ordering::Less => true,
            Ordering::Equal => !all || key.sequence >= self.sequence,
            Ordering::Greater => false,
        }
    }
}

impl<'d> DatabaseRows<'d> {
    /// `all`: all versions instead of the newest of each key. `place`: to go on behind.
    ///
    /// # Errors
    ///
    /// If the keys are not in bytewise order by the MANIFEST.
    pub(crate) fn new(
        database: &'d Database,
        options: &ReadOptions,
        range: &'d KeyRange,
        all: bool,
        place: Option<Place>,
    ) -> Result<Self, Error> {
        let mut scan = if all { database.scan_versions(options)? } else { database.scan(options)? };
        if let Some(start) = place.as_ref().map(|place| &*place.user_key).or(range.start()) {
            scan.seek(start);
        }
        Ok(Self { scan, range, all, is_resumed: place.is_some(), place, ended: false })
    }

    /// The place of the last entry that was shown.
    pub(crate) fn into_place(self) -> Option<Place> {
        self.place
    }
}

impl Rows for DatabaseRows<'_> {
    fn advance(&mut self) -> Result<bool, Fault> {
        while !self.ended && self.scan.next()? {
            let Some(entry) = self.scan.entry() else { break };
            let key = entry.key.user_key;
            self.ended = self.range.is_past(key);
            if self.is_resumed {
                let place = self.place.as_ref();
                if place.is_some_and(|place| place.has_passed(&entry.key, self.all)) {
                    continue;
                }
                self.is_resumed = false;
            }
            // A table whose keys are not in order may have any key here.
            if !self.ended && self.range.contains(key) {
                let place = self.place.get_or_insert_with(|| Place { user_key: Vec::new(), sequence: 0 });
                place.user_key.clear();
                place.user_key.extend_from_slice(key);
                place.sequence = entry.key.sequence;
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
