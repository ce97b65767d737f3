//! `filterblock report`: a page about a database and its filters.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use filterblock_engine::page::{PageRequest, is_page};
use filterblock_engine::report::{Depth, Fault, Severity, Verdict};
use filterblock_engine::text::path_word;
use filterblock_engine::{Engine, TuneRequest, is_log};

use super::arguments::{DEPTHS, Jobs, Limits, about, one_of};
use super::help::{self, ADVANCED};
use super::keys;
use super::reserved_names::{Output, check_name};
use crate::io::{Console, EXIT_ERROR, ProgressBar, WholeFile};
use crate::text;

/// The page was written, and something is damaged, or filters hide stored keys.
const EXIT_BAD: u8 = 1;

/// Write a page about a database: its state, filters, and what to do
///
/// One HTML file that loads nothing: verdict and command, tables by level, what a lookup reads, every problem; of a damaged
/// database, what a repair would save and lose. The verdict is also printed. The database may be in use.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, "", &STATUSES))]
pub(crate) struct Arguments {
    /// A database, a folder of tables, or a table
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The page; replaces a file of that name; - is standard output [default: NAME-report.html here]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not read every block
    #[arg(long)]
    no_verify: bool,
    /// Do not try other filters
    #[arg(long, conflicts_with = "lookups")]
    no_tune: bool,
    /// Keys that the program looks up, one per line, as often as it does
    #[arg(long, value_name = "FILE", help_heading = ADVANCED, hide_short_help = true)]
    lookups: Option<PathBuf>,
    /// The keys of --lookups are in hexadecimal, or escaped
    #[arg(long, requires = "lookups", help_heading = ADVANCED, hide_short_help = true)]
    hex: bool,
    /// With --no-verify: tail, sample or all [default: sample]
    #[arg(long, value_parser = one_of(DEPTHS), value_name = "DEPTH", requires = "no_verify", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    depth: Option<Depth>,
    #[command(flatten)]
    jobs: Jobs,
}

const EXAMPLES: &str = "  filterblock report ~/db                 writes db-report.html
  filterblock report ~/db -o db.html
  filterblock report --no-verify ~/db -o db.html  seconds instead of minutes";
const STATUSES: [(u8, &str); 3] =
    [(0, "written, nothing is wrong"), (1, "written, something is"), (2, "not written")];

/// Writes the page: atomically to a file, with the verdict on standard output, or to standard output, with the verdict on
/// standard error.
pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let path = &*arguments.database;
    let output = arguments.output.clone().map_or_else(|| own_file(path), Ok)?;
    let output = &*output;
    let from = arguments.lookups.as_deref();
    let lookups = keys::read(Vec::new(), from, arguments.hex)?;
    let is_file = !keys::is_standard(output);
    if is_file {
        check_name(output, Output::Other)?;
    }
    let progress = Arc::new(ProgressBar::new(true));
    let engine = Limits::default().engine(arguments.jobs.jobs, console).progress(progress.clone());
    let engine = arguments.depth.into_iter().fold(engine, Engine::depth);
    let tune = (!arguments.no_tune).then(|| TuneRequest { lookups, ..TuneRequest::default() });
    let page = engine.page(path, &PageRequest { verify: !arguments.no_verify, tune, repair: true });
    progress.end();
    if let Some(found) = page.as_ref().err().and_then(Fault::other_format) {
        let line = match is_file {
            true => {
                text::write_headline(path, Verdict::CannotTell, Some(&found.format().to_string()), console)
            }
            false => {
                console.message_about(path, found);
                Ok(())
            }
        };
        console.message("no page was written: there is nothing to show");
        return Ok(console.finish(line.map(|()| EXIT_ERROR)));
    }
    let page = match page {
        Ok(page) => page,
        Err(error) if is_log(path) => {
            console.message_about(path, format_args!("{error}. Nothing was written"));
            return Err(format!("to see its writes: filterblock scan {}", path_word(path)));
        }
        Err(error) => return Err(about(path)(error)),
    };
    let status = match page.advice.verdict.severity() {
        Severity::Good | Severity::Notice => 0,
        Severity::Bad => EXIT_BAD,
        Severity::Unknown => EXIT_ERROR,
    };
    if is_file {
        WholeFile::write(output, Some(path).filter(|path| path.is_file()), page.html().as_bytes())
            .map_err(about(output))?;
        let written = text::write_page(path, &page.advice, output, console);
        return Ok(console.finish(written.map(|()| status)));
    }
    console.message_about(path, page.advice.headline());
    let written = console.write_all(page.html().as_bytes());
    Ok(console.finish(written.map(|()| status)))
}

/// The file for the page of `database` if none is given, in the current folder: one that does not exist, or is a page.
fn own_file(database: &Path) -> Result<PathBuf, String> {
    // The engine says why a path cannot be followed.
    let full = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
    let mut name = full.file_name().unwrap_or("database".as_ref()).to_owned();
    name.push("-report.html");
    let file = PathBuf::from(name);
    let may_write = match fs::metadata(&file) {
        Err(_) => true,
        // A pipe would be waited for.
        Ok(metadata) => metadata.is_file() && begins_as_page(&file).unwrap_or(false),
    };
    match may_write {
        true => Ok(file),
        false => Err(about(&file)("is no page of filterblock; choose another file with -o")),
    }
}

fn begins_as_page(file: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(file)?.take(128).read_to_end(&mut start)?;
    Ok(is_page(&start))
}
