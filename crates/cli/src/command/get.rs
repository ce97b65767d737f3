//! `filterblock get`: the value of one key.

use std::io::Write as _;
use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use filterblock::{escape, table::Lookup};
use filterblock_engine::report::{EntryRef, ScanLine, StateFault, Verdict};
use filterblock_engine::{Inputs, KeyRange, ScanRequest};

use super::arguments::{KeyOrder, Limits, StoredKeys};
use super::help::{self, ADVANCED};
use super::keys;
use crate::io::{Console, EXIT_ERROR};
use crate::text::{Entries, ValuePart};

const EXIT_ABSENT: u8 = 1;

/// Print the value of one key
///
/// The newest value, logs included, as it is stored and without a line break; on a terminal, escaped and with one.
/// Filters are not used, so one with false negatives hides nothing.
///
/// If damage may hide a newer value, the value that is found is printed and the exit status is 2. If nothing is found
/// and the key may be in what is damaged or not listed, it is 2 as well, never 1.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, "", &STATUSES))]
pub(crate) struct Arguments {
    /// A database, a table or a log
    #[arg(value_name = "DB")]
    path: PathBuf,
    /// The key
    key: OsString,
    /// The key is in hexadecimal, or escaped as scan prints it
    #[arg(long)]
    hex: bool,
    /// Every version and deletion that is still in the files
    #[arg(long)]
    all: bool,
    /// The order of keys if no MANIFEST names one: bytewise
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    comparator: Option<KeyOrder>,
    /// The keys of tables outside databases: internal or user [default: found out from the table]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    key_format: Option<StoredKeys>,
}

const EXAMPLES: &str = "  filterblock get ~/db user/17 > value
  filterblock get --hex ~/db 0x6c00 | xxd
  filterblock get --all ~/db user/17  its history";
const STATUSES: [(u8, &str); 3] =
    [(0, "printed"), (1, "there is no such key"), (2, "that cannot be known, or wrong usage")];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let key = keys::read(vec![arguments.key.clone()], None, arguments.hex)?.swap_remove(0);
    // No other key is between a key and the same key followed by a zero byte.
    let range =
        KeyRange { from: Some(key.clone()), to: Some([&key[..], &[0]].concat()), ..KeyRange::default() };
    let internal_keys = arguments.key_format.map(StoredKeys::are_internal);
    let request = ScanRequest { all: arguments.all, range, internal_keys, ..ScanRequest::default() };
    let engine = Limits::default().engine(None, console).order(arguments.comparator.map(KeyOrder::known));
    let mut entries = Entries::new(ValuePart::Whole, true, arguments.hex);
    let mut newest: Option<(Option<u64>, Vec<u8>)> = None;
    let (mut doubts, mut is_skipped) = (Vec::<StateFault>::new(), false);
    let show = |line: ScanLine<'_>| {
        match line {
            ScanLine::Entry(_, row) if arguments.all => {
                newest = Some((None, Vec::new()));
                entries.write(&row, console)?;
            }
            ScanLine::Entry(_, row) => keep_newest(&mut newest, &row),
            ScanLine::State(_, fault, _) => doubts.push(fault.clone()),
            ScanLine::Fault(subject, fault) => console.message_about(subject.path, &fault.text),
            // What saves the whole database is no answer.
            ScanLine::End(subject, _) => {
                let remarks = subject.remarks.iter().filter(|remark| !remark.about.as_os_str().is_empty());
                remarks.for_each(|remark| console.message_about(&remark.about, &remark.text));
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
            let outcome = engine.scan(inputs, request).for_each(show);
            outcome.map(|outcome| {
                let (all, damaged) = (outcome.verdicts.all(), outcome.verdicts.of(Verdict::Damaged));
                is_skipped = damaged > 0 && damaged == all;
                all > 0
            })
        }
    };
    let result = is_unsure.and_then(|is_unsure| {
        let path = &arguments.path;
        for doubt in &doubts {
            console.message_about(path, doubt.in_lookup(newest.is_some()));
        }
        match (&newest, is_unsure) {
            (Some(_), true) if doubts.is_empty() => console.message_about(path, "there may be a newer value"),
            (None, false) => console.message_about(path, format_args!("no such key: \"{}\"", escape(&key))),
            (None, true) if doubts.is_empty() && is_skipped => {
                console.message_about(path, "not found, but it may be in what was skipped");
            }
            // The faults have been reported.
            _ => {}
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

/// Keeps the value with the highest sequence number: without a MANIFEST, each file yields its own version.
fn keep_newest(newest: &mut Option<(Option<u64>, Vec<u8>)>, row: &EntryRef<'_>) {
    let sequence = row.version.map(|version| version.sequence);
    if newest.as_ref().is_none_or(|(known, _)| *known < sequence) {
        *newest = Some((sequence, row.value.to_vec()));
    }
}
