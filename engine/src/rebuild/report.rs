//! What a rebuild did, or would do.

use std::path::PathBuf;

use super::failure::Fault;

/// The outcome for a database.
#[derive(Debug, Default)]
pub struct Report {
    /// By level, then by number.
    pub tables: Vec<TableReport>,
    /// The name of the policy of the new filters; `None` if filters were dropped.
    pub policy: Option<String>,
    /// The new MANIFEST's name; `None` if nothing was written.
    pub manifest: Option<String>,
    /// The new tables were verified.
    pub verified: bool,
    /// The new database, if it is a second one.
    pub target: Option<PathBuf>,
    /// The folder that `--undo` uses.
    pub undo: Option<PathBuf>,
    /// Nothing but an earlier run was finished, which had been cut off.
    pub finished_earlier: bool,
    /// Good to know: what was cleared away, and what could not be after the commit.
    pub notes: Vec<String>,
}

impl Report {
    /// Puts the tables in order.
    pub(super) fn sort(&mut self) {
        self.tables.sort_by(|a, b| (a.level, &a.new_name).cmp(&(b.level, &b.new_name)));
    }

    /// Adds up the tables.
    pub fn sums(&self) -> Sums {
        let sum = |of: fn(&TableReport) -> u64| self.tables.iter().map(of).fold(0, u64::saturating_add);
        let size = |filters: &Option<FiltersReport>| filters.as_ref().map_or(0, |filters| filters.size);
        let filters = |of: fn(&TableReport) -> &Option<FiltersReport>| {
            self.tables.iter().map(|table| size(of(table))).fold(0, u64::saturating_add)
        };
        Sums {
            tables: self.tables.len() as u64,
            kept: sum(|table| u64::from(table.kept.is_some())),
            old_size: sum(|table| table.old_size),
            new_size: sum(|table| table.new_size),
            old_filter_size: filters(|table| &table.old_filters),
            new_filter_size: filters(|table| &table.new_filters),
        }
    }
}

/// All tables of a report in numbers. Sizes are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sums {
    pub tables: u64,
    /// The tables that were left as they are.
    pub kept: u64,
    pub old_size: u64,
    pub new_size: u64,
    pub old_filter_size: u64,
    pub new_filter_size: u64,
}

/// The outcome for a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableReport {
    pub level: u8,
    /// The file's name before and afterwards.
    pub old_name: String,
    pub new_name: String,
    /// The file's size in bytes before and afterwards.
    pub old_size: u64,
    pub new_size: u64,
    /// The filters before and afterwards.
    pub old_filters: Option<FiltersReport>,
    pub new_filters: Option<FiltersReport>,
    /// The number of entries; `None` if none was decoded.
    pub entries: Option<u64>,
    /// The reason why the table was left as it is.
    pub kept: Option<Fault>,
}

/// The filters of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiltersReport {
    /// The policy's name, escaped.
    pub policy: String,
    /// The filter block's size in bytes.
    pub size: u64,
    /// `None` if the filter block is malformed.
    pub base_lg: Option<u8>,
    /// `None` if it is not known.
    pub bits_per_key: Option<u32>,
}
