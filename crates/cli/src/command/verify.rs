//! `filterblock verify`: checks that tables are sound and no filter denies a stored key.

use std::{io, sync::Arc};

use clap::Args;
use filterblock_engine::report::{Verified, VerifyStatus, write_line};
use filterblock_engine::{MAX_JOBS, VerifyOutcome};

use super::arguments::{KeyOrder, Limits, Paths};
use crate::io::{Console, EXIT_ERROR, Progress};
use crate::text;

/// The exit status if there are findings, and everything could be looked at.
const EXIT_FINDINGS: u8 = 1;

/// Check databases, tables, logs and filters thoroughly
///
/// Reads every block with its checksum and every entry in it, and asks the filter for every key, as
/// LevelDB would. Checks that keys and the index are in order, that blocks do not overlap, and that
/// the MANIFEST's records of a database's tables are right. Measures how often the filters let
/// absent keys pass.
///
/// Reads every record of the logs, and says which writes are lost. Checks that no older version of a key is
/// found before a newer one.
///
/// Nothing is written and nothing locked. A database may be in use at the same time: instead of tables that
/// vanish, those that the MANIFEST lists by then are checked.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Write JSON, one object a line: tables, logs and folders
    #[arg(long)]
    json: bool,
    /// Show only what has findings or cannot be read, and the totals
    #[arg(short, long)]
    quiet: bool,
    /// The order of the keys where no MANIFEST names one; an order that a MANIFEST names is checked if it is
    /// known
    #[arg(long, value_name = "ORDER")]
    comparator: Option<KeyOrder>,
    #[command(flatten)]
    limits: Limits,
    /// Seed of the absent keys with which false positives are measured
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Number of tables to check at a time; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
}

const NOTES: &str = "\
Examples:
  filterblock verify ~/db                     all tables of a database, and its MANIFEST
  filterblock verify --json ~/db | jq -r 'select(.denied > 0) | .path'
                                              the tables whose filters deny keys
  find / -name '*.ldb' -print0 | filterblock verify --files-from - -0
  filterblock verify -r --quiet ~/databases   what is wrong in all databases below a folder

What each finding means, and what to do about it: docs/findings.md, in the source of this program

Exit status: 0 sound; 1 findings; 2 something could not be looked at, or wrong usage;
141 the reader of the output went away, whatever was found.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let progress = Arc::new(Progress::new(!arguments.json));
    let engine = arguments
        .limits
        .engine(arguments.jobs, console)
        .seed(arguments.seed)
        .order(arguments.comparator.map(KeyOrder::known))
        .watch(progress.clone());
    let mut show = |verified: Verified| {
        if arguments.quiet && matches!(verified.status, VerifyStatus::Sound | VerifyStatus::NotLive) {
            return Ok(());
        }
        progress.show(console, |console| match arguments.json {
            true => write_json(&verified, console),
            false => text::verify::write(&verified, None, console),
        })
    };
    let outcome = engine.verify(arguments.paths.inputs(), &mut show);
    progress.end();
    let status = outcome.and_then(|outcome| {
        if !arguments.json {
            text::verify::write_counts(&outcome.counts, console)?;
            text::verify::write_remedies(&outcome, console)?;
        }
        Ok(arguments.status(&outcome))
    });
    console.finish(status)
}

impl Arguments {
    fn status(&self, VerifyOutcome { counts, list_failed, .. }: &VerifyOutcome) -> u8 {
        match () {
            () if *list_failed => EXIT_ERROR,
            () if self.paths.sources.keep_going => 0,
            () if counts.unreadable > 0 => EXIT_ERROR,
            () if counts.findings > 0 => EXIT_FINDINGS,
            () => 0,
        }
    }
}

fn write_json(verified: &Verified, console: &mut Console) -> io::Result<()> {
    for note in &verified.verdict.notes {
        console.message_about(&verified.path, note);
    }
    write_line(console, verified)
}
