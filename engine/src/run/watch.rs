//! The watcher of the work, which may cancel it.

use std::io;

/// Shows the progress of the work, and may cancel it. All methods are optional: those of `()` do nothing.
///
/// Several threads may call the methods concurrently.
pub trait Watch: Send + Sync {
    /// Announces work in addition to that announced before: bytes of files or, between the calls to
    /// [`requests`](Self::requests), tables. `is_all`: no more work will be announced.
    fn expect(&self, _more: u64, _is_all: bool) {}

    /// Reports the work that has been done since the last call.
    fn add(&self, _done: u64) {}

    /// Reports how many bytes have been fetched from object storage so far, and with how many requests.
    fn fetched(&self, _bytes: u64, _requests: u64) {}

    /// Returns true if the work has to end, with the results that exist by then.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Reports that requests begin or, if `begin` is false, that they are over. In between, the program
    /// should not be ended in the middle of a result, but through [`is_interrupted`](Self::is_interrupted).
    ///
    /// # Errors
    ///
    /// If the program cannot be set up to be ended in this way.
    fn requests(&self, _begin: bool) -> io::Result<()> {
        Ok(())
    }
}

impl Watch for () {}

/// Watches the reading of one table.
pub(crate) trait Observer {
    /// Called before the data blocks are read in the order of the index, which is usually their order in
    /// the file.
    fn begin_walk(&self) {}
    /// Called with the number of bytes of the file that have been processed since the last call.
    fn progress(&self, _bytes: u64) {}
}

impl Observer for () {}
