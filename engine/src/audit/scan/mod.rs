//! The entries of tables, logs and databases.

pub(crate) mod carve;
mod correction;
mod database;
mod openers;
pub(super) mod range;
pub(super) mod rows;
mod run;
mod table;

pub use range::KeyRange;
pub use run::{ScanOutcome, ScanRequest};
pub use table::has_internal_keys;
