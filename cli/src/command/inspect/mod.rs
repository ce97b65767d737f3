//! `filterblock inspect`: shows tables and their filters.

mod bare_block;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use filterblock::SharedPolicy;
use filterblock::table::ReadOptions;

use super::in_order::{InOrder, MAX_JOBS};
use super::walk::{Visitor, walk};
use crate::audit::inspect;
use crate::audit::inspect::report::TableReport;
use crate::audit::inspect::totals::FolderTotals;
use crate::audit::reading::read_options;
use crate::exit::EXIT_ERROR;
use crate::io::console::Console;
use crate::io::folder::Folder;
use crate::io::input::{self, PathError};
use crate::io::paths::Paths;
use crate::render::format::Format;
use crate::render::renderer::{FolderHeader, InspectRenderer};

/// The number of reports for each thread that may wait to be shown. A report holds the table's
/// filters.
const REPORTS_A_THREAD: usize = 4;

/// Something is damaged, and everything could be read.
const EXIT_DAMAGE: u8 = 1;

/// Show what tables and their filters are like
///
/// Reads index, metaindex, filter block and the data blocks' trailers, and decompresses some data
/// blocks of each table, so that large databases can be looked at too: 80 at most where blocks are
/// alike, and more, up to about a thousand, where the number of keys cannot be estimated otherwise.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Write one JSON object a line and table
    #[arg(long)]
    json: bool,
    /// List every filter: range, data blocks, bytes, bits set, rate of false positives, state
    #[arg(long)]
    filters: bool,
    /// Show all columns of a listing, however wide its lines are
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// The files are bare filter blocks, as `filterblock extract` writes them; - is standard input
    #[arg(long)]
    block: bool,
    /// The policy of a bare filter block, which does not name it; leveldb.BuiltinBloomFilter2
    /// unless given
    #[arg(long, value_name = "NAME", requires = "block", value_parser = bare_block::policy)]
    policy: Option<SharedPolicy>,
    /// Number of tables to look at at once; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
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
        renderer: Format::new(arguments.json).inspect(
            arguments.filters,
            is_single,
            arguments.wide,
            paths.arguments(),
        ),
        totals: FolderTotals::default(),
        damage: false,
        unreadable: false,
    };
    let result = match arguments.block {
        true => inspection.bare_blocks(arguments, console),
        false => inspection.tables(arguments, console),
    };
    let result = result.and_then(|()| inspection.renderer.end(console));
    let status = match () {
        () if inspection.unreadable => EXIT_ERROR,
        () if inspection.damage => EXIT_DAMAGE,
        () => 0,
    };
    console.finish(result, status)
}

struct Inspection {
    renderer: Box<dyn InspectRenderer>,
    /// The sums over the current folder.
    totals: FolderTotals,
    damage: bool,
    unreadable: bool,
}

impl Inspection {
    fn bare_blocks(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        for given in arguments.paths.iter() {
            match given {
                Ok(path) => self.bare_block(&path, arguments.policy.as_ref(), console)?,
                Err((path, error)) => self.unreadable(&path, error.to_string(), console)?,
            }
        }
        Ok(())
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
            Err(message) => self.unreadable(path, message, console),
        }
    }

    fn tables(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        let paths = &arguments.paths;
        let options = read_options().meter(console.meter());
        // A single table is no work for several threads.
        let is_one_file = paths.single().is_some_and(Path::is_file);
        let jobs = if is_one_file { Some(1) } else { arguments.jobs };
        let result = InOrder::run(jobs, REPORTS_A_THREAD, |in_order| {
            let mut visitor = Inspector { options: &options, inspection: self, in_order };
            walk(paths.iter(), paths.is_recursive(), &mut visitor, console)?;
            visitor.in_order.finish(&mut |step| visitor.inspection.step(step, console))
        });
        result.unwrap_or_else(|error| {
            console.message(format_args!("starting threads: {error}"));
            self.unreadable = true;
            Ok(())
        })
    }

    fn step(&mut self, step: Step, console: &mut Console) -> io::Result<()> {
        match step {
            Step::Table { path, folder, report } => {
                let record = folder.as_deref().and_then(|folder| folder.record(&path));
                self.show(&path, &report.with_record(record), console)
            }
            Step::Unreadable { path, error } => self.unreadable(&path, error, console),
            Step::Skipped { path, error } => {
                self.unreadable = true;
                console.message_about(&path, error);
                Ok(())
            }
            Step::BeginFolder(folder) => self.begin_folder(&folder, console),
            Step::EndFolder => self.renderer.end_folder(&self.totals, console),
        }
    }

    fn show(&mut self, path: &Path, report: &TableReport<'_>, console: &mut Console) -> io::Result<()> {
        self.damage |= report.is_damaged();
        self.unreadable |= report.unreadable;
        self.totals.add(report);
        self.renderer.table(path, report, console)
    }

    fn unreadable(&mut self, path: &Path, error: String, console: &mut Console) -> io::Result<()> {
        self.show(path, &TableReport::unreadable(error), console)
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
}

/// Something to show, in the order of the paths.
enum Step {
    Table { path: PathBuf, folder: Option<Arc<Folder>>, report: Box<TableReport<'static>> },
    Unreadable { path: PathBuf, error: String },
    Skipped { path: PathBuf, error: PathError },
    BeginFolder(Arc<Folder>),
    EndFolder,
}

/// Gives out the tables to look at.
struct Inspector<'a, 's, 'scope> {
    options: &'scope ReadOptions,
    inspection: &'a mut Inspection,
    in_order: &'a mut InOrder<'s, 'scope, Step>,
}

impl Inspector<'_, '_, '_> {
    fn add(&mut self, step: Step, console: &mut Console) -> io::Result<()> {
        self.in_order.add(step, &mut |step| self.inspection.step(step, console))
    }
}

impl Visitor for Inspector<'_, '_, '_> {
    fn skipped(&mut self, path: &Path, error: PathError, console: &mut Console) -> io::Result<()> {
        self.add(Step::Skipped { path: path.to_owned(), error }, console)
    }

    fn unreadable(&mut self, path: &Path, error: &str, console: &mut Console) -> io::Result<()> {
        self.add(Step::Unreadable { path: path.to_owned(), error: error.to_owned() }, console)
    }

    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        folder: Option<&Arc<Folder>>,
        console: &mut Console,
    ) -> io::Result<()> {
        let (path, folder, options) = (path.to_owned(), folder.cloned(), self.options);
        let work = move || {
            let report = match input::open_file(&path, listed) {
                Ok(file) => inspect::table(file, options)
                    .unwrap_or_else(|error| TableReport::unreadable(error.to_string())),
                Err(error) => TableReport::unreadable(error.to_string()),
            };
            Step::Table { path, folder, report: Box::new(report) }
        };
        self.in_order.work(work, &mut |step| self.inspection.step(step, console))
    }

    fn begin_folder(&mut self, folder: &Arc<Folder>, console: &mut Console) -> io::Result<()> {
        self.add(Step::BeginFolder(Arc::clone(folder)), console)
    }

    fn end_folder(&mut self, console: &mut Console) -> io::Result<()> {
        self.add(Step::EndFolder, console)
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
