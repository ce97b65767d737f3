//! The verification of one table: every block, every entry, and the filters asked for every key.

mod batch;
mod budget;
mod check;
mod denials;
mod extents;
pub mod finding;
mod fpr_sampler;
mod order;
pub mod verdict;
mod walk;

pub use check::{VerifyOptions, table};
