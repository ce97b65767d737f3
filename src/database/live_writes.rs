//! The writes of live logs, kept for more than one lookup or scan.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::database::Database;
use super::memtable::{Memtable, SortedWrites};
use super::opener::Opener;
use super::scan::Scan;
use crate::Result;
use crate::table::{Lookup, ReadOptions, SharedComparator};

/// The writes of the live logs of a database, sorted: read once, for any number of lookups and scans. A copy shares
/// them.
///
/// They take the memory of keys and values, and some 64 bytes for each write, up to
/// [`Scan::LOG_LIMIT`].
#[derive(Clone)]
pub struct LiveWrites {
    sorted: Arc<SortedWrites>,
    order: SharedComparator,
}

impl Database {
    /// Reads the writes of all live logs.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`](crate::Error::InvalidOption) if the MANIFEST names a comparator other than that of the
    /// options. Otherwise the first damage in a log, which [`scan_with`](Self::scan_with) passes over.
    pub fn live_writes<O: Opener>(&self, options: &ReadOptions, mut opener: O) -> Result<LiveWrites> {
        let order = self.order(options)?;
        let sorted = self.live_logs(&mut opener, &order)?.into_sorted();
        Ok(LiveWrites { sorted, order })
    }

    /// Like [`scan_with`](Self::scan_with), but over writes that were read before from the logs of this database. No log
    /// is read.
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
    /// As [`scan`](Self::scan).
    pub fn scan_over<O: Opener>(
        &self,
        options: &ReadOptions,
        opener: O,
        writes: &LiveWrites,
    ) -> Result<Scan<'_, O>> {
        let order = self.order(options)?;
        let logs = Memtable::again(self, &writes.sorted);
        Ok(Scan::over(self, options, opener, true, (logs, VecDeque::new()), order))
    }
}

impl LiveWrites {
    /// The newest write of a key. `None`: there is none, and the tables decide.
    pub fn get(&self, user_key: &[u8]) -> Option<Lookup> {
        let newest = self.sorted.newest(user_key, &*self.order)?;
        Some(newest.map_or(Lookup::Deleted, |value| Lookup::Value(Bytes::copy_from_slice(value))))
    }

    /// The number of writes.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns true if there are no writes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for LiveWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveWrites").field("len", &self.len()).finish_non_exhaustive()
    }
}
