//! Sums over the tables of each level, and over all.

use std::collections::BTreeMap;

use super::table::{Place, State, TableFacts};
use crate::audit::inspect::totals::KeySum;
use crate::audit::rates::measured::{MeanRate, MeasuredRate};

/// Sums over tables. Missing ones are counted, and add nothing else.
#[derive(Default)]
pub struct Sums {
    pub tables: u64,
    /// Those without filters, and those whose filters are not known here.
    pub unfiltered: u64,
    pub unknown: u64,
    /// Damaged, missing or unreadable.
    pub bad: u64,
    /// In bytes.
    pub size: u64,
    pub keys: KeySum,
    /// The size of the filter blocks in bytes.
    pub filter_size: u64,
    /// The keys of the tables with filters.
    pub filtered_keys: KeySum,
    random: MeanRate,
    neighbours: MeanRate,
}

impl Sums {
    pub fn add(&mut self, table: &TableFacts) {
        self.tables += 1;
        self.unfiltered += u64::from(table.state == State::NoFilter);
        self.unknown += u64::from(table.state == State::UnknownPolicy);
        self.bad += u64::from(matches!(table.state, State::Damaged | State::Missing | State::Unreadable));
        if table.state == State::Missing {
            return;
        }
        self.size = self.size.saturating_add(table.size);
        self.keys.add(table.keys);
        let Some(filter) = table.filter else { return };
        self.filter_size = self.filter_size.saturating_add(filter.size);
        self.filtered_keys.add(table.keys);
        let keys = table.keys.map_or(0.0, |count| count.keys as f64);
        filter.random.into_iter().for_each(|rate| self.random.add(rate, keys));
        filter.neighbours.into_iter().for_each(|rate| self.neighbours.add(rate, keys));
    }

    /// The mean share, over keys, of random keys that pass where there are filters.
    pub fn random(&self) -> Option<MeasuredRate> {
        self.random.mean()
    }

    /// The same of keys near stored ones.
    pub fn neighbours(&self) -> Option<MeasuredRate> {
        self.neighbours.mean()
    }

    /// The bytes of filters for each key of the tables that have some.
    pub fn bytes_per_key(&self) -> Option<f64> {
        let keys = self.filtered_keys.keys.filter(|keys| *keys > 0)?;
        Some(self.filter_size as f64 / keys as f64)
    }

    /// The tables that have filters which can be judged.
    pub const fn filtered(&self) -> u64 {
        self.tables.saturating_sub(self.unfiltered).saturating_sub(self.unknown).saturating_sub(self.bad)
    }
}

/// The sums over the tables of each place, from the top level on.
pub fn by_place(tables: &[TableFacts]) -> BTreeMap<Place, Sums> {
    let mut places: BTreeMap<Place, Sums> = BTreeMap::new();
    for table in tables {
        places.entry(table.place).or_default().add(table);
    }
    places
}

/// The sums over the tables that lookups may come to: all but those that the database does not use.
pub fn in_use(tables: &[TableFacts]) -> Sums {
    let mut sums = Sums::default();
    tables.iter().filter(|table| table.place != Place::NotLive).for_each(|table| sums.add(table));
    sums
}
