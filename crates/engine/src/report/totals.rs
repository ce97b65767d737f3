//! Sums over the tables of a folder, and over the tables of each level.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::distinct::DistinctSum;
#[cfg(feature = "schema")]
use super::estimate::KeyCount;
use super::estimate::{EntrySum, Estimate};
use super::frame::Frame;
use super::inspect::{TableData, TableLevel, TableState};
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
    /// Number of bits of all filters. Filters whose bits are not known count as 0.
    #[serde(skip)]
    pub bits: u64,
    /// The entries of the tables with filters.
    #[serde(skip)]
    pub filtered_entries: EntrySum,
    /// Sums by level, starting with level 0; tables that are not live come last. Empty: there are no tables, or there
    /// is no MANIFEST that can be relied on.
    #[serde(serialize_with = "values")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<LevelTotals>"))]
    pub levels: BTreeMap<TableLevel, LevelTotals>,

    /// The rates of tables whose weight follows from all tables of the database.
    #[serde(skip)]
    rated: Vec<TableRates>,
    /// The entries of the live tables, by the numbers of the tables.
    #[serde(skip)]
    live_entries: BTreeMap<u64, TableWeight>,
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

    /// Mean of `similar_fpr` of the tables, weighted as for `estimated_fpr`.
    #[serde(skip)]
    pub similar_fpr: MeanRate,
    /// The number of tables in each state, including those without a file.
    #[serde(skip)]
    pub states: BTreeMap<TableState, u64>,
    /// Bytes of all files. For a file whose size could not be found out, the size that the MANIFEST records counts, if
    /// it records one.
    #[serde(skip)]
    pub size: u64,
    /// Bytes of the filter blocks that can be judged.
    #[serde(skip)]
    pub judged_size: u64,
    /// The bits of the filters that can be judged.
    #[serde(skip)]
    pub judged_bits: u64,
    /// The entries of the tables whose filters can be judged.
    #[serde(skip)]
    pub judged_entries: EntrySum,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TableRates {
    place: TableLevel,
    pub(crate) number: Option<u64>,
    pub(crate) entries: u64,
    estimated: Option<f64>,
    random: Option<Rate>,
    neighbour: Option<Rate>,
}

/// A weighted mean. It serializes to its value, or to null if there is no mean.
#[derive(Clone, Copy, Default, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Option<f64>", extend("minimum" = 0, "maximum" = 1)))]
pub struct Mean {
    sum: f64,
    weight: f64,
}

impl Totals {
    /// Adds a table.
    pub fn add(&mut self, table: &TableData) {
        if table.is_missing() {
            self.missing += 1;
            return;
        }
        self.tables += 1;
        self.unreadable += u64::from(table.unreadable);
        self.damaged += u64::from(!table.unreadable && table.is_damaged());
        self.not_live += u64::from(table.is_incomplete);
        self.file_size = self.file_size.saturating_add(table.file_size.unwrap_or_default());
        self.data_blocks += table.data_blocks.unwrap_or_default();
        self.without_filters += u64::from(table.is_unfiltered());
        if table.live.is_some() {
            self.levels.entry(table.place()).or_default().add(table);
        }
        self.entries.add(table.entries);
        self.distinct_keys.add(table);
        if let (Some(number), Some(entries)) = (table.number, table.entries) {
            let entries = TableWeight { entries: entries.value, marks: table.marks.clone() };
            self.live_entries.insert(number, entries);
        }
        self.rate(table);
        let Some(filter) = &table.filter else { return };
        self.filter_size = self.filter_size.saturating_add(filter.size);
        self.filters += filter.filters;
        self.empty_filters += filter.empty_filters;
        self.bits += filter.bits;
        self.filtered_entries.add(table.entries);
    }

    fn rate(&mut self, table: &TableData) {
        let Some(rates) = TableRates::of(table) else { return };
        match table.live {
            None => self.add_rates(&rates, rates.entries as f64),
            Some(_) => self.rated.push(rates),
        }
    }

    fn add_rates(&mut self, rates: &TableRates, weight: f64) {
        self.estimated_fpr.add(rates.estimated, weight);
        add(&mut self.random_fpr, rates.random, weight);
    }

    /// Takes out the entries of the live tables, by number.
    pub(crate) fn take_entries(&mut self) -> BTreeMap<u64, TableWeight> {
        std::mem::take(&mut self.live_entries)
    }

