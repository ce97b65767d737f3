//! The renderers of the commands: one trait a command, one implementation a format.

use std::io;

use crate::io::console::Console;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::inspect::totals::FolderTotals;
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
