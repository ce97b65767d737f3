//! What watches the work, and may end it.

use std::io;

/// Shows how far the work is, and tells when it is to end. Nothing has to be done: `()` does nothing.
///
/// Threads call it at once.
pub trait Watch: Send + Sync {
    /// So much is to be done besides what was announced before: bytes of files, or tables while requests run. `is_all`:
    /// nothing more will be announced.
    fn expect(&self, _more: u64, _is_all: bool) {}

    /// So much has been done since the last call.
    fn add(&self, _done: u64) {}

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
pub(crate) trait Observer {
    /// Called before the data blocks are read in the order of the index, usually that of the file.
    fn begin_walk(&self) {}
    /// Called when more bytes of the file have been dealt with.
    fn progress(&self, _bytes: u64) {}
}

impl Observer for () {}
