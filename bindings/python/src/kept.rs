//! A database that is opened once and kept: its MANIFEST, the writes of its logs, and its tables. What changes on disk
//! is noticed by the times and sizes of a few files, and read anew.

use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use filterblock::database::{Database, DatabaseTable, FileKind, LiveWrites, Opener};
use filterblock::table::{
    BytewiseComparator, Comparator as _, Lookup, ReadOptions, Table, TableIndex, known_comparator,
};
use filterblock::{Error, Result};
use filterblock_engine::report::{ErrorKind, Fault};
use filterblock_engine::{
    Engine, Files, KeyOrder, Sequential, SharedFile, Source, Windowed, contradicted, read_options,
};

use crate::lookup::value_of;
use crate::stream::{Stream, Streams};

/// The most tables that a database keeps open, with their indexes and filters in memory.
const MAX_TABLES: usize = 128;
/// The most times that a database is read anew in a row because a table vanished.
pub(crate) const MAX_ROUNDS: u32 = 16;
/// A folder whose time of change is younger than this may change again under the same time.
const SETTLED: Duration = Duration::from_millis(100);
/// Like [`SETTLED`], where file systems have times in whole seconds.
const SETTLED_COARSE: Duration = Duration::from_secs(3);

/// The files of all databases and scans.
pub(crate) static FILES: LazyLock<Files> = LazyLock::new(Files::default);

/// A database, and what is known of it.
pub(crate) struct OpenDatabase {
    pub(crate) path: PathBuf,
    /// The order that the caller says keys are in, for a database without a sound MANIFEST.
    pub(crate) order: Option<KeyOrder>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: Option<Arc<Version>>,
    is_closed: bool,
    /// The iterators, which end with the database.
    streams: Streams,
}

/// The result of looking a key up.
pub(crate) enum Found {
    Value(Option<Bytes>),
    /// A table that the lookup came to is not the one that the MANIFEST means, or a newer value may be missing.
    Contradicted(Fault),
    /// There is no MANIFEST that can be relied on, and the caller has not given the order.
    NoManifest(Arc<Version>),
    Closed,
}

/// A database as it was at one time.
pub(crate) struct Version {
    pub(crate) database: Arc<Database>,
    pub(crate) options: ReadOptions,
    /// True if the user keys are in bytewise order.
    pub(crate) is_bytewise: bool,
    /// True if the order is known, and there is a MANIFEST that can be relied on.
    pub(crate) is_ordered: bool,
    /// `None`: the logs are damaged, or the order is not known.
    pub(crate) writes: Option<LiveWrites>,
    /// The live tables whose sizes contradict the MANIFEST, by number.
    pub(crate) contradicted: Vec<(u64, Fault)>,
    /// The faults of the database as a whole, found when they are needed.
    state_faults: OnceLock<Vec<Fault>>,
    tables: Tables,
    stamp: FolderStamp,
}

pub(crate) type KeptTable = Table<SharedFile>;

/// Open tables, the one used last at the end.
#[derive(Clone, Default)]
struct Tables(Arc<Mutex<VecDeque<NamedTable>>>);

type NamedTable = (PathBuf, Arc<KeptTable>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenDatabase {
    pub(crate) fn new(path: PathBuf, order: Option<KeyOrder>) -> Self {
        Self { path, order, state: Mutex::default() }
    }

    /// Returns the database as it is now. `None` if it is closed.
    pub(crate) fn now(&self) -> Result<Option<Arc<Version>>> {
        let state = lock(&self.state);
        if state.is_closed {
            return Ok(None);
        }
        let before = state.now.clone();
        drop(state);
        if let Some(version) = before.as_ref().filter(|version| version.stamp.is_current()) {
            return Ok(Some(Arc::clone(version)));
        }
        let version = Arc::new(Version::open(&self.path, before.as_deref(), self.order)?);
        let mut state = lock(&self.state);
        if !state.is_closed {
            state.now = Some(Arc::clone(&version));
        }
        Ok(Some(version))
    }

    /// Makes the next call of [`now`](Self::now) read everything anew.
    pub(crate) fn forget(&self) {
        lock(&self.state).now = None;
    }

    /// Registers the iterator, so that [`close`](Self::close) returns it to be closed.
    pub(crate) fn add(&self, stream: &Arc<Mutex<Stream>>) {
        lock(&self.state).streams.add(stream);
    }

    /// Gives all files back. Returns the iterators, to be closed.
    pub(crate) fn close(&self) -> Vec<Arc<Mutex<Stream>>> {
        let mut state = lock(&self.state);
        state.is_closed = true;
        let version = state.now.take();
        let streams = state.streams.take();
        drop(state);
        drop(version);
        streams
    }

    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    /// Looks a key up.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Found> {
        let mut rounds = 0;
        loop {
            let Some(version) = self.now()? else { return Ok(Found::Closed) };
            if version.database.manifest().is_err() && self.order.is_none() {
                return Ok(Found::NoManifest(version));
            }
            if let Some(fault) = version.state_faults().first() {
                return Ok(Found::Contradicted(fault.clone()));
            }
            match version.get(key) {
                // A table was replaced in the meantime.
                Err(error) if rounds < MAX_ROUNDS && version.has_vanished(&error) => {
                    rounds += 1;
                    self.forget();
                }
                Ok(found) => return Ok(Found::Value(value_of(found))),
                Err(error) => {
                    let contradicted = version.contradiction(&error).cloned();
                    return contradicted.map_or(Err(error), |fault| Ok(Found::Contradicted(fault)));
                }
            }
        }
    }
}

