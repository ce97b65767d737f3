//! The positions of tables in key order.

use std::collections::BTreeMap;

use filterblock::database::LiveTable;

use crate::report::ends_of;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<'a> {
    pub number: u64,
    pub level: u8,
    /// In bytes.
    pub size: u64,
    /// The first and the last user key.
    pub ends: [&'a [u8]; 2],
}

impl<'a> Extent<'a> {
    pub(crate) fn of(table: &'a LiveTable) -> Self {
        Self { number: table.number, level: table.level, size: table.size, ends: ends_of(table) }
    }
}

/// Positions of tables from 0 to 1, where a stretch of keys is as long as its share of the database's bytes.
///
/// A table's bytes are assumed to be spread evenly over the stretches between ends of tables in its range.
#[derive(Default, Debug)]
pub(crate) struct Spans(pub(crate) BTreeMap<u64, [f64; 2]>);

impl Spans {
    pub(crate) fn bytewise(tables: &[Extent<'_>]) -> Self {
        let mut ends: Vec<&[u8]> = tables.iter().flat_map(|table| table.ends).collect();
        ends.sort();
        ends.dedup();
        let at = |key: &[u8]| ends.partition_point(|end| *end < key);
        // At each end, in the bytes of a stretch between two ends.
        let mut changes = vec![0.0; ends.len()];
        for table in tables {
            let [first, last] = table.ends.map(at);
            let stretches = last.saturating_sub(first);
            if stretches > 0 {
                let bytes = table.size as f64 / stretches as f64;
                for (at, by) in [(first, bytes), (last, -bytes)] {
                    changes.get_mut(at).into_iter().for_each(|sum| *sum += by);
                }
            }
        }
        // Bytes before each end.
        let mut before = Vec::with_capacity(ends.len());
        let (mut sum, mut here) = (0.0, 0.0);
        for change in changes {
            before.push(sum);
            here += change;
            // Rounding can make the number negative.
            sum += f64::max(here, 0.0);
        }
        let all = before.last().copied().unwrap_or_default();
        let share = |key: &[u8]| match before.get(at(key)) {
            Some(bytes) if all > 0.0 => bytes / all,
            _ => 0.0,
        };
        let place = |table: &Extent<'_>| {
            let [first, last] = table.ends.map(share);
            (table.number, [first, last.max(first)])
        };
        Self(BTreeMap::from_iter(tables.iter().map(place)))
    }

    /// Lines tables up on each level, for an unknown key order.
    pub(crate) fn side_by_side(tables: &[Extent<'_>]) -> Self {
        let mut sums = BTreeMap::new();
        for table in tables {
            *sums.entry(table.level).or_insert(0.0) += table.size as f64;
        }
        let mut before = BTreeMap::new();
        let place = |table: &Extent<'_>| {
            let all = sums.get(&table.level).copied().filter(|all| *all > 0.0).unwrap_or(1.0);
            let start = before.entry(table.level).or_insert(0.0);
            let first = *start / all;
            *start += table.size as f64;
            (table.number, [first, *start / all])
        };
        Self(BTreeMap::from_iter(tables.iter().map(place)))
    }

    /// Replaces the positions of the same tables.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Its start and its end.
    pub(crate) fn of(&self, number: u64) -> Option<[f64; 2]> {
        self.0.get(&number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent<'a>(number: u64, level: u8, size: u64, first: &'a str, last: &'a str) -> Extent<'a> {
        Extent { number, level, size, ends: [first.as_bytes(), last.as_bytes()] }
    }

    fn places(spans: &Spans, numbers: std::ops::RangeInclusive<u64>) -> Vec<[f64; 2]> {
        let rounded = |at: f64| (at * 1e6).round() / 1e6;
        numbers.map(|number| spans.of(number).unwrap().map(rounded)).collect()
    }

    #[test]
    fn a_stretch_is_as_long_as_its_share_of_the_bytes() {
        let tables = [extent(1, 2, 300, "a", "c"), extent(2, 2, 100, "d", "f")];
        // No table lies between the two.
        assert_eq!(places(&Spans::bytewise(&tables), 1..=2), [[0.0, 0.75], [0.75, 1.0]]);
        // A table above both, of which a third of the bytes lies in each of three stretches.
        let over = [tables[0], tables[1], extent(3, 1, 300, "a", "f")];
        let expected = [[0.0, 400.0 / 700.0], [500.0 / 700.0, 1.0], [0.0, 1.0]];
        for (found, expected) in places(&Spans::bytewise(&over), 1..=3).iter().zip(expected) {
            assert!(
                found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_table_of_one_key_or_without_bytes_has_a_place() {
        let tables = [extent(1, 0, 100, "a", "c"), extent(2, 0, 50, "b", "b"), extent(3, 0, 0, "b", "c")];
        assert_eq!(places(&Spans::bytewise(&tables), 1..=3), [[0.0, 1.0], [0.5, 0.5], [0.5, 1.0]]);
        assert_eq!(places(&Spans::bytewise(&[extent(1, 0, 9, "a", "a")]), 1..=1), [[0.0, 0.0]]);
        assert_eq!(Spans::bytewise(&[]).of(1), None);
        // Only a damaged MANIFEST has ends the wrong way round.
        let wrong = [extent(1, 0, 100, "z", "a"), extent(2, 0, 100, "b", "c")];
        for [first, last] in places(&Spans::bytewise(&wrong), 1..=2) {
            assert!((0.0..=1.0).contains(&first) && (first..=1.0).contains(&last));
        }
    }

    #[test]
    fn tables_in_an_unknown_order_lie_side_by_side() {
        let tables = [extent(1, 1, 100, "z", "y"), extent(2, 1, 300, "c", "a"), extent(3, 2, 5, "q", "r")];
        assert_eq!(places(&Spans::side_by_side(&tables), 1..=3), [[0.0, 0.25], [0.25, 1.0], [0.0, 1.0]]);
    }
}
