//! The number of different keys of several tables.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::estimate::{EntrySum, Estimate, KeyCount};
use super::inspect::Inspected;
use super::table::TableLevel;
use crate::audit::stats::KeySketch;

/// The different keys of several tables. Serializes to a [`KeyCount`]; null without tables, or if some table's number
/// is unknown.
#[derive(Clone, Default, Debug)]
pub struct DistinctSum(BTreeMap<TableLevel, LevelKeys>);

#[derive(Clone, Default, Debug)]
struct LevelKeys {
    tables: u64,
    /// Of those tables whose keys were all noted.
    seen: KeySketch,
    /// Tables whose keys were not all noted.
    unseen: u64,
    /// The number of some table is unknown.
    is_partial: bool,
    /// Of the tables' numbers of keys.
    sum: EntrySum,
    /// The greatest of their lower bounds.
    least: u64,
    /// The sum of their upper bounds.
    most: u64,
    /// No two tables share a key, except that a table may begin with further versions of the last key before it.
    are_disjoint: bool,
}

impl DistinctSum {
    /// Adds the keys of a table.
    pub fn add(&mut self, found: &Inspected) {
        if !found.is_missing() {
            self.0.entry(found.table.place()).or_default().add(found);
        }
    }

    /// The keys of only those tables whose level `is_meant` accepts.
    #[must_use]
    pub(crate) fn of_places(&self, is_meant: impl Fn(TableLevel) -> bool) -> Self {
        let meant = self.0.iter().filter(|(place, _)| is_meant(**place));
        Self(BTreeMap::from_iter(meant.map(|(place, keys)| (*place, keys.clone()))))
    }

    /// The number of different keys. `None`: there are no tables, or the number of keys of some table is not known.
    pub fn number(&self) -> Option<KeyCount> {
        let numbers: Vec<_> = self.0.values().map(LevelKeys::number).collect::<Option<_>>()?;
        if let [number] = &*numbers {
            return Some(*number);
        }
        let low = numbers.iter().map(|number| number.low).max()?;
        let high = numbers.iter().fold(0, |sum: u64, number| sum.saturating_add(number.high));
        if self.0.values().any(|keys| keys.unseen > 0) {
            return Some(KeyCount { value: None, low, high });
        }
        let mut seen = KeySketch::default();
        self.0.values().for_each(|keys| seen.merge(&keys.seen));
        Some(within(&seen, low, high))
    }
}

/// An estimate is clamped to the range from `low` to `high`.
fn within(seen: &KeySketch, low: u64, high: u64) -> KeyCount {
    let number = seen.number();
    if number.is_exact() {
        return number.into();
    }
    let [value, low, high] =
        [number.value, number.low, number.high].map(|number| number.clamp(low, high.max(low)));
    Estimate { value, low, high }.into()
}

impl LevelKeys {
    fn add(&mut self, Inspected { table, seen, .. }: &Inspected) {
        self.are_disjoint = matches!(table.place(), TableLevel::Level(1..));
        self.tables += 1;
        let Some(KeyCount { value: Some(value), low, high }) = table.distinct_keys else {
            self.is_partial = true;
            return;
        };
        self.sum.add(Some(Estimate { value, low, high }));
        self.least = self.least.max(low);
        self.most = self.most.saturating_add(high);
        match seen {
            Some(seen) => self.seen.merge(seen),
            None => self.unseen += 1,
        }
    }

    fn number(&self) -> Option<KeyCount> {
        if self.is_partial {
            return None;
        }
        let Estimate { value, low, high } = self.sum.number()?;
        let of_seen = (self.unseen == 0).then(|| within(&self.seen, self.least, self.most));
        Some(match of_seen {
            _ if self.tables == 1 => KeyCount { value: Some(value), low, high },
            Some(seen) if seen.is_exact() => seen,
            _ if self.are_disjoint => {
                let low = low.saturating_sub(self.tables.saturating_sub(1)).max(self.least);
                KeyCount { value: Some(value), low, high }
            }
            Some(seen) => seen,
            None => KeyCount { value: None, low: self.least, high: self.most },
        })
    }
}

impl Serialize for DistinctSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TableData;

    /// A table on this level with the keys `keys`. `seen`: all of them were seen.
    fn table(level: u8, keys: std::ops::Range<u64>, seen: bool) -> Inspected {
        let mut sketch = KeySketch::default();
        keys.clone().for_each(|key| sketch.add(&key.to_be_bytes()));
        let distinct = Estimate::exact(keys.end - keys.start);
        let table = TableData {
            level: Some(level),
            live: Some(true),
            distinct_keys: Some(distinct.into()),
            ..TableData::default()
        };
        Inspected { table, seen: seen.then_some(sketch), ..Inspected::default() }
    }

    fn number(tables: &[Inspected]) -> Option<KeyCount> {
        let mut sum = DistinctSum::default();
        tables.iter().for_each(|table| sum.add(table));
        sum.number()
    }

    #[test]
    fn keys_that_several_tables_hold_count_once() {
        let all = number(&[table(0, 0..50, true), table(0, 40..90, true), table(1, 0..100, true)]);
        assert_eq!(all, Some(Estimate::exact(100).into()));
        assert_eq!(number(&[]), None);
        let mut unknown = table(1, 0..9, true);
        unknown.table.distinct_keys = None;
        assert_eq!(number(&[table(0, 0..50, true), unknown]), None);
    }

    #[test]
    fn where_tables_were_sampled_the_number_lies_between_bounds() {
        let bounds = |low, high| Some(KeyCount { value: None, low, high });
        assert_eq!(number(&[table(0, 0..50, false), table(0, 40..90, true)]), bounds(50, 100));
        // On level 1 and higher, no key is in two tables, except at the ends of neighbouring tables.
        let level = [table(1, 0..50, false), table(1, 50..90, true)];
        let sum = KeyCount { value: Some(90), low: 89, high: 90 };
        assert_eq!(number(&level), Some(sum));
        let [one, other] = level;
        assert_eq!(number(&[one, other, table(2, 0..200, false)]), bounds(200, 290));
    }
}
