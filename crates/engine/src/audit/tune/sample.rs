//! The tables to decode.

use std::collections::BTreeMap;

use super::input::Input;
use crate::{audit::rates::SplitMix, report::Fault};

/// Bytes of tables to decode, approximately, unless all are decoded.
const SAMPLE: u64 = 128 << 20;

/// All tables without `faults`, or of each level an equal share of [`SAMPLE`] but at least two, spread over the keys.
pub(super) fn choose(input: &Input<'_>, all: bool, faults: &BTreeMap<usize, Fault>) -> Vec<usize> {
    let readable = (0..input.tables.len()).filter(|table| !faults.contains_key(table));
    let size = |tables: &Vec<usize>| tables.iter().map(|&table| input.size(table)).sum::<u64>();
    let mut of_levels = Vec::from_iter(input.by_level(readable).into_values());
    of_levels.sort_by_key(size);
    let mut left = if all { u64::MAX } else { SAMPLE };
    let mut levels_left = of_levels.len() as u64;
    let mut random = SplitMix(4);
    let mut chosen = Vec::new();
    for tables in of_levels {
        let share = left / levels_left;
        levels_left -= 1;
        let (count, total) = (tables.len() as u64, size(&tables).max(1));
        let wanted = (u128::from(count) * u128::from(share) / u128::from(total)).max(2);
        let of_level = if wanted >= u128::from(count) {
            tables
        } else {
            one_of_each_part(&tables, wanted as u64, &mut random)
        };
        left = left.saturating_sub(size(&of_level));
        chosen.extend(of_level);
    }
    chosen.sort();
    chosen
}

fn one_of_each_part(tables: &[usize], parts: u64, random: &mut SplitMix) -> Vec<usize> {
    let count = tables.len() as u64;
    let of_part = |part: u64| {
        let (start, end) = (part * count / parts, (part + 1) * count / parts);
        let at = start + random.next() % (end - start).max(1);
        tables.get(at as usize).copied()
    };
    (0..parts).filter_map(of_part).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use filterblock::table::ReadOptions;

    use super::*;
    use crate::audit::key_encoding::KeyEncoding;
    use crate::audit::order::KeyOrder;
    use crate::audit::tune::input::TableInfo;

    /// Tables without files: no table is opened here.
    fn input<'a>(levels: &[(u8, usize)], size: u64, read: &'a ReadOptions) -> Input<'a> {
        let of_level = |&(level, count): &(u8, usize)| {
            let info = move || TableInfo { path: PathBuf::new(), level: Some(level), size, missing: None };
            std::iter::repeat_with(info).take(count)
        };
        let tables = levels.iter().flat_map(of_level).collect();
        Input {
            tables,
            storage: &crate::walk::LocalStorage,
            read,
            jobs: None,
            manifest: None,
            order: KeyOrder::Bytewise,
            encoding: KeyEncoding::Internal,
            is_goleveldb: false,
        }
    }

    #[test]
    fn small_levels_are_decoded_whole_and_large_ones_evenly() {
        let read = ReadOptions::default();
        let input = input(&[(0, 3), (1, 10), (2, 100), (3, 4000)], 2 << 20, &read);
        let chosen = choose(&input, false, &BTreeMap::new());
        let of = |level: u8| chosen.iter().filter(|&&table| input.level(table) == Some(level)).count();
        assert_eq!([of(0), of(1)], [3, 10]);
        assert!(of(2) >= 16 && of(3) >= 16 && chosen.len() as u64 * (2 << 20) <= SAMPLE, "{chosen:?}");
        let mut large: Vec<_> = chosen.iter().filter(|&&table| input.level(table) == Some(3)).collect();
        let (first, last) = (*large[0], **large.last().unwrap());
        assert!(first < 113 + 400 && last > 4113 - 400, "{large:?}");
        large.dedup();
        assert_eq!(large.len(), of(3));
    }

    #[test]
    fn all_tables_are_decoded_if_asked_for_or_few_but_none_that_cannot_be_read() {
        let read = ReadOptions::default();
        let large = input(&[(2, 4000)], 2 << 20, &read);
        assert_eq!(choose(&large, true, &BTreeMap::new()).len(), 4000);
        let small = input(&[(0, 2), (2, 30)], 2 << 20, &read);
        let faults = BTreeMap::from([(5, Fault::vanished())]);
        let chosen = choose(&small, false, &faults);
        assert_eq!(chosen.len(), 31);
        assert!(!chosen.contains(&5));
        // Even if tables are larger than the budget, two tables of a level are decoded.
        assert_eq!(choose(&input(&[(1, 50)], 1 << 30, &read), false, &BTreeMap::new()).len(), 2);
    }
}
