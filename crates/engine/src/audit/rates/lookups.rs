//! The weight of a table in a database's false-positive rate: the share of absent keys whose lookups reach the table.
//!
//! Absent keys are assumed to be distributed like stored ones, so that a small table over a wide range weighs as much
//! as a large one.

use std::collections::BTreeMap;

use filterblock::database::LiveTable;

use super::fence_keys::FenceKeys;
use crate::report::ends_of;

#[derive(Clone, Default, Debug)]
pub(crate) struct TableWeight {
    /// 0 if unknown.
    pub entries: u64,
    /// Where the entries are in key order.
    pub marks: FenceKeys,
}

#[derive(Clone, Copy, Debug)]
struct TableRange<'a> {
    number: u64,
    /// The first and the last user key.
    ends: [&'a [u8]; 2],
    entries: &'a TableWeight,
}

/// Weights by table number.
#[derive(Clone, Default, Debug)]
pub(crate) struct LookupWeights(Option<BTreeMap<u64, f64>>);

impl LookupWeights {
    /// Expects user keys in bytewise order. `entries`: by table number.
    pub(crate) fn of_tables(tables: &[LiveTable], entries: &BTreeMap<u64, TableWeight>) -> Self {
        let none = TableWeight::default();
        let range = |table| Self::range(table, entries, &none);
        Self::bytewise(&tables.iter().map(range).collect::<Vec<_>>())
    }

    fn range<'a>(
        table: &'a LiveTable,
        entries: &'a BTreeMap<u64, TableWeight>,
        none: &'a TableWeight,
    ) -> TableRange<'a> {
        let entries = entries.get(&table.number).unwrap_or(none);
        TableRange { number: table.number, ends: ends_of(table), entries }
    }

    fn bytewise(tables: &[TableRange<'_>]) -> Self {
        let mut ends: Vec<&[u8]> = tables.iter().flat_map(|table| table.ends).collect();
        ends.sort();
        ends.dedup();
        let scale = Scale(ends);
        let mut changes = vec![0.0; 2 * scale.0.len() + 1];
        for table in tables {
            scale.parts(table, |entries, [first, last]| {
                let each = entries / (last - first + 1) as f64;
                for (at, by) in [(first, each), (last + 1, -each)] {
                    changes.get_mut(at).into_iter().for_each(|sum| *sum += by);
                }
            });
        }
        // Entries before each position.
        let (mut before, mut here, mut sum) = (Vec::with_capacity(changes.len() + 1), 0.0, 0.0);
        for change in changes {
            before.push(sum);
            here += change;
            // Rounding can leave a number slightly below zero.
            sum += f64::max(here, 0.0);
        }
        before.push(sum);
        let until = |at: usize| before.get(at).copied().unwrap_or(sum);
        let weight = |table: &TableRange<'_>| {
            let [first, last] = scale.ends(table);
            (table.number, until(last + 1) - until(first))
        };
        Self(Some(BTreeMap::from_iter(tables.iter().map(weight))))
    }

    /// 0 for a table that is not live; `entries` if the key order is unknown.
    pub(crate) fn of(&self, number: Option<u64>, entries: u64) -> f64 {
        match &self.0 {
            None => entries as f64,
            Some(weights) => number.and_then(|number| weights.get(&number)).copied().unwrap_or(0.0),
        }
    }
}

/// The ends of all tables, in order and each once. Positions alternate: an end, then the stretch up to the next.
struct Scale<'a>(Vec<&'a [u8]>);

