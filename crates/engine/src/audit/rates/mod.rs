//! False-positive rates, measured by checking filters for absent keys.
//!
//! [`random`] keys have hashes independent of those of stored keys. [`neighbours`] differ from a stored key in a byte
//! or by appended bytes, so that their hashes may depend on its hash.

pub(crate) mod clusters;
pub(crate) mod lookups;
pub(crate) mod marks;
pub(crate) mod measured;
pub(crate) mod neighbours;
pub(crate) mod random;
#[cfg(test)]
pub(crate) mod simulated;
pub(crate) mod weights;

pub(crate) use clusters::{RateGroups, student};
pub(crate) use lookups::{LookupWeights, TableWeight};
pub(crate) use marks::FenceKeys;
pub use measured::{MeanRate, Rate};
pub(crate) use neighbours::{ChangedKeys, hash};
pub(crate) use random::{ProbeBudget, SplitMix, mix, random_rate};
pub(crate) use weights::FilterWeights;
