//! Databases: the framing of logs, the MANIFEST, and whole folders as LevelDB and goleveldb wrote them.
#![cfg(feature = "table")]

#[cfg(not(miri))]
mod back;
#[path = "../common/counting.rs"]
mod counting;
#[cfg(not(miri))]
mod current;
#[path = "../common/databases.rs"]
mod databases;
#[cfg(all(feature = "lz4", not(miri)))]
mod dialects;
mod folders;
mod framing;
mod hostile;
#[cfg(not(miri))]
mod kept;
mod listing;
#[cfg(all(feature = "lock", not(miri)))]
mod lock;
mod lookup;
mod manifest;
#[cfg(not(miri))]
mod memory;
#[cfg(not(miri))]
mod opener;
mod scan;
#[cfg(not(miri))]
mod scan_bounds;
#[cfg(not(miri))]
#[path = "../common/tables.rs"]
mod tables;
#[cfg(all(feature = "lock", not(miri)))]
#[path = "../common/this_program.rs"]
mod this_program;
mod view;
mod writes;
