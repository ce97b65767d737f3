//! `filterblock report`: a page about a database and its filters.

use std::path::{Path, PathBuf};
use std::{fs, io::Write as _, sync::Arc};

use clap::Args;
use filterblock::{database::FileKind, escape_path};
use filterblock_engine::page::{Page, Verdict, document};
use filterblock_engine::{Kind, MAX_JOBS, Request};

use super::arguments::{Limits, about};
use super::keys;
use crate::io::{Console, Progress, WholeFile};

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

/// Writes the page, whole or not at all where it goes to a file.
pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let (path, output): (&Path, &Path) = (&arguments.database, &arguments.output);
    let from = arguments.lookups.as_deref();
    let lookups = keys::read(Vec::new(), from, arguments.hex).map_err(about(from.unwrap_or(path)))?;
    let is_file = !keys::is_standard(output);
    // A link may have any name, and what it leads to is replaced.
    if is_file
        && (is_of_database(output) || fs::canonicalize(output).is_ok_and(|target| is_of_database(&target)))
    {
        return Err(about(output)("expected a name that no file of a database has"));
    }
    let progress = Arc::new(Progress::new(true));
    let engine = arguments.limits.engine(arguments.jobs, console).watch(progress.clone());
    let overview = engine.overview(path, !arguments.no_verify).map_err(about(path))?;
    let strips = engine.strips(&overview);
    // There is nothing to try other filters on without tables in use.
    let has_database = overview.in_use().next().is_some() && overview.kind != Kind::Folder;
    let request = Request { lookups, ..Request::default() };
    let tuning = (has_database && !arguments.no_tune).then(|| engine.tune_path(path, &request));
    progress.end();
    let tuning = tuning.as_ref().map(|tuned| tuned.as_ref().map_err(|failure| &*failure.text));
    let page = Page { path, overview: &overview, strips: &strips, tuning };
    let verdict = Verdict::of(&page);
    let text = document(&page, &verdict);
    let status = if verdict.is_bad() { EXIT_FINDINGS } else { 0 };
    if is_file {
        WholeFile::write(output, Some(path).filter(|path| path.is_file()), text.as_bytes())
            .map_err(about(output))?;
        let line = writeln!(console, "{}: {}", escape_path(path), verdict.line());
        return Ok(console.finish(line.map(|()| status)));
    }
    console.write_all(text.as_bytes()).map_err(about(output))?;
    Ok(console.finish(Ok(status)))
}

/// Returns true if a database has, or might have, a file of this name.
fn is_of_database(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    // Some file systems do not tell large letters from small ones.
    [name.to_owned(), name.to_ascii_uppercase(), name.to_ascii_lowercase()]
        .iter()
        .any(|name| FileKind::parse(name).is_some() || name.ends_with(".ldb") || name.ends_with(".sst"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_databases_use_are_refused() {
        for name in [
            "CURRENT",
            "LOCK",
            "LOG",
            "LOG.old",
            "MANIFEST-000008",
            "000005.ldb",
            "000005.sst",
            "000009.log",
            "000007.dbtmp",
            "a/b/CURRENT",
            "x.ldb",
            "000005.LDB",
            "current",
            "manifest-000008",
        ] {
            assert!(is_of_database(Path::new(name)), "{name}");
        }
        for name in ["report.html", "a.ldb/report.html", "000005.html", "log.html", "-"] {
            assert!(!is_of_database(Path::new(name)), "{name}");
        }
    }
}
