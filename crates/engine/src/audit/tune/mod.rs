//! Finds the filters that would serve a database best, by making filters from its own keys.
//!
//! 1. `sample_keys` draws stored keys evenly over all entries, without decoding more than a block for each key.
//! 2. `near_keys` learns the form of keys from the keys drawn, to make absent keys that programs would ask for.
//!    `level_traffic` finds the tables that a lookup of each stored, made or user-given key reaches, and
//!    `lookups` finds where the lookup ends.
//! 3. `trial` decodes some or all tables once. It makes the filters of every setting from their keys,
//!    and asks these filters for absent keys.
//! 4. `tally` adds up the answers by level, `random_visits` adds those for random keys, and `outcome` computes
//!    sizes, rates and block reads from the sums.
//! 5. `search` finds the best bits a key within a budget, and `advice` decides whether a rebuild pays. If filters deny
//!    stored keys, `renewal` advises a rebuild, and `hash_evidence` looks for the hash that the new filters need.

mod advice;
mod conclusion;
mod entries;
mod hash_evidence;
mod in_use;
mod input;
mod level_traffic;
mod lookups;
mod near_keys;
mod notation;
mod outcome;
mod paths;
mod questions;
mod random_visits;
mod renewal;
mod routes;
mod sample;
mod sample_keys;
mod search;
mod settings;
#[cfg(test)]
mod simulated;
mod tally;
mod trial;
mod tuner;

pub use input::Request;
pub use paths::TuneOutcome;
