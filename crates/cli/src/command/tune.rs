//! `filterblock tune`: finds out which filters would serve a database best.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use filterblock_engine::{MAX_JOBS, Request, TuneOutcome, report::Tuned};

use super::arguments::{Limits, Paths, PolicyName, bytes};
use super::keys;
use crate::io::{Console, EXIT_ERROR, Progress};
use crate::text;

/// The exit status if some tables could not be read, and the results leave them out, or if filters deny stored keys.
const EXIT_FAULTS: u8 = 1;

/// Find out which filters a database should have, and what the present ones cost
///
/// Makes filters from the database's own keys, with 4 to 20 bits a key and for ranges of data blocks of several
/// sizes, and asks them for absent keys: random ones, some like those stored, and your own (--lookups). From
/// the levels of the tables, it finds how many data blocks a lookup reads now, and how many it would read with
/// other filters.
///
/// In large databases, only some tables are decoded, about 128 MiB in all; --all takes every table. Nothing
/// is written and nothing locked.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// The keys that the program looks up, one a line, each as often as it is looked up; - is standard input
    #[arg(long, value_name = "FILE")]
    lookups: Option<PathBuf>,
    /// The keys of --lookups are in hexadecimal, or escaped as results show them
    #[arg(long, requires = "lookups")]
    hex: bool,
    /// Maximum size of all filters together, such as 5M; if not given, what they take today or, if
    /// some tables have no sound filters of the policy, what 10 bits a key would take in all tables
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    budget: Option<u64>,
    /// Advise no rebuild if all tables together take less than this
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "1M")]
    min_size: u64,
    /// Decode every table
    #[arg(long)]
    all: bool,
    /// The policy that the database's program is set to; that of the tables if not given
    #[arg(long, value_name = "NAME", value_enum)]
    policy: Option<PolicyName>,
    #[command(flatten)]
    limits: Limits,
    /// Write JSON, one object a line: every setting tried, then the database
    #[arg(long)]
    json: bool,
    /// Show every setting tried
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// Number of tables to work on at a time; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
}

const NOTES: &str = "\
Examples:
  filterblock tune ~/db                            would other filters serve better?
  filterblock tune ~/db --lookups keys.txt         by the keys that the program really looks up
  filterblock tune ~/db --budget 5M                the best that 5 MiB of filters can do
  filterblock tune -r ~/databases                  at the end: where a rebuild pays, most first
  filterblock tune --json ~/db | jq 'select(.object == \"tuning\").advice.text'

What the numbers mean, and how they are found: docs/tune.md, in the source of this program

Exit status: 0 done; 1 some table could not be read, and the numbers leave it out, or filters deny
stored keys; 2 wrong usage, or an input that is missing or cannot be read;
141 the reader of the output went away.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let request = arguments.request()?;
    let progress = Arc::new(Progress::new(!arguments.json));
    let engine = arguments.limits.engine(arguments.jobs, console).watch(progress.clone());
    let mut is_first = true;
    let mut ranking = text::tune::Ranking::default();
    let mut show = |tuned: Tuned| {
        progress.show(console, |console| {
            if let (Some(found), false) = (tuned.other_format(), arguments.json) {
                return text::write_other_format(&tuned.path, found, console);
            }
            text::tune::write_messages(&tuned, console);
            ranking.add(&tuned);
            match arguments.json {
                true => tuned.write_json(console),
                false => text::tune::write(&tuned, arguments.wide, &mut is_first, console),
            }
        })
    };
    let outcome = engine.tune(arguments.paths.inputs(), &request, &mut show);
    progress.end();
    let status = outcome.and_then(|outcome| {
        if !arguments.json {
            ranking.write(console)?;
        }
        Ok(arguments.status(&outcome))
    });
    Ok(console.finish(status))
}

impl Arguments {
    fn request(&self) -> Result<Request, String> {
        let lookups = keys::read(Vec::new(), self.lookups.as_deref(), self.hex)?;
        let policy = self.policy.map(|name| name.0);
        let least_size = self.min_size;
        Ok(Request { lookups, budget: self.budget, all: self.all, policy, least_size })
    }

    fn status(&self, outcome: &TuneOutcome) -> u8 {
        match () {
            () if outcome.list_failed => EXIT_ERROR,
            () if self.paths.sources.keep_going => 0,
            () if outcome.has_failures => EXIT_ERROR,
            () if outcome.has_faults => EXIT_FAULTS,
            () => 0,
        }
    }
}
