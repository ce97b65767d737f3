//! The filters of a filter block: sizes, bits set, and the expected false-positive rate.

use std::ops::RangeInclusive;

use filterblock::{FilterBlockReader, FilterPolicy as _, SharedPolicy};

use super::blocks::Blocks;
use super::filter::{Filter, FilterState};
use super::offsets::Offsets;
use crate::report::Estimate;

/// With a greater one, all filters are malformed.
const MAX_BASE_LG: u8 = 63;

#[derive(Clone, Debug)]
pub(crate) struct FilterStats {
    reader: FilterBlockReader<SharedPolicy>,
    /// The filters share bytes, as a damaged offset array lets a million of them do. They are then not described: each
    /// takes a pass over its bytes.
    overlap: bool,
}

#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    pub filters: u64,
    pub empty: u64,
    pub bits: u64,
    pub bits_set: u64,
    /// `None`: the filters differ, or none is described.
    pub probes: Option<u32>,
}

impl FilterStats {
    pub(crate) fn new(reader: FilterBlockReader<SharedPolicy>) -> Self {
        let filters = (0..reader.num_filters()).filter_map(|index| reader.filter(index));
        let len = filters.fold(0_u64, |len, filter| len.saturating_add(filter.len() as u64));
        let overlap = len > reader.contents().len() as u64;
        Self { reader, overlap }
    }

    pub(crate) const fn reader(&self) -> &FilterBlockReader<SharedPolicy> {
        &self.reader
    }

    /// There may be no filter with this index.
    pub(crate) fn index_for(&self, offset: u64) -> u64 {
        if self.reader.base_lg() > MAX_BASE_LG { u64::MAX } else { offset >> self.reader.base_lg() }
    }

