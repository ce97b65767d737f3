//! Finds the databases, tables and logs that the given paths lead to.

pub(crate) mod folder;
pub(crate) mod folder_cache;
pub(crate) mod format;
mod in_order;
pub(crate) mod input;
mod other_file;
pub(crate) mod paths;
pub(crate) mod read_ahead;
mod shared_files;
pub(crate) mod sources;
pub(crate) mod storage;

pub(crate) use folder::{Folder, TableRecord, copy_text, reopen};
#[cfg(feature = "fs")]
pub(crate) use folder::{UNDO_RECORD, UNDO_SUFFIX};
pub use folder::{is_input, other_format};
pub use format::FoundFormat;
pub use in_order::InOrder;
pub use input::{PathError, open_file};
pub use other_file::is_log;
pub(crate) use other_file::{Contents, OtherFile};
pub(crate) use paths::{InputPath, into_local};
pub use paths::{Inputs, hex_byte};
pub(crate) use read_ahead::ReadAhead;
pub use shared_files::{SharedFile, SharedFiles};
pub(crate) use sources::{Discovered, Sources};
pub use storage::{Memory, Storage};
pub(crate) use storage::{open_listed, open_log, open_named};
