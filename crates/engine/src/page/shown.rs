//! What a page shows.

use std::path::Path;

use crate::audit::overview::Overview;
use crate::report::{Advice, Basis, Candidate, Fault, RepairReport, Tuning};

#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    /// As the user gave it.
    pub(super) path: &'a Path,
    pub(super) overview: &'a Overview,
    /// What other filters would do, or why that could not be found out. `None`: none were tried.
    pub(super) tuned: Option<&'a Result<Tuning, Fault>>,
    pub(super) advice: &'a Advice,
    /// What a repair would do, or why that could not be found out. `None`: nothing is damaged that one could mend.
    pub(super) repair: Option<&'a Result<RepairReport, String>>,
}

impl<'a> Shown<'a> {
    pub(super) fn tuned(&self) -> Option<&'a Tuning> {
        self.tuned?.as_ref().ok()
    }

    /// Entries are not all read, so neither they nor lookups are judged.
    pub(super) fn is_damaged(&self) -> bool {
        matches!(self.advice.reason, Basis::Damage(_))
    }

    pub(super) fn advised(&self) -> Option<&'a Candidate> {
        self.tuned()?.advised(Some(self.advice))
    }
}
