//! Rebuilds in this process, whose file operations are watched: crashes at each operation, failures, locks, and folders
//! that somebody replaces in between.
//!
//! Databases are judged by the library's own reader; `crates/interop/tests/crashes.rs` has LevelDB and goleveldb judge them.

#[cfg(in_repository)]
mod crashes;
pub(crate) mod databases;
mod exchanges;
#[cfg(in_repository)]
mod failures;
#[cfg(in_repository)]
#[path = "../../../../../tests/common/interpreted.rs"]
mod interpreted;
mod locks;
mod modes;
mod outputs;
#[cfg(in_repository)]
pub(crate) mod recorder;
#[cfg_attr(not(in_repository), allow(dead_code, reason = "only crashes need all of it"))]
pub(crate) mod state;
