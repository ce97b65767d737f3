//! Finds out whether other filters would save reads or space, by making filters of the stored keys.
//!
//! 1. `sample_keys` draws stored keys evenly over all entries, without decoding more than a block for each key.
//! 2. `similar_keys` learns the form of keys from the keys drawn, to make absent keys that programs would look up.
//!    `level_traffic` finds the tables that a lookup of each stored, made or user-given key reaches, and
//!    `lookups` finds where the lookup ends.
//! 3. `trial` decodes some or all tables once. It makes the filters of every candidate from their keys,
//!    and checks these filters for absent keys.
//! 4. `tally` adds up the answers by level, `random_visits` adds those for random keys, and `outcome` computes
//!    sizes, rates and block reads from the sums.
//! 5. `advice` decides what to do. `new_filters` has the filters of a rebuild, for which `hash_evidence` looks for the hash.

mod advice;
mod candidates;
mod conclusion;
mod entries;
#[cfg(test)]
pub(crate) mod examples;
mod hash_evidence;
mod in_use;
mod input;
mod level_traffic;
mod lookups;
mod new_filters;
mod notation;
mod outcome;
mod paths;
mod questions;
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
pub use paths::TuneOutcome;