impl Version {
    fn open(path: &Path, before: Option<&Self>, order: Option<KeyOrder>) -> Result<Self> {
        // The stamp is made first, so that all that is read is at least as new.
        let mut stamp =
            FolderStamp::of(before.map_or_else(|| vec![path.to_owned()], |before| before.stamp.paths()));
        let mut rounds = 0;
        loop {
            let database = Database::open(path)?;
            let paths = stamped(path, &database);
            if !stamp.is_of(&paths) {
                if rounds < 3 {
                    rounds += 1;
                    stamp = FolderStamp::of(paths);
                    continue;
                }
                // Files come and go: the database is read anew the next time.
                stamp.is_settled = false;
            }
            return Ok(Self::new(database, stamp, order));
        }
    }

    fn new(database: Database, stamp: FolderStamp, order: Option<KeyOrder>) -> Self {
        let claimed = || order.map(|order| order.comparator());
        let known = database.comparator().map_or_else(claimed, known_comparator);
        let is_bytewise = known.as_ref().is_none_or(|order| order.name() == BytewiseComparator.name());
        let is_ordered = database.manifest().is_ok()
            && (known.is_some()
                || database.comparator().is_none_or(|name| name == BytewiseComparator.name().as_bytes()));
        let options = read_options().max_output(256 << 20).max_output_factor(100);
        let options = match known {
            Some(order) if !is_bytewise => options.comparator(order),
            _ => options,
        };
        let writes = database.live_writes(&options, FILES.clone()).ok();
        let contradicted = contradicted(&database, &mut FILES.clone());
        Self {
            database: Arc::new(database),
            options,
            is_bytewise,
            is_ordered,
            writes,
            contradicted,
            state_faults: OnceLock::new(),
            tables: Tables::default(),
            stamp,
        }
    }

    /// Returns the opener of this database's files for a scan.
    pub(crate) fn opener(&self) -> KeptOpener {
        KeptOpener { files: FILES.clone(), tables: self.tables.clone(), options: self.table_options() }
    }

    /// The faults of the database as a whole, because of which newer values may be missing.
    pub(crate) fn state_faults(&self) -> &[Fault] {
        self.state_faults.get_or_init(|| Engine::new().state_faults(self.database.dir()))
    }

    /// The fault of a table whose size contradicts the MANIFEST, if the error of a lookup is about such a table. When a
    /// lookup comes to such a table, the library refuses the table, as it refuses a missing one.
    pub(crate) fn contradiction(&self, error: &Error) -> Option<&Fault> {
        let path = error.path()?;
        let of_table = |(_, fault): &&(u64, Fault)| fault.path.as_deref() == Some(path);
        self.contradicted.iter().find(of_table).map(|(_, fault)| fault)
    }

    fn table_options(&self) -> ReadOptions {
        self.options.clone().internal_keys(true)
    }

    fn get(&self, key: &[u8]) -> Result<Lookup> {
        let Some(writes) = self.writes.as_ref().filter(|_| self.is_ordered && self.is_bytewise) else {
            return self.database.get(key, &self.options);
        };
        if let Some(found) = writes.get(key) {
            return Ok(found);
        }
        for table in self.database.tables_for(key) {
            let is_sound = !self.contradicted.iter().any(|(number, _)| *number == table.number);
            let opened = if is_sound { self.table(&table)? } else { None };
            // The library says what is wrong.
            let Some(table) = opened else { return self.database.get(key, &self.options) };
            match table.get_at(key, u64::MAX)? {
                Lookup::Absent => {}
                found => return Ok(found),
            }
        }
        Ok(Lookup::Absent)
    }

    /// Returns an opened table of the database. `None` if it has no file that opens.
    fn table(&self, table: &DatabaseTable<'_>) -> Result<Option<Arc<KeptTable>>> {
        let Some(path) = table.file.path() else { return Ok(None) };
        if let Some(table) = self.tables.get(path) {
            return Ok(Some(table));
        }
        let Ok(file) = FILES.open(path) else { return Ok(None) };
        self.tables.open(path, file, &self.table_options()).map(Some)
    }

    /// Returns true if `error` is about a table that was there when the folder was listed, and is gone.
    pub(crate) fn has_vanished(&self, error: &Error) -> bool {
        let fault = Fault::from(error);
        let Some(path) = fault.path.filter(|_| fault.kind == ErrorKind::Missing) else { return false };
        !self.database.missing().any(|table| self.database.table_path(table.number) == *path)
    }
}

