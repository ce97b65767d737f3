//! Numbers of entries and of different keys, counted or estimated.

use serde::{Serialize, Serializer};

use crate::audit::stats::{KeySketch, SketchedNumber};

/// A number of entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryCount {
    /// Number of entries, an estimate from some data blocks unless `low` and `high` are the same.
    #[serde(rename = "value")]
    pub count: u64,
    /// Lower end of an interval that holds the true number for 19 of 20 tables.
    pub low: u64,
    /// Upper end of an interval that holds the true number for 19 of 20 tables.
    pub high: u64,
    /// True if all entries were counted. `low` and `high` are then the same as `count`.
    #[serde(skip)]
    pub exact: bool,
}

/// A number of different keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistinctKeys {
    /// Number of different keys, an estimate unless `low` and `high` are the same. `None`: only its bounds are known, because several tables
    /// may hold the same keys and not all of these tables could be compared key by key.
    #[serde(rename = "value")]
    pub count: Option<u64>,
    /// Lower bound: with `value`, the lower end of an interval that holds the true number for 19 of 20
    /// tables.
    pub low: u64,
    /// Upper bound: with `value`, the upper end of an interval that holds the true number for 19 of 20
    /// tables.
    pub high: u64,
    /// True if all keys were counted. `low` and `high` are then the same as `count`.
    #[serde(skip)]
    pub exact: bool,
}

/// Entries of several tables. Serializes to an [`EntryCount`], or to null if no number is known.
#[derive(Clone, Copy, Default, Debug)]
pub struct EntrySum {
    /// Number of entries of those tables for which it is known; `None`: it is known for no table.
    pub count: Option<u64>,
    /// Not all entries were counted.
    pub estimated: bool,
    /// The number of entries of some table is not known.
    pub is_partial: bool,
    /// The sum of the squares of the errors that the estimates may have.
    squared_error: f64,
}

/// The bits of filters for each of the entries that they are made for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BitsPerEntry {
    /// The number of bits.
    pub value: f64,
    /// All entries were counted.
    pub exact: bool,
}

impl BitsPerEntry {
    /// `None`: there are no bits or no entries, or the number of entries is unknown.
    pub(super) fn of(bits: u64, entries: Option<EntryCount>) -> Option<Self> {
        let entries = entries.filter(|entries| entries.count > 0 && bits > 0)?;
        Some(Self { value: bits as f64 / entries.count as f64, exact: entries.exact })
    }
}

impl EntryCount {
    pub(crate) const fn exactly(count: u64) -> Self {
        Self { count, low: count, high: count, exact: true }
    }
}

impl From<EntryCount> for DistinctKeys {
    fn from(EntryCount { count, low, high, exact }: EntryCount) -> Self {
        Self { count: Some(count), low, high, exact }
    }
}

impl From<&KeySketch> for EntryCount {
    fn from(seen: &KeySketch) -> Self {
        let SketchedNumber { keys, low, high, exact } = seen.number();
        Self { count: keys, low, high, exact }
    }
}

impl EntrySum {
    /// Adds the entries of a table.
    pub fn add(&mut self, count: Option<EntryCount>) {
        if let Some(EntryCount { count, low, high, .. }) = count {
            self.count = Some(self.count.unwrap_or_default().saturating_add(count));
            let error = high.saturating_sub(count).max(count.saturating_sub(low)) as f64;
            self.squared_error += error * error;
        }
        self.estimated |= count.is_none_or(|count| !count.exact);
        self.is_partial |= count.is_none();
    }

    /// Adds another sum.
    pub fn add_sum(&mut self, other: &Self) {
        if let Some(count) = other.count {
            self.count = Some(self.count.unwrap_or_default().saturating_add(count));
        }
        self.squared_error += other.squared_error;
        self.estimated |= other.estimated;
        self.is_partial |= other.is_partial;
    }

    /// The sum with its interval; `None`: no number is known. The tables' errors are taken to be independent.
    pub fn number(&self) -> Option<EntryCount> {
        let (count, error) = (self.count?, self.squared_error.sqrt().round() as u64);
        let (low, high) = (count.saturating_sub(error), count.saturating_add(error));
        Some(EntryCount { count, low, high, exact: !self.estimated })
    }

    /// The greatest likely error as a share of the sum; `None` if the sum is exact.
    pub fn error(&self) -> Option<f64> {
        self.estimated.then(|| self.squared_error.sqrt() / self.count.unwrap_or_default().max(1) as f64)
    }
}

impl From<Option<EntryCount>> for EntrySum {
    fn from(count: Option<EntryCount>) -> Self {
        let mut sum = Self::default();
        sum.add(count);
        sum
    }
}

impl Serialize for EntrySum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_exact_only_if_all_tables_were_counted() {
        let count =
            |count, error, exact| Some(EntryCount { count, low: count - error, high: count + error, exact });
        let sum = |counts: &[Option<EntryCount>]| {
            let mut sum = EntrySum::default();
            counts.iter().for_each(|count| sum.add(*count));
            (sum.count, sum.error(), sum.estimated, sum.is_partial)
        };
        assert_eq!(sum(&[]), (None, None, false, false));
        assert_eq!(sum(&[count(3, 0, true), count(4, 0, true)]), (Some(7), None, false, false));
        assert_eq!(sum(&[count(3, 0, true), None]), (Some(3), Some(0.0), true, true));
        // The squares of independent errors add up.
        assert_eq!(sum(&[count(40, 3, false), count(60, 4, false)]), (Some(100), Some(0.05), true, false));
    }
}
