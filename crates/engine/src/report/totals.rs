//! Sums over the tables of a folder, and over the tables of each level.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::distinct::DistinctSum;
use super::estimate::EntrySum;
#[cfg(feature = "schema")]
use super::estimate::{Estimate, KeyCount};
use super::frame::Frame;
use super::inspect::Inspected;
use super::table::TableLevel;
use super::verdict::Verdict;
use crate::audit::rates::{LookupWeights, MeanRate, Rate, TableWeight};

/// Sums over the tables of a folder.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// The folder.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// How the folder is: the worst verdict on it and its files.
    pub verdict: Verdict,
    /// Number of table files.
    pub tables: u64,
    /// Number of live tables that have no file. No other number includes them.
    pub missing: u64,
    /// Number of tables in which damage was found, without those in `unreadable`.
    pub damaged: u64,
    /// Number of files that are not complete tables and that the database does not use: they are being
    /// written, or were left behind.
    pub not_live: u64,
    /// Number of tables that could not be read, or not completely.
    pub unreadable: u64,
    /// Number of tables that were opened and have no filter block of a known policy that could be read.
    pub without_filters: u64,
    /// Bytes of all files whose `file_size` is known.
    pub file_size: u64,
    /// Number of data blocks of the tables that could be opened.
    pub data_blocks: u64,
    /// Number of entries of the tables for which it is known, including obsolete tables. It is not exact if it is not
    /// known for some table. `None`: it is known for no table.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Estimate<u64>>"))]
    pub entries: EntrySum,
    /// Different keys of all tables: a key that several tables hold counts once. Tables with at most 65 data blocks,
    /// all of which were read, are compared key by key; with other tables, the number is estimated, or only its bounds
    /// are known. `None`: there are no tables, or the number of keys of some table is not known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<KeyCount>"))]
    pub distinct_keys: DistinctSum,
    /// Bytes of all filter blocks that are of a known policy and could be read.
    pub filter_size: u64,
    /// Number of filters, empty ones included.
    pub filters: u64,
    /// Number of empty filters.
    pub empty_filters: u64,
    /// Mean of `estimated_fpr` of the tables, each weighted by the share of absent keys whose lookups reach it or, if
    /// the levels or the order of keys are not known, by its entries. A table without filters counts as 1, and obsolete
    /// tables do not count. `None`: no table that counts has a known rate.
    pub estimated_fpr: Mean,
    /// Mean of `random_fpr` of the tables, weighted as for `estimated_fpr`. `None`: no table that counts has a known
    /// rate.
    #[serde(serialize_with = "mean")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Rate>"))]
    pub random_fpr: MeanRate,
    /// Sums by level, starting with level 0; tables that are not live come last. Empty: there are no tables, or there
    /// is no MANIFEST that can be relied on.
    #[serde(serialize_with = "values")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<LevelTotals>"))]
    pub levels: BTreeMap<TableLevel, LevelTotals>,
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
    /// Number of tables that were opened and have no filter block of a known policy that could be read.
    pub without_filters: u64,
    /// Bytes of all files whose `file_size` is known.
    pub file_size: u64,
    /// Number of entries of the tables for which it is known. It is not exact if it is not known for some table.
    /// `None`: it is known for no table.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Estimate<u64>>"))]
    pub entries: EntrySum,
    /// Different keys of the tables. On level 1 and higher, two tables of a level have at most one key in common, which
    /// is at their ends, so the numbers of the tables add up except for these keys. `None`: there are no tables, or the
    /// number of keys of some table is not known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<KeyCount>"))]
    pub distinct_keys: DistinctSum,
    /// Bytes of all filter blocks that are of a known policy and could be read.
    pub filter_size: u64,
    /// Mean of `estimated_fpr` of the tables, each weighted by the share of absent keys whose lookups reach it or, if
    /// the order of keys is not known, by its entries. A table without filters counts as 1. Obsolete tables are
    /// weighted by their entries. `None`: no table has a known rate.
    pub estimated_fpr: Mean,
    /// Mean of `random_fpr` of the tables, weighted as for `estimated_fpr`. `None`: no table has a known rate.
    #[serde(serialize_with = "mean")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Rate>"))]
    pub random_fpr: MeanRate,
}

/// Totals to which tables are being added.
#[derive(Default)]
pub(crate) struct TotalsSum {
    totals: Totals,
    /// Of tables whose weight follows from all tables of the database.
    rated: Vec<TableRates>,
    /// By table number.
    live_entries: BTreeMap<u64, TableWeight>,
}

/// The rates of a table, and what their weight in a mean depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableRates {
    place: TableLevel,
    number: Option<u64>,
    entries: u64,
    estimated: Option<f64>,
    pub(crate) random: Option<Rate>,
}

/// A weighted mean. It serializes to its value, or to null if there is no mean.
#[derive(Clone, Copy, Default, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Option<f64>", extend("minimum" = 0, "maximum" = 1)))]
pub struct Mean {
    sum: f64,
    weight: f64,
}

