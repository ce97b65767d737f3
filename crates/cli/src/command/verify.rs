//! `filterblock verify`: checks that tables are sound and no filter hides a stored key.

use std::sync::Arc;

use clap::Args;
use filterblock_engine::report::{Verified, write_line};

use super::arguments::{Jobs, KeyOrder, Limits, Paths, exit_status};
use super::help::{self, ADVANCED, order};
use crate::io::{Console, ProgressBar};
use crate::text;

/// Check that a database is sound: every block, key and filter
///
/// Reads every block with its checksum and every entry in it, checks the order of keys, compares the files with the
/// MANIFEST, and looks up each stored key in its filter. Prints problems and a sum. Nothing is written or locked; the
/// database may be in use.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, MORE, &STATUSES))]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// A line for each file, and the details of each problem
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long, display_order = order::JSON)]
    json: bool,
    #[command(flatten)]
    jobs: Jobs,
    /// The order of keys if no MANIFEST names one: bytewise
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    comparator: Option<KeyOrder>,
    #[command(flatten)]
    limits: Limits,
}

const EXAMPLES: &str = "  filterblock verify ~/db
  filterblock verify -r ~/.config/chromium  every database below
  filterblock verify --json ~/db | jq -r 'select(.false_negatives > 0).path'";
const MORE: &str = "What each problem means and what to do: docs/problems.md.";
const STATUSES: [(u8, &str); 3] = [
    (0, "fine, or could be better"),
    (1, "damaged, or false negatives"),
    (2, "something could not be read, or wrong usage"),
];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let progress = Arc::new(ProgressBar::new(!arguments.json));
    let engine = arguments
        .limits
        .engine(arguments.jobs.jobs, console)
        .order(arguments.comparator.map(KeyOrder::known))
        .progress(progress.clone());
    let mut text = text::TextVerify::new(arguments.verbose, arguments.paths.single().is_none());
    let mut show = |verified: Verified| {
        progress.show(console, |console| match arguments.json {
            true => write_line(console, &verified.data()),
            false => text.take(&verified, console),
        })
    };
    let outcome = engine.verify(arguments.paths.inputs(), &mut show);
    progress.end();
    let status = outcome.and_then(|outcome| {
        if !arguments.json {
            text.end(&outcome.verdicts, console)?;
        }
        Ok(exit_status(&outcome, arguments.paths.sources.keep_going))
    });
    console.finish(status)
}
