//! The way from the paths given to databases, tables and logs.

pub(crate) mod folder;
pub(crate) mod folder_cache;
pub(crate) mod input;
pub(crate) mod paths;
pub(crate) mod read_ahead;
pub(crate) mod sources;
pub(crate) mod storage;
pub(crate) mod url;

pub use folder::is_input;
pub(crate) use folder::{Folder, TableRecord, reopen};
pub(crate) use input::PathError;
pub use input::open_file;
pub use paths::Inputs;
pub(crate) use paths::{Given, into_local};
pub(crate) use read_ahead::ReadAhead;
#[cfg(feature = "remote")]
pub(crate) use read_ahead::part;
pub(crate) use sources::{Barren, Discovered, Sources};
pub(crate) use storage::open_log;
pub use storage::{Memory, Storage};

pub use url::{hex_byte, is_remote};
