//! The entries of tables, logs and databases.

pub(crate) mod carve;
mod cursor;
mod database;
pub(crate) mod file_type;
mod hints;
mod position;
pub(super) mod range;
pub(super) mod rows;
mod source;
mod table;

pub use cursor::{ScanCursor, ScanStep};
pub use range::{KeyRange, ScanRequest};
pub use table::{form_doubt, has_internal_keys};
