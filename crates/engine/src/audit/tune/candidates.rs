//! The filters to try.

use std::ops::RangeInclusive;

use filterblock::{FilterPolicy as _, KeyBuf};

use crate::audit::policies::Policy;
use crate::report::DEFAULT_BITS;

/// The `base_lg` of LevelDB's filters.
pub(super) const DEFAULT_BASE_LG: u8 = 11;
/// The `base_lg` of one filter for each table.
pub(super) const WHOLE_TABLE: u8 = 63;
const BITS: RangeInclusive<u32> = 4..=20;
/// The least `base_lg` to try: the offsets of smaller ranges could take more memory than the table.
const LEAST_BASE_LG: u8 = 9;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    pub(super) base_lg: u8,
    pub(super) bits_per_key: u32,
}

/// Lists bits per key at the range in use, then one filter per table, which shows whether larger ranges help similar
/// keys. `bits`: in use, the most frequent first.
pub(super) fn candidates(base_lg: u8, bits: &[u32]) -> Vec<Candidate> {
    let mut all: Vec<u32> = BITS.chain(bits.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let usual = bits.first().copied().unwrap_or_default().max(DEFAULT_BITS);
    let whole = (base_lg != WHOLE_TABLE).then_some(Candidate { base_lg: WHOLE_TABLE, bits_per_key: usual });
    let base_lg = base_lg.max(LEAST_BASE_LG);
    all.into_iter().map(|bits_per_key| Candidate { base_lg, bits_per_key }).chain(whole).collect()
}

/// `None`: the policy's filters cannot be described.
pub(super) fn probes_of(policy: Policy, bits_per_key: u32) -> Option<u32> {
    let policy = policy.with_bits(bits_per_key);
    let mut key = KeyBuf::new();
    key.push(b"key");
    let mut filter = Vec::new();
    policy.create_filter(key.as_keys(), &mut filter).ok()?;
    Some(policy.describe(&filter)?.probes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_vary_at_the_range_in_use() {
        let all = candidates(12, &[30, 10]);
        let bits: Vec<_> = all.iter().filter(|of| of.base_lg == 12).map(|of| of.bits_per_key).collect();
        assert_eq!(bits, (4..=20).chain([30]).collect::<Vec<_>>());
        assert_eq!(all.last(), Some(&Candidate { base_lg: 63, bits_per_key: 30 }));
        assert_eq!(all.len(), 19);
        assert!(candidates(63, &[]).iter().all(|of| of.base_lg == 63) && candidates(63, &[]).len() == 17);
        assert!(candidates(4, &[]).iter().all(|of| of.base_lg == 9 || of.bits_per_key == 10));
    }
}
