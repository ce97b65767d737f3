//! `filterblock extract`: writes the bare filter block of a table.

use std::{io::Write as _, path::PathBuf};

use clap::Args;
use filterblock::table::Table;
use filterblock_engine::{open_file, why_no_filter};

use super::arguments::{Limits, about};
use super::reserved_names::{Output, check_name};
use crate::io::{Console, WholeFile};

/// The exit status if the table was opened, but has no filter block that could be read.
const EXIT_NO_FILTER: u8 = 1;

/// Write the bare filter block of a table to standard output
///
/// The block is written decompressed and without the compression type and checksum after it, even if
/// its offsets are malformed. `filterblock inspect --block` reads it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table to read
    table: PathBuf,
    /// Write to this file instead, which appears complete or not at all; its name may not be one that files of
    /// databases have
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
}

const EXAMPLES: &str = "\
Examples:
  filterblock extract 000005.ldb | filterblock inspect --block -
  filterblock extract 000005.ldb | xxd | less
  filterblock extract 000005.ldb -o 000005.filter

Exit status: 0 written; 1 the table opens, but has no filter block of a known policy that can be read;
141 the reader of the output went away; 2 anything else, such as a table that does not open.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let path = &arguments.table;
    if arguments.output.is_none() && console.is_terminal() {
        return Err("a filter block is not text: redirect it, or name a file with --output".to_owned());
    }
    if let Some(output) = &arguments.output {
        check_name(output, Output::Other)?;
    }
    let file = open_file(path, false).map_err(about(path))?;
    let options = arguments.limits.read_options().meter(console.meter());
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
