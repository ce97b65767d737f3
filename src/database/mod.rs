//! What a database folder says about its tables: the MANIFEST, and the files that are there.
//!
//! ```text
//! CURRENT            the name of the MANIFEST
//! MANIFEST-000013    a log of version edits: which tables are live, on which level, with which keys
//! 000016.ldb         a table; early versions of LevelDB named it .sst
//! 000014.log         what was written last and is in no table yet
//! LOCK, LOG, …       nothing of the database's contents
//! ```
//!
//! Nothing here writes or locks, so a database that is open elsewhere can be looked at. What is read then is one state of it, and files
//! may vanish in between.
//!
//! What LevelDB and goleveldb write is read. Any bytes can be given; what is damaged is an error, never a
//! shorter list of tables.
//!
//! ```no_run
//! use filterblock::database::{DatabaseFiles, FileKind, Manifest};
//!
//! let files = DatabaseFiles::list("chainstate")?;
//! match Manifest::read("chainstate") {
//!     Ok(manifest) => {
//!         for table in manifest.tables() {
//!             match files.table(table.number) {
//!                 Ok(Some(file)) => println!("{} on level {}: {} bytes", table.number, table.level, file.len),
//!                 Ok(None) => println!("{} is missing", table.number),
//!                 Err(file) => println!("{}", file.error),
//!             }
//!         }
//!     }
//!     // All tables may be live then.
//!     Err(error) => println!("{error}; {} tables", files.of_kind(FileKind::Table).count()),
//! }
//! # Ok::<(), filterblock::Error>(())
//! ```

mod current;
mod edit;
mod folder;
mod live_tables;
mod log;
mod manifest;

pub use edit::NUM_LEVELS;
pub use folder::{DatabaseFile, DatabaseFiles, FileKind, UnreadableFile};
pub use live_tables::LiveTable;
pub use log::{LogReader, LogRecord, batch_has_writes, log_has_writes};
pub use manifest::{Manifest, ManifestScan};