    /// `None`: there are fewer filters.
    pub(crate) fn filter(&self, index: u64) -> Option<Filter> {
        let index = usize::try_from(index).ok().filter(|&index| index < self.reader.num_filters())?;
        if self.reader.base_lg() > MAX_BASE_LG {
            return Some(Filter::without_bytes(FilterState::Malformed, 1.0));
        }
        let Some(filter) = self.reader.filter(index) else {
            // A malformed filter rules nothing out, unless it is an empty one in a wrong place.
            let offset = (index as u64).checked_shl(self.reader.base_lg().into()).unwrap_or_default();
            let rate = if self.reader.key_may_match(offset, b"") { 1.0 } else { 0.0 };
            return Some(Filter::without_bytes(FilterState::Malformed, rate));
        };
        if filter.is_empty() {
            return Some(Filter::without_bytes(FilterState::Empty, 0.0));
        }
        let shape = if self.overlap { None } else { self.reader.policy().describe(filter) };
        Some(Filter::described(filter.len(), shape))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Filter> {
        (0..self.reader.num_filters() as u64).filter_map(|index| self.filter(index))
    }

    pub(crate) fn summary(&self) -> Summary {
        let filters = self.reader.num_filters() as u64;
        let mut summary = Summary { filters, ..Summary::default() };
        let mut differ = false;
        for filter in self.iter() {
            summary.empty += u64::from(filter.state == FilterState::Empty);
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

    /// The share of absent keys that may match at `offset`; 1 without a filter there.
    pub(crate) fn rate_at(&self, offset: u64) -> f64 {
        self.filter(self.index_for(offset)).map_or(1.0, |filter| filter.rate)
    }

    /// The entries that filter `index` was made for, approximately, in a unit that all filters of the block share:
    /// bits, or those its keys would get without the minimum. `None`: no such filter, or it does not reveal the number.
    pub(crate) fn relative_entries(&self, index: u64) -> Option<f64> {
        /// Bits of the smallest filter.
        const FEWEST: usize = 64;
        /// LevelDB's probes for each bit per key.
        const PROBES: f64 = 0.69;
        if self.overlap || self.reader.base_lg() > MAX_BASE_LG {
            return None;
        }
        let filter = self.reader.filter(usize::try_from(index).ok()?)?;
        let bits = filter.len().checked_sub(1)?.saturating_mul(8);
        if bits > FEWEST {
            return Some(bits as f64);
        }
        let shape =
            self.reader.policy().describe(filter).filter(|shape| shape.bits > 0 && shape.probes > 0)?;
        let (bits, probes) = (shape.bits as f64, f64::from(shape.probes));
        // LevelDB rounds the number of probes down.
        let bits_per_entry = (probes + 0.5) / PROBES;
        let entries = -(1.0 - shape.bits_set as f64 / bits).ln() * bits / probes;
        // A filter with more keys than `most` would have more bits.
        let most = f64::max(bits / bits_per_entry, 1.0);
        Some(entries.clamp(1.0, most) * bits_per_entry)
    }

    /// Counts each filter that covers some of these blocks; a missing one has the rate 1.
    pub(crate) fn covering_rates(&self, blocks: &Offsets) -> impl Iterator<Item = f64> {
        self.covering(blocks).map(|index| self.filter(index).map_or(1.0, |filter| filter.rate))
    }

    /// True if the filter for the block at `offset` also covers another of `blocks`.
    pub(crate) fn is_shared(&self, offset: u64, blocks: &Offsets) -> bool {
        blocks.range(self.range(self.index_for(offset))).nth(1).is_some()
    }

    fn covering(&self, blocks: &Offsets) -> impl Iterator<Item = u64> {
        let mut last = None;
        let indices = blocks.iter().map(|offset| self.index_for(offset));
        indices.filter(move |&index| last.replace(index) != Some(index))
    }

    /// The offsets that data blocks covered by filter `index` can have.
    pub(crate) fn range(&self, index: u64) -> RangeInclusive<u64> {
        let lg = u32::from(self.reader.base_lg().min(MAX_BASE_LG));
        let start = u128::from(index) << lg;
        let last = start + (1 << lg) - 1;
        let clamp = |offset| u64::try_from(offset).unwrap_or(u64::MAX);
        clamp(start)..=clamp(last)
    }
}

/// Bits per key that LevelDB's documentation recommends.
pub const DEFAULT_BITS_PER_KEY: u64 = 10;
/// Of LevelDB's filter blocks.
const DEFAULT_BASE_LG: u8 = 11;

/// Assumes filters of [`DEFAULT_BITS_PER_KEY`].
pub(super) fn filter_size(entries: Estimate<u64>, blocks: &Blocks) -> u64 {
    let mut last = None;
    let ranges = blocks.offsets.iter().map(|offset| offset >> DEFAULT_BASE_LG);
    let used = ranges.filter(|&range| last.replace(range) != Some(range)).count() as u64;
    let filters = last.map_or(0, |last| last.saturating_add(1));
    let arrays = entries.value.saturating_mul(DEFAULT_BITS_PER_KEY).div_ceil(8).max(8 * used);
    arrays.saturating_add(used).saturating_add(filters.saturating_mul(4)).saturating_add(5)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterPolicy, FilterShape, Keys};

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

    /// Filters for ranges of 2 KiB: one of three keys, one that is empty, one of a thousand keys.
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
            assert_eq!(filter.state, FilterState::Ok);
            assert_eq!(filter.bytes, bytes.len() as u64);
            assert_eq!(filter.bits, 8 * (bytes.len() as u64 - 1));
            assert_eq!(filter.bits_set, counted(&bytes[..bytes.len() - 1]));
            assert_eq!(filter.probes, Some(6));
            let share = filter.bits_set as f64 / filter.bits as f64;
            assert!((filter.rate - share.powf(6.0)).abs() < 1e-12);
            assert!(filter.rate < 0.02);
        }
        assert_eq!(stats.filter(1).unwrap().state, FilterState::Empty);
        assert_eq!(stats.filter(1).unwrap().rate, 0.0);
        assert_eq!(stats.filter(3), None);
        let bits = 64 + 10_000;
        let bits_set = counted(&contents[..8]) + counted(&contents[9..9 + 1250]);
        let expected = Summary { filters: 3, empty: 1, bits, bits_set, probes: Some(6) };
        assert_eq!(stats.summary(), expected);
    }

