//! `filterblock build`: builds a table from lines of key and value.

mod lines;

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use filterblock::table::{Compression, TableBuilder, TableSummary, WriteOptions};
use filterblock::{Error, escape, escape_path, quote};
use filterblock_engine::Policy;
use filterblock_engine::text::{count, counted, counted_as, size};
use lines::{KeyValue, Lines};

use super::arguments::{PolicyName, about};
use super::help::{self, ADVANCED};
use super::keys::{in_words, input_name, is_standard};
use super::reserved_names::{Output, check_name};
use crate::io::{Console, EXIT_OUTPUT_CLOSED, WatchedInput, WholeFile};

/// Make a table, with filters, of lines of key and value
///
/// Each line is a key, a tab and a value; a line without a tab is a key with an empty value. Lines are sorted in memory,
/// or with --sorted have to be sorted bytewise. No key may occur twice. The table appears complete or not at all.
#[derive(Args)]
#[command(after_help = help::short(EXAMPLES, &STATUSES), after_long_help = help::long(EXAMPLES, "", &STATUSES))]
pub(crate) struct Arguments {
    /// The lines; - is standard input
    input: PathBuf,
    /// The table; - is standard output
    output: PathBuf,
    /// Bits per key of the filters
    #[arg(long, value_name = "N", default_value_t = 10)]
    bits_per_key: u32,
    /// Write no filters
    #[arg(long, conflicts_with_all = ["bits_per_key", "policy", "base_lg"])]
    no_filter: bool,
    /// Keys and values are in hexadecimal, or escaped as scan prints them
    #[arg(long)]
    hex: bool,
    /// The lines are sorted already; any number can be read
    #[arg(long)]
    sorted: bool,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// The filter policy; may be given several times
    #[arg(long, value_name = "NAME", value_enum, default_values_t = [PolicyName(Policy::Builtin2)])]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    policy: Vec<PolicyName>,
    /// A filter for every 2^LG bytes of data blocks; 63: one per table
    #[arg(long, value_name = "LG", default_value_t = 11, value_parser = clap::value_parser!(u8).range(..=63), help_heading = ADVANCED, hide_short_help = true)]
    base_lg: u8,
    /// Size at which a data block ends
    #[arg(long, value_name = "BYTES", default_value_t = 4096, help_heading = ADVANCED, hide_short_help = true)]
    block_size: usize,
    /// Every Nth key is stored in full
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = ADVANCED, hide_short_help = true)]
    restart_interval: u32,
    /// none or snappy
    #[arg(long, value_enum, value_name = "CODEC", default_value_t = BlockCodec::Snappy, hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    compression: BlockCodec,
    /// Write internal keys, as in a database; the line number is the sequence number
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    internal_keys: bool,
}

const EXAMPLES: &str = "  filterblock build pairs.tsv new.ldb
  zcat pairs.tsv.gz | filterblock build - new.ldb
  LC_ALL=C sort -t\"$(printf '\\t')\" -k1,1 pairs.tsv |
    filterblock build --sorted - new.ldb";
const STATUSES: [(u8, &str); 2] = [(0, "made"), (2, "not made")];

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum BlockCodec {
    None,
    Snappy,
}

type Input = BufReader<Box<dyn Read>>;

/// The message for an error. `None`: the output was closed early.
type Failure = Option<String>;

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<u8, String> {
    let to_stdout = is_standard(&arguments.output);
    if to_stdout && console.is_terminal() {
        return Err("a table is not text: redirect it, or name a file".to_owned());
    }
    if !to_stdout {
        check_name(&arguments.output, Output::Table)?;
    }
    let input = open_input(&arguments.input)?;
    let built = match to_stdout {
        true => build(arguments, input, &mut *console),
        false => build_file(arguments, input),
    };
    let summary = match built {
        Ok(summary) => summary_text(arguments, &summary),
        Err(None) => return Ok(EXIT_OUTPUT_CLOSED),
        Err(Some(message)) => return Err(message),
    };
    if to_stdout {
        console.message(summary);
        return Ok(0);
    }
    let written = writeln!(console, "{summary}").and_then(|()| console.flush());
    // The table is there, so the status is 0 even if nobody reads the summary.
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let message = format_args!("built; its summary was not written: {error}");
        console.message_about(&arguments.output, message);
    }
    Ok(0)
}

fn output_name(path: &Path) -> String {
    if is_standard(path) { "standard output".to_owned() } else { escape_path(path).to_string() }
}

fn build_file(arguments: &Arguments, input: Input) -> Result<TableSummary, Failure> {
    let about_output = about::<io::Error>(&arguments.output);
    let input_path = (!is_standard(&arguments.input)).then_some(arguments.input.as_path());
    let file = WholeFile::create(&arguments.output, arguments.force, input_path).map_err(&about_output)?;
    let writer = file.writer().map_err(&about_output)?;
    let summary = build(arguments, input, writer)?;
    file.finish().map_err(about_output)?;
    Ok(summary)
}

