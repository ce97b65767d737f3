//! One table in detail.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;

use filterblock::table::Origin;
use filterblock::{escape, escape_path};

use super::{filter_list, list, pictures};
use crate::io::console::{Console, Tone};
use filterblock_engine::audit::inspect::report::{FilterReport, TableReport};
use filterblock_engine::audit::stats::dialect::FittingHash;
use filterblock_engine::audit::stats::filter_cost::USUAL_BITS_PER_KEY;
use filterblock_engine::audit::stats::key_count::KeyCount;
use filterblock_engine::audit::stats::metaindex::short_name;
use filterblock_engine::audit::stats::ranges::{LargerRanges, OFFSET_ENTRY_LEN};
use filterblock_engine::audit::stats::sample::KeyFormat;
use filterblock_engine::audit::stats::table::TableStats;
use filterblock_engine::report::fetched::Depth;
use filterblock_engine::walk::record::TableRecord;
use filterblock_engine::words::compression::compression_names;
use filterblock_engine::words::fill_bins::FillBins;
use filterblock_engine::words::numbers::{count, counted, interval, measured, or_dash, percent, ratio, size};

const LABEL_WIDTH: usize = 15;
/// The widths of small pictures in signs: of a bar, and the most and the least for the fill of
/// filters along a table.
const BAR_WIDTH: usize = 20;
const MAX_FILL_WIDTH: usize = 78;
const MIN_FILL_WIDTH: usize = 8;

/// Writes all that is known of a table. `list_filters`: each filter too.
pub(crate) fn write(
    path: &Path,
    report: &TableReport<'_>,
    list_filters: bool,
    console: &mut Console,
) -> io::Result<()> {
    let title = console.tone(Tone::Title, escape_path(path));
    writeln!(console, "{title}")?;
    if let Some(bytes) = report.file_size {
        line(console, "size", exact_size(bytes))?;
    }
    if let Some(record) = report.record {
        line(console, "in the database", record_text(record))?;
    }
    let stats = report.stats.as_ref();
    if let Some(stats) = stats {
        table(stats, console)?;
    }
    match (&report.filter, stats) {
        (Some(filter), stats) => {
            filter_block(filter, stats, console)?;
            dialect(report, console)?;
        }
        (None, Some(stats)) => no_filter(stats, console)?,
        (None, None) => {}
    }
    for (what, finding) in report.findings() {
        let what = console.tone(Tone::Bad, format!("  {what:LABEL_WIDTH$}  "));
        writeln!(console, "{what}{finding}")?;
    }
    match &report.filter {
        Some(filter) if list_filters => filter_list::write(&filter.stats, stats, console),
        _ => Ok(()),
    }
}

fn line(console: &mut Console, label: &str, text: impl Display) -> io::Result<()> {
    let label = console.tone(Tone::Dim, format!("{label:LABEL_WIDTH$}"));
    writeln!(console, "  {label}  {text}")
}

fn record_text(record: TableRecord<'_>) -> String {
    let order = record
        .comparator
        .map_or_else(|| "no order named".to_owned(), |name| escape(&short_name(name)).to_string());
    match record.live {
        Some(live) => {
            format!("live on level {}, recorded with {}, keys by {order}", live.level, exact_size(live.size))
        }
        None => format!("obsolete, keys by {order}"),
    }
}

fn exact_size(bytes: u64) -> String {
    if bytes < 1024 { counted(bytes, "byte") } else { format!("{} ({} bytes)", size(bytes), count(bytes)) }
}

fn table(stats: &TableStats, console: &mut Console) -> io::Result<()> {
    let compression = compression_names(stats);
    line(console, "data blocks", count(stats.blocks.offsets.len()))?;
    line(console, "keys", or_dash(stats.keys.map(key_text)))?;
    if !compression.is_empty() {
        line(console, "compression", compression.join(", "))?;
    }
    line(console, "metaindex", list::metaindex_names(stats))?;
    origin(stats, console)
}

fn key_text(keys: KeyCount) -> String {
    if keys.exact {
        return count(keys.keys);
    }
    let (low, high) = (count(keys.low), count(keys.high));
    format!("about {}, likely {low} to {high}: estimated from some data blocks", count(keys.keys))
}

fn filter_block(filter: &FilterReport, stats: Option<&TableStats>, console: &mut Console) -> io::Result<()> {
    let summary = &filter.summary;
    let assumed = if filter.policy_assumed { ", assumed: --policy names another" } else { "" };
    line(console, "filter policy", format_args!("{}{assumed}", escape(filter.policy().as_bytes())))?;
    if let Some(stats) = stats.filter(|stats| stats.depth != Depth::Tail) {
        let text = match stats.sample.key_format() {
            Ok(KeyFormat::Internal) => "user keys, the user part of internal keys".to_owned(),
            Ok(KeyFormat::User) => "whole keys".to_owned(),
            Err(reason) => format!("user keys or whole keys cannot be told: {reason}"),
        };
        line(console, "filters are of", text)?;
    }
    let base_lg = filter.stats.reader().base_lg();
    let range = match list::range(base_lg) {
        Some(range) => format!("{range} of data blocks a filter (base_lg {base_lg})"),
        None => format!("none (base_lg {base_lg}, beyond 63)"),
    };
    line(console, "range", range)?;
    line(
        console,
        "filters",
        format_args!("{}, {} of them empty", count(summary.filters), count(summary.empty)),
    )?;
    let share = ratio(summary.bits_set, summary.bits);
    let (bits, set) = (count(summary.bits), percent(share));
    let bar = console.signs().filter(|_| summary.bits > 0);
    let bar = bar.map(|signs| format!("  {}", pictures::bar(share, BAR_WIDTH, signs))).unwrap_or_default();
    line(console, "bits", format_args!("{bits}, {set} of them set{bar}"))?;
    fill(filter, console)?;
    let probes = match summary.probes {
        None if summary.filters > summary.empty => "differ from filter to filter".to_owned(),
        probes => or_dash(probes),
    };
    line(console, "probes (k)", probes)?;
    rates(filter, stats.is_some(), console)?;
    let array = size(summary.array_bytes);
    let filters = size(filter.size.saturating_sub(summary.array_bytes).saturating_sub(5));
    let at = if stats.is_some() { format!(", at offset {}", filter.offset) } else { String::new() };
    line(
        console,
        "filter block",
        format_args!("{}: filters {filters}, offsets {array}{at}", size(filter.size)),
    )
}