impl Scale<'_> {
    fn ends(&self, table: &TableRange<'_>) -> [usize; 2] {
        let [first, last] = table.ends.map(|key| self.at(key));
        [first, last.max(first)]
    }

    fn at(&self, key: &[u8]) -> usize {
        let place = self.0.partition_point(|end| *end < key);
        let is_end = self.0.get(place).is_some_and(|end| *end == key);
        if is_end { 2 * place } else { (2 * place).saturating_sub(1) }
    }

    fn after(&self, key: &[u8]) -> usize {
        (2 * self.0.partition_point(|end| *end <= key)).saturating_sub(1)
    }

    /// Calls `part` with the entries of each part, and its first and last position. The index cuts a table into parts
    /// with as many entries each, assumed to be spread evenly over the ends and stretches in the range.
    fn parts(&self, table: &TableRange<'_>, mut part: impl FnMut(f64, [usize; 2])) {
        let TableWeight { entries, marks } = table.entries;
        let [mut start, last] = self.ends(table);
        let mut before = 0;
        let share = |blocks: u64| *entries as f64 * blocks as f64 / marks.blocks.max(1) as f64;
        for (blocks, key) in &marks.keys {
            let end = self.at(key).clamp(start, last);
            part(share(blocks - before), [start, end]);
            start = self.after(key).clamp(end, last);
            before = *blocks;
        }
        let rest = if before > 0 { share(marks.blocks - before) } else { *entries as f64 };
        part(rest, [start, last]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table: its number, its ends, its entries, and its marks.
    type Row<'a> = (u64, &'a str, &'a str, TableWeight);

    fn table<'a>(number: u64, first: &'a str, last: &'a str, entries: u64) -> Row<'a> {
        (number, first, last, TableWeight { entries, marks: FenceKeys::default() })
    }

    fn all<'a>(tables: &'a [Row<'_>]) -> LookupWeights {
        let range = |(number, first, last, entries): &'a Row<'_>| TableRange {
            number: *number,
            ends: [first.as_bytes(), last.as_bytes()],
            entries,
        };
        LookupWeights::bytewise(&tables.iter().map(range).collect::<Vec<_>>())
    }

    fn weights<const N: usize>(tables: [Row<'_>; N]) -> [f64; N] {
        let weights = all(&tables);
        tables.map(|(number, ..)| (weights.of(Some(number), 7) * 1e6).round() / 1e6)
    }

    #[test]
    fn a_small_table_over_a_wide_range_is_asked_as_often_as_a_large_one() {
        assert_eq!(weights([table(1, "a", "z", 10), table(2, "a", "z", 990)]), [1000.0, 1000.0]);
        // About half of the keys of the first table lie in the range of each of the other two tables.
        let [wide, low, high] =
            weights([table(1, "a", "z", 100), table(2, "a", "m", 500), table(3, "n", "z", 300)]);
        assert_eq!(wide, 900.0);
        assert!((530.0..=560.0).contains(&low) && (330.0..=360.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn a_table_of_one_key_has_a_weight() {
        let [wide, single] = weights([table(1, "a", "z", 100), table(2, "m", "m", 5)]);
        assert!(wide == 105.0 && (5.0..60.0).contains(&single), "{wide} {single}");
        // Only a damaged MANIFEST has ends the wrong way round.
        assert!(weights([table(1, "z", "a", 100)])[0] >= 0.0);
        assert_eq!(all(&[]).of(Some(3), 9), 0.0);
        assert_eq!(LookupWeights::default().of(None, 9), 9.0);
    }

    /// A large table, and small ones that begin and end near its ends: nearly all keys of the large table lie within
    /// the range of each small one.
    #[test]
    fn the_index_says_where_entries_lie() {
        let small = |number, first, last| table(number, first, last, 10);
        let tables = |marks: FenceKeys| {
            let large = (1, "a", "z", TableWeight { entries: 1000, marks });
            [large, small(2, "ab", "y"), small(3, "ac", "yb"), small(4, "ad", "yc")]
        };
        let key = |blocks: u64, key: &str| (blocks, key.as_bytes().into());
        // Without marks, the entries are assumed to be spread evenly over the eight ends and the seven stretches.
        let without = weights(tables(FenceKeys::default()));
        assert!(without[1] < 800.0, "{without:?}");
        // Of a hundred blocks, two hold the keys around the beginnings of the small tables, and two the keys around
        // their ends.
        let marks = FenceKeys { keys: vec![key(2, "ae"), key(50, "m"), key(98, "x")], blocks: 100 };
        let found = weights(tables(marks.clone()));
        assert_eq!(found[0], 1030.0);
        assert!(found[1..].iter().all(|weight| (980.0..1030.1).contains(weight)), "{found:?}");
        // Damaged: the keys of the index are not in order, or outside the table.
        let mut marks = marks;
        marks.keys[0].1 = b"zz".as_slice().into();
        assert!(weights(tables(marks))[0] <= 1030.1);
    }

    #[test]
    fn a_mark_at_an_end_belongs_to_the_part_before_it() {
        let marks = FenceKeys { keys: vec![(3, b"m".as_slice().into())], blocks: 4 };
        let left = (1, "a", "z", TableWeight { entries: 400, marks });
        let [all, low, high] = weights([left, table(2, "a", "m", 0), table(3, "n", "z", 0)]);
        assert_eq!((all, low), (400.0, 300.0));
        // The last part: the stretch from "m" to "n", "n", the stretch from "n" to "z", and "z".
        assert_eq!(high, 75.0);
    }
}
