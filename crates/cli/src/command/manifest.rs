//! `filterblock manifest`: the records of a MANIFEST.

use std::path::PathBuf;

use clap::Args;
use filterblock_engine::report::ManifestLine;
use filterblock_engine::{Engine, Inputs};

use crate::io::{Console, EXIT_ERROR};
use crate::text;

/// The exit status if the MANIFEST is damaged, ends within a record, or has a fault that LevelDB takes no notice of.
const EXIT_DAMAGED: u8 = 1;

/// Show the records of a database's MANIFEST and the tables that are live
///
/// Each record lists changes: tables that became live or are no longer live, and numbers of files
/// and writes. The live tables by level and the state follow.
///
/// Records after damage are shown, but not used for the live tables, because a record before them
/// is missing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A database folder, whose CURRENT names the MANIFEST, or a MANIFEST by itself
    #[arg(value_name = "DB")]
    path: PathBuf,
    /// Write JSON, one object a line: records and faults, live tables, then the state
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  filterblock manifest ~/db                    the history of the tables of a database
  filterblock manifest ~/db/MANIFEST-000004    of a MANIFEST that CURRENT does not name
  filterblock manifest --json ~/db | jq 'select(.object == \"table\") | .number'

Exit status: 0 all is sound; 1 the MANIFEST is damaged, misses tables, names a log that is
missing, or has a fault that LevelDB takes no notice of, and what can be read is shown; 2 it
cannot be read, and anything else; 141 the reader of the output went away.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let inputs = Inputs { paths: vec![arguments.path.clone()], ..Inputs::default() };
    let mut show = |line: ManifestLine<'_>| {
        if let ManifestLine::Fault(subject, fault) = &line {
            console.message_about(subject.path, &fault.message);
        }
        if let ManifestLine::State(subject, _) = &line
            && arguments.json
        {
            console.remarks(subject.remarks);
        }
        if arguments.json { line.write_json(&mut *console) } else { text::manifest::write(&line, console) }
    };
    let outcome = Engine::new().manifest(inputs, &mut show);
    console.finish(outcome.map(|outcome| match outcome {
        outcome if outcome.has_failed => EXIT_ERROR,
        outcome if outcome.is_damaged => EXIT_DAMAGED,
        _ => 0,
    }))
}
