//! What a page is about.

use std::path::Path;

use super::{pictures::FillStrip, words::text};
use crate::report::{Choice, Filters, Table, Tuning};
use crate::{
    audit::overview::Overview, audit::stats::FilterStats, engine::Engine, walk::open_file, words::FillBins,
};

/// The most tables whose filters are shown.
const MOST: usize = 8;

/// All that a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The path as the user gave it.
    pub path: &'a Path,
    /// What was found out.
    pub overview: &'a Overview,
    /// The tables that are shown filter by filter.
    pub strips: &'a [Strip],
    /// `None` if it was not found out what other filters would do; otherwise that, or the reason why
    /// it could not be.
    pub tuning: Option<Result<&'a Tuning, &'a str>>,
}

impl<'a> Page<'a> {
    /// What other filters would do, if that is known.
    pub(super) fn tuned(&self) -> Option<&'a Tuning> {
        self.tuning.and_then(Result::ok)
    }

    /// The filters that are advised.
    pub(super) fn advised(&self) -> Option<&'a Choice> {
        self.tuned()?.advice.choice.as_ref()
    }
}

/// The filters along a table.
#[derive(Debug)]
pub struct Strip {
    pub(super) picture: FillStrip,
    pub(super) table: Table,
}

impl Engine {
    /// The filters along the tables of `overview` that tell most. Those that cannot be read any longer
    /// are left out.
    pub fn strips(&self, overview: &Overview) -> Vec<Strip> {
        overview.telling(MOST).into_iter().filter_map(|table| self.strip(table)).collect()
    }

    fn strip(&self, table: &Table) -> Option<Strip> {
        let opened = filterblock::table::Table::open(open_file(&table.path, true).ok()?, &self.read).ok()?;
        let filters = Filters { stats: FilterStats::new(opened.filter()?.clone()), blocks: None };
        let bins = FillBins::of_block(&filters, FillBins::OF_PICTURE);
        Some(Strip { picture: FillStrip { name: text(table.name()), bins }, table: table.clone() })
    }
}
