//! The saving from larger ranges: the number of bytes by which the filter block would be smaller if each filter
//! covered a larger range of offsets.
//!
//! A larger range joins filters. LevelDB gives a filter a fixed number of bits for each key, at least 64 in
//! all, and rounds up to whole bytes. The number of bits a key is not in the file. It is assumed to be the
//! number that explains the sizes of all filters, their k and the number of the table's keys. With it, each
//! filter's size gives its number of keys. A filter also takes 4 bytes in the offset array, empty or not, and
//! 1 byte for k if it is not empty.
//!
//! If no number of bits a key explains the sizes, the bits of joined filters are assumed to stay the same.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use filterblock::expected_false_positive_rate;

use super::filters::FilterStats;
use crate::report::{EntryCount, LargerRanges};

/// The number of bytes that a filter takes in the offset array.
pub(crate) const OFFSET_ENTRY_LEN: u64 = 4;
/// The greatest base_lg: one filter for the whole table.
const MAX_BASE_LG: u8 = 63;
/// The number of bytes after the offset array, for the offset at which the array begins, and base_lg.
const TAIL_LEN: u64 = 5;
/// The smallest size of a filter's bits, in bytes.
const MIN_ARRAY: u64 = 8;
/// The greatest number of bits a key that is tried.
const MAX_BITS_PER_KEY: u64 = 100;

/// A filter block whose filters might be joined.
pub(crate) struct Ranges<'a> {
    filters: &'a FilterStats,
    blocks: &'a Offsets,
    /// The offset after the last data block.
    data_end: u64,
    probes: Option<u32>,
    sizing: Option<Sizing>,
}

/// The rule by which the number of keys decides the size of a filter.
#[derive(Clone, Copy)]
struct Sizing {
    bits_per_key: u64,
    /// The mean number of keys of a filter of the smallest size.
    keys_of_least: f64,
}

impl<'a> Ranges<'a> {
    /// Prepares the comparison of ranges. `probes`: the k of all filters; `None`: k differs, or is not known. `keys`:
    /// the number of the table's keys.
    pub(crate) fn new(
        filters: &'a FilterStats,
        blocks: &'a Offsets,
        data_end: u64,
        probes: Option<u32>,
        keys: Option<EntryCount>,
    ) -> Self {
        let sizing = keys.and_then(|keys| Sizing::explaining(filters, probes?, keys));
        Self { filters, blocks, data_end, probes, sizing }
    }

    /// Finds the smallest base_lg that saves at least nine tenths of what one filter for the whole table would save;
    /// `None` if there is nothing to save. `rate`: the false-positive rate expected now.
    pub(crate) fn larger(&self, rate: Option<f64>) -> Option<LargerRanges> {
        let base_lg = self.filters.reader().base_lg();
        if base_lg >= MAX_BASE_LG {
            return None;
        }
        // With this base_lg or a greater one, there is only one filter.
        let last = self.blocks.iter().last()?;
        let most_lg = (u64::BITS - last.leading_zeros()).min(u32::from(MAX_BASE_LG)) as u8;
        let now = self.size_with(base_lg);
        let saves = |base_lg: u8| now.saturating_sub(self.size_with(base_lg));
        let enough = saves(most_lg).saturating_mul(9);
        let (base_lg, saves) = (base_lg + 1..=most_lg)
            .map(|base_lg| (base_lg, saves(base_lg)))
            .find(|(_, saved)| *saved > 0 && saved.saturating_mul(10) >= enough)?;
        Some(LargerRanges { base_lg, saves, rate: self.changed_rate(rate, base_lg) })
    }

    /// The false-positive rate with another base_lg. `rate`: the rate now. `None` if the rate cannot be estimated.
    ///
    /// The ratio of `rate` to the expected rate of random keys depends on the keys, and is assumed to stay the same.
    /// Filters of the smallest size do not reveal that ratio, because nearly all their bits are clear. If most
    /// filters are of that size, the rate of random keys is returned.
    fn changed_rate(&self, rate: Option<f64>, base_lg: u8) -> Option<f64> {
        let expected = self.rate_with(base_lg)?;
        let least = self.filters.array_lens().filter(|(_, bytes)| *bytes == MIN_ARRAY).count();
        if least > self.filters.array_lens().count() / 2 {
            return Some(expected);
        }
        let now = self.rate_with(self.filters.reader().base_lg()).filter(|now| *now > 0.0)?;
        Some((rate? * expected / now).min(1.0))
    }

