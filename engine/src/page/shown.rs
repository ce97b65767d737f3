//! The contents of a page.

use std::path::Path;

use super::pictures::FillStrip;
use crate::audit::overview::Overview;
use crate::report::{Choice, Table, Tuning};

/// All that a page shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    /// The path as the user gave it.
    pub(super) path: &'a Path,
    /// The results for the database, folder or table.
    pub(super) overview: &'a Overview,
    /// The tables that are shown filter by filter.
    pub(super) strips: &'a [Strip],
    /// The effects that other filters would have, or the reason why they could not be found out. `None`: no
    /// other filters were tried.
    pub(super) tuning: Option<Result<&'a Tuning, &'a str>>,
}

impl<'a> Shown<'a> {
    /// The effects that other filters would have, if they are known.
    pub(super) fn tuned(&self) -> Option<&'a Tuning> {
        self.tuning.and_then(Result::ok)
    }

    /// The filters that are advised; `None` if no other filters are advised.
    pub(super) fn advised(&self) -> Option<&'a Choice> {
        self.tuned()?.advice.choice.as_ref()
    }
}

/// The filters along a table.
#[derive(Debug)]
pub(super) struct Strip {
    pub(super) picture: FillStrip,
    pub(super) table: Table,
}
