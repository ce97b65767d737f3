//! The renderers of the commands: one trait a command, one implementation a format.

use std::io;
use std::path::Path;

use crate::io::console::Console;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::inspect::totals::FolderTotals;
use filterblock_engine::audit::scan::row::{Fault, Row};
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

/// The parts of an entry that are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanParts {
    pub(crate) value: ValuePart,
    /// Sequence number, type and place.
    pub(crate) version: bool,
    pub(crate) hex: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValuePart {
    Whole,
    /// Its length.
    Size,
    None,
}

pub(crate) trait ScanRenderer {
    /// `input`: the path as the user gave it.
    fn entry(&mut self, input: &Path, row: &Row<'_>, console: &mut Console) -> io::Result<()>;

    /// Shows that something could not be read. The subject names the file.
    fn fault(&mut self, subject: Subject<'_>, fault: &Fault, console: &mut Console) -> io::Result<()>;

    /// Ends a file or database of which so many entries were shown.
    fn end(&mut self, subject: Subject<'_>, entries: u64, console: &mut Console) -> io::Result<()>;
}
