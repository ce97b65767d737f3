//! Running the work: in order, on threads, with tables that vanish, progress and cancellation.

#[cfg(target_family = "wasm")]
mod alone;
pub(crate) mod files;
pub(crate) mod in_order;
pub(crate) mod in_use;
pub(crate) mod survey;
#[cfg(test)]
mod tests;
pub(crate) mod watch;

#[cfg(target_family = "wasm")]
pub(crate) use alone::{InOrder, Threads, map_each};
#[cfg(feature = "remote")]
pub(crate) use files::other;
pub(crate) use files::{FileObserver, FileOptions, files};
pub use in_order::MAX_JOBS;
#[cfg(not(target_family = "wasm"))]
pub(crate) use in_order::{InOrder, Threads, map_each};
pub(crate) use survey::{Event, Fetch, InputFile, ListedFolder, LogUse, Survey};
pub(crate) use watch::Observer;
pub use watch::Watch;

pub(crate) use in_order::threads;
