//! How work is done: in order, on threads; tables that vanish; progress, and the end on request.

pub mod files;
pub mod in_order;
pub mod in_use;
pub mod survey;
#[cfg(test)]
mod tests;
pub mod watch;

pub(crate) use files::FileObserver;
pub use files::{FileOptions, files};
pub use in_order::MAX_JOBS;
pub use survey::{Event, Fetch, LogUse, Place, Survey, Target};
pub use watch::{Observer, Watch};
