//! The renderers of the commands: one trait a command, one implementation a format.

use std::io;

use crate::io::console::Console;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::inspect::totals::FolderTotals;
use filterblock_engine::audit::tune::report::{TuneFailure, Tuning};
use filterblock_engine::rebuild::failure::Failure;
use filterblock_engine::rebuild::report::Report;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::walk::input::PathError;

pub(crate) trait InspectRenderer {
    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &FolderHeader<'_>,
        console: &mut Console,
    ) -> io::Result<()>;

    fn table(
        &mut self,
        subject: Subject<'_>,
        report: &TableReport<'_>,
        console: &mut Console,
    ) -> io::Result<()>;

    /// Shows a path that could not be looked at.
    fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: &PathError,
        console: &mut Console,
    ) -> io::Result<()>;

    fn end_folder(
        &mut self,
        subject: Subject<'_>,
        totals: &FolderTotals,
        console: &mut Console,
    ) -> io::Result<()>;

    /// Ends what was begun for tables outside of folders.
    fn end(&mut self, console: &mut Console) -> io::Result<()>;
}

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
