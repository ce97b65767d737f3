//! A database that is opened once and kept: its MANIFEST, the writes of its logs, and its tables. What changes on disk
//! is read anew.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use filterblock::Error;
use filterblock::database::{Database, DatabaseTable, LiveWrites, Opener};
use filterblock::table::{
    BytewiseComparator, Comparator as _, Lookup, ReadOptions, Table, TableIndex, known_comparator,
};
use filterblock_engine::report::{ErrorKind, Fault};
use filterblock_engine::{
    Engine, Files, KeyOrder, Sequential, SharedFile, Source, Windowed, contradicted, read_options,
};

use crate::stamp::{FolderStamp, stamped};
use crate::stream::Streams;

/// The most tables that a database keeps open, with their indexes and filters in memory.
const MAX_TABLES: usize = 128;
/// The most times that a database is read anew in a row because a table vanished.
pub(crate) const MAX_ROUNDS: u32 = 16;

/// The files of all databases and scans.
pub(crate) static FILES: LazyLock<Files> = LazyLock::new(Files::default);

/// A database, and what is known of it.
pub(crate) struct OpenDatabase {
    pub(crate) path: PathBuf,
    /// The order that the caller says keys are in, for a database without a sound MANIFEST.
    pub(crate) order: Option<KeyOrder>,
    state: Mutex<State>,
    /// The iterators, which end with the database.
    pub(crate) streams: Streams,
}

#[derive(Default)]
struct State {
    now: Option<Arc<Snapshot>>,
    is_closed: bool,
}

/// The reason why there is no answer.
pub(crate) enum Failure {
    Read(Error),
    /// A table that the lookup came to is not the one that the MANIFEST means, or a newer value may be missing.
    Contradicted(Fault),
    Closed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

/// The value of a key, if it has one.
pub(crate) fn value_of(found: Lookup) -> Option<Bytes> {
    match found {
        Lookup::Value(value) => Some(value),
        _ => None,
    }
}

/// A database as it was at one time.
pub(crate) struct Snapshot {
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
struct Tables(Arc<Mutex<VecDeque<Arc<KeptTable>>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenDatabase {
    pub(crate) fn new(path: PathBuf, order: Option<KeyOrder>) -> Self {
        Self { path, order, state: Mutex::default(), streams: Streams::default() }
    }

    /// Returns the database as it is now.
    pub(crate) fn now(&self) -> Result<Arc<Snapshot>, Failure> {
        let state = lock(&self.state);
        if state.is_closed {
            return Err(Failure::Closed);
        }
        let before = state.now.clone();
        drop(state);
        if let Some(version) = before.as_ref().filter(|version| version.stamp.is_current()) {
            return Ok(Arc::clone(version));
        }
        let version = Arc::new(Snapshot::open(&self.path, before.as_deref(), self.order)?);
        let mut state = lock(&self.state);
        if !state.is_closed {
            state.now = Some(Arc::clone(&version));
        }
        Ok(version)
    }

    /// Makes the next call of [`now`](Self::now) read everything anew.
    pub(crate) fn forget(&self) {
        lock(&self.state).now = None;
    }

    /// Gives all files back.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        let version = state.now.take();
        drop(state);
        drop(version);
    }

    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    /// Looks a key up. Fails without a MANIFEST that can be relied on, unless the caller has given the order.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Failure> {
        let mut rounds = 0;
        loop {
            let version = self.now()?;
            let unordered = version.database.manifest().err().filter(|_| self.order.is_none());
            let fault = unordered.map(Fault::from);
            if let Some(fault) = fault.or_else(|| version.state_faults().first().cloned()) {
                return Err(Failure::Contradicted(fault));
            }
            match version.get(key) {
                // A table was replaced in the meantime.
                Err(error) if rounds < MAX_ROUNDS && version.has_vanished(&error) => {
                    rounds += 1;
                    self.forget();
                }
                found => return found.map(value_of).map_err(|error| version.explain(error)),
            }
        }
    }
}

impl Snapshot {
    fn open(path: &Path, before: Option<&Self>, order: Option<KeyOrder>) -> Result<Self, Error> {
        // The stamp is made first, so that all that is read is at least as new.
        let mut stamp = FolderStamp::of(
            before.map_or_else(|| vec![path.to_owned()], |before| before.stamp.paths.clone()),
        );
        let mut rounds = 0;
        loop {
            let database = Database::open(path)?;
            let paths = stamped(path, &database);
            if stamp.paths != paths {
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

    /// The reason for the error of a lookup. When a lookup comes to a table whose size contradicts the MANIFEST, the
    /// library refuses the table, as it refuses a missing one.
    pub(crate) fn explain(&self, error: Error) -> Failure {
        let of_table =
            |(_, fault): &&(u64, Fault)| error.path().is_some() && fault.path.as_deref() == error.path();
        match self.contradicted.iter().find(of_table) {
            Some((_, fault)) => Failure::Contradicted(fault.clone()),
            None => Failure::Read(error),
        }
    }

    fn table_options(&self) -> ReadOptions {
        self.options.clone().internal_keys(true)
    }

    fn get(&self, key: &[u8]) -> Result<Lookup, Error> {
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
    fn table(&self, table: &DatabaseTable<'_>) -> Result<Option<Arc<KeptTable>>, Error> {
        let Some(path) = table.file.path() else { return Ok(None) };
        if let Some(table) = self.tables.get(path) {
            return Ok(Some(table));
        }
        let Ok(file) = FILES.open(path) else { return Ok(None) };
        self.tables.open(file, &self.table_options()).map(Some)
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
        let at = tables.iter().rposition(|known| known.source().path() == path)?;
        let found = tables.remove(at)?;
        tables.push_back(Arc::clone(&found));
        Some(found)
    }

    fn open(&self, file: SharedFile, options: &ReadOptions) -> Result<Arc<KeptTable>, Error> {
        let path = file.path().to_owned();
        let table = Table::open(file, options).map_err(|error| error.with_path(&path))?.with_path(&path);
        let table = Arc::new(table);
        let mut tables = lock(&self.0);
        let oldest = (tables.len() >= MAX_TABLES).then(|| tables.pop_front());
        tables.push_back(Arc::clone(&table));
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
        let kept = kept.or_else(|| self.tables.open(table.clone(), &self.options).ok())?;
        Some(kept.index_part())
    }
}
