//! Rates of false positives, measured by asking filters for keys that are not there.
//!
//! There are two kinds of keys. Random keys have hashes that are independent of those of stored
//! keys; [`random`] asks for them. Neighbours differ from a stored key in a byte or by appended
//! bytes, so that their hashes may depend on its hash; [`neighbours`] makes them.

pub(crate) mod clusters;
pub(crate) mod lookups;
pub(crate) mod marks;
pub(crate) mod measured;
pub(crate) mod neighbours;
pub(crate) mod random;
#[cfg(test)]
pub(crate) mod simulated;
pub(crate) mod weights;

pub(crate) use clusters::{Clusters, student};
pub(crate) use lookups::{LookupWeights, TableEntries};
pub(crate) use marks::Marks;
pub use measured::{MeanRate, MeasuredRate};
pub(crate) use neighbours::{Neighbours, hash};
pub(crate) use random::{ProbeBudget, SplitMix, mix, random_rate};
pub(crate) use weights::FilterWeights;
