//! False-positive rates, measured by checking filters for absent keys.
//!
//! [`random`] keys have hashes independent of those of stored keys. [`neighbours`] differ from a stored key in a byte
//! or by appended bytes, so that their hashes may depend on its hash.

pub(crate) mod changed_keys;
pub(crate) mod fence_keys;
pub(crate) mod lookups;
pub(crate) mod random;
pub(crate) mod rate;
pub(crate) mod rate_groups;
#[cfg(test)]
pub(crate) mod simulated;
pub(crate) mod weights;

pub(crate) use changed_keys::{ChangedKeys, hash};
pub(crate) use fence_keys::FenceKeys;
pub(crate) use lookups::{LookupWeights, TableWeight};
pub(crate) use random::{ProbeBudget, SplitMix, mix, random_rate};
pub use rate::{MeanRate, Rate};
pub(crate) use rate_groups::{RateGroups, student};
pub(crate) use weights::FilterWeights;
