//! `filterblock` looks into LevelDB tables and their filters.
//!
//! Results go to standard output, all else to standard error.
#![forbid(unsafe_code)]

mod console;
mod extract;
mod input;
mod inspect;
mod json;
mod layout;
mod query;
mod show;
mod survey;

use std::process::ExitCode;

use clap::{ColorChoice, Parser, Subcommand};

use console::Console;

/// The exit status for wrong usage and for input that is missing or cannot be read.
const TROUBLE: u8 = 2;

/// Looks into LevelDB tables (.ldb, .sst) and their Bloom filters.
///
/// Files are opened for reading only and without a lock, so that databases in use can be looked at.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES, max_term_width = 100, propagate_version = true)]
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
  filterblock extract 000005.ldb >block  the bare filter block";

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Query(query::Arguments),
    Extract(extract::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut console = Console::new(arguments.color);
    ExitCode::from(match arguments.command {
        Command::Inspect(arguments) => inspect::run(&arguments, &mut console),
        Command::Query(arguments) => query::run(arguments, &mut console),
        Command::Extract(arguments) => extract::run(&arguments, &mut console),
    })
}
