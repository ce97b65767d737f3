//! `filterblock inspect`: shows tables and their filters.

mod bare_block;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
#[cfg(feature = "remote")]
use clap::ValueEnum;
use filterblock::SharedPolicy;
use filterblock::table::ReadOptions;

use super::arguments::{Limits, Paths};
use super::walk::{Visitor, folder_header, walk};
use crate::exit::EXIT_ERROR;
use crate::format::Format;
use crate::io::console::Console;
use crate::renderer::InspectRenderer;
use filterblock_engine::audit::inspect;
use filterblock_engine::audit::inspect::report::TableReport;
use filterblock_engine::audit::inspect::totals::FolderTotals;
use filterblock_engine::audit::rates::effort::Effort;
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::subject::{OwnedSubject, Remark, Subject};
use filterblock_engine::run::in_order::{InOrder, MAX_JOBS};
use filterblock_engine::run::in_use;
use filterblock_engine::walk::folder::Folder;
use filterblock_engine::walk::input::{self, PathError};
use filterblock_engine::walk::paths::Given;

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
///
/// The rate of false positives is measured: the filters are asked for up to 400,000 random keys a
/// table, fewer in large folders, and for keys near those stored in the blocks read.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    limits: Limits,
    /// Write JSON, one object a line: tables, folders and their totals
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
    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: super::arguments::RemoteArguments,
    /// How much to read of tables in object storage
    #[cfg(feature = "remote")]
    #[arg(long, value_enum, value_name = "DEPTH", default_value_t = DepthArgument::Tail)]
    depth: DepthArgument,
}

#[cfg(feature = "remote")]
#[derive(Clone, Copy, ValueEnum)]
enum DepthArgument {
    /// The end: index, metaindex and filters, mostly in one request
    Tail,
    /// Also up to 16 data blocks, in up to three requests: for the number of keys and measured rates
    Sample,
    /// As much as of files
    All,
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
        options: arguments.limits.read_options().meter(console.meter()),
        renderer: Format::new(arguments.json).inspect(
            arguments.filters,
            is_single,
            arguments.wide,
            paths.arguments(),
        ),
        totals: FolderTotals::default(),
        damage: false,
        unreadable: false,
        list_failed: false,
        vanished: Vec::new(),
    };
    let result = match arguments.block {
        true => inspection.bare_blocks(arguments, console),
        false => inspection.tables(arguments, console),
    };
    let result = result.and_then(|()| inspection.renderer.end(console));
    let status = match () {
        () if inspection.list_failed => EXIT_ERROR,
        () if paths.keeps_going() => 0,
        () if inspection.unreadable => EXIT_ERROR,
        () if inspection.damage => EXIT_DAMAGE,
        () => 0,
    };
    console.finish(result, status)
}

pub(super) struct Inspection {
    pub(super) options: ReadOptions,
    pub(super) renderer: Box<dyn InspectRenderer>,
    /// The sums over the current folder.
    pub(super) totals: FolderTotals,
    damage: bool,
    unreadable: bool,
    list_failed: bool,
    /// The live tables of the current folder that vanished.
    vanished: Vec<PathBuf>,
}

impl Inspection {
    fn bare_blocks(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        let effort = Effort::for_each_of(arguments.paths.arguments().len());
        for Given { input, path } in arguments.paths.iter() {
            match path {
                Ok(path) => {
                    let subject = Subject { path: &path, ..Subject::of(&input) };
                    self.bare_block(subject, arguments.policy.as_ref(), effort, console)?;
                }
                Err(error) => {
                    self.list_failed = true;
                    self.unreadable(Subject::of(&input), &error, console)?;
                }
            }
        }
        Ok(())
    }

    /// `policy`: the one that was named.
    fn bare_block(
        &mut self,
        subject: Subject<'_>,
        policy: Option<&SharedPolicy>,
        effort: Effort,
        console: &mut Console,
    ) -> io::Result<()> {
        match bare_block::read(subject.path, policy.cloned().unwrap_or_else(bare_block::default_policy)) {
            Ok(reader) => {
                let report = inspect::bare_block(reader, policy.is_none(), effort);
                self.show(subject, &report, console)
            }
            Err(error) => self.unreadable(subject, &error, console),
        }
    }

