//! The tables of each level in the order of their keys (`FindFile` and `BySmallestKey` in LevelDB's
//! `db/version_set.cc`).

use std::cmp::Ordering;

use super::edit::NUM_LEVELS;
use super::live_tables::LiveTable;
use crate::KeyFormat;
use crate::table::{Comparator, InternalKeyComparator, SharedComparator};

/// An index of the levels above 0, for keys in a known order. It holds positions in the MANIFEST's
/// list of tables.
#[derive(Clone)]
pub(super) struct ByRange {
    order: SharedComparator,
    /// The tables, sorted by level, then by smallest key.
    sorted: Vec<LookupOrder>,
    /// Set for each level with a table whose range of keys excludes no key.
    unranged: [bool; NUM_LEVELS as usize],
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct LookupOrder {
    at: usize,
    /// The position of the table that reaches furthest among this one and those before it on the
    /// same level.
    furthest: usize,
}

impl ByRange {
    /// Makes the index, at the cost of one sort by keys.
    pub(super) fn new(tables: &[LiveTable], order: SharedComparator) -> Self {
        let mut below: Vec<(usize, &LiveTable)> =
            tables.iter().enumerate().filter(|(_, table)| table.level > 0).collect();
        below.sort_by(|(_, a), (_, b)| by_level(a, b, &order));
        let mut unranged = [false; NUM_LEVELS as usize];
        let mut furthest: Option<(usize, &LiveTable)> = None;
        let places = below.into_iter().map(|(at, table)| {
            if table.is_unranged(&order)
                && let Some(unranged) = unranged.get_mut(usize::from(table.level))
            {
                *unranged = true;
            }
            let further = furthest.filter(|(_, before)| {
                before.level == table.level && compare(&before.largest, &table.largest, &order).is_ge()
            });
            let (furthest, _) = *furthest.insert(further.unwrap_or((at, table)));
            LookupOrder { at, furthest }
        });
        let sorted = places.collect();
        Self { order, sorted, unranged }
    }

    pub(super) fn order(&self) -> &dyn Comparator {
        &self.order
    }

    /// The tables of a level that may hold `user_key`, ordered by their smallest keys. A sound database
    /// has more than one such table on a level only if more than one has entries of this key.
    pub(super) fn may_hold<'a>(
        &'a self,
        tables: &'a [LiveTable],
        level: u8,
        user_key: &'a [u8],
    ) -> impl Iterator<Item = &'a LiveTable> + 'a {
        let level_of = |place: &LookupOrder| tables.get(place.at).map(|table| table.level);
        let start = self.sorted.partition_point(|place| level_of(place) < Some(level));
        let end = self.sorted.partition_point(|place| level_of(place) <= Some(level));
        debug_assert!(start <= end, "places are sorted by level");
        // The fallback errs on the side of returning tables that are not needed.
        let mut places = self.sorted.get(start..end).unwrap_or(&self.sorted);
        if !self.unranged.get(usize::from(level)).copied().unwrap_or(true) {
            // Leaves out the tables that begin after the key, and those that come before the first
            // table that ends at or after the key.
            let is_before = |place: &LookupOrder| {
                let furthest =
                    tables.get(place.furthest).and_then(|table| KeyFormat::LevelDb.split(&table.largest));
                furthest.is_some_and(|(largest, _)| self.order.compare(largest, user_key).is_lt())
            };
            let begins = |place: &LookupOrder| {
                let table = tables.get(place.at).and_then(|table| KeyFormat::LevelDb.split(&table.smallest));
                table.is_some_and(|(smallest, _)| self.order.compare(smallest, user_key).is_le())
            };
            let (start, end) = (places.partition_point(is_before), places.partition_point(begins));
            places = places.get(start..end).unwrap_or_default();
        }
        places
            .iter()
            .filter_map(|place| tables.get(place.at))
            .filter(move |table| table.level == level && table.may_hold(user_key, &self.order))
    }

    /// Of the tables that come before `table` on the same level, the one that reaches furthest, if it
    /// reaches into `table`.
    pub(super) fn overlapped_by<'a>(
        &self,
        tables: &'a [LiveTable],
        table: &LiveTable,
    ) -> Option<&'a LiveTable> {
        let is_before = |place: &LookupOrder| {
            tables.get(place.at).is_some_and(|other| by_level(other, table, &self.order).is_lt())
        };
        let place = self.sorted.partition_point(is_before);
        let before = tables.get(self.sorted.get(place.checked_sub(1)?)?.furthest)?;
        let overlaps =
            before.level == table.level && compare(&before.largest, &table.smallest, &self.order).is_ge();
        overlaps.then_some(before)
    }
}

/// Orders tables by level, then as LevelDB's `Builder` sorts the tables of a level.
fn by_level(a: &LiveTable, b: &LiveTable, order: &SharedComparator) -> Ordering {
    let by_key = a.level.cmp(&b.level).then_with(|| compare(&a.smallest, &b.smallest, order));
    by_key.then_with(|| a.number.cmp(&b.number))
}

/// Compares internal keys.
fn compare(a: &[u8], b: &[u8], order: &SharedComparator) -> Ordering {
    InternalKeyComparator::new(order).compare(a, b)
}
