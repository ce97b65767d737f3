//! The order of versions: a lookup takes the first version that it finds, so newer ones must come before older ones.
//!
//! Only ranges of keys whose sequence numbers leave that open are read again, of all tables together.

use std::collections::BTreeMap;
use std::{cmp::Ordering, io, path::Path};

use filterblock::database::{
    Database, DatabaseLog, DatabaseTable, EntryFile, FileKind, FileState, LiveTable, Opener, TableStatus,
};
use filterblock::quote;
use filterblock::table::ReadOptions;

use super::doubt::{Place, Range, doubtful, joined};
use super::stretches::Stretch;
use crate::audit::current_manifest::is_goleveldb;
use crate::audit::order::KeyOrder;
use crate::engine::Engine;
use crate::report::{Checked, Code, Problem};
use crate::run::TableFile;
use crate::walk::Folder;
use crate::words::counted;

/// Bytes of the stretches of all tables and logs. Further tables are not judged.
const MAX_MEMORY: usize = 64 << 20;
/// Tables open at a time. Folders with more are not judged.
const MAX_TABLES: usize = 1 << 12;
/// Bytes of logs to read again, because their writes are kept in memory.
const MAX_LOGS: u64 = 64 << 20;
/// Tables to open to move to ranges of keys. Ranges are joined if there are more.
const MAX_OPENED: usize = 1 << 16;
/// Errors that end the reading.
const MAX_ERRORS: u32 = 1 << 10;
/// Entries between two checks for an interrupt.
const STEP: u64 = 1 << 12;

/// The sequence numbers of the tables and logs of one folder.
#[derive(Default)]
pub(crate) struct Versions {
    tables: BTreeMap<u64, Vec<Stretch>>,
    logs: BTreeMap<u64, Vec<Stretch>>,
    memory: usize,
}

impl Versions {
    pub(crate) fn add(&mut self, file: &TableFile, verdict: &mut Checked) {
        let stretches = std::mem::take(&mut verdict.stretches);
        if !file.listed {
            return;
        }
        let name = file.path.file_name().and_then(|name| FileKind::parse(name.to_str()?));
        let bytes = stretches.iter().map(Stretch::memory).sum();
        let memory = self.memory.saturating_add(bytes);
        if memory > MAX_MEMORY || stretches.is_empty() {
            return;
        }
        match name {
            Some((FileKind::Table, number)) => self.tables.insert(number, stretches),
            Some((FileKind::Log, number)) => self.logs.insert(number, stretches),
            _ => return,
        };
        self.memory = memory;
    }

    /// Keys of which a lookup finds an older version first. `None`: there are none, or the folder cannot be judged
    /// without a sound MANIFEST and a known key order.
    pub(crate) fn problem(&self, folder: &Folder, engine: &Engine) -> Option<Problem> {
        let database = folder.database();
        let manifest = database.manifest().ok()?;
        let order = KeyOrder::of(manifest.comparator()?)?;
        let places = Places { is_goleveldb: is_goleveldb(folder) };
        let mut items = Vec::new();
        for table in database.tables() {
            if let (Some(place), Some(list)) = (places.of_table(&table), self.tables.get(&table.number)) {
                items.extend(list.iter().map(|stretch| (place, table.number, stretch)));
            }
        }
        let logs = || database.logs().filter(|log| log.is_live);
        let len = |log: DatabaseLog<'_>| if let FileState::Present(file) = log.file { file.len } else { 0 };
        let reads_logs = logs().map(len).fold(0, u64::saturating_add) <= MAX_LOGS;
        for log in logs().filter(|_| reads_logs) {
            let list = self.logs.get(&log.number).into_iter().flatten();
            items.extend(list.map(|stretch| (places.of_log(log.number), log.number, stretch)));
        }
        // The other tables of a level are opened one after the other.
        let is_alone = |live: &LiveTable| live.level == 0 || manifest.overlapped_by(live).is_some();
        let alone = database.tables().filter(|table| table.recorded().is_none_or(is_alone));
        let runs = alone.count().saturating_add(8);
        let ranges = doubtful(items, order);
        if ranges.is_empty() || runs > MAX_TABLES {
            return None;
        }
        let ranges = joined(ranges, MAX_OPENED / runs);
        let options = engine.read.clone().comparator(order.comparator());
        let check = Check { database, order, places, engine, options: &options, reads_logs };
        check.ranges(engine.files.clone(), &ranges)
    }
}

struct Places {
    /// goleveldb's lookups compare the tables of level 0, whatever their order.
    is_goleveldb: bool,
}

