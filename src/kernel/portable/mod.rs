//! Portable code: what runs where no other kernel does, and the oracle of those.

mod build;
mod hash;
mod probe;

pub(super) use build::{pack, set_packed, set_spread};
pub(super) use hash::{hash_eight, hash_fixed_len};
pub(super) use probe::{LastModulus, matches};
