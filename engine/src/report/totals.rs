//! Sums over the tables of a folder, and over the tables of each level.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::frame::Frame;
use super::inspect::{KeyCount, Table, TableLevel, TableState};
use crate::audit::rates::{MeanRate, MeasuredRate};

/// Sums over the tables of a folder.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// The folder.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// Number of table files.
    pub tables: u64,
    /// Number of live tables that have no file. No other number includes them.
    pub missing: u64,
    /// Number of tables in which damage was found.
    pub damaged: u64,
    /// Number of files that are not complete tables and that the database does not use: they are being
    /// written, or were left behind.
    pub not_live: u64,
    /// Number of tables that could not be read.
    pub unreadable: u64,
    /// Number of tables that were opened and have no filter block that could be read.
    pub unfiltered: u64,
    /// Bytes of all files.
    pub file_size: u64,
    /// Number of data blocks.
    pub data_blocks: u64,
    /// Bytes of all filter blocks.
    pub filter_size: u64,
    /// Number of filters, empty ones included.
    pub filters: u64,
    /// Number of empty filters.
    pub empty_filters: u64,
    /// Bits of all filters.
    pub bits: u64,
    /// Number of bits of all filters that are 1.
    pub bits_set: u64,
    /// Mean of `estimated_fpr` of the tables, weighted by their keys. `None`: no table has one.
    pub estimated_fpr: Mean,
    /// Mean of `random_fpr` of the tables, weighted by their keys. `None`: no table has one.
    #[serde(serialize_with = "mean")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<MeasuredRate>"))]
    pub random_fpr: MeanRate,
    /// Sums by level, starting with level 0; tables that are not live come last. Empty: there is no MANIFEST
    /// that can be relied on.
    #[serde(serialize_with = "values")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<LevelTotals>"))]
    pub levels: BTreeMap<TableLevel, LevelTotals>,

    /// Number of bytes of the filter blocks that hold the offsets of filters.
    #[serde(skip)]
    pub offset_array_bytes: u64,
    /// The keys of all tables.
    #[serde(skip)]
    pub keys: KeySum,
    /// The keys of the tables with filters.
    #[serde(skip)]
    pub filtered_keys: KeySum,
}

/// Sums over the tables of one level.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelTotals {
    /// The level. `None`: the tables that are not live.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub level: Option<u8>,
    /// Number of table files.
    pub tables: u64,
    /// Number of tables that were opened and have no filter block that could be read.
    pub unfiltered: u64,
    /// Bytes of all files.
    pub file_size: u64,
    /// The keys of the tables.
    #[serde(flatten)]
    pub keys: KeySum,
    /// Bytes of all filter blocks.
    pub filter_size: u64,
    /// Mean of `estimated_fpr` of the tables, weighted by their keys. `None`: no table has one.
    pub estimated_fpr: Mean,
    /// Mean of `random_fpr` of the tables, weighted by their keys. `None`: no table has one.
    #[serde(serialize_with = "mean")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<MeasuredRate>"))]
    pub random_fpr: MeanRate,

    /// Mean of `neighbour_fpr` of the tables, weighted by their keys.
    #[serde(skip)]
    pub neighbour_fpr: MeanRate,
    /// The number of tables in each state, including those without a file.
    #[serde(skip)]
    pub states: BTreeMap<TableState, u64>,
    /// Bytes of all files; for those that cannot be opened, the sizes that the MANIFEST records.
    #[serde(skip)]
    pub size: u64,
    /// Bytes of the filter blocks that can be judged.
    #[serde(skip)]
    pub judged_size: u64,
    /// The keys of the tables with filters that can be judged.
    #[serde(skip)]
    pub judged_keys: KeySum,
}

/// The number of keys of several tables.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeySum {
    /// Number of keys of those tables for which it is known. `None`: it is known for none.
    pub keys: Option<u64>,
    /// Not all keys were counted. The opposite is serialized.
    #[serde(rename = "keys_exact", serialize_with = "not")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "bool",
            description = "True if all keys were counted; false if `keys` is an estimate."
        )
    )]
    pub estimated: bool,
    /// The sum of the squares of the errors that the estimates may have.
    #[serde(skip)]
    squared_error: f64,
    /// The number of keys of some table is not known.
    #[serde(skip)]
    pub is_partial: bool,
}

/// A weighted mean, which serializes to its value, if there is one.
#[derive(Clone, Copy, Default, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Option<f64>", extend("minimum" = 0, "maximum" = 1)))]
pub struct Mean {
    sum: f64,
    weight: f64,
}

