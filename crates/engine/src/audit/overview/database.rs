//! A database, a folder of tables or a single table, as a page shows it.

use std::collections::BTreeMap;

use super::{problems::OverviewProblems, spans::Spans};
use crate::audit::rates::LookupWeights;
use crate::report::{Depth, DistinctSum, HugeManifest, LevelTotals, TableData, TableLevel, TableRates};

/// What a page can be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A folder with CURRENT, a MANIFEST, or a log that is neither empty nor a link.
    Database,
    Folder,
    Table,
}

#[derive(Debug)]
pub(crate) struct Overview {
    pub(crate) kind: Kind,
    /// To which tables were read.
    pub(crate) depth: Depth,
    /// If a MANIFEST names it.
    pub(crate) comparator: Option<Vec<u8>>,
    /// Byte by byte, LevelDB's default.
    pub(crate) is_bytewise: bool,
    /// There is a MANIFEST that can be relied on.
    pub(crate) has_records: bool,
    /// Tables from before a rebuild are kept, so another rebuild is refused.
    pub(crate) has_undo: bool,
    /// If it makes opening the database slow.
    pub(crate) manifest: Option<HugeManifest>,
    /// In the order of reading, usually by file number; live tables without a file come first.
    pub(crate) tables: Vec<TableData>,
    /// Of all tables, which no longer hold their keys.
    pub(crate) distinct_keys: DistinctSum,
    /// In the mean of the false-positive rates.
    pub(crate) weights: LookupWeights,
    /// Of the live tables.
    pub(crate) spans: Spans,
    /// Logs that hold, or may hold, writes that are in no table yet, with their bytes.
    pub(crate) logs: Vec<(Vec<u8>, u64)>,
    /// From the verification, or from reading each table if nothing was verified.
    pub(crate) found: OverviewProblems,
}

impl Overview {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            depth: Depth::Sample,
            comparator: None,
            is_bytewise: false,
            has_records: false,
            has_undo: false,
            manifest: None,
            tables: Vec::new(),
            distinct_keys: DistinctSum::default(),
            weights: LookupWeights::default(),
            spans: Spans::default(),
            logs: Vec::new(),
            found: OverviewProblems::default(),
        }
    }

    /// All but those that the database does not use.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = &TableData> {
        self.tables.iter().filter(|table| table.place() != TableLevel::NotLive)
    }

    /// Drops the keys seen, which only `distinct_keys` needs.
    pub(crate) fn add(&mut self, mut table: TableData) {
        self.distinct_keys.add(&table);
        table.seen = None;
        self.tables.push(table);
    }

    /// Over the tables in use.
    pub(crate) fn sums(&self) -> LevelTotals {
        let mut sums = LevelTotals::default();
        self.in_use().for_each(|table| self.add_to(&mut sums, table));
        sums.distinct_keys = self.distinct_keys.of_places(|place| place != TableLevel::NotLive);
        sums
    }

    fn add_to(&self, sums: &mut LevelTotals, table: &TableData) {
        sums.add(table);
        if let Some(rates) = TableRates::of(table) {
            sums.add_rates(&rates, &self.weights);
        }
    }

    /// Sums by place, from the top level down.
    pub(crate) fn places(&self) -> BTreeMap<TableLevel, LevelTotals> {
        let mut places: BTreeMap<_, LevelTotals> = BTreeMap::new();
        self.tables.iter().for_each(|table| self.add_to(places.entry(table.place()).or_default(), table));
        for (place, sums) in &mut places {
            sums.distinct_keys = self.distinct_keys.of_places(|of| of == *place);
        }
        places
    }

    /// Counts the tables with filters of each policy.
    pub(crate) fn policies(&self) -> BTreeMap<&[u8], u64> {
        let mut policies = BTreeMap::new();
        for name in self.tables.iter().filter_map(TableData::policy) {
            *policies.entry(name).or_default() += 1;
        }
        policies
    }
}