    /// The size of the filter block with another base_lg.
    fn size_with(&self, base_lg: u8) -> u64 {
        let mut size = TAIL_LEN;
        self.join(base_lg, |_, joined| size = size.saturating_add(self.array_len(joined)).saturating_add(1));
        // A filter for each range up to the end of the data, and one for the last block.
        let last = self.blocks.iter().last().map_or(0, |last| (last >> base_lg).saturating_add(1));
        let filters = last.max(self.data_end >> base_lg);
        size.saturating_add(filters.saturating_mul(OFFSET_ENTRY_LEN))
    }

    /// The size of a joined filter's bits, in bytes.
    fn array_len(&self, joined: Joined) -> u64 {
        self.sizing.map_or(joined.bytes, |sizing| sizing.array_len(joined.keys))
    }

    /// The expected false-positive rate of random keys with this base_lg. Each filter is weighted by its number of
    /// keys. `None` if k or the rule for sizes is not known, or there are no keys.
    fn rate_with(&self, base_lg: u8) -> Option<f64> {
        let probes = self.probes.filter(|_| self.sizing.is_some())?;
        let (mut sum, mut keys) = (0.0, 0.0);
        self.join(base_lg, |_, joined| {
            let bits = self.array_len(joined).saturating_mul(8);
            let rate = expected_false_positive_rate(bits, probes, joined.keys.round().max(1.0) as u64);
            sum += rate * joined.keys;
            keys += joined.keys;
        });
        (keys > 0.0).then(|| sum / keys)
    }

    /// Joins the filters as a larger `base_lg` would. Calls `visit` with each range that has keys, and with the
    /// filters joined in that range.
    fn join(&self, base_lg: u8, mut visit: impl FnMut(u64, Joined)) {
        let shift = base_lg.saturating_sub(self.filters.reader().base_lg());
        let mut current: Option<(u64, Joined)> = None;
        for (index, bytes) in self.filters.array_lens() {
            let range = index >> shift;
            if let Some((range, joined)) = current.take_if(|(before, _)| *before != range) {
                visit(range, joined);
            }
            let (_, joined) = current.get_or_insert((range, Joined::default()));
            joined.bytes = joined.bytes.saturating_add(bytes);
            joined.keys += self.sizing.map_or(0.0, |sizing| sizing.keys_of(bytes));
        }
        if let Some((range, joined)) = current {
            visit(range, joined);
        }
    }
}

/// Filters joined into one.
#[derive(Clone, Copy, Default)]
struct Joined {
    /// The size of the filters' bits, in bytes.
    bytes: u64,
    /// The number of keys in the filters; 0 if there is no rule for sizes.
    keys: f64,
}

impl Sizing {
    /// The rule that best explains the sizes of all filters, for filters of `probes` probes and a table of
    /// `keys` keys. `None`: no rule explains them.
    fn explaining(filters: &FilterStats, probes: u32, keys: EntryCount) -> Option<Self> {
        // LevelDB's k is 0.69 times the bits a key, rounded down, but at least 1 and at most 30.
        let fits = |bits: &u64| (bits * 69 / 100).clamp(1, 30) == u64::from(probes);
        // Among rules that miss the number of keys by the same share, the one with the most bits is taken.
        let candidates = (1..=MAX_BITS_PER_KEY).rev().filter(fits);
        let explained = candidates.filter_map(|bits| Self::of(filters, bits, keys));
        explained.min_by(|(off, _), (than, _)| off.total_cmp(than)).map(|(_, sizing)| sizing)
    }

    /// The share by which the rule of `bits_per_key` bits a key misses the number of keys, and the rule itself.
    /// `None` if filters of these sizes cannot come from the rule, or the share is too large.
    fn of(filters: &FilterStats, bits_per_key: u64, keys: EntryCount) -> Option<(f64, Self)> {
        let sizing = Self { bits_per_key, keys_of_least: 0.0 };
        let (mut least, mut known) = (0_u64, 0.0);
        for (_, bytes) in filters.array_lens() {
            if bytes == MIN_ARRAY {
                least += 1;
                continue;
            }
            let keys = bytes.saturating_mul(8) / bits_per_key;
            if sizing.array_len(keys as f64) != bytes {
                return None;
            }
            known += keys as f64;
        }
        // The keys that are left are in filters of the smallest size, each of which has at least one key.
        let most = (8 * MIN_ARRAY / bits_per_key).max(1) as f64;
        let left = (keys.count as f64 - known) / least as f64;
        let keys_of_least = if least > 0 { left.clamp(1.0, most) } else { 0.0 };
        let explained = known + keys_of_least * least as f64;
        let off = (explained - keys.count as f64).abs() / keys.count.max(1) as f64;
        let (low, high) = (keys.low as f64 * 0.9, keys.high as f64 * 1.1);
        let is_likely = explained >= low && explained <= high;
        is_likely.then_some((off, Self { keys_of_least, ..sizing }))
    }

