//! `filterblock report`: a page about a database and its filters.

use std::path::{Path, PathBuf};
use std::{io::Write as _, sync::Arc};

use clap::Args;
use filterblock::escape_path;
use filterblock_engine::words::path_word;
use filterblock_engine::{MAX_JOBS, PathError, Request, is_log, page::PageRequest};

use super::arguments::{DepthArgument, Limits, about};
use super::keys;
use super::reserved_names::{Output, check_name};
use crate::io::{Console, EXIT_ERROR, Progress, Tone, WholeFile};
use crate::text::{self, write_line};

/// The exit status if the page was written, and reports findings: something is damaged or wrong, or could not be
/// read.
const EXIT_FINDINGS: u8 = 1;

/// Write a page about a database: what its filters are like, and what to do about them
///
/// The page is one file of HTML for a browser, without scripts, and loads nothing. It begins with a
/// verdict and the command to run. Pictures and lists follow: the tables by level, the keys that their
/// filters let pass, how full the filters are, and the findings of `verify`.
///
/// The verdict goes to standard output as one line, unless the page goes there. This helps in loops
/// over many databases.
///
/// The database is only read, without a lock, and may be in use.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The database's folder, a folder of tables, or a single table
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The file to write, which appears complete or not at all and replaces what is there; - is standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Do not read every block and every entry to verify them
    #[arg(long)]
    no_verify: bool,
    /// The part of each table to read where nothing is verified; sample if not given
    #[arg(long, value_enum, value_name = "DEPTH", requires = "no_verify")]
    depth: Option<DepthArgument>,
    /// Do not find out what other filters would do
    #[arg(long, conflicts_with = "lookups")]
    no_tune: bool,
    /// The keys that the program looks up, one a line, each as often as it is looked up; - is standard input
    #[arg(long, value_name = "KEYS")]
    lookups: Option<PathBuf>,
    /// The keys of --lookups are in hexadecimal, or escaped as results show them
    #[arg(long, requires = "lookups")]
    hex: bool,
    #[command(flatten)]
    limits: Limits,
    /// Number of tables to work on at a time; as many as there are processors if not given
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

/// Writes the page: to standard output, or to a file, which appears complete or not at all. With a file, writes the
/// verdict to standard output.
pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let (path, output): (&Path, &Path) = (&arguments.database, &arguments.output);
    let from = arguments.lookups.as_deref();
    let lookups = keys::read(Vec::new(), from, arguments.hex)?;
    let is_file = !keys::is_standard(output);
    if is_file {
        check_name(output, Output::Other)?;
    }
    let progress = Arc::new(Progress::new(true));
    let engine = arguments.limits.engine(arguments.jobs, console).watch(progress.clone());
    let engine = arguments.depth.into_iter().fold(engine, |engine, depth| engine.depth(depth.depth()));
    let tune = (!arguments.no_tune).then(|| Request { lookups, ..Request::default() });
    let page = engine.page(path, None, &PageRequest { verify: !arguments.no_verify, tune });
    progress.end();
    if let Some(found) = page.as_ref().err().and_then(PathError::other_format) {
        let line = match is_file {
            true => text::write_verdict(path, found, console),
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
    let status = if page.is_bad { EXIT_FINDINGS } else { 0 };
    if is_file {
        WholeFile::write(output, Some(path).filter(|path| path.is_file()), page.html.as_bytes())
            .map_err(about(output))?;
        let verdict = format!("{}: {}", escape_path(path), page.verdict);
        let line = write_line(console, Tone::Plain, &verdict);
        return Ok(console.finish(line.map(|()| status)));
    }
    let written = console.write_all(page.html.as_bytes());
    Ok(console.finish(written.map(|()| status)))
}