impl Tables {
    fn get(&self, path: &Path) -> Option<Arc<KeptTable>> {
        let mut tables = lock(&self.0);
        let at = tables.iter().rposition(|(known, _)| known == path)?;
        if at + 1 == tables.len() {
            return tables.back().map(|(_, table)| Arc::clone(table));
        }
        let found = tables.remove(at)?;
        let table = Arc::clone(&found.1);
        tables.push_back(found);
        Some(table)
    }

    fn open(&self, path: &Path, file: SharedFile, options: &ReadOptions) -> Result<Arc<KeptTable>> {
        let table = Table::open(file, options).map_err(|error| error.with_path(path))?.with_path(path);
        let table = Arc::new(table);
        let mut tables = lock(&self.0);
        let oldest = (tables.len() >= MAX_TABLES).then(|| tables.pop_front());
        tables.push_back((path.to_owned(), Arc::clone(&table)));
        drop(tables);
        drop(oldest);
        Ok(table)
    }
}

/// Opens the files of a database that is kept.
#[derive(Clone)]
pub(crate) struct KeptOpener {
    files: Files,
    tables: Tables,
    options: ReadOptions,
}

impl Opener for KeptOpener {
    type Table = Windowed<SharedFile>;
    type Log = Sequential<Box<dyn Source>>;

    fn open_table(&mut self, path: &Path) -> std::io::Result<Self::Table> {
        // A table that was opened before is the same file, or is found to be gone when it is read.
        let kept = self.tables.get(path).map(|table| table.source().clone());
        let file = kept.map_or_else(|| self.files.open(path), Ok)?;
        Ok(self.files.in_order(file))
    }

    fn open_log(&mut self, path: &Path) -> std::io::Result<Self::Log> {
        self.files.open_log(path)
    }

    fn version(&mut self, table: &Self::Table) -> std::io::Result<Vec<u8>> {
        self.files.version(table)
    }

    fn index(&mut self, table: &Self::Table) -> Option<Arc<TableIndex>> {
        let table = table.source();
        let kept = self.tables.get(table.path()).filter(|kept| kept.source().is_same(table));
        // A table that cannot be opened is opened again by the scan, which reports the reason.
        let kept = kept.or_else(|| self.tables.open(table.path(), table.clone(), &self.options).ok())?;
        Some(kept.index_part())
    }
}

/// Returns the files whose changes reveal that a database has changed: the folder, where every new or removed file
/// shows, and the live logs, which grow. If the MANIFEST is damaged or has an incomplete end, all MANIFESTs are among
/// them.
///
/// CURRENT is only ever replaced, which changes the folder. What is appended to a sound MANIFEST says which tables
/// take the place of logs or of other tables. Until the replaced ones are removed, which changes the folder, they
/// give the same answers.
fn stamped(path: &Path, database: &Database) -> Vec<PathBuf> {
    let is_whole = database.manifest().is_ok_and(|manifest| manifest.incomplete_tail().is_none());
    let manifests = database.files().of_kind(FileKind::Manifest).filter(|_| !is_whole);
    let manifests = manifests.map(|file| file.path.clone());
    let logs = database.logs().filter(|log| log.is_live);
    let logs = logs.filter_map(|log| log.file.path().map(Path::to_owned));
    std::iter::once(path.to_owned()).chain(manifests).chain(logs).collect()
}

/// Sizes, times and identities of files.
struct FolderStamp {
    files: Vec<(PathBuf, Option<Mark>)>,
    /// True if no change can have been missed because it left the same time.
    is_settled: bool,
}

#[derive(PartialEq, Eq)]
struct Mark {
    is_folder: bool,
    len: u64,
    modified: Option<SystemTime>,
    node: (u64, u64),
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let is_folder = found.is_dir();
        // The size of a folder says nothing.
        let len = if is_folder { 0 } else { found.len() };
        Some(Self { is_folder, len, modified: found.modified().ok(), node: node(&found) })
    }
}

#[cfg(unix)]
fn node(found: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn node(found: &Metadata) -> (u64, u64) {
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let created = found.created().ok().and_then(since).unwrap_or_default();
    (created.as_secs(), u64::from(created.subsec_nanos()))
}

impl FolderStamp {
    fn of(paths: Vec<PathBuf>) -> Self {
        let files: Vec<_> = paths
            .into_iter()
            .map(|path| {
                let mark = Mark::of(&path);
                (path, mark)
            })
            .collect();
        let is_settled = files.iter().all(|(_, mark)| mark.as_ref().is_some_and(Mark::is_settled));
        Self { files, is_settled }
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    fn is_of(&self, paths: &[PathBuf]) -> bool {
        self.files.iter().map(|(path, _)| path).eq(paths)
    }

    fn is_current(&self) -> bool {
        self.is_settled && self.files.iter().all(|(path, mark)| Mark::of(path) == *mark)
    }
}

impl Mark {
    /// Returns true if no later change can have the same mark. Files grow with each change.
    fn is_settled(&self) -> bool {
        if !self.is_folder {
            return true;
        }
        let Some(modified) = self.modified else { return false };
        let nanoseconds =
            modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
        let settled = if nanoseconds == 0 { SETTLED_COARSE } else { SETTLED };
        SystemTime::now().duration_since(modified).is_ok_and(|age| age > settled)
    }
}
