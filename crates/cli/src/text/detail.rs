//! One table in detail.

use std::{fmt::Display, io};

use filterblock::{escape, escape_path};
use filterblock_engine::{
    report::{Depth, Dialect, DistinctKeys, FilterBlock, Filters, Inspected, KeyFormat, LargerRanges, Table},
    words::{
        FillBins, count, counted, counted_as, measured, or_dash, percent, rate_interval, ratio, size,
        versions_text,
    },
};

use super::{filter_list, labelled::terminal_lines, list, pictures};
use crate::io::{Console, Tone};

const LABEL_WIDTH: usize = 15;
/// The width of a bar, in characters.
const BAR_WIDTH: usize = 20;
/// The greatest width of the picture of how full filters are along a table, in characters.
const MAX_FILL_WIDTH: usize = 78;
/// The smallest width of the picture of how full filters are along a table, in characters.
const MIN_FILL_WIDTH: usize = 8;

/// Writes the facts about a table. `list_filters`: its filters are listed as well.
pub(crate) fn write(found: &Inspected, list_filters: bool, console: &mut Console) -> io::Result<()> {
    let Inspected { table, filters } = found;
    console.line(Tone::Title, escape_path(&table.path), "")?;
    if let Some(bytes) = table.file_size {
        line(console, "size", exact_size(bytes))?;
    }
    if let Some(is_live) = table.live {
        line(console, "in the database", record_text(table, is_live))?;
    }
    if table.is_opened() {
        data(table, console)?;
    }
    match &table.filter {
        Some(filter) => {
            filter_block(filter, table, filters.as_ref(), console)?;
            hash(table, console)?;
            larger_ranges(filter, console)?;
        }
        None if table.is_opened() => no_filter(table, console)?,
        None => {}
    }
    if table.depth == Some(Depth::Tail) {
        toned_line(console, "depth", Tone::Dim, list::TAIL_NOTE)?;
    }
    for (what, finding) in table.findings() {
        let lines = terminal_lines(console, LABEL_WIDTH + 4, finding);
        for (number, line) in lines.iter().enumerate() {
            let what = if number == 0 { what } else { "" };
            console.line(Tone::Bad, format!("  {what:LABEL_WIDTH$}  "), line)?;
        }
    }
    filters.iter().filter(|_| list_filters).try_for_each(|filters| filter_list::write(filters, console))
}

fn line(console: &mut Console, label: &str, text: impl Display) -> io::Result<()> {
    toned_line(console, label, Tone::Plain, text)
}

fn toned_line(console: &mut Console, label: &str, tone: Tone, text: impl Display) -> io::Result<()> {
    let lines = terminal_lines(console, LABEL_WIDTH + 4, &text.to_string());
    for (number, line) in lines.into_iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        let label = console.tone(Tone::Dim, format!("{label:LABEL_WIDTH$}"));
        let line = console.tone(tone, line);
        writeln!(console, "  {label}  {line}")?;
    }
    Ok(())
}

fn record_text(table: &Table, is_live: bool) -> String {
    let order = table.comparator.as_ref().map_or_else(|| "no order named".to_owned(), ToString::to_string);
    match (table.level, table.recorded_size) {
        (Some(level), Some(size)) if is_live => {
            format!("live on level {level}, recorded with {}, keys by {order}", exact_size(size))
        }
        _ => format!("unused, keys by {order}"),
    }
}

fn exact_size(bytes: u64) -> String {
    if bytes < 1024 { counted(bytes, "byte") } else { format!("{} ({} bytes)", size(bytes), count(bytes)) }
}

fn data(table: &Table, console: &mut Console) -> io::Result<()> {
    line(console, "data blocks", or_dash(table.data_blocks.map(count)))?;
    line(console, "entries", or_dash(table.entries.map(|count| count_text(count.into()))))?;
    line(console, "distinct keys", or_dash(table.distinct_keys.map(count_text)))?;
    if let Some(names) = table.compression.as_ref().filter(|names| !names.is_empty()) {
        let is_all = table.depth != Some(Depth::Sample) || table.entries.is_none_or(|count| count.exact);
        let of = if is_all { "" } else { ", in the data blocks read" };
        line(console, "compression", format_args!("{}{of}", names.join(", ")))?;
    }
    line(console, "metaindex", list::metaindex_names(table))?;
    origin(table, console)
}

