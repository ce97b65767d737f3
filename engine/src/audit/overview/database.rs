//! A database, a folder of tables or a single table, as a page about it shows it.

use std::collections::BTreeMap;

use super::findings::Found;
use super::levels::{Sums, in_use};
use super::spans::Spans;
use super::table::{Place, State, TableFacts};

/// The thing that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Database,
    /// A folder with tables and neither CURRENT nor a MANIFEST.
    Folder,
    Table,
}

/// All that is told of it.
pub struct Overview {
    pub kind: Kind,
    /// The name of the order of user keys, if a MANIFEST has it.
    pub comparator: Option<Vec<u8>>,
    pub is_bytewise: bool,
    /// There is a MANIFEST that can be relied on.
    pub has_records: bool,
    /// In the order of the files' numbers; live ones without a file come first.
    pub tables: Vec<TableFacts>,
    /// The logs with writes that are in no table yet, and their sizes in bytes.
    pub logs: Vec<(Vec<u8>, u64)>,
    /// What was passed over, and why.
    pub remarks: Vec<(Vec<u8>, String)>,
    pub found: Found,
}

impl Overview {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            comparator: None,
            is_bytewise: false,
            has_records: false,
            tables: Vec::new(),
            logs: Vec::new(),
            remarks: Vec::new(),
            found: Found::default(),
        }
    }

    /// Gives those of the live tables that `spans` has their places in the range of keys.
    pub fn place(&mut self, spans: &Spans) {
        for table in &mut self.tables {
            table.span = table.number.and_then(|number| spans.of(number)).or(table.span);
        }
    }

    /// The sums over the tables that lookups may come to.
    pub fn in_use(&self) -> Sums {
        in_use(&self.tables)
    }

    /// The policies of the filters, each with the number of tables.
    pub fn policies(&self) -> BTreeMap<&[u8], u64> {
        let mut policies = BTreeMap::new();
        for name in self.tables.iter().filter_map(|table| table.policy.as_deref()) {
            *policies.entry(name).or_default() += 1;
        }
        policies
    }

    /// The positions of up to `most` tables whose filters are worth a closer look: of each place the
    /// largest one, then those with the highest rates.
    pub fn telling(&self, most: usize) -> Vec<usize> {
        let filtered = || {
            self.tables.iter().enumerate().filter(|(_, table)| {
                table.state == State::Filtered && table.filter.is_some_and(|filter| filter.filters > 0)
            })
        };
        let mut largest: BTreeMap<Place, (u64, usize)> = BTreeMap::new();
        for (at, table) in filtered() {
            let known = largest.entry(table.place).or_insert((table.size, at));
            if table.size > known.0 {
                *known = (table.size, at);
            }
        }
        let mut chosen: Vec<usize> = largest.into_values().map(|(_, at)| at).take(most).collect();
        let mut others: Vec<(f64, usize)> = filtered()
            .filter(|(at, _)| !chosen.contains(at))
            .filter_map(|(at, table)| Some((table.filter?.random?.rate, at)))
            .collect();
        others.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        chosen.extend(others.into_iter().map(|(_, at)| at).take(most.saturating_sub(chosen.len())));
        chosen
    }
}
