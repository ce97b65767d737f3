//! Tables as lines of a listing with all that is known of each.

use std::{io, path::Path};

use filterblock::{escape, escape_path};
use filterblock_engine::report::{
    CheckNote, EntrySum, FilterBlock, Inspected, KeyFormat, TableFault, TableState,
};
use filterblock_engine::text::{
    bits_per_entry, count, distinct_keys, entries, measured, or_dash, percent, ratio, size,
};

use super::columns::{Cell, Column, Layout};
use super::labelled::write_line;
use crate::io::{Console, Tone};

pub(super) const TAIL_NOTE: &str =
    "tail: entries, keys and measured rates are not known; --depth sample reads some data blocks";
const ESTIMATE_NOTE: &str = "~ estimated from some data blocks of each table; +-: how far entries may be off";
/// The greatest width of the column of names. A longer name has a line to itself.
const MAX_NAME_WIDTH: usize = 60;

type ListColumn = (Column, fn(&Inspected) -> Cell);

pub(crate) struct Listing {
    layout: Layout,
    cells: Vec<fn(&Inspected) -> Cell>,
    /// Set once an estimated number of entries was shown.
    shows_estimate: bool,
}

fn table_columns(name: Column) -> [ListColumn; 9] {
    let (left, right) = (Column::left, Column::right);
    [
        (name, name_cell),
        (right("level", 8, 0), level_cell),
        (right("size", 10, 0), |found| or_dash(found.table.file_size.map(size)).into()),
        (right("recorded", 10, 0), recorded_cell),
        (right("blocks", 6, 0), |found| or_dash(found.table.data_blocks.map(count)).into()),
        (left("compression", 11, 0), compression_cell),
        (right("entries", 11, 0), |found| or_dash(found.table.entries.map(entries)).into()),
        (right("+-", 6, 0), |found| entry_error(&found.table.entries.into()).into()),
        (right("distinct keys", 13, 0), |found| or_dash(found.table.distinct_keys.map(distinct_keys)).into()),
    ]
}

fn filter_columns() -> [ListColumn; 9] {
    let right = Column::right;
    [
        (right("filter size", 11, 0), |found| of(found, |of| size(of.size))),
        (right("bits/entry", 10, 0), |found| {
            or_dash(found.table.bits_per_entry().map(bits_per_entry)).into()
        }),
        (right("filters", 7, 0), |found| of(found, |of| count(of.filters))),
        (right("empty", 7, 0), |found| of(found, |of| count(of.empty_filters))),
        (right("range", 7, 0), |found| of(found, |of| or_dash(range(of.base_lg)))),
        (right("base_lg", 7, 0), |found| of(found, |of| of.base_lg.to_string())),
        (right("bits", 10, 0), |found| of(found, |of| count(of.bits))),
        (right("set", 6, 0), |found| of(found, |of| percent(ratio(of.bits_set, of.bits)))),
        (right("probes", 6, 0), |found| of(found, |of| or_dash(of.probes))),
    ]
}

fn state_columns() -> [ListColumn; 4] {
    let (left, right) = (Column::left, Column::right);
    [
        (right("false positives", 15, 0), |found| {
            or_dash(found.table.filter.as_ref().and_then(|filter| filter.random_fpr).map(measured)).into()
        }),
        (left("state", 15, 0), state_cell),
        (left("filters of", 10, 0), |found| found.table.key_format.map_or("-", KeyFormat::name).into()),
        (left("policy", 27, 0), policy_cell),
    ]
}

pub(crate) fn table_name(path: &Path) -> String {
    escape_path(path.file_name().map_or(path, Path::new)).to_string()
}

/// A level as a listing names it. `None` stands for tables that the database does not use.
pub(super) fn level_text(level: Option<u8>) -> String {
    level.map_or_else(|| "unused".to_owned(), |level| level.to_string())
}

/// The share by which a number of entries may be off; empty if the number is exact, and a dash if it is not known.
fn entry_error(sum: &EntrySum) -> String {
    if sum.is_partial { "-".to_owned() } else { sum.error().map(percent).unwrap_or_default() }
}

