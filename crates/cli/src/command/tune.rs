//! `filterblock tune`: finds out which filters would serve a database best.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use filterblock::LegacyHash;
use filterblock_engine::{MAX_JOBS, Policy, TuneRequest, report::Tuned};

use super::arguments::{Limits, Paths, bytes, exit_status};
use super::keys;
use crate::io::{Console, ProgressBar};
use crate::text;

/// Find out whether other filters would save reads or space
///
/// Makes filters of the stored keys, with 4 to 20 bits per key, looks up absent keys in them, and counts the data
/// blocks that a lookup reads now and would read. Of more than 128 MiB of tables, some are read. Nothing is written or
/// locked.
///
/// Advises a rebuild if filters have false negatives, if a lookup would read at least 0.1 blocks fewer, or if filters
/// would shrink by a quarter and 16 MiB. Else the answer is fine.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Keys that the program looks up, one per line, as often as it does; - is standard input
    #[arg(long, value_name = "FILE")]
    lookups: Option<PathBuf>,
    /// All numbers: by kind of key, by bits per key, by level
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long)]
    json: bool,
    /// The keys of --lookups are in hexadecimal, or escaped
    #[arg(long, requires = "lookups", help_heading = "Advanced", hide_short_help = true)]
    hex: bool,
    /// The most that filters may take, such as 5M
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Advanced", hide_short_help = true)]
    budget: Option<u64>,
    /// Read every table
    #[arg(long, help_heading = "Advanced", hide_short_help = true)]
    all: bool,
    /// The filter policy: leveldb.BuiltinBloomFilter2 (LevelDB) or leveldb.BuiltinBloomFilter (goleveldb, LevelDB before
    /// 1.18)
    #[arg(long, value_name = "NAME", value_parser = policy, help_heading = "Advanced", hide_short_help = true)]
    policy: Option<Policy>,
    /// Work on N tables at a time [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS), help_heading = "Advanced", hide_short_help = true)]
    jobs: Option<u16>,
}

const NOTES: &str = "\
Examples:
  filterblock tune ~/db
  filterblock tune ~/db --lookups keys.txt
  filterblock tune -r /srv  where a rebuild pays, most first

How it measures: docs/filters.md.

Exit status:
  0    done, whatever the advice
  1    damaged, or false negatives
  2    something could not be read, or wrong usage
  141  the output was closed early, as by head";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let request = arguments.request()?;
    let progress = Arc::new(ProgressBar::new(!arguments.json));
    let engine = Limits::default().engine(arguments.jobs, console).progress(progress.clone());
    let mut summary = text::tune::Summary::default();
    let mut show = |tuned: Tuned| {
        progress.show(console, |console| match arguments.json {
            true => tuned.write_json(console),
            false => summary.add(tuned, arguments.wide, console),
        })
    };
    let outcome = engine.tune(arguments.paths.inputs(), &request, &mut show);
    progress.end();
    let status = outcome.and_then(|outcome| {
        summary.end(console)?;
        Ok(exit_status(&outcome, arguments.paths.sources.keep_going))
    });
    Ok(console.finish(status))
}

fn policy(name: &str) -> Result<Policy, String> {
    match name {
        "new" | "leveldb.BuiltinBloomFilter2" => Ok(Policy::Builtin2),
        "old" | "leveldb.BuiltinBloomFilter" => Ok(Policy::Builtin(LegacyHash::Unsigned)),
        _ => Err("expected leveldb.BuiltinBloomFilter2 or leveldb.BuiltinBloomFilter".to_owned()),
    }
}

impl Arguments {
    fn request(&self) -> Result<TuneRequest, String> {
        let lookups = keys::read(Vec::new(), self.lookups.as_deref(), self.hex)?;
        Ok(TuneRequest { lookups, budget: self.budget, all: self.all, policy: self.policy })
    }
}