impl Totals {
    /// Adds a table.
    pub fn add(&mut self, table: &Table) {
        if table.is_missing() {
            self.missing += 1;
            return;
        }
        self.tables += 1;
        self.unreadable += u64::from(table.unreadable);
        self.damaged += u64::from(!table.unreadable && table.is_damaged());
        self.not_live += u64::from(table.is_not_live());
        self.file_size = self.file_size.saturating_add(table.file_size.unwrap_or_default());
        self.data_blocks += table.data_blocks.unwrap_or_default();
        self.unfiltered += u64::from(table.is_unfiltered());
        if table.live.is_some() {
            self.levels.entry(table.place()).or_default().add(table);
        }
        self.keys.add(table.keys);
        let Some(filter) = &table.filter else { return };
        self.filtered_keys.add(table.keys);
        self.filter_size = self.filter_size.saturating_add(filter.size);
        self.filters += filter.filters;
        self.empty_filters += filter.empty_filters;
        self.bits += filter.bits;
        self.bits_set += filter.bits_set;
        self.offset_array_bytes += filter.offset_array_bytes;
        let Some(count) = table.keys else { return };
        self.estimated_fpr.add(filter.estimated_fpr, count.keys);
        add(&mut self.random_fpr, filter.random_fpr, count.keys);
    }

    /// The number of filter bits per key in the tables that have filters; `None` if either number is 0 or not
    /// known.
    pub fn bits_per_key(&self) -> Option<f64> {
        let keys = self.filtered_keys.keys.filter(|keys| *keys > 0 && self.bits > 0)?;
        Some(self.bits as f64 / keys as f64)
    }
}

impl LevelTotals {
    /// Adds a table.
    pub fn add(&mut self, table: &Table) {
        self.level = table.level;
        *self.states.entry(table.state()).or_default() += 1;
        if table.is_missing() {
            return;
        }
        self.tables += 1;
        self.unfiltered += u64::from(table.is_unfiltered());
        self.file_size = self.file_size.saturating_add(table.file_size.unwrap_or_default());
        self.size = self.size.saturating_add(table.size());
        self.keys.add(table.keys);
        let Some(filter) = &table.filter else { return };
        self.filter_size = self.filter_size.saturating_add(filter.size);
        if table.judged().is_some() {
            self.judged_size = self.judged_size.saturating_add(filter.size);
            self.judged_keys.add(table.keys);
        }
        let Some(count) = table.keys else { return };
        self.estimated_fpr.add(filter.estimated_fpr, count.keys);
        add(&mut self.random_fpr, filter.random_fpr, count.keys);
        add(&mut self.neighbour_fpr, filter.neighbour_fpr, count.keys);
    }

    /// The number of tables in one of these states.
    pub fn in_state(&self, states: &[TableState]) -> u64 {
        states.iter().filter_map(|state| self.states.get(state)).sum()
    }

    /// The number of tables, including those without a file.
    pub fn all(&self) -> u64 {
        self.states.values().sum()
    }

    /// The number of filter bytes per key in the tables whose filters can be judged; `None` if the number of
    /// their keys is 0 or not known.
    pub fn bytes_per_key(&self) -> Option<f64> {
        let keys = self.judged_keys.keys.filter(|keys| *keys > 0)?;
        Some(self.judged_size as f64 / keys as f64)
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

    /// The greatest likely error as a share of the sum; `None` if the sum is exact. The tables' errors are
    /// taken to be independent of each other.
    pub fn error(&self) -> Option<f64> {
        self.estimated.then(|| self.squared_error.sqrt() / self.keys.unwrap_or_default().max(1) as f64)
    }
}

impl From<Option<KeyCount>> for KeySum {
    fn from(count: Option<KeyCount>) -> Self {
        let mut sum = Self::default();
        sum.add(count);
        sum
    }
}

impl Mean {
    fn add(&mut self, value: Option<f64>, weight: u64) {
        if let Some(value) = value {
            self.sum += value * weight as f64;
            self.weight += weight as f64;
        }
    }

    /// The mean; `None` if nothing has weight.
    pub fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

impl Serialize for Mean {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

fn add(mean: &mut MeanRate, rate: Option<MeasuredRate>, keys: u64) {
    rate.into_iter().for_each(|rate| mean.add(rate, keys as f64));
}

fn mean<S: Serializer>(mean: &MeanRate, serializer: S) -> Result<S::Ok, S::Error> {
    mean.mean().serialize(serializer)
}

fn values<S: Serializer>(
    levels: &BTreeMap<TableLevel, LevelTotals>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(levels.values())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn not<S: Serializer>(value: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!value)
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