fn open_input(path: &Path) -> Result<Input, String> {
    if is_standard(path) {
        return Ok(watched(io::stdin().lock(), None));
    }
    // The path is checked before it is opened, since Windows opens no folders.
    if path.is_dir() {
        return Err(about(path)("is a folder, not a file of lines"));
    }
    let file = File::open(path).map_err(|error| about(path)(in_words(&error)))?;
    let metadata = file.metadata().map_err(about(path))?;
    let len = metadata.is_file().then_some(metadata.len());
    Ok(watched(file, len))
}

fn watched(input: impl Read + 'static, len: Option<u64>) -> Input {
    BufReader::with_capacity(1 << 16, Box::new(WatchedInput::new(input, len)))
}

fn build(arguments: &Arguments, input: Input, output: impl Write) -> Result<TableSummary, Failure> {
    let builder = TableBuilder::new(output, write_options(arguments));
    let lines = Lines::new(input, input_name(&arguments.input), arguments.hex);
    let mut target = BuiltTable { builder, arguments, key: Vec::new(), last_line: 0 };
    match arguments.sorted {
        true => lines.into_iter().try_for_each(|entry| target.add(&entry?))?,
        false => sorted(lines, arguments.internal_keys)?.iter().try_for_each(|entry| target.add(entry))?,
    }
    let finished = target.builder.finish();
    // The builder has flushed the output.
    finished.map(|(_, summary)| summary).map_err(|error| in_output(error.into_error(), &arguments.output))
}

/// Of equal keys, the first line comes first; with internal keys, the last line does, as the newest version.
fn sorted(lines: Lines<Input>, internal_keys: bool) -> Result<Vec<KeyValue>, String> {
    let mut entries = lines.collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable_by(|a, b| {
        let by_line = a.line.cmp(&b.line);
        a.key.cmp(&b.key).then(if internal_keys { by_line.reverse() } else { by_line })
    });
    Ok(entries)
}

fn write_options(arguments: &Arguments) -> WriteOptions {
    let bits = arguments.bits_per_key;
    let wanted = PolicyName::value_variants().iter().filter(|name| arguments.policy.contains(name));
    let policies = wanted.filter(|_| !arguments.no_filter).map(|name| name.0.with_bits(bits)).collect();
    WriteOptions::default()
        .block_size(arguments.block_size)
        .restart_interval(arguments.restart_interval)
        .compression(match arguments.compression {
            BlockCodec::None => Compression::None,
            BlockCodec::Snappy => Compression::Snappy,
        })
        .filter_policies(policies)
        .base_lg(arguments.base_lg)
        .internal_keys(arguments.internal_keys)
}

/// Messages about keys out of order name the line of the last entry.
struct BuiltTable<'a, W: Write> {
    builder: TableBuilder<W>,
    arguments: &'a Arguments,
    /// The key being added, or the key of the last entry.
    key: Vec<u8>,
    last_line: u64,
}

impl<W: Write> BuiltTable<'_, W> {
    fn add(&mut self, entry: &KeyValue) -> Result<(), Failure> {
        self.key.clear();
        self.key.extend_from_slice(&entry.key);
        if self.arguments.internal_keys {
            /// The type of an entry that is a value, not a deletion.
            const TYPE: u64 = 1;
            self.key.extend_from_slice(&(entry.line << 8 | TYPE).to_le_bytes());
        }
        let result = self.builder.add(&self.key, &entry.value);
        result.map_err(|error| self.explain(error, entry))?;
        self.last_line = entry.line;
        Ok(())
    }

    /// The failure for an error in adding `entry`: a message about the line if the key is out of order.
    fn explain(&self, error: Error, entry: &KeyValue) -> Failure {
        let is_again = match &error {
            Error::KeyOrder { previous, key, .. } => previous == key,
            _ => return in_output(error, &self.arguments.output),
        };
        let input = input_name(&self.arguments.input);
        let key = quote(&entry.key);
        Some(if self.arguments.sorted && !is_again {
            let last = self.last_line;
            let line = entry.line;
            format!(
                "{input}: line {line}: expected a key after that of line {last}, found {key}; \
                 without --sorted, lines come in any order"
            )
        } else {
            let (first, second) = (self.last_line.min(entry.line), self.last_line.max(entry.line));
            format!("{input}: line {second}: expected every key once, found {key} of line {first} again")
        })
    }
}

fn in_output(error: Error, output: &Path) -> Failure {
    match error.without_path() {
        Error::Io { source, .. } if is_standard(output) && source.kind() == io::ErrorKind::BrokenPipe => None,
        error => Some(format!("{}: {error}", output_name(output))),
    }
}

fn summary_text(arguments: &Arguments, summary: &TableSummary) -> String {
    let mut text = format!(
        "{}: {} in {}, {}",
        output_name(&arguments.output),
        counted_as(summary.num_entries, "entry", "entries"),
        counted(summary.data_blocks, "data block"),
        size(summary.file_size),
    );
    for filters in &summary.filters {
        text += &format!(
            "; {}: {} ({} empty), {}",
            escape(filters.policy.as_bytes()),
            counted(filters.filters, "filter"),
            count(filters.empty_filters),
            size(filters.size),
        );
    }
    text
}