    #[test]
    fn blocks_are_asked_by_the_filters_that_cover_them() {
        let contents = three();
        let stats = stats_of(&contents);
        let first = stats.filter(0).unwrap().rate;
        let rates: Vec<_> = stats.covering_rates(&offsets(&[0, 100, 2048, 9000])).collect();
        assert_eq!(rates, [first, 0.0, 1.0]);
        assert_eq!(stats.rate_at(u64::MAX), 1.0, "beyond the last filter");
    }

    #[test]
    fn a_filter_tells_its_entries_by_its_size() {
        let contents = three();
        let stats = stats_of(&contents);
        assert_eq!([1, 3].map(|index| stats.relative_entries(index)), [None; 2]);
        assert_eq!(stats.relative_entries(2), Some(10_000.0));
        // Three keys of ten bits: the filter has 64 bits, and the bits set reveal how many keys there are.
        let few = stats.relative_entries(0).unwrap();
        assert!((20.0..45.0).contains(&few), "{few}");
    }

    #[test]
    fn malformed_filters_deny_nothing() {
        let mut contents = [&[0; 9][..], &[0; 4], &[9, 0, 0, 0, 11]].concat();
        let end = contents.len();
        contents[9..13].copy_from_slice(&10u32.to_le_bytes());
        let filter = stats_of(&contents).filter(0).unwrap();
        assert_eq!((filter.state, filter.rate, filter.bits), (FilterState::Malformed, 1.0, 0));
        for base_lg in 64..=255 {
            contents[9..13].copy_from_slice(&[0; 4]);
            contents[end - 1] = base_lg;
            let stats = stats_of(&contents);
            assert_eq!(stats.rate_at(0), 1.0);
            assert_eq!(stats.filter(0).unwrap().state, FilterState::Malformed);
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
            // Makes the end a likely offset array, with offsets that go back and forth.
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
                if filter.probes.is_some() {
                    assert_eq!(filter.bits_set, counted(array), "{len} {index}");
                }
            }
            stats.summary();
        }
    }

    /// A policy that counts the bytes that it is asked to describe.
    #[derive(Default)]
    struct Describing(AtomicU64);

    impl FilterPolicy for Describing {
        fn name(&self) -> &str {
            "test.Describing"
        }
        fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> filterblock::Result<()> {
            Ok(())
        }
        fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
            true
        }
        fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
            self.0.fetch_add(filter.len() as u64, Ordering::Relaxed);
            BloomFilterPolicy::new(10).describe(filter)
        }
    }

    /// A thousand filters one after the other; and a thousand of which every second has the same 4,000 bytes, while the
    /// others end before they start.
    #[test]
    fn filters_that_share_bytes_are_not_described() {
        for shared in [false, true] {
            let mut contents = vec![6; 4000];
            for index in 0..1000_u32 {
                let sound = index * 4;
                let back_and_forth = if index % 2 == 0 { 0 } else { 4000 };
                contents.extend(if shared { back_and_forth } else { sound }.to_le_bytes());
            }
            contents.extend(4000_u32.to_le_bytes());
            contents.push(11);
            let policy = Arc::new(Describing::default());
            let len = contents.len() as u64;
            let stats = FilterStats::new(FilterBlockReader::new(Arc::clone(&policy) as _, contents.into()));
            let summary = stats.summary();
            let described = policy.0.load(Ordering::Relaxed);
            if shared {
                assert_eq!((described, summary.bits, summary.probes), (0, 0, None));
                assert_eq!(
                    stats.filter(0).map(|filter| (filter.state, filter.rate)),
                    Some((FilterState::Ok, 1.0))
                );
            } else {
                assert!(described == 4000 && described <= len);
                assert_eq!((summary.bits, summary.bits_set, summary.probes), (24_000, 6000, Some(6)));
            }
        }
    }
}
