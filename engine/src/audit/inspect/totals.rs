//! Sums over the tables of a folder, and over the tables of each level.

use std::collections::BTreeMap;

use super::report::TableReport;
use crate::audit::rates::measured::{MeanRate, MeasuredRate};
use crate::audit::stats::filters::Summary;
use crate::audit::stats::key_count::KeyCount;

/// Sums over the tables of a folder.
#[derive(Default)]
pub struct FolderTotals {
    pub tables: u64,
    /// Live tables that have no file. They are counted nowhere else.
    pub missing: u64,
    pub damaged: u64,
    /// Files that are no whole tables and not the database's.
    pub not_live: u64,
    pub unreadable: u64,
    /// Tables that were opened and have no filter block that could be read.
    pub unfiltered: u64,
    pub file_size: u64,
    pub data_blocks: u64,
    pub keys: KeySum,
    /// The keys of the tables with filters.
    pub filtered_keys: KeySum,
    /// The size of the filter blocks.
    pub filter_size: u64,
    pub summary: Summary,
    rates: Rates,
    levels: BTreeMap<LevelName, LevelTotals>,
}

/// The number of keys of several tables.
#[derive(Default)]
pub struct KeySum {
    /// The sum over the tables whose keys could be estimated; `None` if there are none of these.
    pub keys: Option<u64>,
    /// The squares of what each estimate may be off by, added up.
    squared_error: f64,
    /// `keys` is an estimate, or some tables are missing in it.
    pub estimated: bool,
    /// The keys of some table are not known.
    pub is_partial: bool,
}

/// A level that the MANIFEST has. Tables that it has on none come behind all levels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LevelName {
    Level(u8),
    Obsolete,
}

/// Sums over the tables of one level.
#[derive(Default)]
pub struct LevelTotals {
    pub tables: u64,
    pub file_size: u64,
    pub keys: KeySum,
    pub filter_size: u64,
    pub unfiltered: u64,
    rates: Rates,
}

impl FolderTotals {
    pub fn add(&mut self, report: &TableReport<'_>) {
        if report.is_missing() {
            self.missing += 1;
            return;
        }
        self.tables += 1;
        self.unreadable += u64::from(report.unreadable);
        self.damaged += u64::from(!report.unreadable && report.is_damaged());
        self.not_live += u64::from(report.is_not_live);
        self.file_size = self.file_size.saturating_add(report.file_size.unwrap_or_default());
        self.data_blocks += report.stats.as_ref().map_or(0, |stats| stats.blocks.offsets.len());
        self.unfiltered += u64::from(report.is_unfiltered());
        if let Some(record) = report.record {
            let level = record.live.map_or(LevelName::Obsolete, |live| LevelName::Level(live.level));
            self.levels.entry(level).or_default().add(report);
        }
        self.keys.add(report.keys());
        let Some(filter) = &report.filter else { return };
        self.filtered_keys.add(report.keys());
        self.filter_size = self.filter_size.saturating_add(filter.size);
        self.summary.filters += filter.summary.filters;
        self.summary.empty += filter.summary.empty;
        self.summary.bits += filter.summary.bits;
        self.summary.bits_set += filter.summary.bits_set;
        self.summary.array_bytes += filter.summary.array_bytes;
        self.rates.add(report);
    }

    /// The rates over all tables with filters.
    pub const fn rates(&self) -> &Rates {
        &self.rates
    }

    pub fn levels(&self) -> &BTreeMap<LevelName, LevelTotals> {
        &self.levels
    }
}

impl KeySum {
    /// Adds the keys of a table.
    pub fn add(&mut self, count: Option<KeyCount>) {
        if let Some(KeyCount { keys, low, high, .. }) = count {
            self.keys = Some(self.keys.unwrap_or_default().saturating_add(keys));
            let error = high.saturating_sub(keys).max(keys.saturating_sub(low)) as f64;
            self.squared_error += error * error;
        }
        self.estimated |= count.is_none_or(|count| !count.exact);
        self.is_partial |= count.is_none();
    }

    /// The share of the sum that it is likely to be off by at most; `None` if it is exact. The
    /// tables' errors are independent of each other.
    pub fn error(&self) -> Option<f64> {
        self.estimated.then(|| self.squared_error.sqrt() / self.keys.unwrap_or_default().max(1) as f64)
    }
}

impl LevelTotals {
    fn add(&mut self, report: &TableReport<'_>) {
        self.tables += 1;
        self.file_size = self.file_size.saturating_add(report.file_size.unwrap_or_default());
        self.keys.add(report.keys());
        let filter_size = report.filter.as_ref().map_or(0, |filter| filter.size);
        self.filter_size = self.filter_size.saturating_add(filter_size);
        self.rates.add(report);
        self.unfiltered += u64::from(report.is_unfiltered());
    }

    pub const fn rates(&self) -> &Rates {
        &self.rates
    }
}

/// The mean rates of false positives over the keys of several tables.
#[derive(Default)]
pub struct Rates {
    random: MeanRate,
    /// The rate by the bits set, and its weight.
    estimated: [f64; 2],
}

impl Rates {
    fn add(&mut self, report: &TableReport<'_>) {
        let (Some(filter), Some(count)) = (&report.filter, report.keys()) else { return };
        let keys = count.keys as f64;
        if let Some(rate) = filter.random_rate {
            self.random.add(rate, keys);
        }
        if let Some(rate) = filter.rate {
            let [sum, weight] = &mut self.estimated;
            *sum += rate * keys;
            *weight += keys;
        }
    }

    /// The rate among random keys.
    pub fn random(&self) -> Option<MeasuredRate> {
        self.random.mean()
    }

    /// The rate by the bits set.
    pub fn estimated(&self) -> Option<f64> {
        let [sum, weight] = self.estimated;
        (weight > 0.0).then(|| sum / weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_exact_only_if_all_tables_were_counted() {
        let count =
            |keys, error, exact| Some(KeyCount { keys, low: keys - error, high: keys + error, exact });
        let sum = |counts: &[Option<KeyCount>]| {
            let mut sum = KeySum::default();
            counts.iter().for_each(|count| sum.add(*count));
            (sum.keys, sum.error(), sum.estimated, sum.is_partial)
        };
        assert_eq!(sum(&[]), (None, None, false, false));
        assert_eq!(sum(&[count(3, 0, true), count(4, 0, true)]), (Some(7), None, false, false));
        assert_eq!(sum(&[count(3, 0, true), None]), (Some(3), Some(0.0), true, true));
        // Independent errors add up by their squares.
        assert_eq!(sum(&[count(40, 3, false), count(60, 4, false)]), (Some(100), Some(0.05), true, false));
    }
}
