//! Finds out whether other filters would save reads or space, by making filters of the stored keys.
//!
//! `sample_keys` draws stored keys, and `similar_keys` makes absent ones. `lookups` finds the tables that their lookups
//! reach. `trial` makes and checks the filters of every candidate; `tally`, `traffic` and `effect` add up; `advice`
//! decides.

mod advice;
mod asked_keys;
mod bits;
mod effect;
mod entries;
#[cfg(test)]
pub(crate) mod examples;
mod hash_evidence;
mod input;
mod key_kinds;
mod key_number;
mod lookups;
mod new_filters;
mod paths;
mod sample;
mod sample_keys;
mod similar_keys;
#[cfg(test)]
mod simulated;
mod tally;
mod traffic;
mod trial;
mod tuner;
mod walk;

pub(crate) use advice::{Facts, Scope, advise};
pub use input::TuneRequest;
pub(crate) use new_filters::NewFilters;
