//! All changes of `rebuild` and `repair` to files and folders, except that taking the lock may make the LOCK file. On
//! Unix, each is relative to an open [`Dir`], whose path is resolved once: a user who can write to a folder on the
//! path may replace the next one with a link at any time.

mod dir;
pub(crate) mod failure;
#[cfg(all(test, unix))]
pub(crate) mod hook;
mod new_file;
mod session;
mod status;
#[cfg_attr(unix, path = "system_unix.rs")]
#[cfg_attr(not(unix), path = "system_elsewhere.rs")]
mod system;
mod volume;

pub(crate) use dir::Dir;
pub use failure::{Failure, Result};
pub(crate) use new_file::NewFile;
pub(crate) use session::Purpose;
pub(crate) use status::{Status, is_root};
pub(crate) use volume::FreeSpace;