    fn tables(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        let paths = &arguments.paths;
        // A single table is no work for several threads.
        let is_one_file = paths.single().is_some_and(Path::is_file);
        let jobs = if is_one_file { Some(1) } else { arguments.jobs };
        let files = |this: &mut Self, paths: &mut dyn Iterator<Item = Given>, console: &mut Console| {
            this.files(jobs, arguments, paths, console)
        };
        #[cfg(not(feature = "remote"))]
        return files(self, &mut paths.iter(), console);
        #[cfg(feature = "remote")]
        {
            use super::remote::{Stretch, next_stretch};
            use filterblock_engine::remote::fleet::LogUse;
            use filterblock_engine::report::fetched::Depth;

            let depth = match arguments.depth {
                DepthArgument::Tail => Depth::Tail,
                DepthArgument::Sample => Depth::Sample,
                DepthArgument::All => Depth::All,
            };
            let options = arguments.remote.options(depth, LogUse::HasWrites, paths.is_recursive());
            let mut given = paths.iter().peekable();
            while let Some(stretch) = next_stretch(&mut given) {
                match stretch {
                    Stretch::Files(mut paths) => files(self, &mut paths, console)?,
                    Stretch::Objects(urls) => self.objects(urls, &options, !arguments.json, console)?,
                }
            }
            Ok(())
        }
    }

    /// Inspects files and folders.
    fn files(
        &mut self,
        jobs: Option<u16>,
        arguments: &Arguments,
        given: &mut dyn Iterator<Item = Given>,
        console: &mut Console,
    ) -> io::Result<()> {
        let (paths, options) = (&arguments.paths, self.options.clone());
        let result = InOrder::run(jobs, REPORTS_A_THREAD, |in_order| {
            let number = paths.arguments().len();
            let effort = Effort::for_each_of(number);
            let mut visitor =
                Inspector { options: &options, inspection: self, in_order, given: number, tables: 0, effort };
            walk(given, paths.is_recursive(), &mut visitor, console)?;
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
            Step::Table { subject, folder, listed, report } => {
                self.table(subject.as_subject(), folder.as_deref(), listed, report, console)
            }
            Step::Unreadable { subject, error } => self.unreadable(subject.as_subject(), &error, console),
            Step::Skipped => {
                self.unreadable = true;
                Ok(())
            }
            Step::ListFailed => {
                self.list_failed = true;
                Ok(())
            }
            Step::BeginFolder { subject, folder } => {
                self.begin_folder(subject.as_subject(), &folder, console)
            }
            Step::EndFolder { subject, folder } => self.end_folder(subject.as_subject(), &folder, console),
        }
    }

    /// `listed`: the name was found in the folder.
    fn table(
        &mut self,
        subject: Subject<'_>,
        folder: Option<&Folder>,
        listed: bool,
        report: Box<TableReport<'_>>,
        console: &mut Console,
    ) -> io::Result<()> {
        let record = folder.and_then(|folder| folder.record(subject.path));
        if let Some(record) = record.filter(|_| listed && report.has_vanished()) {
            // Others were removed as they should be.
            if record.live.is_some() {
                self.vanished.push(subject.path.to_owned());
            }
            return Ok(());
        }
        let mut report = report.with_record(record);
        if listed {
            report.allow_unfinished();
        }
        self.show(subject, &report, console)
    }

    /// Shows the tables in the place of those that vanished, then ends the folder.
    fn end_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let vanished = std::mem::take(&mut self.vanished);
        let options = self.options.clone();
        let files = |folder: &Arc<Folder>| folder.tables().map(Path::to_owned).collect();
        let lost = in_use::go_on(folder, files, vanished, |path, folder| {
            let effort = Effort::for_each_of(folder.tables().count());
            let report = look_at(&path, true, &options, effort);
            self.table(Subject { path: &path, ..subject }, Some(&**folder), true, report, console)?;
            Ok(std::mem::take(&mut self.vanished).is_empty())
        })?;
        for path in lost {
            self.unreadable(Subject { path: &path, ..subject }, &PathError::vanished(), console)?;
        }
        self.renderer.end_folder(subject, &self.totals, console)
    }

