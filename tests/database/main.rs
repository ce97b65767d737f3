//! Databases: the framing of logs, the MANIFEST, and whole folders as LevelDB and goleveldb wrote them.
#![cfg(feature = "table")]

#[path = "../common/databases.rs"]
mod databases;
mod folders;
mod framing;
mod hostile;
mod listing;
mod logs;
mod lookup;
mod manifest;
mod scan;
mod view;
mod writes;
mod writing;