    pub(crate) fn weigh(&mut self, weights: &LookupWeights) {
        for rates in std::mem::take(&mut self.rated) {
            let weight = weights.of(rates.number, rates.entries);
            if rates.place != TableLevel::NotLive {
                self.add_rates(&rates, weight);
            }
            if let Some(level) = self.levels.get_mut(&rates.place) {
                level.add_rates(&rates, weights);
            }
        }
    }

    /// The bits per entry of tables with filters. `None`: no bits or no entries, or no table's number of entries is
    /// known.
    pub fn bits_per_entry(&self) -> Option<Estimate> {
        self.filtered_entries.number()?.bits_per_entry(self.bits)
    }
}

impl LevelTotals {
    /// Adds a table.
    pub fn add(&mut self, table: &TableData) {
        self.level = table.level;
        *self.states.entry(table.state()).or_default() += 1;
        if table.is_missing() {
            return;
        }
        self.tables += 1;
        self.without_filters += u64::from(table.is_unfiltered());
        self.file_size = self.file_size.saturating_add(table.file_size.unwrap_or_default());
        self.size = self.size.saturating_add(table.size());
        self.entries.add(table.entries);
        self.distinct_keys.add(table);
        let Some(filter) = &table.filter else { return };
        self.filter_size = self.filter_size.saturating_add(filter.size);
        if table.judged().is_some() {
            self.judged_size = self.judged_size.saturating_add(filter.size);
            self.judged_bits = self.judged_bits.saturating_add(filter.bits);
            self.judged_entries.add(table.entries);
        }
    }

    /// Obsolete tables are weighted by their entries.
    pub(crate) fn add_rates(&mut self, rates: &TableRates, weights: &LookupWeights) {
        let weight = match rates.place {
            TableLevel::NotLive => rates.entries as f64,
            _ => weights.of(rates.number, rates.entries),
        };
        self.estimated_fpr.add(rates.estimated, weight);
        add(&mut self.random_fpr, rates.random, weight);
        add(&mut self.similar_fpr, rates.neighbour, weight);
    }

    /// The number of tables in one of these states.
    pub fn in_state(&self, states: &[TableState]) -> u64 {
        states.iter().filter_map(|state| self.states.get(state)).sum()
    }

    /// The number of tables, including those without a file.
    pub fn all(&self) -> u64 {
        self.states.values().sum()
    }

    /// The bits per entry of tables with filters that can be judged. `None`: as for [`Totals::bits_per_entry`].
    pub fn bits_per_entry(&self) -> Option<Estimate> {
        Self::bits_per_entry_of([self].into_iter())
    }

    /// The same for several levels.
    pub fn bits_per_entry_of<'a>(levels: impl Iterator<Item = &'a Self>) -> Option<Estimate> {
        let (mut bits, mut entries) = (0_u64, EntrySum::default());
        for level in levels {
            bits = bits.saturating_add(level.judged_bits);
            entries.add_sum(&level.judged_entries);
        }
        entries.number()?.bits_per_entry(bits)
    }
}

impl TableRates {
    /// `None`: the number of its entries is unknown, or its filters could not be read or are of no known policy.
    pub(crate) fn of(table: &TableData) -> Option<Self> {
        let of = Self {
            place: table.place(),
            number: table.number,
            entries: table.entries?.value,
            estimated: Some(1.0),
            random: Some(Rate::ALL),
            neighbour: Some(Rate::ALL),
        };
        match &table.filter {
            Some(filter) => Some(Self {
                estimated: filter.estimated_fpr,
                random: filter.random_fpr,
                neighbour: filter.similar_fpr,
                ..of
            }),
            // A lookup reads a table without filters whatever its key is.
            None if table.filter_error.is_none() && table.filter_names().next().is_none() => Some(of),
            None => None,
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

fn add(mean: &mut MeanRate, rate: Option<Rate>, weight: f64) {
    rate.into_iter().for_each(|rate| mean.add(rate, weight));
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
            TableRates { place, number: None, entries, estimated, random: measured, neighbour: measured }
        };
        let mut totals = Totals::default();
        for (entries, rate) in [(300, 0.125), (100, 0.625)] {
            totals.add_rates(&rates(entries, rate), entries as f64);
        }
        assert_eq!(totals.estimated_fpr.value(), Some(0.25));
        assert_eq!(totals.random_fpr.mean().map(|mean| mean.rate), Some(0.25));
    }
}
