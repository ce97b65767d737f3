//! The portable code. It runs where there is no kernel for the CPU and the size of the filter, and is
//! the oracle of the kernels.

mod build;
mod hash;
mod probe;

pub(super) use build::{pack, set_packed, set_spread};
pub(super) use hash::{copy_short, hash_eight, hash_fixed_len, hash_places};
pub(super) use probe::{LastModulus, matches, matches_inlined};
