//! The settings to try.

use std::ops::RangeInclusive;

use filterblock::{FilterPolicy as _, KeyBuf, LegacyHash, expected_false_positive_rate};

use crate::{audit::policies::Policy, report::Setting};

/// The `base_lg` of LevelDB's filters.
pub(super) const USUAL_BASE_LG: u8 = 11;
/// The bits a key that most programs use.
pub(super) const USUAL_BITS: u32 = 10;
/// The values of `base_lg` to try: that of LevelDB's filters, two larger ones, and that of one filter
/// for a whole table.
const BASE_LGS: [u8; 4] = [USUAL_BASE_LG, 14, 16, 63];
/// The numbers of bits a key to try.
const BITS: RangeInclusive<u32> = 4..=20;
/// The least `base_lg` in use that is tried: the offsets of smaller ranges could take more memory
/// than the table.
const LEAST_BASE_LG: u8 = 9;
/// The number of keys to which the formula is applied. The result hardly depends on this number.
const FORMULA_KEYS: u64 = 10_000;

/// All settings to try: by policy, then by `base_lg`, then by bits a key.
///
/// `in_use`: the `base_lg` and bits a key that tables have now.
pub(super) fn grid(policy: Policy, in_use: &[(u8, u32)]) -> Vec<Setting> {
    let mut ranges: Vec<u8> = BASE_LGS.to_vec();
    ranges.extend(in_use.iter().map(|&(base_lg, _)| base_lg).filter(|base_lg| *base_lg >= LEAST_BASE_LG));
    ranges.sort();
    ranges.dedup();
    let mut bits: Vec<u32> = BITS.collect();
    bits.extend(in_use.iter().map(|&(_, bits)| bits));
    bits.sort();
    bits.dedup();
    let mut grid = Vec::new();
    for policy in readers(policy) {
        for &base_lg in &ranges {
            grid.extend(bits.iter().map(|&bits_per_key| Setting { policy, base_lg, bits_per_key }));
        }
    }
    grid
}

/// The policies known to the programs that use `policy`. LevelDB and goleveldb know only their own
/// policies. This library's own policies are read only by this library, which knows all policies.
pub(super) fn readers(policy: Policy) -> Vec<Policy> {
    match policy {
        Policy::Builtin2 | Policy::Builtin(_) => vec![policy],
        Policy::Own(_) => Policy::all(LegacyHash::Unsigned).collect(),
    }
}

/// The rate that the formula gives for a setting. `None`: its filters cannot be described.
pub(super) fn formula(setting: Setting) -> Option<f64> {
    let probes = probes_of(setting.policy, setting.bits_per_key)?;
    let bits = FORMULA_KEYS * u64::from(setting.bits_per_key);
    Some(expected_false_positive_rate(bits, probes, FORMULA_KEYS))
}

/// The number of probes for a key in filters of the policy. `None`: its filters cannot be described.
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
    fn the_settings_in_use_are_among_those_tried() {
        let grid = grid(Policy::Builtin2, &[(12, 30), (4, 10)]);
        let has =
            |base_lg, bits| grid.contains(&Setting { policy: Policy::Builtin2, base_lg, bits_per_key: bits });
        assert!(has(12, 30) && has(11, 4) && has(63, 20) && !has(4, 10) && has(11, 30));
        assert_eq!(grid.len(), 5 * 18);
        assert!(grid.is_sorted_by_key(|setting| (setting.base_lg, setting.bits_per_key)));
    }

    #[test]
    fn programs_that_know_our_policies_know_all() {
        assert_eq!(readers(Policy::Builtin(LegacyHash::Signed)), [Policy::Builtin(LegacyHash::Signed)]);
        let all: Vec<_> = Policy::all(LegacyHash::Unsigned).collect();
        let own = *all.last().unwrap();
        assert_eq!(readers(own).len(), all.len());
        assert_eq!(grid(own, &[]).len(), all.len() * 4 * 17);
    }

    #[test]
    fn the_formula_is_the_textbooks() {
        let rate =
            |bits| formula(Setting { policy: Policy::Builtin2, base_lg: 11, bits_per_key: bits }).unwrap();
        // (1 - e^(-k / bits))^k with k = 5 and 6.
        assert!((rate(8) - 0.0217).abs() < 0.0001, "{}", rate(8));
        assert!((rate(10) - 0.00844).abs() < 0.0001, "{}", rate(10));
    }
}