    pub(super) fn show(
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

    pub(super) fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: &PathError,
        console: &mut Console,
    ) -> io::Result<()> {
        self.unreadable = true;
        self.renderer.unreadable(subject, error, console)
    }

    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Folder,
        console: &mut Console,
    ) -> io::Result<()> {
        let mut remarks = subject.remarks.to_vec();
        let logs = folder.logs_with_data(|log, error| remarks.push(Remark::new(log, error)));
        self.begin_folder_with(Subject { remarks: &remarks, ..subject }, folder, &logs, console)
    }

    /// `logs`: those with writes that are in no table yet.
    pub(super) fn begin_folder_with(
        &mut self,
        subject: Subject<'_>,
        folder: &Folder,
        logs: &[&Path],
        console: &mut Console,
    ) -> io::Result<()> {
        self.damage |= folder.manifest_error().is_some();
        self.totals = FolderTotals::default();
        let tables: Vec<&Path> = folder.tables().collect();
        let header = folder_header(folder, &tables, logs);
        self.renderer.begin_folder(subject, &header, console)?;
        for (path, table, record) in folder.missing() {
            let message =
                format!("expected a table of {} bytes on level {}, found no file", table.size, table.level);
            let report = TableReport::missing(message, record);
            self.show(Subject { path: &path, ..Subject::of(subject.input) }, &report, console)?;
        }
        Ok(())
    }
}

/// Finds out about the table at `path`. `listed`: the name was found in a folder.
pub(super) fn look_at(
    path: &Path,
    listed: bool,
    options: &ReadOptions,
    effort: Effort,
) -> Box<TableReport<'static>> {
    Box::new(match input::open_file(path, listed) {
        Ok(file) => inspect::table(file, options, effort)
            .unwrap_or_else(|error| TableReport::unreadable(error.to_string(), ErrorKind::of(&error))),
        Err(error) => TableReport::unreadable(error.to_string(), error.kind()),
    })
}

/// Something to show, in the order of the paths.
enum Step {
    Table {
        subject: OwnedSubject,
        folder: Option<Arc<Folder>>,
        listed: bool,
        report: Box<TableReport<'static>>,
    },
    Unreadable {
        subject: OwnedSubject,
        error: PathError,
    },
    Skipped,
    ListFailed,
    BeginFolder {
        subject: OwnedSubject,
        folder: Arc<Folder>,
    },
    EndFolder {
        subject: OwnedSubject,
        folder: Arc<Folder>,
    },
}

/// Gives out the tables to look at.
struct Inspector<'a, 's, 'scope> {
    options: &'scope ReadOptions,
    inspection: &'a mut Inspection,
    in_order: &'a mut InOrder<'s, 'scope, Step>,
    /// The number of paths that were given as arguments, and of tables so far.
    given: usize,
    tables: usize,
    /// The questions to ask of each table: the fewer, the more tables there are.
    effort: Effort,
}

impl Inspector<'_, '_, '_> {
    fn add(&mut self, step: Step, console: &mut Console) -> io::Result<()> {
        self.in_order.add(step, &mut |step| self.inspection.step(step, console))
    }
}

impl Visitor for Inspector<'_, '_, '_> {
    fn skipped(&mut self, console: &mut Console) -> io::Result<()> {
        self.add(Step::Skipped, console)
    }

    fn list_failed(&mut self, console: &mut Console) -> io::Result<()> {
        self.add(Step::ListFailed, console)
    }

    fn unreadable(
        &mut self,
        subject: Subject<'_>,
        error: PathError,
        console: &mut Console,
    ) -> io::Result<()> {
        self.add(Step::Unreadable { subject: subject.to_owned(), error }, console)
    }

    fn table(
        &mut self,
        subject: Subject<'_>,
        listed: bool,
        folder: Option<&Arc<Folder>>,
        console: &mut Console,
    ) -> io::Result<()> {
        if !listed {
            self.tables = self.tables.saturating_add(1);
            self.effort = Effort::for_each_of(self.tables.max(self.given));
        }
        let (subject, folder, options) = (subject.to_owned(), folder.cloned(), self.options);
        let effort = self.effort;
        let work = move || {
            let report = look_at(&subject.path, listed, options, effort);
            Step::Table { subject, folder, listed, report }
        };
        self.in_order.work(work, &mut |step| self.inspection.step(step, console))
    }

    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let tables = folder.tables().count();
        self.effort = Effort::for_each_of(self.tables.max(tables));
        self.tables = self.tables.saturating_add(tables);
        self.add(Step::BeginFolder { subject: subject.to_owned(), folder: Arc::clone(folder) }, console)
    }

    fn end_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        self.add(Step::EndFolder { subject: subject.to_owned(), folder: Arc::clone(folder) }, console)
    }
}
