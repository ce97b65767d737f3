//! The renderers of the commands: one trait a command, one implementation a format.

use std::io;
use std::path::Path;

use crate::audit::inspect::report::TableReport;
use crate::audit::inspect::totals::FolderTotals;
use crate::audit::query::candidates::Answer;
use crate::audit::query::totals::{QueryTotals, TableMatches};
use crate::audit::scan::row::Row;
use crate::audit::verify::verdict::{Verdict, VerdictCounts};
use crate::io::console::Console;

/// A folder, before its tables are shown.
pub(crate) struct FolderHeader<'a> {
    pub(crate) path: &'a Path,
    pub(crate) tables: &'a [&'a Path],
    /// The logs with writes that are in no table yet.
    pub(crate) logs: &'a [&'a Path],
    /// The name of the order of user keys, if a MANIFEST says so.
    pub(crate) comparator: Option<&'a [u8]>,
    /// There is a MANIFEST that can be relied on.
    pub(crate) has_records: bool,
}

pub(crate) trait InspectRenderer {
    fn begin_folder(&mut self, folder: &FolderHeader<'_>, console: &mut Console) -> io::Result<()>;

    fn table(&mut self, path: &Path, report: &TableReport<'_>, console: &mut Console) -> io::Result<()>;

    fn end_folder(&mut self, totals: &FolderTotals, console: &mut Console) -> io::Result<()>;

    /// Ends what was begun for tables outside of folders.
    fn end(&mut self, console: &mut Console) -> io::Result<()>;
}

pub(crate) trait QueryRenderer {
    fn answer(&mut self, path: &Path, answer: &Answer<'_>, console: &mut Console) -> io::Result<()>;

    /// Shows for a key how many data blocks a lookup in the whole database reads at most.
    fn lookup_blocks(&mut self, key: &[u8], blocks: u64, console: &mut Console) -> io::Result<()>;

    /// Shows the answers of a table as numbers. `error`: the reason why every key may be there.
    fn count(
        &mut self,
        path: &Path,
        matches: &TableMatches,
        error: Option<&str>,
        console: &mut Console,
    ) -> io::Result<()>;

    /// Shows the sums behind the numbers of each table.
    fn totals(&mut self, totals: &QueryTotals, console: &mut Console) -> io::Result<()>;
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
    fn entry(&mut self, row: &Row<'_>, console: &mut Console) -> io::Result<()>;

    /// Shows that part of a file could not be read.
    fn damage(&mut self, path: &Path, error: &str, console: &mut Console) -> io::Result<()>;
}

pub(crate) trait VerifyRenderer {
    fn verdict(&mut self, path: &Path, verdict: &Verdict, console: &mut Console) -> io::Result<()>;

    fn end(&mut self, counts: &VerdictCounts, console: &mut Console) -> io::Result<()>;
}
