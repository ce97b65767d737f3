//! Rates of false positives, measured by asking filters for keys that are not there.
//!
//! Two kinds of keys are told apart. Random keys have hashes that are independent of those stored;
//! [`random`] asks for their hashes. Neighbours differ from a stored key in a byte or by an
//! appendix, and so do their hashes; [`neighbours`] makes them.

pub mod clusters;
pub mod effort;
pub mod measured;
pub mod neighbours;
pub mod random;
pub mod split_mix;

pub use clusters::Clusters;
pub use effort::Effort;
pub use measured::{MeanRate, MeasuredRate};
pub use neighbours::{Neighbours, change, hash};
pub use random::{random_rate, random_rate_of_filters};
pub use split_mix::{SplitMix, mix};
