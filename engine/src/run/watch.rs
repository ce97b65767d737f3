//! What watches the work, and may end it.

use std::io;

/// Shows how far the work is, and tells when it is to end. Nothing has to be done: `()` does nothing.
///
/// Threads call it at once.
pub trait Watch: Send + Sync {
    /// So many bytes of files are to be read besides those announced before. `is_all`: nothing more will be announced.
    fn expect(&self, _bytes: u64, _is_all: bool) {}

    /// So many bytes of files have been dealt with since the last call.
    fn add(&self, _bytes: u64) {}

    /// So many tables in object storage are to be read besides those announced before.
    fn expect_tables(&self, _tables: u64) {}

    /// No more tables in object storage will be announced.
    fn all_tables_are_known(&self) {}

    /// A table in object storage is done.
    fn table_done(&self) {}

    /// So many bytes have come from object storage in all, by so many requests.
    fn fetched(&self, _bytes: u64, _requests: u64) {}

    /// Returns true if the work is to end, with the results that are there.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Requests begin, or are over. In between, the program should not be ended in the middle of a result, but by
    /// [`is_interrupted`](Self::is_interrupted).
    ///
    /// # Errors
    ///
    /// If the system does not let that be.
    fn requests(&self, _begin: bool) -> io::Result<()> {
        Ok(())
    }
}

impl Watch for () {}

/// Watches the reading of one table.
pub trait Observer {
    /// Called before the data blocks are read in the order of the index, usually that of the file.
    fn begin_walk(&self) {}
    /// Called when more bytes of the file have been dealt with.
    fn progress(&self, _bytes: u64) {}
}

impl Observer for () {}