impl Listing {
    pub(crate) fn begin(name_width: usize, console: &mut Console) -> io::Result<Self> {
        let name = Column::left("table", name_width.min(MAX_NAME_WIDTH), 0);
        let all = table_columns(name).into_iter().chain(filter_columns()).chain(state_columns());
        let (columns, cells) = all.unzip();
        let layout = Layout::all(columns);
        layout.write_titles(console)?;
        Ok(Self { layout, cells, shows_estimate: false })
    }

    pub(crate) fn write(&mut self, found: &Inspected, console: &mut Console) -> io::Result<()> {
        self.shows_estimate |= found.table.entries.is_some_and(|count| !count.is_exact());
        self.layout.write(console, self.cells.iter().map(|cell| cell(found)).collect())?;
        for (what, fault) in &found.faults {
            console.line(Tone::Bad, format!("  {}:", what.name()), &format!(" {fault}"))?;
        }
        if found.is_incomplete {
            write_line(
                console,
                Tone::Dim,
                &format!("  note: {} is {}", table_name(&found.table.frame.path), CheckNote::Incomplete),
            )?;
        }
        Ok(())
    }

    pub(crate) fn end(self, console: &mut Console) -> io::Result<()> {
        if self.shows_estimate {
            write_line(console, Tone::Dim, &format!("({ESTIMATE_NOTE})"))
        } else {
            Ok(())
        }
    }
}

fn name_cell(found: &Inspected) -> Cell {
    let tone = if found.is_damaged() { Tone::Bad } else { Tone::Plain };
    Cell::toned(table_name(&found.table.frame.path), tone)
}

fn level_cell(found: &Inspected) -> Cell {
    match found.table.live {
        None => "-".into(),
        Some(true) => level_text(found.table.level).into(),
        Some(false) => Cell::toned(level_text(None), Tone::Dim),
    }
}

fn recorded_cell(found: &Inspected) -> Cell {
    let tone = if found.has(TableFault::Size) { Tone::Bad } else { Tone::Plain };
    Cell::toned(or_dash(found.table.recorded_size.map(size)), tone)
}

fn compression_cell(found: &Inspected) -> Cell {
    let names = found.table.compression.as_deref().filter(|names| !names.is_empty());
    or_dash(names.map(|names| names.join(", "))).into()
}

/// A dash if there is no filter block.
fn of(found: &Inspected, number: impl Fn(&FilterBlock) -> String) -> Cell {
    or_dash(found.table.filter.as_ref().map(number)).into()
}

/// The size of the range of data blocks that a filter covers. `None` if `base_lg` is beyond 63.
pub(crate) fn range(base_lg: u8) -> Option<String> {
    1u64.checked_shl(base_lg.into()).map(size)
}

/// The state of a table in one or two words. Faults follow in lines of their own.
fn state_cell(found: &Inspected) -> Cell {
    let verdict = found.table.verdict;
    match found.state() {
        TableState::Missing => Cell::toned("missing", Tone::Bad),
        TableState::Unreadable => Cell::toned("unreadable", Tone::Bad),
        TableState::Damaged if !found.has(TableFault::Blocks) && !found.has(TableFault::Size) => {
            Cell::toned(verdict.words(), verdict.severity().into())
        }
        TableState::Damaged => Cell::toned("damaged", Tone::Bad),
        TableState::NoFilter => Cell::toned("no filters", Tone::Dim),
        // The file is not a complete table, and need not be one.
        TableState::Unfinished => Cell::toned("incomplete", Tone::Dim),
        TableState::UnknownPolicy => "unknown".into(),
        TableState::Filtered => "fine".into(),
    }
}

fn policy_cell(found: &Inspected) -> Cell {
    let table = &found.table;
    match table.policy() {
        Some(name) => format!("{}{}", escape(name), if table.filter.is_some() { "" } else { "?" }).into(),
        None if table.is_opened() => "none".into(),
        None => "-".into(),
    }
}

pub(crate) fn metaindex_names(found: &Inspected) -> String {
    let names: Vec<_> = found.metaindex.iter().map(ToString::to_string).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
