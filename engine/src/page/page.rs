//! What a page is about.

use std::path::Path;

use super::pictures::FillStrip;
use super::words::text;
use crate::audit::overview::database::Overview;
use crate::audit::overview::table::TableFacts;
use crate::audit::stats::filters::FilterStats;
use crate::report::tune::{Choice, Tuning};
use crate::words::fill_bins::FillBins;

/// All that a page shows.
pub struct Page<'a> {
    /// The path as the user gave it.
    pub path: &'a Path,
    pub overview: &'a Overview,
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
pub struct Strip {
    pub(super) picture: FillStrip,
    pub(super) table: TableFacts,
}

impl Strip {
    /// The strip of `table`, whose filters these are.
    pub fn new(table: &TableFacts, filters: &FilterStats) -> Self {
        let bins = FillBins::of_block(filters, FillBins::OF_PICTURE);
        Self { picture: FillStrip { name: text(&table.name), bins }, table: table.clone() }
    }
}
