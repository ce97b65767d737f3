//! The operations of `rebuild` and `repair` on files and folders. No other part of the two changes files or
//! folders, except that taking the lock may make the LOCK file.
//!
//! On Unix, every operation is relative to an open [`Folder`]. A user who can write to a folder on the path may replace
//! the next folder on it with a link at any time, but a descriptor always refers to the same folder. A path is resolved
//! once, by [`Folder::open`], and after that is used only for messages. On other systems, folders are known by their
//! paths.
//!
//! Nearly all calls are [`Operation`](session::Operation)s. Tests record them, make them fail, and replace folders
//! between them.

mod folder;
#[cfg(all(test, unix))]
pub(crate) mod hook;
mod new_file;
mod session;
mod status;
#[cfg_attr(unix, path = "system_unix.rs")]
#[cfg_attr(not(unix), path = "system_elsewhere.rs")]
mod system;
mod volume;

pub(crate) use folder::Folder;
pub(crate) use new_file::NewFile;
pub(crate) use session::Purpose;
pub(super) use status::{Status, is_root};
pub(super) use volume::FreeSpace;
