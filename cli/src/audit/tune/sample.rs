//! The tables to decode.

use std::collections::BTreeMap;

use super::input::{Input, TableFiles};
use super::report::TuneFailure;
use crate::audit::rates::split_mix::SplitMix;

/// The bytes of tables to decode, unless all are.
const SAMPLE: u64 = 128 << 20;

/// The tables to decode: all, or for each level about the same share of a budget of bytes, evenly
/// over the keys.
pub(super) fn choose<F: TableFiles>(
    input: &Input<'_, F>,
    all: bool,
    faults: &BTreeMap<usize, TuneFailure>,
) -> Vec<usize> {
    let mut of_levels: BTreeMap<Option<u8>, Vec<usize>> = BTreeMap::new();
    for (table, info) in input.tables.iter().enumerate().filter(|(table, _)| !faults.contains_key(table)) {
        of_levels.entry(info.level).or_default().push(table);
    }
    let size = |table: &usize| input.tables.get(*table).map_or(0, |table| table.size);
    let mut of_levels: Vec<(u64, Vec<usize>)> =
        of_levels.into_values().map(|tables| (tables.iter().map(size).sum(), tables)).collect();
    of_levels.sort_by_key(|(size, _)| *size);
    let mut left = if all { u64::MAX } else { SAMPLE };
    let mut chosen = Vec::new();
    let mut levels_left = of_levels.len() as u64;
    let mut random = SplitMix(4);
    for (total, tables) in of_levels {
        let share = left / levels_left.max(1);
        levels_left = levels_left.saturating_sub(1);
        let count = tables.len() as u64;
        let wanted = (u128::from(count) * u128::from(share) / u128::from(total.max(1)))
            .clamp(2, u128::from(count.max(2))) as u64;
        if wanted >= count {
            left = left.saturating_sub(total);
            chosen.extend(tables);
            continue;
        }
        // One of each of as many equal parts.
        for part in 0..wanted {
            let (start, end) = (part * count / wanted, (part + 1) * count / wanted);
            let at = start + random.next() % (end - start).max(1);
            if let Some(table) = tables.get(at as usize) {
                left = left.saturating_sub(size(table));
                chosen.push(*table);
            }
        }
    }
    chosen.sort_unstable();
    chosen
}
