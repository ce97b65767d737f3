//! `filterblock extract`: writes the bare filter block of a table.

use std::{io::Write as _, path::PathBuf};

use clap::Args;
use filterblock::table::Table;
use filterblock_engine::report::Fault;
use filterblock_engine::{LocalStorage, Storage as _, read_options, why_no_filter};

use super::arguments::about;
use super::help;
use super::reserved_names::{Output, check_name};
use crate::io::{Console, WholeFile};

/// The table was opened, but has no filter block that could be read.
const EXIT_NO_FILTER: u8 = 1;

/// Write the filter block of a table
///
/// Decompressed, without type and checksum, even if its offsets are malformed. `filterblock inspect --block` reads it.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, "", &STATUSES))]
pub(crate) struct Arguments {
    /// The table
    table: PathBuf,
    /// Write to FILE, not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "  filterblock extract 000005.ldb | filterblock inspect --block -
  filterblock extract 000005.ldb -o 000005.filter";
const STATUSES: [(u8, &str); 3] = [
    (0, "written"),
    (1, "the table has no filter block that can be read"),
    (2, "the table cannot be read, or wrong usage"),
];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let path = &arguments.table;
    if arguments.output.is_none() && console.is_terminal() {
        return Err("a filter block is not text: redirect it, or name a file with --output".to_owned());
    }
    if let Some(output) = &arguments.output {
        check_name(output, Output::Other)?;
    }
    let file = LocalStorage.open(path).map_err(|error| about(path)(Fault::from(error)))?;
    let options = read_options().meter(console.meter());
    let table = Table::open(file, &options).map_err(about(path))?;
    let Some(filter) = table.filter() else {
        console.message_about(path, why_no_filter(&table));
        return Ok(EXIT_NO_FILTER);
    };
    let Some(output) = &arguments.output else {
        let result = console.write_all(filter.contents());
        return Ok(console.finish(result.map(|()| 0)));
    };
    WholeFile::write(output, Some(path), filter.contents()).map_err(about(output))?;
    Ok(0)
}
