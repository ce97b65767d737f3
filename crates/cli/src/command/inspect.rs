//! `filterblock inspect`: shows tables and their filters.

use std::{io, sync::Arc};

use clap::Args;
use filterblock::{FilterPolicy as _, SharedPolicy, policy::default_read_policies};
use filterblock_engine::{InspectLine, InspectOutcome, MAX_JOBS, report::Depth, report::write_line};

use super::arguments::{DepthArgument, Limits, Paths};
use crate::io::{Console, EXIT_ERROR, Progress};
use crate::text::{ALL_LIVE, TextInspect};

/// The exit status if there is damage, but everything could be read.
const EXIT_DAMAGE: u8 = 1;

/// Show what tables and their filters are like
///
/// Reads the index, the metaindex and the filter block of each table, and some of its data blocks, so that
/// even large databases can be looked at: all blocks where there are at most 65, otherwise up to one in 32, but
/// at least 17 and at most 1,025.
/// Numbers that this leaves uncertain are shown with their intervals; --depth all counts exactly.
///
/// The rate of false positives is measured: the filters are asked for up to 400,000 random keys a table,
/// fewer in large folders, and for keys near those stored in the blocks that are read.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    limits: Limits,
    /// Write JSON, one object a line: tables, folders and their totals
    #[arg(long)]
    json: bool,
    /// List every filter: range, data blocks, bytes, bits set, rate of false positives, state
    #[arg(long)]
    filters: bool,
    /// Show all columns of a listing, however wide its lines are
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// The files are bare filter blocks, as `filterblock extract` writes them; - is standard input
    #[arg(long)]
    block: bool,
    /// The policy of a bare filter block, which does not name it; leveldb.BuiltinBloomFilter2
    /// unless given
    #[arg(long, value_name = "NAME", requires = "block", value_parser = policy)]
    policy: Option<SharedPolicy>,
    /// Number of tables to work on at a time; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
    /// The part of each table to read; sample unless given
    #[arg(long, value_enum, value_name = "DEPTH", conflicts_with = "block")]
    depth: Option<DepthArgument>,
}

const EXAMPLES: &str = "\
Examples:
  filterblock inspect 000005.ldb            one table in detail
  filterblock inspect ~/db                  a line for each table of a database, and totals by level
  filterblock inspect --filters 000005.ldb  each filter of a table
  filterblock inspect --depth all ~/db      exact numbers of entries: every data block is decoded
  filterblock inspect --json ~/db |
    jq -r 'select(.object == \"table\" and .data_blocks != null and .filter == null).path'
                                            the tables that open and have no filters to use
  filterblock extract 000005.ldb | filterblock inspect --block -

Exit status: 0 fine; 1 damage found; 2 wrong usage, or an input that is missing or cannot be read;
141 the reader of the output went away, whatever was found.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let paths = &arguments.paths;
    let progress = Arc::new(Progress::new(!arguments.json));
    let engine = arguments.limits.engine(arguments.jobs, console).watch(progress.clone());
    let depth = arguments.depth.map(|depth| depth.depth());
    let engine = engine.depth(depth.unwrap_or(Depth::Sample));
    let is_single = paths.single().is_some();
    let mut text = TextInspect::new(arguments.filters, is_single, arguments.wide, &paths.paths);
    let mut show = |line| {
        progress.show(console, |console| match arguments.json {
            true => write_json(line, arguments.filters, console),
            false => text.line(&line, console),
        })
    };
    let outcome = match arguments.block {
        true => engine.inspect_blocks(paths.inputs(), arguments.policy.as_ref(), &mut show),
        false => engine.inspect(paths.inputs(), &mut show),
    };
    progress.end();
    let status = outcome.and_then(|outcome| {
        text.end(console)?;
        Ok(arguments.status(&outcome))
    });
    console.finish(status)
}

impl Arguments {
    fn status(&self, outcome: &InspectOutcome) -> u8 {
        match () {
            () if outcome.list_failed => EXIT_ERROR,
            () if self.paths.sources.keep_going => 0,
            () if outcome.unreadable => EXIT_ERROR,
            () if outcome.damage => EXIT_DAMAGE,
            () => 0,
        }
    }
}

/// Finds the policy of this name.
fn policy(name: &str) -> Result<SharedPolicy, String> {
    let known = default_read_policies();
    let names: Vec<_> = known.iter().map(|policy| policy.name()).collect();
    let unknown = || format!("expected one of {}", names.join(", "));
    known.iter().find(|policy| policy.name() == name).cloned().ok_or_else(unknown)
}

/// Writes a line of JSON. Remarks, and the reason why a file or a MANIFEST cannot be used, go to standard error as
/// well. `list_filters`: each filter is shown.
fn write_json(line: InspectLine, list_filters: bool, console: &mut Console) -> io::Result<()> {
    match line {
        InspectLine::Folder(folder) => {
            console.remarks(&folder.remarks);
            console.fault_of(&folder, ALL_LIVE);
            console.state_faults(&folder);
            write_line(console, &folder)
        }
        InspectLine::Table(mut found) => {
            let table = &mut found.table;
            console.remarks(&table.remarks);
            if table.unreadable || table.is_missing() {
                table.findings().for_each(|(_, message)| console.message_about(&table.path, message));
            }
            if let Some(filter) = table.filter.as_mut().filter(|_| list_filters) {
                filter.list = found.filters;
            }
            write_line(console, &*table)
        }
        InspectLine::Other(other) => {
            for note in &other.frame.notes {
                console.message_about(&other.verified.path, note);
            }
            write_line(console, &*other)
        }
        InspectLine::Unreadable(unreadable) => {
            console.message_about(&unreadable.path, &unreadable.error);
            write_line(console, &unreadable)
        }
        InspectLine::Totals(totals) => write_line(console, &totals),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn what_was_not_looked_at_counts_even_if_unreadable_files_do_not() {
        let status = |outcome: InspectOutcome| {
            let arguments = Line::parse_from(["inspect", "--keep-going", "db"]).arguments;
            arguments.status(&outcome)
        };
        let unreadable = InspectOutcome { unreadable: true, damage: true, ..Default::default() };
        assert_eq!(status(unreadable.clone()), 0);
        assert_eq!(status(InspectOutcome { list_failed: true, ..unreadable.clone() }), EXIT_ERROR);
    }
}
