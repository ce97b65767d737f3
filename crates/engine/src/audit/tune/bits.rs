//! The filters in use, and those to try.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use filterblock::table::{ReadAt, Table};
use filterblock::{FilterPolicy as _, KeyBuf};

use super::input::Input;
use super::lookups::TableFilters;
use super::walk::EntryWalk;
use crate::audit::{key_encoding::KeyEncoding, policies::Policy};
use crate::report::DEFAULT_BITS;
use crate::run::map;

/// The `base_lg` of LevelDB's filters.
pub(super) const DEFAULT_BASE_LG: u8 = 11;
/// The `base_lg` of one filter for each table.
pub(super) const WHOLE_TABLE: u8 = 63;
/// The least `base_lg` to try: the offsets of smaller ranges could take more memory than the table.
const LEAST_BASE_LG: u8 = 9;
const BITS: RangeInclusive<u32> = 4..=20;
/// Bits per key that filters in use may have.
const KNOWN_BITS: RangeInclusive<u32> = 1..=100;
/// Tables of a level whose bits per key are determined.
const SURVEYED: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct FilterShape {
    pub(super) base_lg: u8,
    pub(super) bits_per_key: u32,
}

/// Lists bits per key at the range in use, then one filter per table, which shows whether larger ranges help similar
/// keys. `in_use`: the most frequent first.
pub(super) fn candidates(in_use: &[FilterShape]) -> Vec<FilterShape> {
    let most_used = in_use.first();
    let base_lg = most_used.map_or(DEFAULT_BASE_LG, |of| of.base_lg);
    let mut all: Vec<u32> = BITS.chain(in_use.iter().map(|of| of.bits_per_key)).collect();
    all.sort_unstable();
    all.dedup();
    let usual = most_used.map_or(0, |of| of.bits_per_key).max(DEFAULT_BITS);
    let whole = (base_lg != WHOLE_TABLE).then_some(FilterShape { base_lg: WHOLE_TABLE, bits_per_key: usual });
    let tried = base_lg.max(LEAST_BASE_LG);
    all.into_iter().map(|bits_per_key| FilterShape { base_lg: tried, bits_per_key }).chain(whole).collect()
}

/// The filters of the tables in `chosen`, the most frequent first. Each table looked at weighs as much as its level has
/// usable tables.
pub(super) fn in_use(
    input: &Input<'_>,
    survey: &[Option<TableFilters>],
    policy: Policy,
    chosen: &[usize],
) -> Vec<FilterShape> {
    let is_usable = |table: &usize| matches!(survey.get(*table), Some(Some(of)) if of.is_usable(policy));
    let usable = chosen.iter().copied().filter(is_usable);
    let spread = |tables: Vec<usize>| {
        let step = tables.len().div_ceil(SURVEYED).max(1);
        let weight = tables.len();
        tables.into_iter().step_by(step).map(move |table| (table, weight))
    };
    let looked_at = input.by_level(usable).into_values().flat_map(spread).collect();
    let shape_of =
        |(table, weight)| Some((shape_of(&input.open(table).ok()?, policy, input.encoding)?, weight));
    let mut counts = BTreeMap::new();
    for (shape, weight) in map(input.jobs, looked_at, shape_of).into_iter().flatten() {
        *counts.entry(shape).or_insert(0) += weight;
    }
    let most_used = counts.iter().max_by_key(|&(_, count)| *count).map(|(shape, _)| *shape);
    most_used.into_iter().chain(counts.into_keys().filter(|shape| Some(*shape) != most_used)).collect()
}

/// `None`: no number of bits explains the sizes of all filters, or not all keys can be counted.
fn shape_of<R: ReadAt>(table: &Table<R>, policy: Policy, encoding: KeyEncoding) -> Option<FilterShape> {
    let reader = table.filter()?;
    let base_lg = reader.base_lg();
    let mut counts: Vec<(u64, usize)> = Vec::new();
    let mut walk = EntryWalk::new(table);
    while let Some(offset) = walk.next_block().ok()? {
        let index = offset >> u32::from(base_lg).min(63);
        if counts.last().is_none_or(|(last, _)| *last != index) {
            counts.push((index, 0));
        }
        let (_, keys) = counts.last_mut()?;
        while let Some(key) = walk.next_key().ok()? {
            *keys += usize::from(encoding.filtered(key).is_some());
        }
    }
    let describe = |filter: &[u8]| Some(policy.with_bits(0).describe(filter)?.probes);
    let filters: Vec<_> = counts
        .into_iter()
        .filter_map(|(index, keys)| {
            let filter = reader.filter(usize::try_from(index).ok()?)?;
            Some((keys, filter.len(), describe(filter)?))
        })
        .collect();
    let explains = |bits: &u32| {
        let policy = policy.with_bits(*bits);
        filters.iter().all(|&(keys, len, _)| policy.filter_len(keys) == Some(len))
    };
    let &(.., probes) = filters.first()?;
    let mut fitting = KNOWN_BITS.filter(explains).peekable();
    let first = fitting.peek().copied();
    // Several numbers may fit small filters: k may then decide.
    let bits_per_key = fitting.find(|&bits| probes_of(policy, bits) == Some(probes)).or(first)?;
    Some(FilterShape { base_lg, bits_per_key })
}

/// `None`: the policy's filters cannot be described.
fn probes_of(policy: Policy, bits_per_key: u32) -> Option<u32> {
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
        let of = |base_lg, bits: &[u32]| {
            candidates(&Vec::from_iter(
                bits.iter().map(|&bits_per_key| FilterShape { base_lg, bits_per_key }),
            ))
        };
        let all = of(12, &[30, 10]);
        let bits: Vec<_> = all.iter().filter(|of| of.base_lg == 12).map(|of| of.bits_per_key).collect();
        assert_eq!(bits, (4..=20).chain([30]).collect::<Vec<_>>());
        assert_eq!(all.last(), Some(&FilterShape { base_lg: 63, bits_per_key: 30 }));
        assert_eq!(all.len(), 19);
        assert!(of(63, &[10]).iter().all(|of| of.base_lg == 63) && of(63, &[10]).len() == 17);
        assert!(of(4, &[10]).iter().all(|of| of.base_lg == 9 || of.base_lg == 63 && of.bits_per_key == 10));
        assert!(of(11, &[]).iter().all(|of| of.base_lg == 11 || of.bits_per_key == 10));
    }
}
