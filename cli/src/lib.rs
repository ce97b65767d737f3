//! `filterblock`, the program, as a library: for tests and fuzzing. What is stable is the program.
//!
//! It looks into LevelDB tables and their filters. Results go to standard output, all else to standard error.
#![forbid(unsafe_code)]

mod audit;
mod command;
mod io;
mod render;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ColorChoice, Parser, Subcommand};

use audit::stats;
use command::{build, extract, inspect, query, shell, verify};
use filterblock::Error;
use filterblock::table::{Meter, ReadAt, Table};
use io::console::Console;

/// The exit status for wrong usage and for input that is missing or cannot be read.
const TROUBLE: u8 = 2;

/// The exit status where the reader of the results went away before their end: what shells show of
/// a program that SIGPIPE ends.
const CLOSED: u8 = 141;

/// Looks into LevelDB tables (.ldb, .sst) and their Bloom filters.
///
/// Files are opened for reading only and without a lock, so that databases in use can be looked at.
#[derive(Parser)]
#[command(name = "filterblock", version, after_help = EXAMPLES, max_term_width = 100, propagate_version = true)]
struct Arguments {
    /// When to use colours on standard output
    ///
    /// `auto` uses them on a terminal, unless the environment says otherwise (NO_COLOR, TERM=dumb).
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  filterblock inspect ~/db               the filters of all tables of a database
  filterblock inspect --json 000005.ldb  one table, for a program
  filterblock query 000005.ldb hello     may the key \"hello\" be in this table?
  filterblock verify ~/db                is everything in order, and does no filter deny a key?
  filterblock extract 000005.ldb >block  the bare filter block
  filterblock build pairs.tsv new.ldb    a table, with filters, from lines of key and value";

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Query(query::Arguments),
    Verify(verify::Arguments),
    Extract(extract::Arguments),
    Build(build::Arguments),
    Completions(shell::Completions),
    Man(shell::Man),
}

/// Runs the program on the arguments and the terminal of this process.
pub fn main() -> ExitCode {
    let status = match Arguments::try_parse() {
        Ok(arguments) => arguments.command.run(&mut Console::of_process(arguments.color)),
        Err(error) => {
            let result = error.print();
            // Help and version are what was asked for.
            if error.use_stderr() { TROUBLE } else { Console::of_process(ColorChoice::Auto).end(result, 0) }
        }
    };
    ExitCode::from(status)
}

/// Runs the program on `arguments`, of which the first is its name. Returns the exit status.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    stdout: impl Write + 'static,
    stderr: impl Write + 'static,
) -> u8 {
    run_metered(arguments, stdout, stderr, Arc::default())
}

/// As [`run`], and counts in `meter` what reading tables costs.
pub fn run_metered(
    arguments: impl IntoIterator<Item = OsString>,
    stdout: impl Write + 'static,
    stderr: impl Write + 'static,
    meter: Arc<Meter>,
) -> u8 {
    let mut console = Console::new(Box::new(stdout), Box::new(stderr));
    console.set_meter(meter);
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command.run(&mut console),
        Err(error) if error.use_stderr() => {
            console.say(error);
            TROUBLE
        }
        // Help and version are what was asked for.
        Err(help) => {
            let result = write!(console, "{help}");
            console.end(result, 0)
        }
    }
}

/// Finds out of a table what `inspect` shows, for tests that count what is read.
#[doc(hidden)]
pub fn survey(source: impl ReadAt) -> Result<(), Error> {
    let table = Table::open(source, &stats::read_options())?;
    let census = table.filter().map(stats::Census::new);
    stats::Survey::new(&table, census.as_ref());
    Ok(())
}

impl Command {
    fn run(self, console: &mut Console) -> u8 {
        match self {
            Self::Inspect(arguments) => inspect::run(&arguments, console),
            Self::Query(arguments) => query::run(arguments, console),
            Self::Verify(arguments) => verify::run(&arguments, console),
            Self::Extract(arguments) => extract::run(&arguments, console),
            Self::Build(arguments) => build::run(&arguments, console),
            Self::Completions(arguments) => shell::completions(&arguments, console),
            Self::Man(_) => shell::man(console),
        }
    }
}
