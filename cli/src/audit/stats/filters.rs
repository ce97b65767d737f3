//! The filters of a block: sizes, bits set, and the expected rate of false positives.

use std::ops::RangeInclusive;

use filterblock::{FilterBlockReader, FilterPolicy as _, SharedPolicy};

use super::filter::{Filter, State};
use super::offsets::Offsets;

/// With a greater base_lg all filters are malformed.
const MAX_BASE_LG: u8 = 63;
/// The number of bytes of filters between two prefix sums.
const STRIDE: usize = 256;

/// The filters of a block, counted.
///
/// Prefix sums make counting the bits of one filter O(1): a damaged offset array can alias the same
/// bytes for a million filters.
#[derive(Debug)]
pub(crate) struct FilterStats {
    reader: FilterBlockReader<SharedPolicy>,
    /// The bits set before each stride, and in all.
    sums: Vec<u64>,
    array_offset: usize,
}

/// The sums over all filters of a block.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    pub(crate) filters: u64,
    pub(crate) empty: u64,
    pub(crate) bits: u64,
    pub(crate) bits_set: u64,
    /// `None` if they differ, or there are no filters.
    pub(crate) probes: Option<u8>,
    pub(crate) array_bytes: u64,
}

impl FilterStats {
    pub(crate) fn new(reader: FilterBlockReader<SharedPolicy>) -> Self {
        let contents = reader.contents();
        let array_end = contents.len().saturating_sub(5);
        let array_offset = if reader.num_filters() > 0 { fixed32(contents, array_end) } else { 0 };
        let filters = contents.get(..array_offset).unwrap_or_default();
        let totals = filters.chunks(STRIDE).scan(0, |sum, stride| {
            *sum += ones(stride);
            Some(*sum)
        });
        let sums = std::iter::once(0).chain(totals).collect();
        Self { reader, sums, array_offset }
    }

    pub(crate) const fn reader(&self) -> &FilterBlockReader<SharedPolicy> {
        &self.reader
    }

    /// The index of the filter for the data block at `offset`. There may be no such filter.
    pub(crate) fn index_for(&self, offset: u64) -> u64 {
        if self.reader.base_lg() > MAX_BASE_LG { u64::MAX } else { offset >> self.reader.base_lg() }
    }

