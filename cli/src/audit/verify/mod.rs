//! Everything that can be checked of one table.

mod batch;
mod budget;
mod denials;
mod extents;
pub(crate) mod finding;
mod fpr_sampler;
mod order;
pub(crate) mod table;
pub(crate) mod verdict;
mod walk;
