//! `filterblock report`: a page about a database and its filters.

mod output;

use std::path::{Path, PathBuf};
use std::{io::Write as _, sync::Arc};

use clap::Args;
use filterblock::escape_path;
use filterblock_engine::page::{Page, Verdict, document};
use filterblock_engine::{Kind, MAX_JOBS, Request};
use output::Output;

use super::{arguments::Limits, keys};
use crate::exit::EXIT_ERROR;
use crate::io::{Console, Progress};

/// The page was written, and tells of something that is damaged or could not be read.
const EXIT_FINDINGS: u8 = 1;

/// Write a page about a database: what its filters are like, and what to do about them
///
/// The page is one file of HTML for a browser, without scripts, and loads nothing. It begins with a
/// verdict and the command to run. Pictures and tables follow: tables by level, what their filters
/// let pass, how full they are, and all that `verify` finds.
///
/// One line goes to standard output: the verdict, for loops over many databases.
///
/// The database is only read, without a lock, and may be in use.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The database's folder, a folder of tables, or a single table
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The file to write, which appears whole or not at all and replaces what is there; - is
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Do not read every block and every entry to verify them
    #[arg(long)]
    no_verify: bool,
    /// Do not find out what other filters would do
    #[arg(long, conflicts_with = "lookups")]
    no_tune: bool,
    /// The keys that the program looks up, one a line, as many times as it does; - is standard input
    #[arg(long, value_name = "KEYS")]
    lookups: Option<PathBuf>,
    /// The keys of --lookups are in hexadecimal, or escaped as results show them
    #[arg(long, requires = "lookups")]
    hex: bool,
    #[command(flatten)]
    limits: Limits,
    /// Number of tables to look at at once; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
}

const EXAMPLES: &str = "\
Examples:
  filterblock report ~/db -o report.html
  filterblock report --no-verify ~/db -o report.html    without reading every block
  for db in /srv/*/db; do filterblock report \"$db\" -o \"$(basename \"${db%/db}\").html\"; done
                                                        a page for each, and a line for each

Exit status: 0 the page is written, and nothing is wrong; 1 it is written, and tells of something
damaged or not readable; 2 it is not written; 141 the reader of the output went away.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    match report(arguments, console) {
        Ok(status) => status,
        Err((path, error)) => {
            console.message_about(&path, error);
            EXIT_ERROR
        }
    }
}

/// Writes the page. Returns the exit status, or the path at fault and what is wrong with it.
fn report(arguments: &Arguments, console: &mut Console) -> Result<u8, (PathBuf, String)> {
    let path: &Path = &arguments.database;
    let of_path = |error: String| (path.to_owned(), error);
    let lookups = match &arguments.lookups {
        Some(from) => {
            keys::read(Vec::new(), Some(from), arguments.hex).map_err(|error| (from.clone(), error))?
        }
        None => Vec::new(),
    };
    let output = Output::new(&arguments.output, path)?;
    let progress = Arc::new(Progress::new(true));
    let mut engine = arguments.limits.engine(console).watch(progress.clone());
    if let Some(jobs) = arguments.jobs {
        engine = engine.jobs(jobs);
    }
    let overview = engine.overview(path, !arguments.no_verify).map_err(of_path)?;
    let strips = engine.strips(&overview);
    // There is nothing to try other filters on without tables in use.
    let has_database = overview.in_use().next().is_some() && overview.kind != Kind::Folder;
    let request = Request { lookups, ..Request::default() };
    let tuning = (has_database && !arguments.no_tune).then(|| engine.tune_path(path, &request));
    progress.end();
    let tuning = tuning.as_ref().map(|tuned| tuned.as_ref().map_err(|failure| &*failure.text));
    let page = Page { path, overview: &overview, strips: &strips, tuning };
    let verdict = Verdict::of(&page);
    output.write(&document(&page, &verdict), console)?;
    let status = if verdict.is_bad() { EXIT_FINDINGS } else { 0 };
    let line = match output.is_standard() {
        true => Ok(()),
        false => writeln!(console, "{}: {}", escape_path(path), verdict.line()),
    };
    Ok(console.finish(line, status))
}
