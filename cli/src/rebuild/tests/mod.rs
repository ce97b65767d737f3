//! Rebuilds in this process, every file operation of which is watched: crashes at each of them, failures, locks, and
//! folders that somebody exchanges meanwhile.
//!
//! Databases are judged by the library's own reader; `interop/tests/crashes.rs` has LevelDB and goleveldb judge them.

mod bad_filter;
mod crashes;
mod databases;
mod exchanges;
mod failures;
mod locks;
mod modes;
mod recorder;
mod state;
