//! Finds the databases, tables and logs that the given paths lead to.

mod files;
pub(crate) mod folder;
pub(crate) mod folder_cache;
pub(crate) mod format;
pub(crate) mod input;
mod other_file;
pub(crate) mod paths;
pub(crate) mod storage;
pub(crate) mod targets;
mod windowed;

pub use files::{Files, SharedFile, StorageOpener};
pub(crate) use folder::{Folder, TableRecord, copy_text, reopen};
#[cfg(feature = "fs")]
pub(crate) use folder::{UNDO_RECORD, UNDO_SUFFIX};
pub use folder::{is_input, other_format};
pub use format::FoundFormat;
pub use other_file::is_log;
pub(crate) use other_file::{OtherFile, is_named_log};
pub(crate) use paths::{InputPath, into_local};
pub use paths::{Inputs, hex_byte};
pub use storage::{LocalStorage, MemoryStorage, Source, Storage};
pub(crate) use storage::{READ_AHEAD, open};
pub(crate) use targets::{Target, Targets};
pub use windowed::{Sequential, Windowed};
