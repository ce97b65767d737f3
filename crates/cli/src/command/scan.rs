//! `filterblock scan`: the entries of databases, tables and logs.

use std::ffi::OsString;

use clap::Args;
use filterblock_engine::report::{End, Entry, FaultAt, ScanLine, write_line};
use filterblock_engine::{KeyRange, ScanOutcome, ScanRequest};

use super::arguments::{KeyOrder, Limits, Paths, StoredKeys};
use super::keys::{bytes_of, unhex};
use crate::io::{Console, EXIT_ERROR};
use crate::text::{Entries, ValuePart, write_raw};

/// The exit status if there was damage, which was skipped.
const EXIT_DAMAGED: u8 = 1;

/// Show the entries of databases, tables and logs
///
/// For a database: the newest version of each key, in order, with its logs merged in. Keys that are deleted
/// are left out. For a table given by itself: the same, but only from this table. For a log (.log): its
/// writes in the order in which they were made. With --all, every version and every deletion, including those
/// in obsolete files, with sequence number, type, state and place.
///
/// A line is a key, a tab and a value, both escaped as in all output. With --hex, `filterblock build
/// --hex` reads the lines.
///
/// A damaged block is skipped and reported. Older versions of its keys may then be shown.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// Show every version of each key and every deletion, with sequence number, type, state (live,
    /// obsolete, unlisted, unknown or log), and file and offset of its block or record
    #[arg(long)]
    all: bool,
    /// Find the data blocks of tables by their checksums, without footer and index
    ///
    /// For tables that were cut off or whose index is damaged, even within other files. Blocks of up to 16
    /// MiB are found; directly after damage, blocks of up to 1 MiB. Tables and logs of a folder are shown one by one.
    #[arg(long)]
    carve: bool,
    /// Correct one wrong bit of each data block, of the footer or index, and of each fragment of logs and
    /// the MANIFEST
    ///
    /// The wrong bit is found with the checksum, if only one bit fits it. A corrected block has to decode, with
    /// its keys in order and within the bounds that the index gives. Each correction is reported on standard
    /// error. The files stay as they are.
    #[arg(long, conflicts_with = "carve")]
    correct: bool,
    /// Show only keys
    #[arg(long, conflicts_with = "sizes")]
    keys: bool,
    /// Show the sizes of values instead of the values
    #[arg(long)]
    sizes: bool,
    /// Only keys that begin with this
    #[arg(long, value_name = "KEY")]
    prefix: Option<OsString>,
    /// Only this key and the keys after it, in bytewise order
    #[arg(long, value_name = "KEY")]
    from: Option<OsString>,
    /// Only keys before this key, in bytewise order
    #[arg(long, value_name = "KEY")]
    to: Option<OsString>,
    /// Show at most this many entries
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Show keys and values in hexadecimal; the keys given as options are in hexadecimal too, or escaped
    /// as results show them
    #[arg(long)]
    hex: bool,
    /// Write raw bytes: each key, then its value unless --keys is given, each after its length in four
    /// little-endian bytes. With --hex, only the keys given as options are in hexadecimal
    #[arg(long, conflicts_with_all = ["all", "json", "sizes"])]
    raw: bool,
    #[command(flatten)]
    limits: Limits,
    /// The order of the keys of a database without a sound MANIFEST; if not given, the tables and logs of
    /// such a database are shown one by one
    #[arg(long, value_name = "ORDER")]
    comparator: Option<KeyOrder>,
    /// The format of the keys of tables outside databases; by default, that of each table's filters or first
    /// keys
    #[arg(long, value_name = "FORMAT")]
    key_format: Option<StoredKeys>,
    /// Write one JSON object a line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  filterblock scan ~/db                            all keys and values
  filterblock scan --keys --prefix user/ ~/db      only keys that begin with user/
  filterblock scan --all --from k1 --to k2 ~/db    every version of the keys from k1 to before k2
  filterblock scan 000005.ldb | head               the first entries of a table
  filterblock scan --hex ~/db | filterblock build --hex --sorted - copy.ldb
  filterblock scan --carve --all damaged.ldb       what is left of a table without its index
  filterblock scan --correct ~/db                  with one wrong bit of each block corrected
  filterblock scan --raw ~/db > entries            lengths and bytes, for programs
  filterblock scan --json --sizes ~/db | jq -s 'map(.value_size) | add'

Exit status: 0 all was shown; 1 something is damaged and was passed over;
141 the reader of the output went away; 2 anything else, such as a limit that was
reached (--max-output).";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    if arguments.raw && console.is_terminal() {
        return Err("entries as they are stored are not text: redirect them".to_owned());
    }
    let request = arguments.request()?;
    let engine = arguments.limits.engine(None, console).order(arguments.comparator.map(KeyOrder::known));
    let mut entries = arguments.entries();
    let mut show = |line: ScanLine<'_>| match line {
        ScanLine::Entry(input, row) if arguments.json => {
            write_line(&mut *console, &Entry::new(input, &row, entries.value == ValuePart::Whole))
        }
        ScanLine::Entry(_, row) if arguments.raw => write_raw(&row, !arguments.keys, console),
        ScanLine::Entry(_, row) => entries.write(&row, console),
        ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
            console.message_about(subject.path, &fault.message);
            if arguments.json { write_line(&mut *console, &FaultAt::new(subject, fault)) } else { Ok(()) }
        }
        ScanLine::End(subject, entries) => {
            console.remarks(subject.remarks);
            if arguments.json { write_line(&mut *console, &End::new(subject, entries)) } else { Ok(()) }
        }
    };
    let outcome = engine.scan(arguments.paths.inputs(), &request, &mut show);
    Ok(console.finish(outcome.map(|outcome| arguments.status(&outcome))))
}

impl Arguments {
    /// The request. Fails with a message about a key that is not valid.
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

    const fn status(&self, outcome: &ScanOutcome) -> u8 {
        match outcome {
            ScanOutcome { list_failed: false, .. } if self.paths.sources.keep_going => 0,
            ScanOutcome { has_failed: true, .. } => EXIT_ERROR,
            ScanOutcome { is_damaged: true, .. } => EXIT_DAMAGED,
            _ => 0,
        }
    }

    /// The parts of each entry that are shown.
    const fn entries(&self) -> Entries {
        let value = match () {
            () if self.keys => ValuePart::None,
            () if self.sizes => ValuePart::Size,
            () => ValuePart::Whole,
        };
        Entries::new(value, self.all, self.hex)
    }

    /// The range of keys that are shown. Fails with a message about a key that is not valid.
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
