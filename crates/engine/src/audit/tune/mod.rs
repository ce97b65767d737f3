//! Finds out whether other filters would save reads or space, by making filters of the stored keys.
//!
//! `sample_keys` draws stored keys, `similar_keys` makes absent ones, and `level_traffic` and `lookups` follow their
//! lookups. `trial` makes and checks the filters of every candidate; `tally`, `random_visits` and `outcome` add up;
//! `advice` decides.

mod advice;
mod candidates;
mod conclusion;
mod effect;
mod entries;
#[cfg(test)]
pub(crate) mod examples;
mod hash_evidence;
mod in_use;
mod input;
mod key_kinds;
mod key_number;
mod level_traffic;
mod lookups;
mod new_filters;
mod paths;
mod random_visits;
mod sample;
mod sample_keys;
mod similar_keys;
#[cfg(test)]
mod simulated;
mod tally;
mod trial;
mod tuner;

pub(crate) use advice::{Facts, Scope, advise, saved};
pub use input::Request;
pub(crate) use new_filters::NewFilters;
