//! `filterblock scan`: the entries of databases, tables and logs.

use std::ffi::OsString;

use clap::Args;
use filterblock_engine::report::{EndData, EntryData, FaultData, ScanLine, write_line};
use filterblock_engine::{KeyRange, ScanRequest};

use super::arguments::{KeyOrder, Limits, Paths, StoredKeys, exit_status};
use super::help::{self, ADVANCED};
use super::keys::{bytes_of, unhex};
use crate::io::Console;
use crate::text::{Entries, ValuePart, write_raw};

/// Print the entries of databases, tables and logs
///
/// Of a database: each key once, with its newest value, logs included. Of a table or log by itself: what it holds. A
/// line is a key, a tab and a value, escaped; with --hex, `filterblock build --hex` reads the lines back.
///
/// A damaged block is skipped and reported on standard error. Older values of its keys may then be shown.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES_LONG, "", &STATUSES))]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Print keys only
    #[arg(long, conflicts_with = "sizes")]
    keys: bool,
    /// Only keys that begin with KEY
    #[arg(long, value_name = "KEY")]
    prefix: Option<OsString>,
    /// Only KEY and the keys after it
    #[arg(long, value_name = "KEY")]
    from: Option<OsString>,
    /// Only keys before KEY
    #[arg(long, value_name = "KEY")]
    to: Option<OsString>,
    /// At most N entries
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Every version and deletion that is still in the files, with sequence number, state, file and offset
    #[arg(long)]
    all: bool,
    /// Search tables for blocks by their checksums, without index, footer and MANIFEST
    #[arg(long)]
    carve: bool,
    /// Correct one wrong bit per block; the files stay as they are
    #[arg(long, conflicts_with = "carve")]
    correct: bool,
    /// Keys and values in hexadecimal
    #[arg(long)]
    hex: bool,
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Print sizes of values instead of values
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    sizes: bool,
    /// Print bytes: each key and value after its length, four bytes, little-endian
    #[arg(long, conflicts_with_all = ["all", "json", "sizes"], help_heading = ADVANCED, hide_short_help = true)]
    raw: bool,
    /// The order of keys if no MANIFEST names one: bytewise
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    comparator: Option<KeyOrder>,
    /// The keys of tables outside databases: internal or user [default: found out from the table]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    key_format: Option<StoredKeys>,
    #[command(flatten)]
    limits: Limits,
}

const EXAMPLES: &str = "  filterblock scan ~/db
  filterblock scan --keys --prefix user/ ~/db
  filterblock scan --all --from k1 --to k2 ~/db  also old and deleted";
const EXAMPLES_LONG: &str = "  filterblock scan ~/db
  filterblock scan --keys --prefix user/ ~/db
  filterblock scan --all --from k1 --to k2 ~/db  also old and deleted
  filterblock scan --carve --all broken.ldb      a table without its index
  filterblock scan --hex ~/db | filterblock build --hex --sorted - new.ldb";
const STATUSES: [(u8, &str); 3] = [
    (0, "everything was printed"),
    (1, "something damaged was skipped"),
    (2, "something could not be read, or wrong usage"),
];

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    if arguments.raw && console.is_terminal() {
        return Err("entries as they are stored are not text: redirect them".to_owned());
    }
    let request = arguments.request()?;
    let engine = arguments.limits.engine(None, console).order(arguments.comparator.map(KeyOrder::known));
    let mut entries = arguments.entries();
    let show = |line: ScanLine<'_>| match line {
        ScanLine::Entry(input, row) if arguments.json => {
            write_line(&mut *console, &EntryData::new(input, &row, entries.value == ValuePart::Whole))
        }
        ScanLine::Entry(_, row) if arguments.raw => write_raw(&row, !arguments.keys, console),
        ScanLine::Entry(_, row) => entries.write(&row, console),
        ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
            console.message_about(subject.path, &fault.text);
            console.remarks(subject.remarks);
            if arguments.json { write_line(&mut *console, &FaultData::new(subject, fault)) } else { Ok(()) }
        }
        ScanLine::End(subject, entries) => {
            console.remarks(subject.remarks);
            if arguments.json { write_line(&mut *console, &EndData::new(subject, entries)) } else { Ok(()) }
        }
    };
    let outcome = engine.scan(arguments.paths.inputs(), request).for_each(show);
    Ok(console.finish(outcome.map(|outcome| exit_status(&outcome, arguments.paths.sources.keep_going))))
}

impl Arguments {
    fn request(&self) -> Result<ScanRequest, String> {
        Ok(ScanRequest {
            all: self.all,
            carve: self.carve,
            correct: self.correct,
            range: self.range()?,
            limit: self.limit,
            internal_keys: self.key_format.map(StoredKeys::are_internal),
        })
    }

    const fn entries(&self) -> Entries {
        let value = match () {
            () if self.keys => ValuePart::None,
            () if self.sizes => ValuePart::Size,
            () => ValuePart::Whole,
        };
        Entries::new(value, self.all, self.hex)
    }

    fn range(&self) -> Result<KeyRange, String> {
        let key = |option: &str, given: &Option<OsString>| {
            let Some(given) = given else { return Ok(None) };
            let bytes = bytes_of(given.clone(), &option)?;
            let bytes =
                if self.hex { unhex(&bytes).map_err(|error| format!("{option}: {error}"))? } else { bytes };
            Ok::<_, String>(Some(bytes))
        };
        Ok(KeyRange {
            prefix: key("--prefix", &self.prefix)?,
            from: key("--from", &self.from)?,
            to: key("--to", &self.to)?,
        })
    }
}
