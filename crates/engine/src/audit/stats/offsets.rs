//! The offsets of data blocks, as a set.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A page covers 2^9 offsets, a bit each.
const PAGE_LG: u32 = 9;
const WORD_LG: u32 = 6;
const WORDS: usize = 1 << (PAGE_LG - WORD_LG);

/// A small file's index may list very many blocks. As a bitmap of pages, the set takes less than a third of the file's
/// size, and much less if offsets are few.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Offsets {
    pages: BTreeMap<u64, [u64; WORDS]>,
    len: u64,
}

/// Returns the page, the word in it, and the bit in that.
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

    /// Ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.range(0..=u64::MAX)
    }

    /// Ascending.
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