impl TotalsSum {
    pub(crate) fn add(&mut self, found: &Inspected) {
        let (totals, table) = (&mut self.totals, &found.table);
        if found.is_missing() {
            totals.missing += 1;
            return;
        }
        totals.tables += 1;
        totals.unreadable += u64::from(found.is_unreadable);
        totals.damaged += u64::from(!found.is_unreadable && found.is_damaged());
        totals.not_live += u64::from(found.is_incomplete);
        totals.file_size = totals.file_size.saturating_add(table.file_size.unwrap_or_default());
        totals.data_blocks += table.data_blocks.unwrap_or_default();
        totals.without_filters += u64::from(table.is_unfiltered());
        totals.entries.add(table.entries);
        totals.distinct_keys.add(found);
        if let Some(filter) = &table.filter {
            totals.filter_size = totals.filter_size.saturating_add(filter.size);
            totals.filters += filter.filters;
            totals.empty_filters += filter.empty_filters;
        }
        if table.live.is_some() {
            totals.levels.entry(table.place()).or_default().add(found);
        }
        if let (Some(number), Some(entries)) = (found.number, table.entries) {
            let weight = TableWeight { entries: entries.value, marks: found.marks.clone() };
            self.live_entries.insert(number, weight);
        }
        match (table.live, TableRates::of(found)) {
            (_, None) => {}
            (None, Some(rates)) => totals.add_rates(&rates, rates.entries as f64),
            (Some(_), Some(rates)) => self.rated.push(rates),
        }
    }

    /// The entries of the live tables, by the numbers of the tables.
    pub(crate) const fn live_entries(&self) -> &BTreeMap<u64, TableWeight> {
        &self.live_entries
    }

    /// The totals, with means weighted by `weights`.
    pub(crate) fn totals(self, weights: &LookupWeights) -> Totals {
        let Self { mut totals, rated, .. } = self;
        for rates in rated {
            let weight = rates.weight(weights);
            if rates.place != TableLevel::NotLive {
                totals.add_rates(&rates, weight);
            }
            if let Some(level) = totals.levels.get_mut(&rates.place) {
                level.estimated_fpr.add(rates.estimated, weight);
                level.random_fpr.add(rates.random, weight);
            }
        }
        totals
    }
}

impl Totals {
    fn add_rates(&mut self, rates: &TableRates, weight: f64) {
        self.estimated_fpr.add(rates.estimated, weight);
        self.random_fpr.add(rates.random, weight);
    }
}

impl LevelTotals {
    fn add(&mut self, found: &Inspected) {
        let table = &found.table;
        self.level = table.level;
        self.tables += 1;
        self.without_filters += u64::from(table.is_unfiltered());
        self.file_size = self.file_size.saturating_add(table.file_size.unwrap_or_default());
        self.entries.add(table.entries);
        self.distinct_keys.add(found);
        let filter_size = table.filter.as_ref().map_or(0, |filter| filter.size);
        self.filter_size = self.filter_size.saturating_add(filter_size);
    }
}

impl TableRates {
    /// `None`: the number of its entries is unknown, or its filters could not be read or are of no known policy.
    pub(crate) fn of(found: &Inspected) -> Option<Self> {
        let table = &found.table;
        let (estimated, random) = match &table.filter {
            Some(filter) => (filter.estimated_fpr, filter.random_fpr),
            // A lookup reads a table without filters whatever its key is.
            None if table.filter_error.is_none() && table.filter_policies.is_empty() => {
                (Some(1.0), Some(Rate::ALL))
            }
            None => return None,
        };
        let (place, number, entries) = (table.place(), found.number, table.entries?.value);
        Some(Self { place, number, entries, estimated, random })
    }

    /// Obsolete tables are weighted by their entries.
    pub(crate) fn weight(&self, weights: &LookupWeights) -> f64 {
        match self.place {
            TableLevel::NotLive => self.entries as f64,
            _ => weights.of(self.number, self.entries),
        }
    }
}

impl Mean {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.sum += value * weight;
            self.weight += weight;
        }
    }

    /// The mean; `None` if no value with a weight above 0 was added.
    pub fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

impl Serialize for Mean {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of measured rates has the same weights as the mean of estimated rates.
    #[test]
    fn measured_rates_are_weighted_like_estimated_ones() {
        let rates = |entries, rate| {
            let measured = Some(Rate { rate, low: rate, high: rate, asked: 1000 });
            let (place, estimated) = (TableLevel::Unknown, Some(rate));
            TableRates { place, number: None, entries, estimated, random: measured }
        };
        let mut totals = Totals::default();
        for (entries, rate) in [(300, 0.125), (100, 0.625)] {
            totals.add_rates(&rates(entries, rate), entries as f64);
        }
        assert_eq!(totals.estimated_fpr.value(), Some(0.25));
        assert_eq!(totals.random_fpr.mean().map(|mean| mean.rate), Some(0.25));
    }
}
