//! A database, a folder of tables or a single table, as a page shows it.

use std::collections::BTreeMap;

use super::{findings::OverviewFindings, spans::Spans};
use crate::audit::rates::LookupWeights;
use crate::report::{Depth, DistinctSum, HugeManifest, LevelTotals, Table, TableLevel, TableRates};

/// The kinds of input that a page can be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A folder with CURRENT, a MANIFEST, or a log that is neither empty nor a link.
    Database,
    /// Any other folder with tables.
    Folder,
    /// A table by itself.
    Table,
}

/// All that a page shows about a database, a folder or a table.
#[derive(Debug)]
pub(crate) struct Overview {
    /// The kind of the input.
    pub(crate) kind: Kind,
    /// The depth to which tables were read.
    pub(crate) depth: Depth,
    /// The name of the comparator that orders user keys, if a MANIFEST names it.
    pub(crate) comparator: Option<Vec<u8>>,
    /// The order of user keys is LevelDB's default one, byte by byte.
    pub(crate) is_bytewise: bool,
    /// There is a MANIFEST that can be relied on.
    pub(crate) has_records: bool,
    /// The tables from before a rebuild are kept, so that another rebuild is refused.
    pub(crate) has_undo: bool,
    /// The MANIFEST, if it makes opening the database slow.
    pub(crate) manifest: Option<HugeManifest>,
    /// The tables in the order in which they were looked at, usually that of their files' numbers; live
    /// tables without a file come first.
    pub(crate) tables: Vec<Table>,
    /// The different keys of all tables. The tables themselves no longer hold their keys.
    pub(crate) distinct_keys: DistinctSum,
    /// The weights of the tables in the mean of the tables' false-positive rates.
    pub(crate) weights: LookupWeights,
    /// The positions of the live tables in the range of keys.
    pub(crate) spans: Spans,
    /// The logs that hold, or may hold, writes that are in no table yet, and their sizes in bytes.
    pub(crate) logs: Vec<(Vec<u8>, u64)>,
    /// The findings of the verification, or of a look at each table if nothing was verified.
    pub(crate) found: OverviewFindings,
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
            found: OverviewFindings::default(),
        }
    }

    /// The tables that lookups may reach: all but those that the database does not use.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|table| table.place() != TableLevel::NotLive)
    }

    /// Adds a table, and drops the keys seen in it, which only `distinct_keys` needs.
    pub(crate) fn add(&mut self, mut table: Table) {
        self.distinct_keys.add(&table);
        table.seen = None;
        self.tables.push(table);
    }

    /// The sums over the tables that lookups may reach.
    pub(crate) fn sums(&self) -> LevelTotals {
        let mut sums = LevelTotals::default();
        self.in_use().for_each(|table| self.add_to(&mut sums, table));
        sums.distinct_keys = self.distinct_keys.of_places(|place| place != TableLevel::NotLive);
        sums
    }

    fn add_to(&self, sums: &mut LevelTotals, table: &Table) {
        sums.add(table);
        if let Some(rates) = TableRates::of(table) {
            sums.add_rates(&rates, &self.weights);
        }
    }

    /// The sums over the tables of each [`TableLevel`], starting with the top level.
    pub(crate) fn places(&self) -> BTreeMap<TableLevel, LevelTotals> {
        let mut places: BTreeMap<_, LevelTotals> = BTreeMap::new();
        self.tables.iter().for_each(|table| self.add_to(places.entry(table.place()).or_default(), table));
        for (place, sums) in &mut places {
            sums.distinct_keys = self.distinct_keys.of_places(|of| of == *place);
        }
        places
    }

    /// The policies of the filters, each with the number of tables that have its filters.
    pub(crate) fn policies(&self) -> BTreeMap<&[u8], u64> {
        let mut policies = BTreeMap::new();
        for name in self.tables.iter().filter_map(Table::policy) {
            *policies.entry(name).or_default() += 1;
        }
        policies
    }
}