fn count_text(number: DistinctKeys) -> String {
    let (low, high) = (count(number.low), count(number.high));
    match number.count {
        Some(number_of) if number.exact => count(number_of),
        Some(number_of) => {
            format!("about {}, likely {low} to {high}: estimated from some data blocks", count(number_of))
        }
        None => format!("{low} to {high}"),
    }
}

fn filter_block(
    filter: &FilterBlock,
    table: &Table,
    filters: Option<&Filters>,
    console: &mut Console,
) -> io::Result<()> {
    let assumed = if filter.policy_assumed { ", assumed: --policy names another" } else { "" };
    line(console, "filter policy", format_args!("{}{assumed}", escape(filter.policy.as_bytes())))?;
    if table.is_opened() && table.depth != Some(Depth::Tail) {
        let text = match (table.key_format, &table.no_key_format) {
            (Some(KeyFormat::Internal), _) => "user keys, the user part of internal keys".to_owned(),
            (Some(KeyFormat::User), _) => "whole keys".to_owned(),
            (None, reason) => {
                format!("user keys or whole keys cannot be told: {}", reason.as_deref().unwrap_or_default())
            }
        };
        line(console, "filters are of", text)?;
    }
    let base_lg = filter.base_lg;
    let range = match list::range(base_lg) {
        Some(range) => format!("{range} of data blocks a filter (base_lg {base_lg})"),
        None => format!("none (base_lg {base_lg}, beyond 63)"),
    };
    line(console, "range", range)?;
    line(
        console,
        "filters",
        format_args!("{}, {} of them empty", count(filter.filters), count(filter.empty_filters)),
    )?;
    let share = ratio(filter.bits_set, filter.bits);
    let (bits, set) = (count(filter.bits), percent(share));
    let bar = console.signs().filter(|_| filter.bits > 0);
    let bar = bar.map(|signs| format!("  {}", pictures::bar(share, BAR_WIDTH, signs))).unwrap_or_default();
    line(console, "bits", format_args!("{bits}, {set} of them set{bar}"))?;
    if let Some(text) = versions_text(table) {
        toned_line(console, "", Tone::Dim, text)?;
    }
    if let Some(filters) = filters {
        fill(filter.filters, filters, console)?;
    }
    let probes = match filter.probes {
        None if filter.filters > filter.empty_filters => "differ from filter to filter".to_owned(),
        probes => or_dash(probes),
    };
    line(console, "probes (k)", probes)?;
    rates(filter, console)?;
    let array = size(filter.offset_array_bytes);
    let filters = size(filter.size.saturating_sub(filter.offset_array_bytes).saturating_sub(5));
    let at = if table.is_opened() { format!(", at offset {}", filter.offset) } else { String::new() };
    line(
        console,
        "filter block",
        format_args!("{}: filters {filters}, offsets {array}{at}", size(filter.size)),
    )
}

/// Writes how full the filters are along the table, if there are several and results go to a terminal that is wide
/// enough.
fn fill(number: u64, filters: &Filters, console: &mut Console) -> io::Result<()> {
    let Some(signs) = console.signs().filter(|_| number > 1) else { return Ok(()) };
    // The label with the spaces around it, and the brackets.
    const AROUND: usize = LABEL_WIDTH + 6;
    let room = console.width().map_or(MAX_FILL_WIDTH, |width| width.saturating_sub(AROUND));
    if room < MIN_FILL_WIDTH {
        return Ok(());
    }
    let fill = FillBins::of_block(filters, room.min(MAX_FILL_WIDTH));
    line(console, "fill by range", pictures::fill_line(&fill, signs))?;
    let each = number.div_ceil(fill.bins.len().max(1) as u64);
    let what = if each > 1 {
        format!("up to {} a sign", counted(each, "filter"))
    } else {
        "a filter a sign".to_owned()
    };
    toned_line(console, "", Tone::Dim, format_args!("{what}, blank: no keys"))
}

