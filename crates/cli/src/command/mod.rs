//! The commands: arguments in, exit status out.

mod arguments;
mod build;
mod extract;
mod get;
mod inspect;
mod keys;
mod manifest;
mod query;
mod rebuild;
mod repair;
mod report;
mod reserved_names;
mod scan;
mod shell;
mod tune;
mod verify;

use clap::{ColorChoice, CommandFactory as _, Parser, Subcommand};

use crate::io::{Console, EXIT_ERROR};

/// Looks into LevelDB tables (.ldb, .sst) and their Bloom filters.
///
/// Files are opened for reading only and without a lock, so that databases in use can be looked at. Only
/// `build`, `extract -o`, `rebuild`, `repair` and `report` write files. `rebuild` and `repair` lock a
/// database, and only `rebuild` without `--to` changes it.
#[derive(Parser)]
#[command(name = "filterblock", version, after_help = EXAMPLES, max_term_width = 100, propagate_version = true)]
pub(crate) struct Arguments {
    /// When to use colours on standard output
    ///
    /// `auto` uses them on a terminal, unless the environment says otherwise (NO_COLOR, TERM=dumb).
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  filterblock inspect ~/db               the filters of all tables of a database
  filterblock inspect --json 000005.ldb  one table, for a program
  filterblock query 000005.ldb hello     may the key \"hello\" be in this table?
  filterblock scan ~/db                  all keys and values of a database
  filterblock get ~/db hello             the value of the key \"hello\"
  filterblock manifest ~/db              the records of the MANIFEST, and the live tables
  filterblock verify ~/db                is everything in order, and does no filter deny a key?
  filterblock extract 000005.ldb >block  the bare filter block
  filterblock build pairs.tsv new.ldb    a table, with filters, from lines of key and value
  filterblock tune ~/db                  would other filters serve it better?
  filterblock rebuild ~/db --to new-db   the database with new filters
  filterblock repair ~/db --to new-db    what can be saved of a damaged database
  filterblock report ~/db -o page.html   a page about the database and its filters";

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Query(query::Arguments),
    Scan(scan::Arguments),
    Get(get::Arguments),
    Manifest(manifest::Arguments),
    Verify(verify::Arguments),
    Extract(extract::Arguments),
    Build(build::Arguments),
    Tune(tune::Arguments),
    Rebuild(rebuild::Arguments),
    Repair(repair::Arguments),
    Report(report::Arguments),
    Completions(shell::Completions),
    Man(shell::Man),
}

impl Arguments {
    /// Runs the command. Returns the exit status.
    pub(crate) fn run(self, console: &mut Console) -> u8 {
        let result = match self.command {
            Command::Inspect(arguments) => Ok(inspect::run(&arguments, console)),
            Command::Query(arguments) => query::run(arguments, console),
            Command::Scan(arguments) => scan::run(&arguments, console),
            Command::Get(arguments) => get::run(&arguments, console),
            Command::Manifest(arguments) => Ok(manifest::run(&arguments, console)),
            Command::Verify(arguments) => Ok(verify::run(&arguments, console)),
            Command::Extract(arguments) => extract::run(&arguments, console),
            Command::Build(arguments) => build::run(&arguments, console),
            Command::Tune(arguments) => tune::run(&arguments, console),
            Command::Rebuild(arguments) => rebuild::run(&arguments, console),
            Command::Repair(arguments) => repair::run(&arguments, console),
            Command::Report(arguments) => report::run(&arguments, console),
            Command::Completions(arguments) => Ok(shell::completions(&arguments, Self::command(), console)),
            Command::Man(_) => Ok(shell::man(Self::command(), console)),
        };
        result.unwrap_or_else(|message| {
            console.message(message);
            EXIT_ERROR
        })
    }
}
