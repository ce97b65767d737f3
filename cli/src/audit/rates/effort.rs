//! The number of questions to ask.

/// The limits on the random keys for a table, and what tables looked at together share.
const MOST_ASKED: u64 = 400_000;
const LEAST_ASKED: u64 = 40_000;
const ASKED_TOGETHER: u64 = 100_000_000;
/// The number of neighbours to make of the keys of a data block.
const NEIGHBOURS: usize = 256;

/// The most questions to ask of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effort {
    pub(crate) random_keys: u64,
    /// In each data block that is sampled.
    pub(crate) neighbours: usize,
}

impl Effort {
    /// The effort for each of so many tables.
    pub(crate) fn for_each_of(tables: usize) -> Self {
        let random_keys = (ASKED_TOGETHER / (tables as u64).max(1)).clamp(LEAST_ASKED, MOST_ASKED);
        Self { random_keys, neighbours: NEIGHBOURS }
    }
}
