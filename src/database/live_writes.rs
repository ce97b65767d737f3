//! The writes of live logs, kept for more than one lookup or scan.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::{fmt, ptr};

use bytes::Bytes;

use super::database::{Database, DatabaseTable, TableStatus};
use super::folder::FileState;
use super::memtable::{Memtable, SortedWrites};
use super::opener::Opener;
use super::scan::Scan;
use super::scan_sources::Arranged;
use crate::Result;
use crate::table::{Lookup, ReadOptions, SharedComparator};

/// The sorted writes of the live logs of a database, and the order in which scans walk through the database's tables.
/// Both are determined once, for any number of lookups and scans, and shared by all clones. However, the order is
/// determined anew for each scan if it is not known which tables are live, or if a live table is missing or could not
/// be looked at.
///
/// The writes take memory for their keys and values, and about 100 bytes for each write, up to
/// [`Scan::LOG_LIMIT`].
#[derive(Clone)]
pub struct LiveWrites {
    sorted: Arc<SortedWrites>,
    order: SharedComparator,
    /// The live tables by run. `None` if it is not known which tables are live, or if any of them is missing or
    /// could not be looked at.
    runs: Option<Arc<[Vec<Place>]>>,
}

/// A live table: its positions in the MANIFEST's list and in that of the files.
#[derive(Clone, Copy)]
struct Place {
    recorded: usize,
    file: usize,
}

/// The places of the tables of each run. `None` without a sound MANIFEST, or if any of the tables is
/// missing or could not be looked at.
fn places(database: &Database, arranged: &Arranged<'_>) -> Option<Arc<[Vec<Place>]>> {
    // By address: one type of map for both takes less code.
    let recorded: HashMap<usize, usize> = database
        .manifest()
        .ok()?
        .tables()
        .iter()
        .enumerate()
        .map(|(at, table)| (ptr::from_ref(table).addr(), at))
        .collect();
    let files: HashMap<usize, usize> =
        database.files().iter().enumerate().map(|(at, file)| (ptr::from_ref(file).addr(), at)).collect();
    let place = |table: &DatabaseTable<'_>| {
        let FileState::Present(file) = table.file else { return None };
        let recorded = *recorded.get(&ptr::from_ref(table.recorded()?).addr())?;
        Some(Place { recorded, file: *files.get(&ptr::from_ref(file).addr())? })
    };
    let run = |run: &Vec<DatabaseTable<'_>>| run.iter().map(place).collect();
    let runs = arranged.runs.iter().map(run).collect::<Option<Arc<[Vec<Place>]>>>();
    runs.filter(|_| arranged.missing.is_empty())
}

impl Place {
    fn table(self, database: &Database) -> Option<DatabaseTable<'_>> {
        let recorded = database.manifest().ok()?.tables().get(self.recorded)?;
        let file = FileState::Present(database.files().iter().as_slice().get(self.file)?);
        Some(DatabaseTable { number: recorded.number, status: TableStatus::Live(recorded), file })
    }
}

impl Database {
    /// Reads the writes of all live logs.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`](crate::Error::InvalidOption) if the MANIFEST names a comparator other than that of the
    /// options. Otherwise the first error in opening or reading the logs. A scan by [`scan_with`](Self::scan_with)
    /// continues after such an error.
    pub fn live_writes<O: Opener>(&self, options: &ReadOptions, mut opener: O) -> Result<LiveWrites> {
        let order = self.order(options)?;
        let sorted = self.live_logs(&mut opener, &order)?.into_sorted();
        let runs = places(self, &Arranged::of(self, true, &*order));
        Ok(LiveWrites { sorted, order, runs })
    }

    /// Like [`scan_with`](Self::scan_with), but over `writes`, which [`live_writes`](Self::live_writes) of this same
    /// `Database` has to have returned. No log is read.
    ///
    /// ```
    /// use filterblock::database::{Database, FileOpener};
    /// use filterblock::table::ReadOptions;
    ///
    /// let (database, options) = (Database::open("testdata/databases/levels")?, ReadOptions::default());
    /// let writes = database.live_writes(&options, FileOpener)?;
    /// for key in [b"item/0005", b"item/0007"] {
    ///     let mut scan = database.scan_over(&options, FileOpener, &writes)?;
    ///     scan.seek(key);
    ///     assert!(scan.next()?);
    /// }
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`scan`](Self::scan).
    pub fn scan_over<O: Opener>(
        &self,
        options: &ReadOptions,
        opener: O,
        writes: &LiveWrites,
    ) -> Result<Scan<'_, O>> {
        let order = self.order(options)?;
        let logs = Memtable::again(self, &writes.sorted);
        let run = |run: &Vec<Place>| run.iter().map(|place| place.table(self)).collect();
        let runs = writes.runs.as_ref().and_then(|runs| runs.iter().map(run).collect());
        let arranged = match runs {
            Some(runs) => Arranged { runs, missing: Vec::new() },
            None => Arranged::of(self, true, &*order),
        };
        Ok(Scan::over(self, options, opener, true, (logs, VecDeque::new()), arranged, order))
    }
}

impl LiveWrites {
    /// The newest write of a key. `None` if the key has no write: the tables decide then.
    pub fn get(&self, user_key: &[u8]) -> Option<Lookup> {
        let newest = self.sorted.newest(user_key, &*self.order)?;
        Some(newest.map_or(Lookup::Deleted, |value| Lookup::Value(Bytes::copy_from_slice(value))))
    }

    /// The number of writes.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns `true` if there are no writes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for LiveWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveWrites").field("len", &self.len()).finish_non_exhaustive()
    }
}
