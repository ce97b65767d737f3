//! The entries of tables, logs and databases.

pub(crate) mod carve;
mod correction;
mod database;
mod hints;
mod openers;
pub(super) mod range;
pub(super) mod rows;
mod run;
mod steps;
mod table;

pub use range::{KeyRange, ScanOutcome, ScanRequest};
pub use steps::ScanSteps;
pub use table::{form_doubt, has_internal_keys};
