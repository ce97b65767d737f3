//! `filterblock inspect`: shows tables and their filters.

use std::{io, sync::Arc};

use clap::Args;
use filterblock::{FilterPolicy as _, SharedPolicy, policy::default_read_policies};
use filterblock_engine::InspectLine;
use filterblock_engine::report::{Depth, Other, write_line};

use super::arguments::{DEPTHS, Jobs, Limits, Paths, exit_status, one_of};
use super::help::{self, ADVANCED, order};
use crate::io::{Console, ProgressBar};
use crate::text::{ALL_LIVE, InspectStyle, TextInspect};

/// Show the tables and filters of a database
///
/// Reads the index and the filters of each table and a sample of its data blocks, so large databases take seconds.
/// Numbers from a sample have a ~. The false-positive rate is measured with random keys. A database is shown by level;
/// --wide has a line for each table. A table by itself is shown in detail.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(&[EXAMPLES, LAST_EXAMPLE].join("\n"), "", &STATUSES))]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// A line for each table, with all columns and intervals
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// A line for each filter of a table
    #[arg(long)]
    filters: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long, display_order = order::JSON)]
    json: bool,
    /// What to read of each table: tail (index and filters), sample or all [default: sample]
    #[arg(long, value_parser = one_of(DEPTHS), value_name = "DEPTH", conflicts_with = "block", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    depth: Option<Depth>,
    /// The paths are bare filter blocks, as extract writes them; - is standard input
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    block: bool,
    /// The policy of bare filter blocks [default: leveldb.BuiltinBloomFilter2]
    #[arg(long, value_name = "NAME", requires = "block", value_parser = policy, help_heading = ADVANCED, hide_short_help = true)]
    policy: Option<SharedPolicy>,
    #[command(flatten)]
    jobs: Jobs,
}

const EXAMPLES: &str = "  filterblock inspect ~/db
  filterblock inspect --wide ~/db
  filterblock inspect 000005.ldb";
const LAST_EXAMPLE: &str = "  filterblock extract 000005.ldb | filterblock inspect --block -";
const STATUSES: [(u8, &str); 3] = [
    (0, "fine, or could be better"),
    (1, "damaged, or false negatives"),
    (2, "something could not be read, or wrong usage"),
];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let paths = &arguments.paths;
    let progress = Arc::new(ProgressBar::new(!arguments.json));
    let engine = Limits::default().engine(arguments.jobs.jobs, console).progress(progress.clone());
    let depth = arguments.depth.unwrap_or(Depth::Sample);
    let engine = engine.depth(depth);
    let mut text = TextInspect::new(InspectStyle {
        list_filters: arguments.filters,
        is_wide: arguments.wide,
        is_brief: paths.single().is_none(),
        depth,
    });
    let mut show = |line| {
        progress.show(console, |console| match arguments.json {
            true => write_json(line, arguments.filters, console),
            false => text.line(line, console),
        })
    };
    let outcome = match arguments.block {
        true => engine.inspect_blocks(paths.inputs(), arguments.policy.as_ref(), &mut show),
        false => engine.inspect(paths.inputs(), &mut show),
    };
    progress.end();
    let status = outcome.and_then(|outcome| {
        text.end(&outcome.verdicts, console)?;
        Ok(exit_status(&outcome, arguments.paths.sources.keep_going))
    });
    console.finish(status)
}

fn policy(name: &str) -> Result<SharedPolicy, String> {
    let known = default_read_policies();
    let names: Vec<_> = known.iter().map(|policy| policy.name()).collect();
    let unknown = || format!("expected one of {}", names.join(", "));
    known.iter().find(|policy| policy.name() == name).cloned().ok_or_else(unknown)
}

/// Remarks, and why a file or a MANIFEST cannot be used, go to standard error as well.
fn write_json(line: InspectLine, list_filters: bool, console: &mut Console) -> io::Result<()> {
    match line {
        InspectLine::Folder(folder) => {
            console.remarks(&folder.remarks);
            console.fault_of(&folder, ALL_LIVE);
            console.state_faults(&folder);
            write_line(console, &folder.data())
        }
        InspectLine::Table(mut found) => {
            if found.is_unreadable || found.is_missing() {
                let path = &found.table.frame.path;
                found.faults.values().for_each(|fault| console.message_about(path, &fault.text));
            }
            let table = &mut found.table;
            if let Some(filter) = table.filter.as_mut().filter(|_| list_filters) {
                filter.list = found.filters;
            }
            write_line(console, &*table)
        }
        InspectLine::Other(verified, file_size) => write_line(console, &Other::new(&verified, file_size)),
        InspectLine::Unreadable(unreadable, _) => {
            console
                .message_about(&unreadable.frame.path, unreadable.frame.error.as_deref().unwrap_or_default());
            write_line(console, &unreadable)
        }
        InspectLine::Totals(totals) => write_line(console, &totals),
    }
}
