//! A database, a folder of tables or a single table, as a page shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{problems::OverviewProblems, spans::Spans, sums::TableSums};
use crate::audit::rates::LookupWeights;
use crate::report::{Depth, DistinctSum, HugeManifest, Inspected, TableLevel};

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
    /// The folder of the database that a single table is in.
    pub(crate) around: Option<PathBuf>,
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
    pub(crate) tables: Vec<Inspected>,
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
            around: None,
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
    pub(crate) fn in_use(&self) -> impl Iterator<Item = &Inspected> {
        self.tables.iter().filter(|found| found.table.place() != TableLevel::NotLive)
    }

    /// Drops the keys seen, which only `distinct_keys` needs.
    pub(crate) fn add(&mut self, mut found: Inspected) {
        self.distinct_keys.add(&found);
        found.seen = None;
        self.tables.push(found);
    }

    /// Over the tables in use.
    pub(crate) fn sums(&self) -> TableSums {
        let mut sums = TableSums::default();
        self.in_use().for_each(|found| sums.add(found, &self.weights));
        sums.distinct_keys = self.distinct_keys.of_places(|place| place != TableLevel::NotLive).number();
        sums
    }

    /// Sums by place, from the top level down.
    pub(crate) fn places(&self) -> BTreeMap<TableLevel, TableSums> {
        let mut places: BTreeMap<_, TableSums> = BTreeMap::new();
        for found in &self.tables {
            places.entry(found.table.place()).or_default().add(found, &self.weights);
        }
        for (place, sums) in &mut places {
            sums.distinct_keys = self.distinct_keys.of_places(|of| of == *place).number();
        }
        places
    }

    /// Counts the tables with filters of each policy.
    pub(crate) fn policies(&self) -> BTreeMap<&[u8], u64> {
        let mut policies = BTreeMap::new();
        for name in self.tables.iter().filter_map(|found| found.table.policy()) {
            *policies.entry(name).or_default() += 1;
        }
        policies
    }
}
