//! The weight of a table in a database's rate, in proportion to the share of absent keys whose lookups reach the
//! table.
//!
//! Absent keys are assumed to be distributed like the stored ones. A lookup reaches every table of level 0 whose range
//! holds the key, and at most one table of each level below. So a small table over a wide range is asked as often as a
//! large one. The entries of a table are assumed to be spread evenly over the ends of tables in its range and the
//! stretches between these ends.

use std::collections::BTreeMap;

use filterblock::database::LiveTable;

use crate::report::ends_of;

/// A table's range of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableRange<'a> {
    pub number: u64,
    /// The first and the last user key.
    pub ends: [&'a [u8]; 2],
    /// The number of entries in the table; 0 if it is not known.
    pub entries: u64,
}

impl<'a> TableRange<'a> {
    /// `entries`: the numbers of entries of tables, by the tables' numbers.
    pub(crate) fn of(table: &'a LiveTable, entries: &BTreeMap<u64, u64>) -> Self {
        let entries = entries.get(&table.number).copied().unwrap_or_default();
        Self { number: table.number, ends: ends_of(table), entries }
    }
}

/// The weights of tables, by their numbers.
#[derive(Clone, Default, Debug)]
pub(crate) struct LookupWeights(Option<BTreeMap<u64, f64>>);

impl LookupWeights {
    /// The weights if user keys are in bytewise order.
    pub(crate) fn bytewise(tables: &[TableRange<'_>]) -> Self {
        let mut ends: Vec<&[u8]> = tables.iter().flat_map(|table| table.ends).collect();
        ends.sort_unstable();
        ends.dedup();
        // Positions alternate: an end, then the stretch between it and the next end.
        let at = |key: &[u8]| 2 * ends.partition_point(|end| *end < key);
        let places = |table: &TableRange<'_>| {
            let [first, last] = table.ends.map(at);
            (first, last.max(first))
        };
        let mut changes = vec![0.0; 2 * ends.len() + 1];
        let mut change = |at: usize, by: f64| changes.get_mut(at).into_iter().for_each(|sum| *sum += by);
        for table in tables {
            let (first, last) = places(table);
            let each = table.entries as f64 / (last - first + 1) as f64;
            change(first, each);
            change(last + 1, -each);
        }
        // The entries before each position.
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
            let (first, last) = places(table);
            (table.number, until(last + 1) - until(first))
        };
        Self(Some(tables.iter().map(weight).collect()))
    }

    /// The weight of a table with this number: its number of entries if the order of keys is not known, 0 if the
    /// table is not live.
    pub(crate) fn of(&self, number: Option<u64>, entries: u64) -> f64 {
        match &self.0 {
            None => entries as f64,
            Some(weights) => number.and_then(|number| weights.get(&number)).copied().unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<'a>(number: u64, first: &'a str, last: &'a str, entries: u64) -> TableRange<'a> {
        TableRange { number, ends: [first.as_bytes(), last.as_bytes()], entries }
    }

    fn weights<const N: usize>(tables: [TableRange<'_>; N]) -> [f64; N] {
        let weights = LookupWeights::bytewise(&tables);
        tables.map(|table| (weights.of(Some(table.number), 7) * 1e6).round() / 1e6)
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
        assert_eq!(LookupWeights::bytewise(&[]).of(Some(3), 9), 0.0);
        assert_eq!(LookupWeights::default().of(None, 9), 9.0);
    }
}
