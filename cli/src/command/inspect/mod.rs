//! `filterblock inspect`: shows tables and their filters.

mod bare_block;

use std::io;
use std::path::Path;

use clap::Args;
use filterblock::SharedPolicy;
use filterblock::table::ReadOptions;

use super::walk::{Visitor, folder_header, walk};
use crate::audit::error_kind::ErrorKind;
use crate::audit::inspect;
use crate::audit::inspect::report::TableReport;
use crate::audit::inspect::totals::FolderTotals;
use crate::audit::reading::read_options;
use crate::exit::EXIT_ERROR;
use crate::io::console::Console;
use crate::io::folder::Folder;
use crate::io::input::{self, PathError};
use crate::io::paths::{Given, Paths};
use crate::render::format::Format;
use crate::render::renderer::InspectRenderer;
use crate::render::subject::{Remark, Subject};

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
    /// Write JSON, one object a line: tables, folders and their totals
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
  filterblock inspect --json ~/db | jq -r 'select(.object == \"table\" and .filter == null).path'
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
        list_failed: false,
    };
    let result = inspection.all(arguments, console);
    let status = match () {
        () if inspection.list_failed => EXIT_ERROR,
        () if paths.keeps_going() => 0,
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
    list_failed: bool,
}

impl Inspection {
    fn all(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        let paths = &arguments.paths;
        if arguments.block {
            for Given { input, path } in paths.iter() {
                match path {
                    Ok(path) => self.bare_block(&input, &path, arguments.policy.as_ref(), console)?,
                    Err(error) => {
                        self.list_failed();
                        self.unreadable(Subject::of(&input), &error, console)?;
                    }
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
        input: &Path,
        path: &Path,
        policy: Option<&SharedPolicy>,
        console: &mut Console,
    ) -> io::Result<()> {
        let subject = Subject { path, ..Subject::of(input) };
        match bare_block::read(path, policy.cloned().unwrap_or_else(bare_block::default_policy)) {
            Ok(reader) => self.show(subject, &inspect::bare_block(reader, policy.is_none()), console),
            Err(error) => self.unreadable(subject, &error, console),
        }
    }

    fn show(
        &mut self,
        subject: Subject<'_>,
        report: &TableReport<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        self.damage |= report.is_damaged();
        self.unreadable |= report.unreadable;
        self.totals.add(report);
        self.renderer.table(subject, report, console)
    }
}

impl Visitor for Inspection {
    fn skipped(&mut self) {
        self.unreadable = true;
    }

    fn list_failed(&mut self) {
        self.list_failed = true;
    }

    fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: &PathError,
        console: &mut Console,
    ) -> io::Result<()> {
        self.unreadable = true;
        self.renderer.unreadable(subject, error, console)
    }

    fn table(
        &mut self,
        subject: Subject<'_>,
        listed: bool,
        folder: Option<&Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let record = folder.and_then(|folder| folder.record(subject.path));
        let unreadable = |message, kind| TableReport::unreadable(message, kind).with_record(record);
        let report = match input::open_file(subject.path, listed) {
            Ok(file) => inspect::table(file, &self.options, record)
                .unwrap_or_else(|error| unreadable(error.to_string(), ErrorKind::of(&error))),
            Err(error) => unreadable(error.to_string(), error.kind()),
        };
        self.show(subject, &report, console)
    }

    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Folder,
        console: &mut Console,
    ) -> io::Result<()> {
        self.damage |= folder.manifest_error().is_some();
        self.totals = FolderTotals::default();
        let mut remarks = subject.remarks.to_vec();
        let logs = folder.logs_with_data(|log, error| remarks.push(Remark::new(log, error)));
        let tables: Vec<&Path> = folder.tables().collect();
        let header = folder_header(folder, &tables, &logs);
        self.renderer.begin_folder(Subject { remarks: &remarks, ..subject }, &header, console)?;
        for (path, table, record) in folder.missing() {
            let message =
                format!("expected a table of {} bytes on level {}, found no file", table.size, table.level);
            let report = TableReport::missing(message, record);
            self.show(Subject { path: &path, ..Subject::of(subject.input) }, &report, console)?;
        }
        Ok(())
    }

    fn end_folder(&mut self, subject: Subject<'_>, console: &mut Console) -> io::Result<()> {
        self.renderer.end_folder(subject, &self.totals, console)
    }
}
