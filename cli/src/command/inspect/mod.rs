//! `filterblock inspect`: shows tables and their filters.

mod bare_block;

use std::io;
use std::path::Path;

use clap::Args;
use filterblock::SharedPolicy;
use filterblock::table::ReadOptions;

use super::limits::Limits;
use super::walk::{Visitor, walk};
use crate::audit::inspect;
use crate::audit::inspect::report::TableReport;
use crate::audit::inspect::totals::FolderTotals;
use crate::exit::EXIT_ERROR;
use crate::io::console::Console;
use crate::io::folder::Folder;
use crate::io::input;
use crate::io::paths::Paths;
use crate::render::format::Format;
use crate::render::renderer::{FolderHeader, InspectRenderer};

/// Something is damaged, and everything could be read.
const EXIT_DAMAGE: u8 = 1;

/// Show what tables and their filters are like
///
/// Reads index, metaindex, filter block and the data blocks' trailers, and decompresses at most 16
/// data blocks of each table, so that large databases can be looked at too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    limits: Limits,
    /// Write one JSON object a line and table
    #[arg(long)]
    json: bool,
    /// List every filter: range, data blocks, bytes, bits set, rate of false positives, state
    #[arg(long)]
    filters: bool,
    /// The files are bare filter blocks, as `filterblock extract` writes them; - is standard input
    #[arg(long)]
    block: bool,
    /// The policy of a bare filter block, which does not name it; leveldb.BuiltinBloomFilter2
    /// unless given
    #[arg(long, value_name = "NAME", requires = "block", value_parser = bare_block::policy)]
    policy: Option<SharedPolicy>,
}

const EXAMPLES: &str = "\
Examples:
  filterblock inspect 000005.ldb            one table in detail
  filterblock inspect ~/db                  a line for each table of a database, and totals by level
  filterblock inspect --filters 000005.ldb  each filter of a table
  filterblock inspect --json ~/db | jq -r 'select(.filter == null) | .path'
                                            the tables without filters
  filterblock extract 000005.ldb | filterblock inspect --block -

Exit status: 0 fine; 1 damage found; 2 wrong usage, or an input that is missing or cannot be read;
141 the reader of the output went away, whatever was found.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let paths = &arguments.paths;
    let is_single = paths.single().is_some();
    let mut inspection = Inspection {
        options: arguments.limits.read_options().meter(console.meter()),
        renderer: Format::new(arguments.json).inspect(arguments.filters, is_single, paths.arguments()),
        totals: FolderTotals::default(),
        damage: false,
        unreadable: false,
    };
    let result = inspection.all(arguments, console);
    let status = match () {
        () if inspection.unreadable => EXIT_ERROR,
        () if inspection.damage => EXIT_DAMAGE,
        () => 0,
    };
    console.finish(result, status)
}

struct Inspection {
    options: ReadOptions,
    renderer: Box<dyn InspectRenderer>,
    /// The sums over the current folder.
    totals: FolderTotals,
    damage: bool,
    unreadable: bool,
}

impl Inspection {
    fn all(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        let paths = &arguments.paths;
        if arguments.block {
            for given in paths.iter() {
                match given {
                    Ok(path) => self.bare_block(&path, arguments.policy.as_ref(), console)?,
                    Err((path, error)) => self.unreadable(&path, &error.to_string(), console)?,
                }
            }
        } else {
            walk(paths.iter(), paths.is_recursive(), self, console)?;
        }
        self.renderer.end(console)
    }

    /// `policy`: the one that was named.
    fn bare_block(
        &mut self,
        path: &Path,
        policy: Option<&SharedPolicy>,
        console: &mut Console,
    ) -> io::Result<()> {
        match bare_block::read(path, policy.cloned().unwrap_or_else(bare_block::default_policy)) {
            Ok(reader) => self.show(path, &inspect::bare_block(reader, policy.is_none()), console),
            Err(message) => self.unreadable(path, &message, console),
        }
    }

    fn show(&mut self, path: &Path, report: &TableReport<'_>, console: &mut Console) -> io::Result<()> {
        self.damage |= report.is_damaged();
        self.unreadable |= report.unreadable;
        self.totals.add(report);
        self.renderer.table(path, report, console)
    }
}

impl Visitor for Inspection {
    fn skipped(&mut self) {
        self.unreadable = true;
    }

    fn unreadable(&mut self, path: &Path, error: &str, console: &mut Console) -> io::Result<()> {
        self.show(path, &TableReport::unreadable(error.to_owned()), console)
    }

    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        folder: Option<&Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let record = folder.and_then(|folder| folder.record(path));
        let report = match input::open_file(path, listed) {
            Ok(file) => inspect::table(file, &self.options, record)
                .unwrap_or_else(|error| TableReport::unreadable(error.to_string())),
            Err(error) => TableReport::unreadable(error.to_string()).with_record(record),
        };
        self.show(path, &report, console)
    }

    fn begin_folder(&mut self, folder: &Folder, console: &mut Console) -> io::Result<()> {
        self.damage |= report_damage(folder, console);
        let tables: Vec<&Path> = folder.tables().collect();
        let logs = folder.logs_with_data(|log, error| console.message_about(log, error));
        self.totals = FolderTotals::default();
        let header = FolderHeader {
            path: folder.path(),
            tables: &tables,
            logs: &logs,
            comparator: folder.comparator(),
            has_records: folder.has_records(),
        };
        self.renderer.begin_folder(&header, console)
    }

    fn end_folder(&mut self, console: &mut Console) -> io::Result<()> {
        self.renderer.end_folder(&self.totals, console)
    }
}

/// Reports what is wrong with the MANIFEST, and which tables are missing. Returns true if anything
/// is.
fn report_damage(folder: &Folder, console: &mut Console) -> bool {
    let mut found = false;
    if let Some((path, error)) = folder.manifest_error() {
        console.message_about(path, format_args!("{error}; all tables are taken to be live"));
        found = true;
    }
    for (path, table) in folder.missing() {
        let message =
            format!("expected a table of {} bytes on level {}, found no file", table.size, table.level);
        console.message_about(&path, message);
        found = true;
    }
    found
}
