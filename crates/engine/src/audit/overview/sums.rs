//! Sums over the tables of a page.

use std::collections::BTreeMap;

use crate::audit::rates::{LookupWeights, MeanRate};
use crate::report::{EntrySum, Estimate, Inspected, KeyCount, TableRates, TableState};

/// Sums over tables. Filters count if they can be judged.
#[derive(Default, Debug)]
pub(crate) struct TableSums {
    /// With those without a file.
    states: BTreeMap<TableState, u64>,
    /// Bytes of all files; where the size is unknown, what the MANIFEST records.
    pub(crate) size: u64,
    pub(crate) entries: EntrySum,
    pub(crate) distinct_keys: Option<KeyCount>,
    /// In bytes.
    pub(crate) filter_size: u64,
    bits: u64,
    /// Of the tables with these bits.
    filtered_entries: EntrySum,
    pub(crate) random_fpr: MeanRate,
}

impl TableSums {
    /// Adds all but the distinct keys.
    pub(crate) fn add(&mut self, found: &Inspected, weights: &LookupWeights) {
        let table = &found.table;
        *self.states.entry(found.state()).or_default() += 1;
        if let Some(rates) = TableRates::of(found) {
            self.random_fpr.add(rates.random, rates.weight(weights));
        }
        if found.is_missing() {
            return;
        }
        self.size = self.size.saturating_add(table.size());
        self.entries.add(table.entries);
        if let Some(filter) = found.judged() {
            self.filter_size = self.filter_size.saturating_add(filter.size);
            self.bits = self.bits.saturating_add(filter.bits);
            self.filtered_entries.add(table.entries);
        }
    }

    pub(crate) fn in_state(&self, state: TableState) -> u64 {
        self.states.get(&state).copied().unwrap_or_default()
    }

    /// With those without a file.
    pub(crate) fn tables(&self) -> u64 {
        self.states.values().sum()
    }

    /// `None`: no bits or no entries, or no table's number of entries is known.
    pub(crate) fn bits_per_entry(&self) -> Option<Estimate> {
        self.filtered_entries.number()?.bits_per_entry(self.bits)
    }
}
