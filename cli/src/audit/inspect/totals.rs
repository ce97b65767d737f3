//! Sums over the tables of a folder, and over the tables of each level.

use std::collections::BTreeMap;

use super::report::TableReport;
use crate::audit::stats::filters::Summary;
use crate::audit::stats::key_count::KeyCount;

/// Sums over the tables of a folder.
#[derive(Default)]
pub(crate) struct FolderTotals {
    pub(crate) tables: u64,
    /// Live tables that have no file. They are counted nowhere else.
    pub(crate) missing: u64,
    pub(crate) damaged: u64,
    pub(crate) unreadable: u64,
    /// Tables that were opened and have no filter block that could be read.
    pub(crate) unfiltered: u64,
    pub(crate) file_size: u64,
    pub(crate) data_blocks: u64,
    /// The size of the filter blocks.
    pub(crate) filter_size: u64,
    pub(crate) summary: Summary,
    rate: MeanRate,
    levels: BTreeMap<LevelName, LevelTotals>,
}

/// A level that the MANIFEST has. Tables that it has on none come behind all levels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LevelName {
    Level(u8),
    Obsolete,
}

/// Sums over the tables of one level.
#[derive(Default)]
pub(crate) struct LevelTotals {
    pub(crate) tables: u64,
    pub(crate) file_size: u64,
    /// The sum over the tables whose keys could be estimated; `None` if there are none of these.
    pub(crate) keys: Option<u64>,
    /// The squares of what each estimate may be off by, added up.
    squared_error: f64,
    /// `keys` is an estimate, or some tables are missing in it.
    pub(crate) estimated: bool,
    pub(crate) filter_size: u64,
    pub(crate) unfiltered: u64,
    rate: MeanRate,
}

impl FolderTotals {
    pub(crate) fn add(&mut self, report: &TableReport<'_>) {
        if report.is_missing() {
            self.missing += 1;
            return;
        }
        self.tables += 1;
        self.unreadable += u64::from(report.unreadable);
        self.damaged += u64::from(!report.unreadable && report.is_damaged());
        self.file_size = self.file_size.saturating_add(report.file_size.unwrap_or_default());
        self.data_blocks += report.stats.as_ref().map_or(0, |stats| stats.blocks.offsets.len());
        self.unfiltered += u64::from(report.is_unfiltered());
        if let Some(record) = report.record {
            let level = record.live.map_or(LevelName::Obsolete, |live| LevelName::Level(live.level));
            self.levels.entry(level).or_default().add(report);
        }
        let Some(filter) = &report.filter else { return };
        self.filter_size = self.filter_size.saturating_add(filter.size);
        self.summary.filters += filter.summary.filters;
        self.summary.empty += filter.summary.empty;
        self.summary.bits += filter.summary.bits;
        self.summary.bits_set += filter.summary.bits_set;
        self.summary.array_bytes += filter.summary.array_bytes;
        self.rate.add(report);
    }

    /// The mean rate of false positives over the keys of all tables with filters.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate.mean()
    }

    pub(crate) fn levels(&self) -> &BTreeMap<LevelName, LevelTotals> {
        &self.levels
    }
}

impl LevelTotals {
    fn add(&mut self, report: &TableReport<'_>) {
        self.tables += 1;
        self.file_size = self.file_size.saturating_add(report.file_size.unwrap_or_default());
        let count = report.keys();
        if let Some(KeyCount { keys, low, high, .. }) = count {
            self.keys = Some(self.keys.unwrap_or_default().saturating_add(keys));
            let error = high.saturating_sub(keys).max(keys.saturating_sub(low)) as f64;
            self.squared_error += error * error;
        }
        self.estimated |= count.is_none_or(|count| !count.exact);
        let filter_size = report.filter.as_ref().map_or(0, |filter| filter.size);
        self.filter_size = self.filter_size.saturating_add(filter_size);
        self.rate.add(report);
        self.unfiltered += u64::from(report.is_unfiltered());
    }

    /// The number of keys that the sum is likely to be off by at most. The tables' errors are
    /// independent of each other.
    pub(crate) fn error(&self) -> f64 {
        self.squared_error.sqrt()
    }

    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate.mean()
    }
}

/// The mean rate of false positives over the keys that filters cover.
#[derive(Default)]
struct MeanRate {
    weighted: f64,
    keys: f64,
}

impl MeanRate {
    fn add(&mut self, report: &TableReport<'_>) {
        let rate = report.filter.as_ref().and_then(|filter| filter.rate);
        if let (Some(rate), Some(count)) = (rate, report.keys()) {
            let keys = count.keys as f64;
            self.weighted += rate * keys;
            self.keys += keys;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.keys > 0.0).then(|| self.weighted / self.keys)
    }
}
