//! `filterblock repair`: a database from what can be saved of a damaged one.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgGroup, Args};
use filterblock::LegacyHash;
use filterblock_engine::page::repair_page;
use filterblock_engine::repair::{Prefer, RepairRequest};
use filterblock_engine::report::RepairReport;

use super::arguments::{HASHES, Jobs, Limits, PolicyName, about, one_of};
use super::help::{self, ADVANCED};
use super::keys::is_standard;
use super::rebuild::failed;
use super::reserved_names::{Output, check_name};
use crate::io::{Console, EXIT_ERROR, ProgressBar, WholeFile};
use crate::text;

/// The repair, or its dry run, was carried out, and something is or may be lost or stale.
const EXIT_INCOMPLETE: u8 = 5;

/// Make a new database of what can be saved of a damaged one
///
/// The damaged database is only read. The new one appears complete or not at all, and is read back before that. Close
/// the program that uses the database first; do not open a damaged database with it, as LevelDB deletes tables that a
/// damaged MANIFEST does not list.
///
/// Saved is what checksums prove: sound blocks of tables, with or without an index, records of logs, also after damage,
/// and blocks with one wrong bit, which is corrected. What is lost, and which keys may be stale, is reported by range.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, MORE, &STATUSES))]
#[command(group(ArgGroup::new("how").required(true).multiple(true).args(["to", "dry_run"])))]
pub(crate) struct Arguments {
    /// The folder of the damaged database
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The folder of the new database, new or empty
    #[arg(long, value_name = "NEW")]
    to: Option<PathBuf>,
    /// Write nothing; report what would be saved
    #[arg(long)]
    dry_run: bool,
    /// Also write the report as a page for a browser; - is standard output
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Keys that may be stale: newest keeps them, sound leaves them out
    #[arg(long, value_parser = one_of(PREFERENCES), value_name = "WHICH", default_value = "newest", hide_possible_values = true)]
    prefer: Prefer,
    /// Report every file, not only losses
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long)]
    json: bool,
    /// The order of keys, bytewise or idb_cmp1 (Chromium's IndexedDB) [default: the MANIFEST's]
    #[arg(long, value_name = "NAME", help_heading = ADVANCED, hide_short_help = true)]
    comparator: Option<String>,
    /// The filter policy: leveldb.BuiltinBloomFilter2 (LevelDB) or leveldb.BuiltinBloomFilter (goleveldb, LevelDB before
    /// 1.18)
    #[arg(long, value_name = "NAME", value_enum, hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    policy: Option<PolicyName>,
    /// Which hash leveldb.BuiltinBloomFilter stands for, if no key tells: unsigned (goleveldb) or signed (LevelDB before
    /// 1.18 on x86)
    #[arg(long, value_parser = one_of(HASHES), hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    hash: Option<LegacyHash>,
    /// Bits per key of the new filters [default: as before]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = ADVANCED, hide_short_help = true)]
    bits_per_key: Option<u32>,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    limits: Limits,
}

const EXAMPLES: &str = "  filterblock repair ~/db --dry-run        what would be saved?
  filterblock repair ~/db --to ~/db-new
  mv ~/db ~/db-old && mv ~/db-new ~/db     then use it";
const MORE: &str = "docs/rescue.md: by symptom, and for each program where its database is.";
const STATUSES: [(u8, &str); 5] = [
    (0, "all is saved"),
    (5, "saved, but something is lost, stale or unknown"),
    (1, "nothing to save, or refused"),
    (2, "wrong usage, or an error of the system"),
    (3, "another program has it open"),
];

