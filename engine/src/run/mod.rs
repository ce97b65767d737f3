//! Running the work: in order, on threads, with tables that vanish, progress and cancellation.

pub(crate) mod files;
pub(crate) mod in_order;
pub(crate) mod in_use;
pub(crate) mod survey;
#[cfg(test)]
mod tests;
pub(crate) mod watch;

pub(crate) use files::{FileObserver, FileOptions, files};
pub use in_order::MAX_JOBS;
pub(crate) use in_order::{InOrder, map, try_map};
pub(crate) use survey::{Event, InputFile, ListedFolder, LogUse, Survey};
pub(crate) use watch::Observer;
pub use watch::Watch;
