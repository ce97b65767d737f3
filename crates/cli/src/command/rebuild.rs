//! `filterblock rebuild`: new filters for the tables of an existing database.

use std::{path::PathBuf, sync::Arc};

use clap::{ArgGroup, Args};
use filterblock::LegacyHash;
use filterblock_engine::rebuild::{Failure, FilterRequest, RebuildMode, RebuildOptions};
use filterblock_engine::report::{RebuildReport, RebuildStatus};

use super::arguments::{HASHES, Jobs, Limits, PolicyName, one_of};
use super::help::{self, ADVANCED};
use crate::io::{Console, EXIT_ERROR, ProgressBar};
use crate::text;

/// The request or the state of the files does not allow the rebuild.
const EXIT_REFUSED: u8 = 1;
const EXIT_IN_USE: u8 = 3;

/// Give all tables of a database new filters; no entry changes
///
/// Data blocks and index are copied byte for byte; filters and MANIFEST are new, and verified before they count. With
/// --in-place, a crash at any time leaves the old database or the new one, and the old tables are kept beside it until
/// --undo or --discard. Close the program that uses the database first.
///
/// A program uses filters only of its own policy. Tables that it writes later get its own setting.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(&[EXAMPLES, LAST_EXAMPLE].join("\n"), MORE, &STATUSES))]
#[command(override_usage = "filterblock rebuild --in-place|--to <NEW>|--undo|--discard [OPTIONS] <DB>")]
#[command(group(ArgGroup::new("how").required(true).args(["to", "in_place", "undo", "discard"])))]
pub(crate) struct Arguments {
    /// The folder of the database
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Replace the tables of this database (not on Windows)
    #[arg(long)]
    in_place: bool,
    /// Make a second database in this folder instead
    #[arg(long, value_name = "NEW")]
    to: Option<PathBuf>,
    /// Bring the old tables back, if no program has opened the database since
    #[arg(long, conflicts_with_all = OPTIONS)]
    undo: bool,
    /// Delete the old tables
    #[arg(long, conflicts_with_all = OPTIONS)]
    discard: bool,
    /// Write nothing; show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Bits per key
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    bits_per_key: u32,
    /// The filter policy: leveldb.BuiltinBloomFilter2 (LevelDB) or leveldb.BuiltinBloomFilter (goleveldb, LevelDB before
    /// 1.18)
    #[arg(long, value_name = "NAME", value_enum, hide_possible_values = true)]
    policy: Option<PolicyName>,
    /// A line for each table
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Remove the filters
    #[arg(long = "drop", conflicts_with_all = ["bits_per_key", "policy", "hash", "base_lg"], help_heading = ADVANCED, hide_short_help = true)]
    drop_filters: bool,
    /// A filter for every 2^LG bytes of data blocks; 63: one per table [default: as before]
    #[arg(long, value_name = "LG", value_parser = clap::value_parser!(u8).range(..=63), help_heading = ADVANCED, hide_short_help = true)]
    base_lg: Option<u8>,
    /// Which hash leveldb.BuiltinBloomFilter stands for, if no key tells: unsigned (goleveldb) or signed (LevelDB before
    /// 1.18 on x86)
    #[arg(long, value_parser = one_of(HASHES), hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    hash: Option<LegacyHash>,
    /// Do not keep the old tables
    #[arg(long, conflicts_with = "to", help_heading = ADVANCED, hide_short_help = true)]
    no_undo: bool,
    /// Leave tables that cannot be decoded as they are, instead of refusing
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    keep_undecodable: bool,
    /// The unknown comparator never takes different bytes for equal
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    assume_bytewise_equality: bool,
    #[command(flatten)]
    jobs: Jobs,
}

const EXAMPLES: &str = "  filterblock rebuild ~/db --in-place --dry-run
  filterblock rebuild ~/db --in-place
  filterblock rebuild ~/db --in-place --policy leveldb.BuiltinBloomFilter2";
const LAST_EXAMPLE: &str = "  filterblock rebuild --undo ~/db";
const MORE: &str = "Each step, each refusal: docs/rebuild.md.";
const STATUSES: [(u8, &str); 4] = [
    (0, "done"),
    (1, "refused, nothing was changed"),
    (2, "wrong usage, or an error of the system"),
    (3, "another program has it open"),
];

const OPTIONS: [&str; 10] = [
    "bits_per_key",
    "policy",
    "hash",
    "base_lg",
    "drop_filters",
    "keep_undecodable",
    "jobs",
    "dry_run",
    "assume_bytewise_equality",
    "no_undo",
];

/// Reports a failure. Returns its exit status.
pub(super) fn failed(failure: &Failure, console: &mut Console) -> u8 {
    console.message(failure);
    match failure.status {
        RebuildStatus::Refused => EXIT_REFUSED,
        RebuildStatus::InUse => EXIT_IN_USE,
        _ => EXIT_ERROR,
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    // A signal stops the rebuild at the next point where it can stop, and only then ends the program.
    let progress = Arc::new(ProgressBar::deferring(!arguments.json)?);
    let (dir, mode) = (&arguments.database, arguments.mode());
    let engine = Limits::default().engine(arguments.jobs.jobs, console).progress(Arc::clone(&progress) as _);
    let result = engine.rebuild_folder(dir, &mode);
    progress.end();
    let (report, status) = match result {
        Ok(report) => (report, 0),
        Err(failure) => (RebuildReport::from(&failure), failed(&failure, console)),
    };
    report.notes.iter().for_each(|note| console.message(note));
    let shown = match arguments.json {
        true => report.write_json(dir, &mut *console),
        false if report.error.is_some() => Ok(()),
        false => text::rebuild::write(dir, &mode, &report, arguments.verbose, console),
    };
    Ok(console.finish(shown.map(|()| status)))
}

impl Arguments {
    fn mode(&self) -> RebuildMode {
        match &self.to {
            _ if self.undo => RebuildMode::Undo,
            _ if self.discard => RebuildMode::Discard,
            Some(target) => RebuildMode::To(target.clone(), self.options()),
            None => RebuildMode::InPlace { options: self.options(), keeps_undo: !self.no_undo },
        }
    }

    fn options(&self) -> RebuildOptions {
        let filters = match self.drop_filters {
            true => FilterRequest::Drop,
            false => FilterRequest::Make {
                bits: self.bits_per_key,
                policy: self.policy.map(|name| name.0.name().to_owned()),
                hash: self.hash,
                base_lg: self.base_lg,
            },
        };
        RebuildOptions {
            filters,
            keep_undecodable: self.keep_undecodable,
            assume_bytewise_equality: self.assume_bytewise_equality,
            dry_run: self.dry_run,
        }
    }
}
