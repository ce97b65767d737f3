//! The keys for which the filters of one table are checked.

use filterblock::{FilterBlockReader, FilterPolicy as _, KeyHash, SharedPolicy};

/// Keys of a kind are checked in rounds of this many.
const ROUND: usize = 4096;

/// Keys of one kind: for each, the offset of a data block, and the hash of the key.
#[derive(Default)]
pub(super) struct AskedKeys {
    /// Successive keys for the same data block: its offset, and the number of all keys up to the last of these.
    blocks: Vec<(u64, usize)>,
    hashes: Vec<KeyHash>,
}

impl AskedKeys {
    pub(super) fn push(&mut self, offset: u64, key: &[u8], policy: &SharedPolicy) {
        let len = self.blocks.last().map_or(0, |(_, end)| *end);
        match self.blocks.last_mut() {
            Some((last, end)) if *last == offset && !len.is_multiple_of(ROUND) => *end += 1,
            _ => self.blocks.push((offset, len + 1)),
        }
        self.hashes.extend(policy.hash_key(key));
    }

    /// Checks rounds of keys until `enough` may match. Returns how many may match, and how many were checked. `start`:
    /// the offset at which the filters begin.
    pub(super) fn check<B: AsRef<[u8]>>(
        &self,
        filters: &FilterBlockReader<SharedPolicy, B>,
        start: u64,
        enough: u64,
    ) -> (u64, u64) {
        let base_lg = filters.base_lg().into();
        let filter_of =
            |offset: u64| usize::try_from((offset - start).checked_shr(base_lg).unwrap_or(0)).ok();
        let (mut passed, mut checked, mut answers) = (0, 0_usize, Vec::new());
        let is_same = |(one, end): &(u64, usize), (next, _): &(u64, usize)| {
            !end.is_multiple_of(ROUND) && filter_of(*one) == filter_of(*next)
        };
        for of_filter in self.blocks.chunk_by(is_same) {
            if checked.is_multiple_of(ROUND) && passed >= enough {
                break;
            }
            let Some(&(offset, end)) = of_filter.last() else { continue };
            passed += match filter_of(offset).and_then(|index| filters.filter(index)) {
                // Without a filter every key may match; an empty one rules out every key.
                None => (end - checked) as u64,
                Some([]) => 0,
                Some(filter) => {
                    answers.clear();
                    answers.resize(end - checked, true);
                    let hashes = self.hashes.get(checked..end).unwrap_or_default();
                    filters.policy().hashes_may_match(hashes, filter, &mut answers);
                    answers.iter().map(|may_match| u64::from(*may_match)).sum()
                }
            };
            checked = end;
        }
        (passed, checked as u64)
    }
}

/// Spreads each round over all numbers below `count`.
pub(super) fn in_rounds(count: usize) -> impl Iterator<Item = usize> {
    let rounds = count.div_ceil(ROUND).max(1);
    (0..rounds).flat_map(move |round| (round..count).step_by(rounds))
}