    /// Filter `index`; `None` beyond the last one.
    pub(crate) fn filter(&self, index: u64) -> Option<Filter> {
        let index = usize::try_from(index).ok().filter(|&index| index < self.reader.num_filters())?;
        if self.reader.base_lg() > MAX_BASE_LG {
            return Some(Filter::without_bytes(State::Malformed, 1.0));
        }
        let Some(filter) = self.reader.filter(index) else {
            // A malformed filter denies nothing, unless it is an empty one in a wrong place.
            let offset = (index as u64).checked_shl(self.reader.base_lg().into()).unwrap_or_default();
            let rate = if self.reader.key_may_match(offset, b"") { 1.0 } else { 0.0 };
            return Some(Filter::without_bytes(State::Malformed, rate));
        };
        let Some((&probes, array)) = filter.split_last() else {
            return Some(Filter::without_bytes(State::Empty, 0.0));
        };
        let start = fixed32(self.reader.contents(), self.array_offset + 4 * index);
        let bits_set = match array.len() {
            ..STRIDE => ones(array),
            len => self.ones_before(start + len) - self.ones_before(start),
        };
        Some(Filter::of_array(self.reader.policy().name(), array.len(), bits_set, probes))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Filter> {
        (0..self.reader.num_filters() as u64).filter_map(|index| self.filter(index))
    }

    pub(crate) fn summary(&self) -> Summary {
        let filters = self.reader.num_filters() as u64;
        let mut summary = Summary { filters, array_bytes: 4 * filters, ..Summary::default() };
        let mut differ = false;
        for filter in self.iter() {
            summary.empty += u64::from(filter.state == State::Empty);
            summary.bits += filter.bits;
            summary.bits_set += filter.bits_set;
            if filter.probes.is_some() {
                differ |= summary.probes.is_some_and(|probes| Some(probes) != filter.probes);
                summary.probes = filter.probes;
            }
        }
        summary.probes = summary.probes.filter(|_| !differ);
        summary
    }

    /// The share of absent keys that pass for the data block at `offset`.
    pub(crate) fn rate_at(&self, offset: u64) -> f64 {
        self.filter(self.index_for(offset)).map_or(1.0, |filter| filter.rate)
    }

    /// The mean rate over data blocks; `None` if there are none.
    pub(crate) fn mean_rate(&self, blocks: &Offsets) -> Option<f64> {
        mean(blocks.iter().map(|offset| self.rate_at(offset)))
    }

    /// The mean rate over the filters that are not empty, for a block without its table.
    pub(crate) fn mean_rate_of_filters(&self) -> Option<f64> {
        mean(self.iter().filter(|filter| filter.state != State::Empty).map(|filter| filter.rate))
    }

    /// The rate of each filter that covers some of these data blocks.
    pub(crate) fn covering_rates(&self, blocks: &Offsets) -> impl Iterator<Item = f64> {
        self.covering(blocks).map(|index| self.filter(index).map_or(1.0, |filter| filter.rate))
    }

    /// The number of filters that cover some of these data blocks.
    pub(crate) fn num_covering(&self, blocks: &Offsets) -> u64 {
        self.covering(blocks).count() as u64
    }

    fn covering(&self, blocks: &Offsets) -> impl Iterator<Item = u64> {
        let mut last = None;
        let indices = blocks.iter().map(|offset| self.index_for(offset));
        indices.filter(move |&index| last.replace(index) != Some(index))
    }

    /// The first and the last offset of a data block that filter `index` covers.
    pub(crate) fn range(&self, index: u64) -> RangeInclusive<u64> {
        let lg = u32::from(self.reader.base_lg().min(MAX_BASE_LG));
        let start = u128::from(index) << lg;
        let last = start + (1 << lg) - 1;
        let clamp = |offset| u64::try_from(offset).unwrap_or(u64::MAX);
        clamp(start)..=clamp(last)
    }

    fn ones_before(&self, end: usize) -> u64 {
        let stride = end / STRIDE;
        let rest = self.reader.contents().get(stride * STRIDE..end).unwrap_or_default();
        self.sums.get(stride).copied().unwrap_or_default() + ones(rest)
    }
}

fn ones(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let words: u64 = words.iter().map(|&word| u64::from(u64::from_le_bytes(word).count_ones())).sum();
    words + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

fn fixed32(bytes: &[u8], at: usize) -> usize {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    word.map_or(0, |&word| u32::from_le_bytes(word) as usize)
}

fn mean(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = rates.fold((0.0, 0u64), |(sum, count), rate| (sum + rate, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use filterblock::{BloomFilterPolicy, FilterBlockBuilder};

    use super::*;

    fn policy() -> SharedPolicy {
        Arc::new(BloomFilterPolicy::new(10))
    }

    fn stats_of(contents: &[u8]) -> FilterStats {
        FilterStats::new(FilterBlockReader::new(policy(), contents.to_vec().into()))
    }

    fn offsets(given: &[u64]) -> Offsets {
        let mut offsets = Offsets::default();
        given.iter().for_each(|&offset| offsets.insert(offset));
        offsets
    }

    /// Filters of 2 KiB: one of three keys, one that is empty, one of a thousand keys.
    fn three() -> Vec<u8> {
        let mut builder = FilterBlockBuilder::new(policy());
        let keys = [(0, 3), (2 * 2048, 1000)];
        for (offset, count) in keys {
            builder.start_block(offset).unwrap();
            (0..count).for_each(|key| builder.add_key(format!("{offset} {key}").as_bytes()));
        }
        builder.finish().unwrap().to_vec()
    }

    /// Counts the bits set in the plainest way.
    fn counted(filter: &[u8]) -> u64 {
        filter.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    #[test]
    fn every_filter_is_counted() {
        let contents = three();
        let stats = stats_of(&contents);
        for index in [0, 2] {
            let bytes = stats.reader().filter(index).unwrap();
            let filter = stats.filter(index as u64).unwrap();
            assert_eq!(filter.state, State::Ok);
            assert_eq!(filter.bytes, bytes.len() as u64);
            assert_eq!(filter.bits, 8 * (bytes.len() as u64 - 1));
            assert_eq!(filter.bits_set, counted(&bytes[..bytes.len() - 1]));
            assert_eq!(filter.probes, Some(6));
            let share = filter.bits_set as f64 / filter.bits as f64;
            assert!((filter.rate - share.powf(6.0)).abs() < 1e-12);
            assert!(filter.rate < 0.02);
        }
        assert_eq!(stats.filter(1).unwrap().state, State::Empty);
        assert_eq!(stats.filter(1).unwrap().rate, 0.0);
        assert_eq!(stats.filter(3), None);
        let bits = 64 + 10_000;
        let bits_set = counted(&contents[..8]) + counted(&contents[9..9 + 1250]);
        let expected = Summary { filters: 3, empty: 1, bits, bits_set, probes: Some(6), array_bytes: 12 };
        assert_eq!(stats.summary(), expected);
    }

    #[test]
    fn the_mean_is_over_data_blocks() {
        let contents = three();
        let stats = stats_of(&contents);
        let [first, last] = [0, 2].map(|index| stats.filter(index).unwrap().rate);
        assert_eq!(stats.mean_rate(&offsets(&[])), None);
        assert_eq!(stats.mean_rate(&offsets(&[0])), Some(first));
        assert_eq!(stats.mean_rate(&offsets(&[2048])), Some(0.0), "an empty filter");
        assert_eq!(stats.mean_rate(&offsets(&[3 * 2048])), Some(1.0), "beyond the last filter");
        let mean = stats.mean_rate(&offsets(&[0, 100, 2 * 2048, u64::MAX])).unwrap();
        assert!((mean - (2.0 * first + last + 1.0) / 4.0).abs() < 1e-12);
        let mean = stats.mean_rate_of_filters().unwrap();
        assert!((mean - (first + last) / 2.0).abs() < 1e-12);
        let rates: Vec<_> = stats.covering_rates(&offsets(&[0, 100, 2048, 9000])).collect();
        assert_eq!(rates, [first, 0.0, 1.0]);
        assert_eq!(stats.num_covering(&offsets(&[0, 100, 2048, 9000])), 3);
    }

    #[test]
    fn malformed_filters_deny_nothing() {
        let mut contents = [&[0; 9][..], &[0; 4], &[9, 0, 0, 0, 11]].concat();
        let end = contents.len();
        contents[9..13].copy_from_slice(&10u32.to_le_bytes());
        let filter = stats_of(&contents).filter(0).unwrap();
        assert_eq!((filter.state, filter.rate, filter.bits), (State::Malformed, 1.0, 0));
        for base_lg in 64..=255 {
            contents[9..13].copy_from_slice(&[0; 4]);
            contents[end - 1] = base_lg;
            let stats = stats_of(&contents);
            assert_eq!(stats.rate_at(0), 1.0);
            assert_eq!(stats.filter(0).unwrap().state, State::Malformed);
        }
    }

    #[test]
    fn any_bytes_can_be_counted() {
        let mut state = 1u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for len in (0..400usize).chain([5000, 20_000]) {
            let mut contents: Vec<u8> = (0..len).map(|_| byte()).collect();
            // An array that is likely to be one, of offsets that go back and forth.
            if let Some(tail) = len.checked_sub(5) {
                let array = (tail / 2) as u32;
                contents[tail..tail + 4].copy_from_slice(&array.to_le_bytes());
                for entry in contents[array as usize..tail].chunks_exact_mut(4) {
                    let offset = u32::from_le_bytes(entry.try_into().unwrap()) % (array + 1);
                    entry.copy_from_slice(&offset.to_le_bytes());
                }
            }
            let stats = stats_of(&contents);
            for (index, filter) in stats.iter().enumerate() {
                let Some((_, array)) = stats.reader().filter(index).and_then(<[u8]>::split_last) else {
                    continue;
                };
                if filter.state == State::Ok {
                    assert_eq!(filter.bits_set, counted(array), "{len} {index}");
                }
            }
            stats.summary();
        }
    }
}
