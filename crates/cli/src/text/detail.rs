//! One table in detail.

use std::{fmt::Display, io};

use filterblock::escape;
use filterblock_engine::report::{Depth, Dialect, FilterBlock, Inspected, KeyCount, KeyFormat, TableData};
use filterblock_engine::text::{
    count, counted, entries, measured, or_dash, path_word, percent, rate_interval, ratio, size,
};

use super::{filter_list, labelled::labelled, list};
use crate::io::{Console, Tone};

const LABEL_WIDTH: usize = 15;

pub(crate) fn short(table: &TableData, console: &mut Console) -> io::Result<()> {
    if table.is_opened() {
        let number =
            table.entries.map(|number| format!("{} in ", counted_entries(entries(number), number.value)));
        let blocks = counted(table.data_blocks.unwrap_or_default(), "data block");
        let codecs = table.compression.as_deref().filter(|names| names.iter().any(|name| name != "none"));
        let codecs = codecs.map(|names| format!(" ({})", names.join(", "))).unwrap_or_default();
        let bytes = table.file_size.map(|bytes| format!(", {}", size(bytes))).unwrap_or_default();
        line(console, "table", format!("{}{blocks}{codecs}{bytes}", number.unwrap_or_default()))?;
    }
    let Some(filter) = &table.filter else {
        return match unknown_policies(table) {
            _ if !table.is_opened() || table.filter_error.is_some() => Ok(()),
            Some(policies) => line(console, "filters", policies),
            None => {
                let command = format!("filterblock tune {}", path_word(&table.frame.path));
                line(console, "filters", format!("none (would they help? {command})"))
            }
        };
    };
    let bits = table.bits_per_entry().map(|bits| format!("{:.1} bits per entry, ", bits.value));
    let policy = escape(filter.policy.as_bytes());
    line(console, "filters", format!("{}{}, {policy}", bits.unwrap_or_default(), size(filter.size)))?;
    let rates = [(filter.random_fpr, "random keys"), (filter.similar_fpr, "keys similar to stored ones")];
    let rates = rates.into_iter().filter_map(|(rate, keys)| Some(format!("{} of {keys}", measured(rate?))));
    let rates: Vec<_> = rates.collect();
    if rates.is_empty() { Ok(()) } else { line(console, "false positives", rates.join(", ")) }
}

fn counted_entries(shown: String, number: u64) -> String {
    format!("{shown} {}", if number == 1 { "entry" } else { "entries" })
}

/// `list_filters`: its filters are listed as well.
pub(crate) fn write(found: &Inspected, list_filters: bool, console: &mut Console) -> io::Result<()> {
    let table = &found.table;
    if let Some(bytes) = table.file_size {
        line(console, "size", exact_size(bytes))?;
    }
    if let Some(is_live) = table.live {
        line(console, "in the database", record_text(table, is_live))?;
    }
    if table.is_opened() {
        data(found, console)?;
    }
    match &table.filter {
        Some(filter) => {
            filter_block(filter, found, console)?;
            hash(table, console)?;
        }
        None if table.is_opened() => no_filter(table, console)?,
        None => {}
    }
    if table.depth == Some(Depth::Tail) {
        labelled(console, LABEL_WIDTH, (Tone::Dim, "depth"), (Tone::Dim, list::TAIL_NOTE))?;
    }
    for (what, fault) in &found.faults {
        labelled(console, LABEL_WIDTH, (Tone::Bad, what.name()), (Tone::Plain, &fault.text))?;
    }
    found.filters.iter().filter(|_| list_filters).try_for_each(|filters| filter_list::write(filters, console))
}

fn line(console: &mut Console, label: &str, text: impl Display) -> io::Result<()> {
    labelled(console, LABEL_WIDTH, (Tone::Dim, label), (Tone::Plain, &text.to_string()))
}