/// Writes on a terminal how full the filters are along the table, if there are several.
fn fill(filter: &FilterReport, console: &mut Console) -> io::Result<()> {
    let Some(signs) = console.signs().filter(|_| filter.summary.filters > 1) else { return Ok(()) };
    // The label with the spaces around it, and the brackets.
    const AROUND: usize = LABEL_WIDTH + 6;
    let room = console.width().map_or(MAX_FILL_WIDTH, |width| width.saturating_sub(AROUND));
    if room < MIN_FILL_WIDTH {
        return Ok(());
    }
    let fill = FillBins::of_block(&filter.stats, room.min(MAX_FILL_WIDTH));
    line(console, "fill by range", pictures::fill_line(&fill, signs))?;
    let each = filter.summary.filters.div_ceil(fill.bins.len().max(1) as u64);
    let what = if each > 1 {
        format!("up to {} a sign", counted(each, "filter"))
    } else {
        "a filter a sign".to_owned()
    };
    let what = console.tone(Tone::Dim, format!("{what}, blank: no keys"));
    line(console, "", what)
}

/// Writes the rates of false positives: those measured, and that by the bits set.
fn rates(filter: &FilterReport, has_table: bool, console: &mut Console) -> io::Result<()> {
    let mut label = "false positives";
    for (rate, keys) in
        [(filter.random_rate, "random keys"), (filter.neighbour_rate, "keys near stored ones")]
    {
        let Some(rate) = rate else { continue };
        let (share, interval, asked) = (measured(rate), interval(rate), count(rate.asked));
        line(
            console,
            label,
            format_args!("{share} of {keys} ({interval} with 95 % confidence, {asked} asked)"),
        )?;
        label = "";
    }
    let over = if has_table { "data blocks" } else { "filters" };
    let estimated =
        filter.rate.map(|rate| format!("{} by the bits set, the mean over the {over}", percent(rate)));
    line(console, label, or_dash(estimated))
}

/// Writes what the policy's name leaves open, and what larger ranges would save.
fn dialect(report: &TableReport<'_>, console: &mut Console) -> io::Result<()> {
    let hash = report.stats.as_ref().and_then(|stats| stats.sample.fitting_hash());
    if let Some(hash) = hash {
        let text = match hash {
            FittingHash::Unsigned => "unsigned: goleveldb, or LevelDB up to 1.17 on ARM",
            FittingHash::Signed => "signed: LevelDB up to 1.17 on x86, or Riak",
            FittingHash::Either => "signed or unsigned: the keys tried fit both",
        };
        line(console, "hash of tails", text)?;
    }
    report.filter.as_ref().map_or(Ok(()), |filter| larger_ranges(filter, console))
}

/// Writes what larger ranges would save, if that is a fifth of the filter block.
fn larger_ranges(filter: &FilterReport, console: &mut Console) -> io::Result<()> {
    let is_worth = |larger: &LargerRanges| larger.saves.saturating_mul(5) >= filter.size;
    let Some(larger) = filter.larger_ranges.filter(is_worth) else { return Ok(()) };
    let saves = size(larger.saves);
    let rate = larger.rate.map(|rate| format!(", false positives then {}", percent(rate)));
    let base_lg = larger.base_lg;
    let empty = filter.summary.empty.saturating_mul(OFFSET_ENTRY_LEN);
    let empty = if empty > 0 { format!("; empty filters take {}", size(empty)) } else { String::new() };
    let rate = rate.unwrap_or_default();
    line(console, "larger ranges", format_args!("base_lg {base_lg} would save about {saves}{rate}{empty}"))
}

/// Writes which relative of LevelDB's wrote the table, and what that means for the rest.
fn origin(stats: &TableStats, console: &mut Console) -> io::Result<()> {
    let text = match stats.origin {
        Some(Origin::Basho) => "Basho's LevelDB (Riak): bloom2 filters under LevelDB's name are not judged",
        Some(Origin::RocksDb) => {
            "RocksDB, oldest format: its filters are not judged, not all its codecs are read"
        }
        _ => return Ok(()),
    };
    line(console, "written by", text)
}

fn no_filter(stats: &TableStats, console: &mut Console) -> io::Result<()> {
    let names: Vec<_> = stats.metaindex.filter_names().map(|name| escape(name).to_string()).collect();
    if stats.filter_error.is_some() {
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
    let Some(cost) = stats.filter_cost() else { return Ok(()) };
    let about = if cost.exact { "" } else { "about " };
    let (bytes, keys) = (size(cost.bytes), counted(cost.keys, "key"));
    let estimate =
        format!("about {bytes} at {USUAL_BITS_PER_KEY} bits a key, for {about}{keys} (an estimate)");
    line(console, "one would cost", estimate)
}