/// Writes the rates of false positives: those measured, and the one estimated from the bits set.
fn rates(filter: &FilterBlock, console: &mut Console) -> io::Result<()> {
    let mut label = "false positives";
    for (rate, keys) in
        [(filter.random_fpr, "random keys"), (filter.neighbour_fpr, "stored keys changed or made longer")]
    {
        let Some(rate) = rate else { continue };
        let (share, interval, asked) = (measured(rate), rate_interval(rate), count(rate.asked));
        line(
            console,
            label,
            format_args!("{share} of {keys} ({interval} with 95 % confidence, {asked} asked)"),
        )?;
        label = "";
    }
    let estimated = filter.estimated_fpr.map(|rate| format!("{} by the bits set", percent(rate)));
    line(console, label, or_dash(estimated))
}

/// Writes which hash the filters use, if the policy's name leaves that open.
fn hash(table: &Table, console: &mut Console) -> io::Result<()> {
    let text = match table.dialect {
        Some(Dialect::Unsigned) => "unsigned: goleveldb, or LevelDB up to 1.17 on ARM",
        Some(Dialect::Signed) => "signed: LevelDB up to 1.17 on x86, or Riak",
        Some(Dialect::Either) => "signed or unsigned: the keys tried fit both",
        _ => return Ok(()),
    };
    line(console, "hash of tails", text)
}

/// Writes what larger ranges would save, if that is at least a fifth of the filter block.
fn larger_ranges(filter: &FilterBlock, console: &mut Console) -> io::Result<()> {
    let is_worth = |larger: &LargerRanges| larger.saves.saturating_mul(5) >= filter.size;
    let Some(larger) = filter.larger_ranges.filter(is_worth) else { return Ok(()) };
    let saves = size(larger.saves);
    let rate = larger.rate.map(|rate| format!(", false positives then {}", percent(rate)));
    let base_lg = larger.base_lg;
    let empty = filter.empty_filter_bytes;
    let empty = if empty > 0 { format!("; empty filters take {}", size(empty)) } else { String::new() };
    let rate = rate.unwrap_or_default();
    line(console, "larger ranges", format_args!("base_lg {base_lg} would save about {saves}{rate}{empty}"))
}

/// Writes the name of the LevelDB relative that wrote the table, if the table has its marks,
/// and lists the parts that are not judged or read for that reason.
fn origin(table: &Table, console: &mut Console) -> io::Result<()> {
    let text = match table.origin {
        Some(Dialect::Basho) => "Basho's LevelDB (Riak): bloom2 filters under LevelDB's name are not judged",
        Some(Dialect::Rocksdb) => {
            "RocksDB, oldest format: its filters are not judged, not all its codecs are read"
        }
        _ => return Ok(()),
    };
    line(console, "written by", text)
}

fn no_filter(table: &Table, console: &mut Console) -> io::Result<()> {
    let names: Vec<_> = table.filter_names().map(|name| escape(name).to_string()).collect();
    if table.filter_error.is_some() {
        return line(console, "filter", "cannot be used");
    }
    if !names.is_empty() {
        return line(
            console,
            "filter",
            format_args!("of a policy that is not known here: {}", names.join(", ")),
        );
    }
    line(console, "filter", "none")?;
    let Some(cost) = table.filter_cost else { return Ok(()) };
    let about = if cost.entries.exact { "" } else { "about " };
    let (bytes, entries) = (size(cost.size), counted_as(cost.entries.count, "entry", "entries"));
    let estimate =
        format!("about {bytes} at {} bits a key, for {about}{entries} (an estimate)", cost.bits_per_key);
    line(console, "one would cost", estimate)
}