impl Places {
    const fn of_log(&self, number: u64) -> Place {
        (0, u64::MAX.saturating_sub(number))
    }

    /// `None`: lookups do not reach the table.
    fn of_table(&self, table: &DatabaseTable<'_>) -> Option<Place> {
        let TableStatus::Live(live) = table.status else { return None };
        Some(match live.level {
            0 if self.is_goleveldb => (1, 0),
            0 => (1, u64::MAX.saturating_sub(table.number)),
            level => (level.saturating_add(1), 0),
        })
    }

    fn of(&self, file: &EntryFile<'_>) -> Option<Place> {
        match file {
            EntryFile::Log(log) => log.is_live.then(|| self.of_log(log.number)),
            EntryFile::Table(table) => self.of_table(table),
        }
    }
}

struct Check<'a> {
    database: &'a Database,
    order: KeyOrder,
    places: Places,
    engine: &'a Engine,
    options: &'a ReadOptions,
    reads_logs: bool,
}

struct Version {
    number: u64,
    place: Place,
    file: u64,
}

impl Check<'_> {
    fn ranges<O: Opener>(&self, opener: O, ranges: &[Range<'_>]) -> Option<Problem> {
        let opener = TablesAndLogs { opener, reads_logs: self.reads_logs };
        let mut scan = self.database.scan_versions_with(self.options, opener).ok()?;
        let (mut keys, mut errors, mut entries) = (0_u64, 0_u32, 0_u64);
        let mut example = None;
        for (from, to) in ranges {
            scan.seek(from);
            // Of the key that the scan is at.
            let (mut key, mut newest): (Option<Vec<u8>>, Option<Version>) = (None, None);
            loop {
                entries = entries.wrapping_add(1);
                if entries % STEP == 0 && self.engine.watch.is_interrupted() {
                    return None;
                }
                match scan.next() {
                    Ok(true) => {}
                    Ok(false) => break,
                    // The verdicts on tables and logs report errors.
                    Err(_) => {
                        errors = errors.saturating_add(1);
                        if errors > MAX_ERRORS {
                            return None;
                        }
                        continue;
                    }
                }
                let Some(entry) = scan.entry() else { break };
                let user_key = entry.key.user_key;
                if self.order.compare(user_key, to) == Ordering::Greater {
                    break;
                }
                let Some(place) = self.places.of(&entry.file) else { continue };
                let file = match entry.file {
                    EntryFile::Table(table) => table.number,
                    EntryFile::Log(log) => log.number,
                };
                let version = Version { number: entry.key.sequence, place, file };
                let is_same = key.as_deref() == Some(user_key);
                match &newest {
                    Some(newest) if is_same && version.number < newest.number && place < newest.place => {
                        example.get_or_insert_with(|| self.example(user_key, newest, &version));
                        keys = keys.saturating_add(1);
                    }
                    _ if is_same => continue,
                    _ => {
                        let key = key.get_or_insert_default();
                        key.clear();
                        key.extend_from_slice(user_key);
                        newest = Some(version);
                        continue;
                    }
                }
                // Each key counts once.
                newest = None;
            }
        }
        let (expected, found) = example?;
        let text = format!(
            "a newer version of {} lies below an older one: LevelDB's lookups return the older",
            counted(keys, "key")
        );
        Some(Problem::new(Code::NewerBelow, None, expected, found).meaning(&text))
    }

    /// Expected and found.
    fn example(&self, key: &[u8], newer: &Version, older: &Version) -> (String, String) {
        let name = |version: &Version| {
            let live = |table: &DatabaseTable<'_>| table.number == version.file && table.recorded().is_some();
            let table = self
                .database
                .tables()
                .find(live)
                .filter(|_| version.place != self.places.of_log(version.file));
            let path = table.and_then(|table| table.file.path()).and_then(Path::file_name);
            match (path, table.and_then(|table| table.recorded())) {
                (Some(name), Some(live)) => {
                    format!("{} on level {}", filterblock::escape_path(Path::new(name)), live.level)
                }
                _ => FileKind::Log.file_name(version.file),
            }
        };
        let expected = format!("number {} of {} above number {}", newer.number, quote(key), older.number);
        (expected, format!("it in {}, below {}", name(newer), name(older)))
    }
}

/// Opens logs only if they are to be read.
struct TablesAndLogs<O> {
    opener: O,
    reads_logs: bool,
}

impl<O: Opener> Opener for TablesAndLogs<O> {
    type Table = O::Table;
    type Log = O::Log;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        self.opener.open_table(path)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        self.opener.version(table)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        match self.reads_logs {
            true => self.opener.open_log(path),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
