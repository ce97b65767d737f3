//! Running the work: in order, on threads, with tables that vanish, progress and cancellation.

pub(crate) mod in_order;
mod relist;
mod runner;
pub(crate) mod task;
#[cfg(test)]
mod tests;

pub use in_order::MAX_JOBS;
pub(crate) use in_order::{HAS_THREADS, map, number as number_of_jobs, try_map};
pub(crate) use relist::{MAX_ROUNDS, Relist};
pub(crate) use task::{Event, ListedFolder, LogUse, TableFile, Task};

/// Shows the progress of the work, and may cancel it. All methods are optional: those of `()` do nothing.
///
/// Several threads may call the methods concurrently.
pub trait Progress: Send + Sync {
    /// Announces more work, in bytes of files. `is_all`: no more will be announced.
    fn expect(&self, _more: u64, _is_all: bool) {}

    /// Reports the work that has been done since the last call.
    fn add(&self, _done: u64) {}

    /// Returns true if the work has to end, with the results that exist by then.
    fn is_interrupted(&self) -> bool {
        false
    }
}

impl Progress for () {}
