//! The order of versions: a lookup takes the first version that it finds, so newer ones must come before older ones.
//!
//! Only ranges of keys whose sequence numbers leave that open are read again, of all tables together.

use std::collections::BTreeMap;
use std::{cmp::Ordering, io, path::Path};

use filterblock::database::{
    Database, DatabaseLog, EntryFile, FileKind, FileState, LiveTable, Opener, TableStatus,
};
use filterblock::{escape_path, quote};

use super::doubt::{Place, Range, doubtful, joined};
use super::stretches::Stretch;
use crate::audit::current_manifest::is_goleveldb;
use crate::audit::order::KeyOrder;
use crate::engine::Engine;
use crate::report::{Checked, Code, Problem};
use crate::run::TableFile;
use crate::text::counted;
use crate::walk::{Files, Folder};

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
    stretches: BTreeMap<(FileKind, u64), Vec<Stretch>>,
    memory: usize,
}

impl Versions {
    pub(crate) fn add(&mut self, file: &TableFile, verdict: &mut Checked) {
        let stretches = std::mem::take(&mut verdict.stretches);
        let name = file.path.file_name().and_then(|name| FileKind::parse(name.to_str()?));
        let bytes = stretches.iter().map(Stretch::memory).sum();
        let memory = self.memory.saturating_add(bytes);
        if let Some(name) = name.filter(|_| file.listed && memory <= MAX_MEMORY && !stretches.is_empty()) {
            self.stretches.insert(name, stretches);
            self.memory = memory;
        }
    }

    /// Keys of which a lookup finds an older version first. `None`: there are none, or the folder cannot be judged
    /// without a sound MANIFEST and a known key order.
    pub(crate) fn problem(&self, folder: &Folder, engine: &Engine) -> Option<Problem> {
        let database = folder.database();
        let manifest = database.manifest().ok()?;
        let order = KeyOrder::of(manifest.comparator()?)?;
        let len = |log: DatabaseLog<'_>| if let FileState::Present(file) = log.file { file.len } else { 0 };
        let live_logs = || database.logs().filter(|log| log.is_live);
        let reads_logs = live_logs().map(len).fold(0, u64::saturating_add) <= MAX_LOGS;
        let is_goleveldb = is_goleveldb(folder);
        let logs = live_logs().filter(|_| reads_logs).map(EntryFile::Log);
        let mut items = Vec::new();
        for file in database.tables().map(EntryFile::Table).chain(logs) {
            let name = name_of(&file);
            if let (Some(place), Some(list)) = (place_of(&file, is_goleveldb), self.stretches.get(&name)) {
                items.extend(list.iter().map(|stretch| (place, name.1, stretch)));
            }
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
        Check { database, order, is_goleveldb, engine, reads_logs }.ranges(&ranges)
    }
}

const fn name_of(file: &EntryFile<'_>) -> (FileKind, u64) {
    match file {
        EntryFile::Table(table) => (FileKind::Table, table.number),
        EntryFile::Log(log) => (FileKind::Log, log.number),
    }
}

/// `is_goleveldb`: lookups compare the tables of level 0, whatever their order. `None`: they do not reach the file.
fn place_of(file: &EntryFile<'_>, is_goleveldb: bool) -> Option<Place> {
    match file {
        EntryFile::Log(log) => log.is_live.then(|| (0, u64::MAX.saturating_sub(log.number))),
        EntryFile::Table(table) => match table.status {
            TableStatus::Live(live) if live.level > 0 => Some((live.level.saturating_add(1), 0)),
            TableStatus::Live(_) if is_goleveldb => Some((1, 0)),
            TableStatus::Live(_) => Some((1, u64::MAX.saturating_sub(table.number))),
            _ => None,
        },
    }
}

struct Check<'a> {
    database: &'a Database,
    order: KeyOrder,
    is_goleveldb: bool,
    engine: &'a Engine,
    reads_logs: bool,
}

struct Version {
    number: u64,
    place: Place,
    file: (FileKind, u64),
}

impl Check<'_> {
    fn ranges(&self, ranges: &[Range<'_>]) -> Option<Problem> {
        let opener = TablesAndLogs { files: self.engine.files.clone(), reads_logs: self.reads_logs };
        let options = self.engine.read.clone().comparator(self.order.comparator());
        let mut scan = self.database.scan_versions_with(&options, opener).ok()?;
        let (mut keys, mut errors, mut entries) = (0_u64, 0_u32, 0_u64);
        let mut example = None;
        for (from, to) in ranges {
            scan.seek(from);
            // Of the key that the scan is at.
            let (mut key, mut newest): (Option<Vec<u8>>, Option<Version>) = (None, None);
            loop {
                entries = entries.wrapping_add(1);
                if entries % STEP == 0 && self.engine.progress.is_interrupted() {
                    return None;
                }
                match scan.next() {
                    Ok(true) => {}
                    Ok(false) => break,
                    // The verdicts on tables and logs report errors.
                    Err(_) if errors < MAX_ERRORS => {
                        errors = errors.saturating_add(1);
                        continue;
                    }
                    Err(_) => return None,
                }
                let Some(entry) = scan.entry() else { break };
                let user_key = entry.key.user_key;
                if self.order.compare(user_key, to) == Ordering::Greater {
                    break;
                }
                let Some(place) = place_of(&entry.file, self.is_goleveldb) else { continue };
                let version = Version { number: entry.key.sequence, place, file: name_of(&entry.file) };
                if key.as_deref() != Some(user_key) {
                    let key = key.get_or_insert_default();
                    key.clear();
                    key.extend_from_slice(user_key);
                    newest = Some(version);
                    continue;
                }
                // Each key counts once.
                let is_below = |newest: &mut Version| version.number < newest.number && place < newest.place;
                if let Some(newest) = newest.take_if(is_below) {
                    example.get_or_insert_with(|| self.example(user_key, &newest, &version));
                    keys = keys.saturating_add(1);
                }
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
            let (kind, number) = version.file;
            let mut tables = self.database.tables().filter(|_| kind == FileKind::Table);
            let table = tables.find(|table| table.number == number && table.recorded().is_some());
            let found = table.and_then(|table| Some((table.file.path()?.file_name()?, table.recorded()?)));
            found.map_or_else(
                || kind.file_name(number),
                |(name, live)| format!("{} on level {}", escape_path(Path::new(name)), live.level),
            )
        };
        let expected = format!("number {} of {} above number {}", newer.number, quote(key), older.number);
        (expected, format!("it in {}, below {}", name(newer), name(older)))
    }
}

/// Opens logs only if they are to be read.
struct TablesAndLogs {
    files: Files,
    reads_logs: bool,
}

impl Opener for TablesAndLogs {
    type Table = <Files as Opener>::Table;
    type Log = <Files as Opener>::Log;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        self.files.open_table(path)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        self.files.version(table)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        match self.reads_logs {
            true => self.files.open_log(path),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
