//! The renderers of the commands: one trait a command, one implementation a format.

use std::io;

use crate::io::console::Console;
use filterblock_engine::audit::tune::report::{TuneFailure, Tuning};
use filterblock_engine::rebuild::failure::Failure;
use filterblock_engine::rebuild::report::Report;
use filterblock_engine::report::subject::Subject;

/// What was to be done with a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RebuildAction {
    Rebuild,
    DryRun,
    Undo,
    Discard,
}

/// What became of a database.
pub(crate) struct RebuildOutcome<'a> {
    pub(crate) action: RebuildAction,
    pub(crate) result: &'a Result<Report, Failure>,
}

pub(crate) trait RebuildRenderer {
    fn outcome(
        &mut self,
        subject: Subject<'_>,
        outcome: &RebuildOutcome<'_>,
        console: &mut Console,
    ) -> io::Result<()>;
}

pub(crate) trait TuneRenderer {
    /// Shows what was found out about a database or a table, or the reason why nothing was.
    fn tuning(
        &mut self,
        subject: Subject<'_>,
        result: Result<&Tuning, &TuneFailure>,
        console: &mut Console,
    ) -> io::Result<()>;
}