fn record_text(table: &TableData, is_live: bool) -> String {
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

fn data(found: &Inspected, console: &mut Console) -> io::Result<()> {
    let table = &found.table;
    line(console, "data blocks", or_dash(table.data_blocks.map(count)))?;
    line(console, "entries", or_dash(table.entries.map(|count| count_text(count.into()))))?;
    line(console, "distinct keys", or_dash(table.distinct_keys.map(count_text)))?;
    if let Some(names) = table.compression.as_ref().filter(|names| !names.is_empty()) {
        let is_all = table.depth != Some(Depth::Sample) || table.entries.is_none_or(|count| count.is_exact());
        let of = if is_all { "" } else { ", in the data blocks read" };
        line(console, "compression", format_args!("{}{of}", names.join(", ")))?;
    }
    line(console, "metaindex", list::metaindex_names(found))?;
    origin(table, console)
}

fn count_text(number: KeyCount) -> String {
    let (low, high) = (count(number.low), count(number.high));
    match number.value {
        Some(number_of) if number.is_exact() => count(number_of),
        Some(number_of) => {
            format!("about {}, likely {low} to {high}: estimated from some data blocks", count(number_of))
        }
        None => format!("{low} to {high}"),
    }
}

fn filter_block(filter: &FilterBlock, found: &Inspected, console: &mut Console) -> io::Result<()> {
    let table = &found.table;
    line(console, "filter policy", escape(filter.policy.as_bytes()))?;
    if table.is_opened() && table.depth != Some(Depth::Tail) {
        let text = match (table.key_format, &found.no_key_format) {
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
    line(console, "bits", format_args!("{bits}, {set} of them set"))?;
    let probes = match filter.probes {
        None if filter.filters > filter.empty_filters => "differ from filter to filter".to_owned(),
        probes => or_dash(probes),
    };
    line(console, "probes", probes)?;
    rates(filter, console)?;
    let at = if table.is_opened() { format!(", at offset {}", filter.offset) } else { String::new() };
    line(console, "filter block", format_args!("{}{at}", size(filter.size)))
}

/// Writes the rates of false positives: those measured, and the one estimated from the bits set.
fn rates(filter: &FilterBlock, console: &mut Console) -> io::Result<()> {
    let mut label = "false positives";
    for (rate, keys) in
        [(filter.random_fpr, "random keys"), (filter.similar_fpr, "keys similar to stored ones")]
    {
        let Some(rate) = rate else { continue };
        let (share, interval, asked) = (measured(rate), rate_interval(rate), count(rate.asked));
        line(
            console,
            label,
            format_args!("{share} of {keys} ({interval} with 95% confidence, {asked} samples)"),
        )?;
        label = "";
    }
    let estimated = filter.estimated_fpr.map(|rate| format!("{} by the bits set", percent(rate)));
    line(console, label, or_dash(estimated))
}

fn hash(table: &TableData, console: &mut Console) -> io::Result<()> {
    let text = match table.hash {
        Some(Dialect::Unsigned) => "unsigned: goleveldb, or LevelDB up to 1.17 on ARM",
        Some(Dialect::Signed) => "signed: LevelDB up to 1.17 on x86, or Riak",
        Some(Dialect::Either) => "signed or unsigned: the keys tried fit both",
        _ => return Ok(()),
    };
    line(console, "hash of tails", text)
}

/// Writes the program that wrote the table, if the table has its marks, and what is not judged or read for that reason.
fn origin(table: &TableData, console: &mut Console) -> io::Result<()> {
    let text = match table.format {
        Some(Dialect::Basho) => "Basho's LevelDB (Riak): bloom2 filters under LevelDB's name are not judged",
        Some(Dialect::Rocksdb) => {
            "RocksDB, oldest format: its filters are not judged, not all its codecs are read"
        }
        _ => return Ok(()),
    };
    line(console, "written by", text)
}

fn no_filter(table: &TableData, console: &mut Console) -> io::Result<()> {
    if table.filter_error.is_some() {
        return line(console, "filter", "cannot be used");
    }
    if let Some(policies) = unknown_policies(table) {
        return line(console, "filter", policies);
    }
    line(console, "filter", "none")?;
    match table.filter_size_at_10_bits {
        Some(bytes) => line(console, "with 10 bits", format!("~{}", size(bytes))),
        None => Ok(()),
    }
}

/// The policies that the table names, of which none is known.
fn unknown_policies(table: &TableData) -> Option<String> {
    let names: Vec<_> = table.filter_policies.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("of a policy that is not known here: {}", names.join(", ")))
}
