//! The writes of live logs, kept for more than one lookup or scan.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::database::Database;
use super::memtable::Memtable;
use super::opener::Opener;
use super::scan::Scan;
use super::scan_sources::Arranged;
use crate::Result;
use crate::table::{Lookup, ReadOptions, SharedComparator};

/// The sorted writes of the live logs of a database, and the order in which scans walk through the database's tables.
/// Both are determined once, for any number of lookups and scans, and shared by all clones.
///
/// The writes take memory for their keys and values, and about 100 bytes for each write, up to
/// [`Scan::LOG_LIMIT`].
#[derive(Clone)]
pub struct LiveWrites {
    logs: Arc<Memtable>,
    order: SharedComparator,
    tables: Arc<Arranged>,
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
        let logs = Arc::new(self.live_logs(&mut opener, &order)?);
        let tables = Arc::new(Arranged::of(self, true, &*order));
        Ok(LiveWrites { logs, order, tables })
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
    pub fn scan_over<'o, O: Opener + 'o>(
        &self,
        options: &ReadOptions,
        opener: O,
        writes: &LiveWrites,
    ) -> Result<Scan<'o, O>> {
        let order = self.order(options)?;
        let logs = Arc::clone(&writes.logs);
        let arranged = Arranged::clone(&writes.tables);
        Ok(Scan::over(self, options, opener, true, (logs, VecDeque::new()), arranged, order))
    }
}

impl LiveWrites {
    /// The newest write of a key. `None` if the key has no write: the tables decide then.
    pub fn get(&self, user_key: &[u8]) -> Option<Lookup> {
        self.logs.newest(user_key, &*self.order)
    }
}

impl fmt::Debug for LiveWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveWrites").field("len", &self.logs.len()).finish_non_exhaustive()
    }
}
