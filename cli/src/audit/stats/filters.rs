//! The filters of a block, counted: sizes, bits set, and what follows for absent keys.

use std::ops::RangeInclusive;

use filterblock::{FilterBlockReader, FilterPolicy};

use super::Offsets;

/// Filters behind this base_lg are malformed.
const MAX_BASE_LG: u8 = 63;
/// Bytes of filters for each sum of their bits.
const STRIDE: usize = 256;

/// Prefix sums make counting the bits of one filter O(1): a damaged offset array can alias the same
/// bytes for a million filters.
pub(crate) struct Census<'a, P: FilterPolicy, B: AsRef<[u8]>> {
    reader: &'a FilterBlockReader<P, B>,
    /// The bits set before each stride, and in all.
    sums: Vec<u64>,
    array_offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Ok,
    Empty,
    Malformed,
}

impl State {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Empty => "empty",
            Self::Malformed => "malformed",
        }
    }
}

/// One filter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Filter {
    pub(crate) state: State,
    pub(crate) bytes: u64,
    pub(crate) bits: u64,
    pub(crate) bits_set: u64,
    /// None where there is no filter.
    pub(crate) probes: Option<u8>,
    /// The share of absent keys that pass.
    pub(crate) rate: f64,
}

/// All filters of a block together.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Summary {
    pub(crate) filters: u64,
    pub(crate) empty: u64,
    pub(crate) bits: u64,
    pub(crate) bits_set: u64,
    /// None where they differ, or there are none.
    pub(crate) probes: Option<u8>,
    pub(crate) array_bytes: u64,
}

impl<'a, P: FilterPolicy, B: AsRef<[u8]>> Census<'a, P, B> {
    pub(crate) fn new(reader: &'a FilterBlockReader<P, B>) -> Self {
        let contents = reader.contents();
        let array_end = contents.len().saturating_sub(5);
        let array_offset = if reader.num_filters() > 0 { fixed32(contents, array_end) } else { 0 };
        let filters = contents.get(..array_offset).unwrap_or_default();
        let totals = filters.chunks(STRIDE).scan(0, |sum, stride| {
            *sum += ones(stride);
            Some(*sum)
        });
        Self { reader, sums: std::iter::once(0).chain(totals).collect(), array_offset }
    }

    pub(crate) const fn reader(&self) -> &'a FilterBlockReader<P, B> {
        self.reader
    }

    /// Which filter is asked for the data block at `offset`. There may be none such.
    pub(crate) fn index_for(&self, offset: u64) -> u64 {
        if self.reader.base_lg() > MAX_BASE_LG { u64::MAX } else { offset >> self.reader.base_lg() }
    }

    /// Filter `index`, if there are so many.
    pub(crate) fn filter(&self, index: u64) -> Option<Filter> {
        let index = usize::try_from(index).ok().filter(|&index| index < self.reader.num_filters())?;
        let none =
            Filter { state: State::Malformed, bytes: 0, bits: 0, bits_set: 0, probes: None, rate: 1.0 };
        if self.reader.base_lg() > MAX_BASE_LG {
            return Some(none);
        }
        let Some(filter) = self.reader.filter(index) else {
            // Malformed filters deny nothing, but for empty ones in a wrong place.
            let offset = (index as u64).checked_shl(self.reader.base_lg().into()).unwrap_or_default();
            let denies = !self.reader.key_may_match(offset, b"");
            return Some(Filter { rate: if denies { 0.0 } else { 1.0 }, ..none });
        };
        let Some((&probes, array)) = filter.split_last() else {
            return Some(Filter { state: State::Empty, rate: 0.0, ..none });
        };
        let start = fixed32(self.reader.contents(), self.array_offset + 4 * index);
        let bits = 8 * array.len() as u64;
        let bits_set = match array.len() {
            ..STRIDE => ones(array),
            len => self.ones_before(start + len) - self.ones_before(start),
        };
        let rate = match denies(self.reader.policy().name(), array.len(), probes) {
            Denies::All => 0.0,
            Denies::Some => (bits_set as f64 / bits as f64).powi(i32::from(probes)),
            Denies::None => 1.0,
        };
        Some(Filter {
            state: State::Ok,
            bytes: filter.len() as u64,
            bits,
            bits_set,
            probes: Some(probes),
            rate,
        })
    }

    /// All filters.
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

    /// The mean of that over data blocks; `None` if there are none.
    pub(crate) fn mean_rate(&self, blocks: &Offsets) -> Option<f64> {
        mean(blocks.iter().map(|offset| self.rate_at(offset)))
    }

    /// The mean over the filters that are not empty, for a block whose table is not at hand.
    pub(crate) fn mean_rate_of_filters(&self) -> Option<f64> {
        mean(self.iter().filter(|filter| filter.state != State::Empty).map(|filter| filter.rate))
    }

    /// The share of absent keys that pass, for each filter that covers some of these data blocks.
    pub(crate) fn covering_rates(&self, blocks: &Offsets) -> impl Iterator<Item = f64> {
        let mut last = None;
        let indices = blocks.iter().map(|offset| self.index_for(offset));
        let each_once = indices.filter(move |&index| last.replace(index) != Some(index));
        each_once.map(|index| self.filter(index).map_or(1.0, |filter| filter.rate))
    }

    /// The offsets of the data blocks that filter `index` is for, first and last.
    pub(crate) fn range(&self, index: u64) -> RangeInclusive<u64> {
        let lg = u32::from(self.reader.base_lg().min(MAX_BASE_LG));
        let start = u128::from(index) << lg;
        let last = start + (1 << lg) - 1;
        let within = |offset| u64::try_from(offset).unwrap_or(u64::MAX);
        within(start)..=within(last)
    }

    fn ones_before(&self, end: usize) -> u64 {
        let stride = end / STRIDE;
        let rest = self.reader.contents().get(stride * STRIDE..end).unwrap_or_default();
        self.sums.get(stride).copied().unwrap_or_default() + ones(rest)
    }
}