const PREFERENCES: &[(&str, &str, Prefer)] = &[
    ("newest", "The newest version that is left counts", Prefer::Newest),
    (
        "sound",
        "Keys that may be stale are left out: every key is certain, as far as the MANIFEST and the logs are",
        Prefer::Sound,
    ),
];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let mut page = Page::begin(arguments)?;
    // A signal stops the repair at the next point where it can stop, and only then ends the program.
    let progress = Arc::new(ProgressBar::deferring(!arguments.json)?);
    let dir = &arguments.database;
    let engine = arguments.limits.engine(arguments.jobs.jobs, console).progress(Arc::clone(&progress) as _);
    let result = engine.repair_folder(dir, arguments.to.as_deref(), arguments.dry_run, &arguments.request());
    progress.end();
    let (report, status) = match result {
        Ok(report) if report.data.is_complete => (report, 0),
        Ok(report) => (report, EXIT_INCOMPLETE),
        Err(failure) => (RepairReport::from(&failure), failed(&failure, console)),
    };
    if report.error.is_some() {
        report.notes.iter().for_each(|note| console.message(note));
    }
    if report.error.is_some() {
        page = Page::None;
    }
    let is_shown = matches!(page, Page::Standard);
    let (status, written_page) = match page {
        Page::File(file, output) => match file.finish_with(repair_page(dir, &report).html().as_bytes()) {
            Ok(()) => (status, Some(output)),
            Err(error) => {
                console.message_about(output, format_args!("{error}; only the page could not be written"));
                (EXIT_ERROR, None)
            }
        },
        _ => (status, None),
    };
    let shown = match () {
        () if is_shown => console.write_all(repair_page(dir, &report).html().as_bytes()),
        () if arguments.json => report.write_json(dir, &mut *console),
        () if report.error.is_some() => Ok(()),
        () => text::repair::write(dir, &report, written_page, arguments.verbose, console),
    };
    let written = shown.and_then(|()| console.flush());
    if let (Some(target), Err(error)) = (&report.data.target, &written)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        console.message_about(
            target,
            format_args!("is complete; only its report could not be written: {error}"),
        );
        return Ok(EXIT_ERROR);
    }
    Ok(console.finish(written.map(|()| status)))
}

enum Page<'a> {
    None,
    Standard,
    /// Created before the work begins, so that errors in creating it show first, and its path as given.
    File(WholeFile, &'a Path),
}

impl<'a> Page<'a> {
    fn begin(arguments: &'a Arguments) -> Result<Self, String> {
        let Some(output) = arguments.page.as_deref() else { return Ok(Self::None) };
        if is_standard(output) {
            return match arguments.json {
                true => Err("--json and --page - both write to standard output".to_owned()),
                false => Ok(Self::Standard),
            };
        }
        check_name(output, Output::Other)?;
        let target = fs::canonicalize(output).unwrap_or_else(|_| output.to_owned());
        let folder = folder_of(&target).ok();
        let is_in = |dir: &Path| {
            folder
                .as_ref()
                .is_some_and(|folder| fs::canonicalize(dir).is_ok_and(|dir| folder.starts_with(dir)))
        };
        let is_new = |to: &Path| {
            folder.is_some() && folder == folder_of(to).ok() && target.file_name() == to.file_name()
        };
        let objection = match arguments.to.as_deref() {
            _ if is_in(&arguments.database) => "the damaged database is only read; choose another folder",
            Some(to) if is_in(to) => {
                "the new database needs an empty folder; choose another one for the page"
            }
            Some(to) if is_new(to) => "the new database gets this name; choose another one",
            _ => "",
        };
        if !objection.is_empty() {
            return Err(about(output)(objection));
        }
        WholeFile::create(output, true, None).map(|file| Self::File(file, output)).map_err(about(output))
    }
}

/// The folder around a path that need not exist.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(folder.unwrap_or(Path::new(".")))
}

impl Arguments {
    fn request(&self) -> RepairRequest {
        RepairRequest {
            prefer: self.prefer,
            comparator: self.comparator.clone(),
            policy: self.policy.map(|name| name.0.name().to_owned()),
            hash: self.hash,
            bits_per_key: self.bits_per_key,
        }
    }
}
