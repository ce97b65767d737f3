//! The portable code. It runs where there is no kernel for the CPU and the size of the filter, and is
//! the oracle of the kernels.

mod build;
mod copy;
mod hash;
mod probe;

pub(super) use build::{pack, set_packed, set_spread};
pub(super) use copy::copy_short;
pub(super) use hash::{hash_eight, hash_fixed_len, hash_places};
pub(super) use probe::{LastModulus, matches, matches_inlined};
