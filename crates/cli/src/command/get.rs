//! `filterblock get`: the value of one key.

use std::io::Write as _;
use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use filterblock::{escape, table::Lookup};
use filterblock_engine::report::{Row, ScanLine, StateFault};
use filterblock_engine::{Inputs, KeyRange, ScanRequest};

use super::arguments::{KeyOrder, Limits, StoredKeys};
use super::keys;
use crate::io::{Console, EXIT_ERROR};
use crate::text::{Entries, ValuePart};

/// The exit status if the key is certainly not there.
const EXIT_ABSENT: u8 = 1;

/// Write the value of one key to standard output
///
/// For a database: the newest value, with the logs merged in. For a table or a log given by itself: the newest
/// value in this file. The value is written as it is stored, without a line break after it. On a terminal, it
/// is escaped as in all output, and a line break follows. No filter is asked, so a filter that denies a stored
/// key does not hide it.
///
/// If something is damaged that may hide a newer value, the value that is found is still written, but the exit
/// status is 2. What LevelDB would not read to find the key hides nothing: older tables, tables whose keys end before
/// it or begin after it, and any table if the logs have the key.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A database folder, a table, or a log
    #[arg(value_name = "DB")]
    path: PathBuf,
    /// The key to look up
    key: OsString,
    /// The key is in hexadecimal, or escaped as results show it; --all then shows keys and values in hexadecimal
    #[arg(long)]
    hex: bool,
    /// Show every version of the key and every deletion, newest first, with sequence number, type, state
    /// and place, as `scan --all` does
    #[arg(long)]
    all: bool,
    /// The order of the keys of a database without a sound MANIFEST
    #[arg(long, value_name = "ORDER")]
    comparator: Option<KeyOrder>,
    /// The format of the keys of a table outside a database; by default, that of the table's filters or first keys
    #[arg(long, value_name = "FORMAT")]
    key_format: Option<StoredKeys>,
    #[command(flatten)]
    limits: Limits,
}

const EXAMPLES: &str = "\
Examples:
  filterblock get ~/db user/17 > value       the value as it is stored
  filterblock get --hex ~/db 0x6c00 | xxd    of a key that is no text
  filterblock get --all ~/db user/17         its history, as far as files still have it

Exit status: 0 the value is written; 1 the key is certainly not there; 2 something that the key depends on
is damaged or cannot be read, so that the key or a newer value may be lost, and anything else;
141 the reader of the output went away.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let key = keys::read(vec![arguments.key.clone()], None, arguments.hex)?.swap_remove(0);
    // No other key is between a key and the same key followed by a zero byte.
    let range =
        KeyRange { from: Some(key.clone()), to: Some([&key[..], &[0]].concat()), ..KeyRange::default() };
    let internal_keys = arguments.key_format.map(StoredKeys::are_internal);
    let request = ScanRequest { all: arguments.all, range, internal_keys, ..ScanRequest::default() };
    let engine = arguments.limits.engine(None, console).order(arguments.comparator.map(KeyOrder::known));
    let mut entries = Entries::new(ValuePart::Whole, true, arguments.hex);
    let mut newest: Option<(Option<u64>, Vec<u8>)> = None;
    let (mut doubts, mut is_doubted) = (Vec::<StateFault>::new(), false);
    let mut show = |line: ScanLine<'_>| {
        match line {
            ScanLine::Entry(_, row) if arguments.all => {
                newest = Some((None, Vec::new()));
                entries.write(&row, console)?;
            }
            ScanLine::Entry(_, row) => keep_newest(&mut newest, &row),
            ScanLine::State(_, fault, _) => doubts.push(fault.clone()),
            ScanLine::Fault(subject, fault) => console.message_about(subject.path, &fault.message),
            ScanLine::End(subject, _) => {
                is_doubted |= !doubts.is_empty();
                for doubt in doubts.drain(..) {
                    console.message_about(subject.path, doubt.in_lookup(newest.is_some()));
                }
                console.remarks(subject.remarks);
            }
        }
        Ok(())
    };
    let inputs = Inputs { paths: vec![arguments.path.clone()], ..Inputs::default() };
    let certain = if arguments.all { None } else { engine.look_up(&arguments.path, &key) };
    let is_unsure = match certain {
        Some(found) => {
            newest = if let Lookup::Value(value) = found { Some((None, value.to_vec())) } else { None };
            Ok(false)
        }
        None => {
            let outcome = engine.scan(inputs, &request, &mut show);
            outcome.map(|outcome| outcome.is_damaged || outcome.has_failed)
        }
    };
    let result = is_unsure.and_then(|is_unsure| {
        match (&newest, is_unsure) {
            (Some(_), false) => {}
            (Some(_), true) if !is_doubted => console.message("a newer value may be lost"),
            (None, false) => {
                console.message_about(&arguments.path, format_args!("has no key \"{}\"", escape(&key)));
            }
            // The faults have been reported.
            (_, true) => {}
        }
        match newest.as_ref().filter(|_| !arguments.all) {
            // The value's bytes might be commands for the terminal.
            Some((_, value)) if console.is_terminal() => writeln!(console, "{}", escape(value))?,
            Some((_, value)) => console.write_all(value)?,
            None => {}
        }
        Ok(match (newest.is_some(), is_unsure) {
            (_, true) => EXIT_ERROR,
            (true, false) => 0,
            (false, false) => EXIT_ABSENT,
        })
    });
    Ok(console.finish(result))
}

/// Keeps the value of the version with the highest sequence number, because without a MANIFEST each file yields its
/// own version.
fn keep_newest(newest: &mut Option<(Option<u64>, Vec<u8>)>, row: &Row<'_>) {
    let sequence = row.version.map(|version| version.sequence);
    if newest.as_ref().is_none_or(|(known, _)| *known < sequence) {
        *newest = Some((sequence, row.value.to_vec()));
    }
}
