//! Databases: their files, and the MANIFEST, which lists the live tables.
//!
//! ```text
//! CURRENT            the name of the MANIFEST
//! MANIFEST-000013    a log of version edits: the live tables, with their levels and keys
//! 000016.ldb         a table; early versions of LevelDB named tables .sst
//! 000014.log         the latest writes, which are in no table yet
//! LOCK, LOG, …       nothing of the database's contents
//! ```
//!
//! [`Database`] puts these files together. Reading neither writes nor locks, so a database that is
//! open elsewhere can be read. [`Database::open`] sees such a database in a single state, though
//! its files may vanish at any time.
//!
//! Databases of LevelDB and goleveldb are read. Any bytes can be given: damage is an error, not a
//! shorter list of tables. The only exception is damage that looks like a last record that is cut
//! off: [`Manifest::incomplete_tail`] reports it.
//!
//! Changing a database is explicit: [`set_current`] makes another MANIFEST the current one, and
#![cfg_attr(feature = "lock", doc = "[`DatabaseLock`] keeps")]
#![cfg_attr(not(feature = "lock"), doc = "`DatabaseLock`, with the feature `lock`, keeps")]
//! everybody else out in the meantime. A new MANIFEST is written with a [`LogWriter`] from a
//! [`VersionEdit`], such as [`Manifest::snapshot`].
//!
//! ```
//! use filterblock::database::{Database, log_has_writes};
//!
//! let database = Database::open("testdata/databases/levels")?;
//! for table in database.tables() {
//!     println!("{}: {:?} {:?}", table.number, table.status, table.file);
//! }
//! for log in database.logs().filter(|log| log.is_live) {
//!     // If this is unknown, assume that there are writes, which no table and no filter has.
//!     let has_writes = log.file.path().is_none_or(|path| log_has_writes(path).unwrap_or(true));
//!     println!("{}: {has_writes}", log.number);
//! }
//! if let Err(error) = database.manifest() {
//!     println!("{error}; all tables may be live");
//! }
//! # Ok::<(), filterblock::Error>(())
//! ```

mod by_range;
mod current;
#[expect(clippy::module_inception, reason = "the file is named after its type")]
mod database;
mod edit;
mod file_pool;
mod folder;
mod get;
mod listing;
mod live_tables;
mod live_writes;
#[cfg(feature = "lock")]
mod lock;
#[cfg(feature = "lock")]
mod lock_file;
mod log;
mod manifest;
mod memtable;
mod names;
mod open;
mod opener;
mod place;
mod scan;
mod scan_sources;
mod version_edit;

pub use current::{manifest_in_current, set_current, sync_folder};
pub use database::{Database, DatabaseEntry, DatabaseLog, DatabaseTable, EntryFile, TableStatus};
pub use edit::NUM_LEVELS;
pub use file_pool::{FilePool, PooledFile};
pub use folder::{DatabaseFile, DatabaseFiles, FileState, StrayFile, UnreadableFile};
pub use listing::DatabaseListing;
pub use live_tables::LiveTable;
pub use live_writes::LiveWrites;
#[cfg(feature = "lock")]
pub use lock::DatabaseLock;
pub use log::{
    BatchHeader, FragmentHeader, LOG_BLOCK_LEN, LogReader, LogRecord, LogWrite, LogWriter, LogWrites,
    batch_has_writes, log_has_writes,
};
pub use manifest::{Manifest, ManifestScan};
pub use names::FileKind;
pub use opener::{FileOpener, Opener};
pub use scan::Scan;
pub use version_edit::VersionEdit;
