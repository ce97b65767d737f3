//! The weight of a filter in a rate: the share of absent keys that the index sends to it.
//!
//! It is the number of entries in the filter's data blocks. The size of the filter reveals it, because LevelDB gives
//! each entry the same number of bits.

use crate::audit::stats::{FilterState, FilterStats, Offsets};

/// Each filter's weight, with the offset of a data block that it covers.
#[derive(Debug)]
pub(crate) struct FilterWeights<'a> {
    filters: &'a FilterStats,
    /// `None` for a filter block without its table.
    blocks: Option<&'a Offsets>,
    /// Of a data block whose filter does not reveal the number of its entries.
    of_block: f64,
    sum: f64,
}

/// A filter's index, the offset of a data block that it covers, and how many it covers.
type Covering = (u64, u64, u64);

impl<'a> FilterWeights<'a> {
    pub(crate) fn new(filters: &'a FilterStats, blocks: Option<&'a Offsets>) -> Self {
        let mut weights = Self { filters, blocks, of_block: 1.0, sum: 0.0 };
        let known = weights
            .covering()
            .filter_map(|(index, _, blocks)| Some((filters.relative_entries(index)?, blocks)));
        let (entries, blocks) =
            known.fold((0.0, 0_u64), |(sum, all), (entries, blocks)| (sum + entries, all + blocks));
        if entries > 0.0 {
            weights.of_block = entries / blocks as f64;
        }
        weights.sum = weights.iter().map(|(_, weight)| weight).sum();
        weights
    }

    /// Returns, for each filter that lookups reach, the offset of a data block that it covers, and its weight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, f64)> {
        self.covering().map(|(index, offset, blocks)| {
            let known = self.filters.relative_entries(index);
            (offset, known.unwrap_or(self.of_block * blocks as f64))
        })
    }

    /// 0 if lookups reach no filter.
    pub(super) const fn sum(&self) -> f64 {
        self.sum
    }

    /// The false-positive rate by the bits set; `None` if no filter has a weight.
    pub(crate) fn estimated_rate(&self) -> Option<f64> {
        let rates = self.iter().map(|(offset, weight)| weight * self.filters.rate_at(offset));
        (self.sum > 0.0).then(|| (rates.sum::<f64>() / self.sum).min(1.0))
    }

    fn covering(&self) -> impl Iterator<Item = Covering> {
        let of_table = self.blocks.into_iter().flat_map(|blocks| {
            let mut offsets = blocks.iter().map(|offset| (self.filters.index_for(offset), offset)).peekable();
            std::iter::from_fn(move || {
                let (index, first) = offsets.next()?;
                let mut blocks = 1;
                while offsets.next_if(|(next, _)| *next == index).is_some() {
                    blocks += 1;
                }
                Some((index, first, blocks))
            })
        });
        let alone = self.blocks.is_none().then(|| (0..).zip(self.filters.iter())).into_iter().flatten();
        let alone = alone.filter(|(_, filter)| filter.state != FilterState::Empty);
        of_table.chain(alone.map(|(index, _)| (index, *self.filters.range(index).start(), 1)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, SharedPolicy};

    use super::*;

    /// Filters for data blocks. `of`: for each filter, the offsets of its data blocks, and its number of keys.
    fn filters(of: &[(&[u64], u64)]) -> (FilterStats, Offsets) {
        let policy: SharedPolicy = Arc::new(BloomFilterPolicy::new(10));
        let mut builder = FilterBlockBuilder::new(Arc::clone(&policy));
        let mut blocks = Offsets::default();
        for (offsets, keys) in of {
            for offset in *offsets {
                blocks.insert(*offset);
                builder.start_block(*offset).unwrap();
                let keys = keys / offsets.len() as u64;
                (0..keys).for_each(|key| builder.add_key(format!("{offset} {key}").as_bytes()));
            }
        }
        (FilterStats::new(FilterBlockReader::new(policy, builder.finish().unwrap())), blocks)
    }

    #[test]
    fn a_filter_counts_by_its_entries() {
        let (stats, blocks) = filters(&[(&[0, 100, 200, 300], 40), (&[2048], 120), (&[6000], 4)]);
        let weights = FilterWeights::new(&stats, Some(&blocks));
        let found: Vec<_> = weights.iter().collect();
        assert_eq!(found.iter().map(|(offset, _)| *offset).collect::<Vec<_>>(), [0, 2048, 6000]);
        assert_eq!((found[0].1, found[1].1), (400.0, 1200.0));
        // The smallest filter has 64 bits, however few entries it has: the bits set reveal the number of entries.
        assert!((25.0..55.0).contains(&found[2].1), "{found:?}");
        assert!((weights.sum() - found.iter().map(|(_, weight)| weight).sum::<f64>()).abs() < 1e-9);
        let [first, second, third] = [0, 1, 2].map(|index| stats.filter(index).unwrap().rate);
        let expected = (400.0 * first + 1200.0 * second + found[2].1 * third) / weights.sum();
        assert!((weights.estimated_rate().unwrap() - expected).abs() < 1e-12);
        let alone: Vec<_> = FilterWeights::new(&stats, None).iter().map(|(_, weight)| weight).collect();
        assert_eq!(alone, found.iter().map(|(_, weight)| *weight).collect::<Vec<_>>());
    }

    #[test]
    fn a_block_without_a_filter_counts_as_the_mean_of_others() {
        let (stats, mut blocks) = filters(&[(&[0, 100], 40), (&[2048], 56)]);
        blocks.insert(9000);
        blocks.insert(9100);
        let weights = FilterWeights::new(&stats, Some(&blocks));
        assert_eq!(weights.iter().collect::<Vec<_>>(), [(0, 400.0), (2048, 560.0), (9000, 640.0)]);
        let none = Offsets::default();
        assert_eq!(FilterWeights::new(&stats, Some(&none)).estimated_rate(), None);
    }
}
