//! All changes of `rebuild` and `repair` to files and folders, except that taking the lock may make the LOCK file. On
//! Unix, each is relative to an open [`Dir`], whose path is resolved once: a user who can write to a folder on the
//! path may replace the next one with a link at any time.

#[cfg(feature = "fs")]
mod dir;
#[cfg(feature = "fs")]
mod dir_storage;
pub(crate) mod failure;
#[cfg(all(test, unix))]
pub(crate) mod hook;
mod input;
#[cfg(feature = "fs")]
mod new_file;
#[cfg(feature = "fs")]
mod new_folder;
pub(crate) mod output;
#[cfg(feature = "fs")]
mod session;
#[cfg(feature = "fs")]
mod status;
#[cfg(feature = "fs")]
#[cfg_attr(unix, path = "system_unix.rs")]
#[cfg_attr(not(unix), path = "system_elsewhere.rs")]
mod system;
#[cfg(feature = "fs")]
mod volume;

mod new_files;

pub use failure::{Failure, Result};
pub(crate) use input::{Input, is_locked};
pub(crate) use new_files::{copy_file, encode_manifest, read_back, release, write_file};
pub use output::{MemoryOutput, NoOutput, Output, OutputFile, Scratch, StreamOutput};
#[cfg(feature = "fs")]
pub(crate) use {
    dir::Dir,
    new_folder::InPlace,
    session::Purpose,
    status::{Status, is_root},
};
#[cfg(feature = "fs")]
pub use {dir_storage::DirStorage, new_folder::NewFolder};
