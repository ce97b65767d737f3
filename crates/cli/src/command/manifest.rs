//! `filterblock manifest`: the records of a MANIFEST.

use std::path::PathBuf;

use clap::Args;
use filterblock_engine::report::ManifestLine;
use filterblock_engine::{Engine, Inputs};

use super::arguments::exit_status;
use super::help;
use crate::io::Console;
use crate::text;

/// Show which tables a database uses
///
/// The state that the MANIFEST describes, and the tables in use by level. --records prints its history. Records after
/// damage are shown, but do not count.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, "", &STATUSES))]
pub(crate) struct Arguments {
    /// A database, or a MANIFEST by itself
    #[arg(value_name = "DB")]
    path: PathBuf,
    /// Print every record
    #[arg(long)]
    records: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "  filterblock manifest ~/db
  filterblock manifest ~/db/MANIFEST-000004  one that CURRENT does not name
  filterblock manifest --json ~/db | jq 'select(.object == \"table\").number'";
const STATUSES: [(u8, &str); 3] = [(0, "fine"), (1, "damaged"), (2, "it could not be read, or wrong usage")];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let inputs = Inputs { paths: vec![arguments.path.clone()], ..Inputs::default() };
    let mut text = text::manifest::TextManifest::new(arguments.records);
    let mut show = |line: ManifestLine<'_>| {
        if !arguments.json {
            return text.line(&line, console);
        }
        if let ManifestLine::Fault(subject, fault) = &line {
            console.message_about(subject.path, &fault.text);
            console.remarks(subject.remarks);
        }
        line.write_json(&mut *console)
    };
    let outcome = Engine::new().manifest(inputs, &mut show);
    text.end(console);
    console.finish(outcome.map(|outcome| exit_status(&outcome, false)))
}