/// Which absent keys a filter denies, going by its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Denies {
    None,
    Some,
    All,
}

/// What a filter of this policy, of `len` bytes of bits, denies. All known policies put k behind the bits.
fn denies(policy: &str, len: usize, probes: u8) -> Denies {
    let is_sound = match policy {
        "filterblock.CassandraBloomFilter1" => len > 0 && len.is_multiple_of(8) && (1..=15).contains(&probes),
        "filterblock.Murmur3BloomFilter1" => len >= 8 && len.is_power_of_two() && (1..=64).contains(&probes),
        // The encoding is not known, and nothing is denied.
        "rocksdb.BuiltinBloomFilter" => false,
        // LevelDB: no bits, no match.
        _ if len == 0 => return Denies::All,
        // LevelDB: greater k is reserved.
        _ => (1..=30).contains(&probes),
    };
    if is_sound { Denies::Some } else { Denies::None }
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

    use filterblock::{
        BloomFilterPolicy, CassandraBloomPolicy, FilterBlockBuilder, LegacyBloomPolicy, Murmur3BloomPolicy,
        SharedPolicy,
    };

    use super::*;

    fn policy() -> BloomFilterPolicy {
        BloomFilterPolicy::new(10)
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

    /// The same by the plainest way.
    fn counted(filter: &[u8]) -> u64 {
        filter.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    #[test]
    fn every_filter_is_counted() {
        let contents = three();
        let reader = FilterBlockReader::new(policy(), contents.as_slice());
        let census = Census::new(&reader);
        for index in [0, 2] {
            let bytes = reader.filter(index).unwrap();
            let filter = census.filter(index as u64).unwrap();
            assert_eq!(filter.state, State::Ok);
            assert_eq!(filter.bytes, bytes.len() as u64);
            assert_eq!(filter.bits, 8 * (bytes.len() as u64 - 1));
            assert_eq!(filter.bits_set, counted(&bytes[..bytes.len() - 1]));
            assert_eq!(filter.probes, Some(6));
            let share = filter.bits_set as f64 / filter.bits as f64;
            assert!((filter.rate - share.powf(6.0)).abs() < 1e-12);
            assert!(filter.rate < 0.02);
        }
        assert_eq!(census.filter(1).unwrap().state, State::Empty);
        assert_eq!(census.filter(1).unwrap().rate, 0.0);
        assert_eq!(census.filter(3), None);
        let bits = 64 + 10_000;
        let bits_set = counted(&contents[..8]) + counted(&contents[9..9 + 1250]);
        let expected = Summary { filters: 3, empty: 1, bits, bits_set, probes: Some(6), array_bytes: 12 };
        assert_eq!(census.summary(), expected);
    }

    #[test]
    fn the_mean_is_over_data_blocks() {
        let contents = three();
        let reader = FilterBlockReader::new(policy(), contents.as_slice());
        let census = Census::new(&reader);
        let [first, last] = [0, 2].map(|index| census.filter(index).unwrap().rate);
        assert_eq!(census.mean_rate(&offsets(&[])), None);
        assert_eq!(census.mean_rate(&offsets(&[0])), Some(first));
        assert_eq!(census.mean_rate(&offsets(&[2048])), Some(0.0), "an empty filter");
        assert_eq!(census.mean_rate(&offsets(&[3 * 2048])), Some(1.0), "beyond the last filter");
        let mean = census.mean_rate(&offsets(&[0, 100, 2 * 2048, u64::MAX])).unwrap();
        assert!((mean - (2.0 * first + last + 1.0) / 4.0).abs() < 1e-12);
        let mean = census.mean_rate_of_filters().unwrap();
        assert!((mean - (first + last) / 2.0).abs() < 1e-12);
        let rates: Vec<_> = census.covering_rates(&offsets(&[0, 100, 2048, 9000])).collect();
        assert_eq!(rates, [first, 0.0, 1.0]);
    }

    /// A block of one filter with these contents.
    fn single(filter: &[u8]) -> Vec<u8> {
        let mut contents = filter.to_vec();
        contents.extend([0; 4]);
        contents.extend((filter.len() as u32).to_le_bytes());
        contents.push(11);
        contents
    }

    /// Filters that deny nothing or everything, by each policy: the rate agrees with the answers.
    #[test]
    fn the_rate_is_what_the_policies_answer() {
        let policies: [SharedPolicy; 4] = [
            Arc::new(policy()),
            Arc::new(LegacyBloomPolicy::new(10)),
            Arc::new(CassandraBloomPolicy::new(10)),
            Arc::new(Murmur3BloomPolicy::new(10)),
        ];
        let mut passing = 0;
        let mut denied = 0;
        for policy in policies {
            for len in [0, 1, 4, 8, 16, 24, 32] {
                for probes in 0..=255 {
                    for fill in [0, 0xff] {
                        let contents = single(&[vec![fill; len], vec![probes]].concat());
                        let reader = FilterBlockReader::new(Arc::clone(&policy), contents.as_slice());
                        let rate = Census::new(&reader).filter(0).unwrap().rate;
                        let passes = reader.key_may_match(0, b"key");
                        assert_eq!(
                            rate,
                            if passes { 1.0 } else { 0.0 },
                            "{} {len} {probes} {fill}",
                            policy.name()
                        );
                        *if passes { &mut passing } else { &mut denied } += 1;
                    }
                }
            }
        }
        assert!(passing > 1000 && denied > 500, "{passing} {denied}");
    }

    #[test]
    fn the_rate_is_the_share_of_bits_to_the_power_of_k() {
        for (filter, rate) in [(&[0x0f, 1][..], 0.5), (&[0x0f, 3], 0.125), (&[0xff, 30], 1.0), (&[7], 0.0)] {
            let contents = single(filter);
            let reader = FilterBlockReader::new(policy(), contents.as_slice());
            assert_eq!(Census::new(&reader).filter(0).unwrap().rate, rate, "{filter:?}");
        }
    }

    #[test]
    fn malformed_filters_deny_nothing() {
        let mut contents = single(&[0; 9]);
        let end = contents.len();
        contents[9..13].copy_from_slice(&10u32.to_le_bytes());
        let reader = FilterBlockReader::new(policy(), contents.as_slice());
        let filter = Census::new(&reader).filter(0).unwrap();
        assert_eq!((filter.state, filter.rate, filter.bits), (State::Malformed, 1.0, 0));
        for base_lg in 64..=255 {
            contents[9..13].copy_from_slice(&[0; 4]);
            contents[end - 1] = base_lg;
            let reader = FilterBlockReader::new(policy(), contents.as_slice());
            let census = Census::new(&reader);
            assert_eq!(census.rate_at(0), 1.0);
            assert_eq!(census.filter(0).unwrap().state, State::Malformed);
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
            let reader = FilterBlockReader::new(policy(), contents.as_slice());
            let census = Census::new(&reader);
            for (index, filter) in census.iter().enumerate() {
                let Some((_, array)) = reader.filter(index).and_then(<[u8]>::split_last) else { continue };
                if filter.state == State::Ok {
                    assert_eq!(filter.bits_set, counted(array), "{len} {index}");
                }
            }
            census.summary();
        }
    }
}