    fn array_len(self, keys: f64) -> u64 {
        let bits = (keys * self.bits_per_key as f64).round() as u64;
        bits.div_ceil(8).max(MIN_ARRAY)
    }

    fn keys_of(self, bytes: u64) -> f64 {
        if bytes == MIN_ARRAY {
            self.keys_of_least
        } else {
            (bytes.saturating_mul(8) / self.bits_per_key) as f64
        }
    }
}

/// A page covers 2^9 offsets, a bit each.
const PAGE_LG: u32 = 9;
const WORD_LG: u32 = 6;
const WORDS: usize = 1 << (PAGE_LG - WORD_LG);

/// A sorted set of offsets within a file.
///
/// A small file's index may name very many blocks, so this is a bitmap of pages: it takes less than
/// a third of the file's size however many offsets there are, and much less if they are few.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Offsets {
    pages: BTreeMap<u64, [u64; WORDS]>,
    len: u64,
}

/// Returns the page, the word in the page and the bit in the word.
fn position(offset: u64) -> (u64, usize, u64) {
    let word = (offset >> WORD_LG) as usize % WORDS;
    (offset >> PAGE_LG, word, 1 << (offset % (1 << WORD_LG)))
}

impl Offsets {
    pub(crate) fn insert(&mut self, offset: u64) {
        let (page, word, bit) = position(offset);
        if let Some(word) = self.pages.entry(page).or_default().get_mut(word) {
            self.len += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    pub(crate) fn contains(&self, offset: u64) -> bool {
        let (page, word, bit) = position(offset);
        self.pages.get(&page).and_then(|words| words.get(word)).is_some_and(|word| word & bit != 0)
    }

    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// All offsets, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.range(0..=u64::MAX)
    }

    /// The offsets in `range`, ascending.
    pub(crate) fn range(&self, range: RangeInclusive<u64>) -> impl Iterator<Item = u64> {
        let pages = range.start() >> PAGE_LG..=(range.end() >> PAGE_LG);
        // `BTreeMap::range` panics on a reversed range.
        let pages = (!range.is_empty()).then(|| self.pages.range(pages));
        let all = pages.into_iter().flatten().flat_map(|(page, words)| {
            words.iter().enumerate().flat_map(move |(at, &word)| {
                let start = (page << PAGE_LG) | ((at as u64) << WORD_LG);
                let mut rest = word;
                std::iter::from_fn(move || {
                    let bit = rest.trailing_zeros();
                    rest &= rest.wrapping_sub(1);
                    (bit < u64::BITS).then_some(start | u64::from(bit))
                })
            })
        });
        all.filter(move |offset| range.contains(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_come_back_once_and_in_order() {
        let mut offsets = Offsets::default();
        let given = [700, 0, 63, 64, 511, 512, u64::MAX, 700, 1 << 40, 0];
        for offset in given {
            offsets.insert(offset);
            assert!(offsets.contains(offset));
        }
        let expected = [0, 63, 64, 511, 512, 700, 1 << 40, u64::MAX];
        assert_eq!(offsets.iter().collect::<Vec<_>>(), expected);
        assert_eq!(offsets.len(), expected.len() as u64);
        assert_eq!(offsets.range(63..=511).collect::<Vec<_>>(), [63, 64, 511]);
        assert_eq!(offsets.range(701..=u64::MAX).collect::<Vec<_>>(), [1 << 40, u64::MAX]);
        assert_eq!(offsets.range(1..=62).count(), 0);
        #[expect(clippy::reversed_empty_ranges, reason = "this is what is tried")]
        let reversed = 5000..=600;
        assert_eq!(offsets.range(reversed).count(), 0);
        for absent in [1, 62, 65, 510, 513, 701, (1 << 40) + 1, u64::MAX - 1] {
            assert!(!offsets.contains(absent), "{absent}");
        }
    }
}
