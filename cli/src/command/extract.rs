//! `filterblock extract`: writes the bare filter block of a table.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use filterblock::table::Table;
use filterblock_engine::{open_file, why_no_filter};

use super::arguments::Limits;
use crate::exit::EXIT_ERROR;
use crate::io::{Console, WholeFile};

/// The table was opened, but has no filter block that could be read.
const EXIT_NO_FILTER: u8 = 1;

/// Write the bare filter block of a table to standard output
///
/// The block comes as it lies in the table, without compression type and checksum behind it, also
/// where its offsets are malformed. `filterblock inspect --block` takes it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table
    table: PathBuf,
    /// Write to this file instead, which appears whole or not at all
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

Exit status: 0 written; 1 the table has no filter block that could be had;
141 the reader of the output went away; 2 anything else.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let path = &arguments.table;
    if arguments.output.is_none() && console.is_terminal() {
        console.message("a filter block is not text: redirect it, or name a file with --output");
        return EXIT_ERROR;
    }
    let file = match open_file(path, false) {
        Ok(file) => file,
        Err(error) => {
            console.message_about(path, error);
            return EXIT_ERROR;
        }
    };
    let table = match Table::open(file, &arguments.limits.read_options().meter(console.meter())) {
        Ok(table) => table,
        Err(error) => {
            console.message_about(path, error);
            return EXIT_ERROR;
        }
    };
    let Some(filter) = table.filter() else {
        console.message_about(path, why_no_filter(&table));
        return EXIT_NO_FILTER;
    };
    match &arguments.output {
        None => {
            let result = console.write_all(filter.contents());
            console.finish(result, 0)
        }
        Some(output) => match write_file(output, path, filter.contents()) {
            Ok(()) => 0,
            Err(error) => {
                console.message_about(output, error);
                EXIT_ERROR
            }
        },
    }
}

fn write_file(output: &Path, table: &Path, contents: &[u8]) -> io::Result<()> {
    let file = WholeFile::create(output, true, Some(table))?;
    let mut writer = file.writer()?;
    writer.write_all(contents)?;
    writer.flush()?;
    file.finish()
}
