//! Rebuilds in this process, every file operation of which is watched: crashes at each of them, failures, locks, and
//! folders that somebody exchanges meanwhile.
//!
//! Databases are judged by the library's own reader; `interop/tests/crashes.rs` has LevelDB and goleveldb judge them.

mod bad_filter;
#[cfg(has_crash_states)]
mod crashes;
mod databases;
mod exchanges;
#[cfg(has_crash_states)]
mod failures;
mod locks;
mod modes;
#[cfg(has_crash_states)]
mod recorder;
#[cfg_attr(not(has_crash_states), allow(dead_code, reason = "only crashes need all of it"))]
mod state;
