//! `filterblock inspect`: what the tables and their filters are like.

mod bare_block;

use std::io;
use std::path::Path;

use clap::Args;
use filterblock::SharedPolicy;
use filterblock::table::ReadOptions;

use crate::TROUBLE;
use crate::audit::inspect::report::{Facts, Place};
use crate::audit::inspect::totals::Totals;
use crate::audit::stats::{self, Census, Survey};
use crate::io::console::Console;
use crate::io::database::{Database, Surroundings};
use crate::io::input::{self, Source};
use crate::io::paths::Paths;
use crate::render::text::inspect::Presenter;

const DAMAGE: u8 = 1;

/// Show what tables and their filters are like
///
/// Reads index, metaindex, filter block and the data blocks' trailers, and decompresses at most 16 data blocks
/// of each table, so that large databases can be looked at too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) paths: Paths,
    /// Write one JSON object a line and table
    #[arg(long)]
    pub(crate) json: bool,
    /// List every filter: range, data blocks, bytes, bits set, rate of false positives, state
    #[arg(long)]
    pub(crate) filters: bool,
    /// The files are bare filter blocks, as `filterblock extract` writes them; - is standard input
    #[arg(long)]
    block: bool,
    /// The policy of a bare filter block, which does not name it; leveldb.BuiltinBloomFilter2 unless given
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
    let mut inspection = Inspection {
        options: stats::read_options().meter(console.meter()),
        presenter: Presenter::new(arguments),
        totals: Totals::default(),
        damage: false,
        unreadable: false,
        surroundings: Surroundings::default(),
    };
    let result = inspection.all(arguments, console);
    let status = match () {
        () if inspection.unreadable => TROUBLE,
        () if inspection.damage => DAMAGE,
        () => 0,
    };
    console.end(result, status)
}

struct Inspection<'a> {
    options: ReadOptions,
    presenter: Presenter<'a>,
    /// Of the folder being looked at.
    totals: Totals,
    damage: bool,
    unreadable: bool,
    surroundings: Surroundings,
}

impl Inspection<'_> {
    fn all(&mut self, arguments: &Arguments, console: &mut Console) -> io::Result<()> {
        for path in arguments.paths.iter() {
            match path {
                Ok(path) if arguments.block => {
                    self.bare_block(&path, arguments.policy.as_ref(), console)?;
                }
                Ok(path) => self.path(&path, arguments.paths.is_recursive(), console)?,
                Err((path, message)) => self.show(&Facts::unreadable(&path, message), console)?,
            }
        }
        self.presenter.end(console)
    }

    /// `recursive`: folders that hold nothing of interest are passed over.
    fn path(&mut self, path: &Path, recursive: bool, console: &mut Console) -> io::Result<()> {
        let folder = match input::resolve(path) {
            Ok(Source::Folder(folder)) if recursive && folder.is_empty() => return Ok(()),
            Ok(Source::Folder(folder)) => folder,
            Ok(Source::File) => {
                let database = self.surroundings.of(path, |folder, error| {
                    self.unreadable = true;
                    console.complain(folder, error);
                });
                return self.table(path, false, database.as_deref(), console);
            }
            Err(message) => return self.show(&Facts::unreadable(path, message), console),
        };
        for (path, message) in &folder.skipped {
            self.unreadable = true;
            console.complain(path, message);
        }
        let database = Database::find(path).unwrap_or_else(|error| {
            self.unreadable = true;
            console.complain(path, error);
            None
        });
        if let Some(database) = &database {
            self.damage |= crate::render::text::database::complain(database, console);
        }
        let logs = folder.logs_with_data(database.as_ref(), |log, error| console.complain(log, error));
        self.totals = Totals::default();
        self.presenter.begin_folder(path, &folder, &logs, database.as_ref(), console)?;
        for table in &folder.tables {
            self.table(table, true, database.as_ref(), console)?;
        }
        self.presenter.end_folder(&self.totals, console)
    }

    fn table(
        &mut self,
        path: &Path,
        listed: bool,
        database: Option<&Database>,
        console: &mut Console,
    ) -> io::Result<()> {
        let place = database.and_then(|database| Place::of(path, database));
        let table = match input::open(path, listed, &self.options) {
            Ok(table) => table,
            Err(unopened) => return self.show(&Facts::unopened(path, unopened).placed(place), console),
        };
        let census = table.filter().map(Census::new);
        let survey = Survey::new(&table, census.as_ref());
        self.show(&Facts::of_table(path, &table, &survey, census.as_ref()).placed(place), console)
    }

    /// `policy` is the one that was named.
    fn bare_block(
        &mut self,
        path: &Path,
        policy: Option<&SharedPolicy>,
        console: &mut Console,
    ) -> io::Result<()> {
        let reader = match bare_block::read(path, policy.cloned().unwrap_or_else(bare_block::usual_policy)) {
            Ok(reader) => reader,
            Err(message) => return self.show(&Facts::unreadable(path, message), console),
        };
        self.show(&Facts::of_block(path, &Census::new(&reader), policy.is_none()), console)
    }

    fn show(&mut self, facts: &Facts<'_>, console: &mut Console) -> io::Result<()> {
        self.damage |= facts.is_damaged();
        self.unreadable |= facts.unreadable;
        self.totals.add(facts);
        self.presenter.show(facts, console)
    }
}
