//! The number of questions to ask.

use std::ops::RangeInclusive;

/// The limits on the random keys for a table, and about the number for all.
const RANDOM_KEYS: RangeInclusive<u64> = 20_000..=400_000;
const RANDOM_KEYS_OF_ALL: u64 = 50_000_000;
/// The same for the neighbours made of the keys of a data block.
const NEIGHBOURS: RangeInclusive<u64> = 64..=256;
const NEIGHBOURS_OF_ALL: u64 = 160_000;

/// The most questions to ask of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effort {
    pub random_keys: u64,
    /// In each data block that is sampled.
    pub neighbours: usize,
}

impl Effort {
    /// The effort for each of so many tables.
    pub(crate) fn for_each_of(tables: usize) -> Self {
        let share = |all: u64, limits: RangeInclusive<u64>| {
            (all / (tables as u64).max(1)).clamp(*limits.start(), *limits.end())
        };
        Self {
            random_keys: share(RANDOM_KEYS_OF_ALL, RANDOM_KEYS),
            neighbours: share(NEIGHBOURS_OF_ALL, NEIGHBOURS) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_tables_the_fewer_questions_to_each() {
        let effort = |tables| {
            let Effort { random_keys, neighbours } = Effort::for_each_of(tables);
            (random_keys, neighbours)
        };
        assert_eq!([0, 1, 125].map(effort), [(400_000, 256); 3]);
        assert_eq!(effort(250), (200_000, 256));
        assert_eq!([2500, 1_000_000].map(effort), [(20_000, 64); 2]);
    }
}
