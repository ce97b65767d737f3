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
