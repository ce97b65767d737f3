//! `filterblock inspect`: shows tables and their filters.

mod bare_block;

use std::io;
use std::path::Path;

use clap::Args;
use filterblock::SharedPolicy;
use filterblock::table::ReadOptions;

use crate::audit::inspect;
use crate::audit::inspect::report::TableReport;
use crate::audit::inspect::totals::FolderTotals;
use crate::audit::reading::read_options;
use crate::exit::EXIT_ERROR;
use crate::io::console::Console;
use crate::io::database::{Database, DatabaseCache};
use crate::io::input::{self, Source};
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
        options: read_options().meter(console.meter()),
        renderer: Format::new(arguments.json).inspect(arguments.filters, is_single, paths.arguments()),
        totals: FolderTotals::default(),
        damage: false,
        unreadable: false,
        databases: DatabaseCache::default(),
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
    databases: DatabaseCache,
}

impl Inspection {
    fn all(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        for path in arguments.paths.iter() {
            match path {
                Ok(path) if arguments.block => {
                    self.bare_block(&path, arguments.policy.as_ref(), console)?;
                }
                Ok(path) => self.path(&path, arguments.paths.is_recursive(), console)?,
                Err((path, error)) => self.unreadable(&path, error, console)?,
            }
        }
        self.renderer.end(console)
    }

    /// `recursive`: folders without files of a database are passed over.
    fn path(&mut self, path: &Path, recursive: bool, console: &mut Console) -> io::Result<()> {
        let folder = match input::resolve(path) {
            Ok(Source::Folder(folder)) if recursive && folder.is_empty() => return Ok(()),
            Ok(Source::Folder(folder)) => folder,
            Ok(Source::File) => {
                let database = self.databases.around(path, |folder, error| {
                    self.unreadable = true;
                    console.message_about(folder, error);
                });
                return self.table(path, false, database.as_deref(), console);
            }
            Err(error) => return self.unreadable(path, error, console),
        };
        for (path, error) in &folder.skipped {
            self.unreadable = true;
            console.message_about(path, error);
        }
        let database = Database::find(path).unwrap_or_else(|error| {
            self.unreadable = true;
            console.message_about(path, error);
            None
        });
        let database = database.as_ref();
        if let Some(database) = database {
            self.damage |= report_damage(database, console);
        }
        let logs = folder.logs_with_data(database, |log, error| console.message_about(log, error));
        self.totals = FolderTotals::default();
        let header = FolderHeader {
            path,
            tables: &folder.tables,
            logs: &logs,
            comparator: database.and_then(Database::comparator),
            has_records: database.is_some_and(|database| database.manifest.is_ok()),
        };
        self.renderer.begin_folder(&header, console)?;
        for table in &folder.tables {
            self.table(table, true, database, console)?;
        }
        self.renderer.end_folder(&self.totals, console)
    }

    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        database: Option<&Database>,
        console: &mut Console,
    ) -> io::Result<()> {
        let record = database.and_then(|database| database.record(path));
        let report = match input::open_file(path, listed) {
            Ok(file) => inspect::table(file, &self.options, record)
                .unwrap_or_else(|error| TableReport::unreadable(error.to_string())),
            Err(error) => TableReport::unreadable(error.to_string()).with_record(record),
        };
        self.show(path, &report, console)
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

    fn unreadable(&mut self, path: &Path, error: impl ToString, console: &mut Console) -> io::Result<()> {
        self.show(path, &TableReport::unreadable(error.to_string()), console)
    }

    fn show(&mut self, path: &Path, report: &TableReport<'_>, console: &mut Console) -> io::Result<()> {
        self.damage |= report.is_damaged();
        self.unreadable |= report.unreadable;
        self.totals.add(report);
        self.renderer.table(path, report, console)
    }
}

/// Reports what is wrong with the MANIFEST, and which tables are missing. Returns true if anything
/// is.
fn report_damage(database: &Database, console: &mut Console) -> bool {
    let mut found = false;
    if let Err(error) = &database.manifest {
        let path = error.path().unwrap_or(&database.folder);
        let error = error.without_path();
        console.message_about(path, format_args!("{error}; all tables are taken to be live"));
        found = true;
    }
    for table in database.missing() {
        let message =
            format!("expected a table of {} bytes on level {}, found no file", table.size, table.level);
        console.message_about(&database.path_of(table), message);
        found = true;
    }
    found
}
