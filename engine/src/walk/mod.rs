//! The way from the paths given to databases, tables and logs.

pub mod folder;
pub mod folder_cache;
pub mod input;
pub mod paths;
pub mod read_ahead;
pub mod record;
pub mod sources;
pub mod storage;
pub mod url;

pub use folder::{Folder, Source, reopen};
pub use input::{PathError, open_file};
pub use paths::{Given, Inputs, into_local};
pub use read_ahead::ReadAhead;
#[cfg(feature = "remote")]
pub(crate) use read_ahead::part;
pub use record::TableRecord;
pub use sources::{Barren, Discovered, Sources};
pub(crate) use storage::open_log;
pub use storage::{Memory, Storage};
