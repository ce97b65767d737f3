//! The portable code. It runs if there is no other kernel for the CPU, and is the oracle of the
//! kernels.

mod build;
mod hash;
mod probe;

pub(super) use build::{pack, set_packed, set_spread};
pub(super) use hash::{hash_eight, hash_fixed_len};
pub(super) use probe::{LastModulus, matches, matches_inlined};
