//! Tables as lines of a listing.

use std::{io, path::Path};

use filterblock::{escape, escape_path};
use filterblock_engine::USUAL_BITS_PER_KEY;
use filterblock_engine::report::{Depth, FilterBlock, KeyFormat, Note, Table, TableState, Totals};
use filterblock_engine::words::{
    bits_per_entry, count, counted, distinct_keys, entries_of_keys, measured, or_dash, percent, ratio, size,
};

use super::columns::{Cell, Column, Layout};
use super::labelled::write_line;
use super::levels::{self, WIDTH, entry_error, entry_sum, level_text};
use crate::io::{Console, Tone};

/// The facts that are unknown about a table of which only the end was read.
pub(super) const TAIL_NOTE: &str =
    "tail: entries, keys and measured rates are not known; --depth sample reads some data blocks";

/// The smallest width to which the column of names is narrowed.
const MIN_NAME_WIDTH: usize = 10;
/// The greatest width of the column of names. A longer name has a line to itself.
const MAX_NAME_WIDTH: usize = 60;

pub(crate) struct Listing {
    layout: Layout,
    columns: Vec<ListColumn>,
    kind: ListingKind,
    /// Set once a table without a filter was shown with the cost of a filter.
    shows_cost: bool,
    /// Set once an estimated number of entries was shown.
    shows_estimate: bool,
    /// Set once a table was shown of which only the end was read.
    shows_tail: bool,
    /// The totals lack the entries of some tables.
    is_partial: bool,
    /// The totals have a number of distinct keys that is not exact.
    has_bounds: bool,
}

/// The properties of the tables in a listing, which decide its layout.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListingKind {
    /// The width of the longest name.
    pub(crate) name_width: usize,
    /// Set if all tables are in one folder, so that their file names are enough.
    pub(crate) in_folder: bool,
    /// Set if the tables are in a folder with a MANIFEST that can be relied on.
    pub(crate) has_records: bool,
    /// Set if all columns are shown, however wide the lines are.
    pub(crate) is_wide: bool,
}

/// A column, its cell for a table, and its text for the totals.
type ListColumn = (Column, fn(&Table, ListingKind) -> Cell, fn(&Totals) -> String);

/// The columns of a listing. Those with the MANIFEST's records are left out if there is no MANIFEST
/// that can be relied on.
fn columns(kind: ListingKind) -> Vec<ListColumn> {
    let name = Column::left("table", kind.name_width.min(MAX_NAME_WIDTH), 0);
    let all = table_columns(name).into_iter().chain(filter_columns()).chain(state_columns());
    let is_shown = |column: &ListColumn| kind.has_records || !["level", "recorded"].contains(&column.0.title);
    all.filter(is_shown).collect()
}

/// The columns about a table and its entries. The first column is that of the table's name.
fn table_columns(name: Column) -> [ListColumn; 9] {
    let (left, right) = (Column::left, Column::right);
    [
        (name, name_cell, |all| counted(all.tables, "table")),
        (right("level", 8, 3), level_cell, none),
        (
            right("size", 10, 4),
            |table, _| or_dash(table.file_size.map(size)).into(),
            |all| size(all.file_size),
        ),
        (right("recorded", 10, 0).extra(), recorded_cell, none),
        (right("blocks", 6, 0).extra(), blocks_cell, |all| count(all.data_blocks)),
        (left("compression", 11, 0).extra(), compression_cell, none),
        (
            right("entries", 11, 1),
            |table, _| entry_sum(&table.entries.into()).into(),
            |all| entry_sum(&all.entries),
        ),
        (
            right("+-", 6, 6),
            |table, _| entry_error(&table.entries.into()).into(),
            |all| entry_error(&all.entries),
        ),
        (
            right("distinct keys", 13, 0).extra(),
            |table, _| or_dash(table.distinct_keys.map(distinct_keys)).into(),
            |all| or_dash(all.distinct_keys.number().map(distinct_keys)),
        ),
    ]
}

/// The columns about the filters of a table.
fn filter_columns() -> [ListColumn; 10] {
    let right = Column::right;
    [
        (right("filter size", 11, 2), filter_size_cell, |all| size(all.filter_size)),
        (
            right("bits/entry", 10, 5),
            |table, _| or_dash(table.bits_per_entry().map(bits_per_entry)).into(),
            |all| or_dash(all.bits_per_entry().map(bits_per_entry)),
        ),
        (
            right("filters", 7, 0).extra(),
            |table, _| of(table, |of| count(of.filters)),
            |all| count(all.filters),
        ),
        (
            right("empty", 7, 0).extra(),
            |table, _| of(table, |of| count(of.empty_filters)),
            |all| count(all.empty_filters),
        ),
        (right("range", 7, 0).extra(), |table, _| of(table, |of| or_dash(range(of.base_lg))), none),
        (right("base_lg", 7, 0).extra(), |table, _| of(table, |of| of.base_lg.to_string()), none),
        (
            right("offsets", 9, 0).extra(),
            |table, _| of(table, |of| size(of.offset_array_bytes)),
            |all| size(all.offset_array_bytes),
        ),
        (right("bits", 10, 0).extra(), |table, _| of(table, |of| count(of.bits)), |all| count(all.bits)),
        (
            right("set", 6, 0).extra(),
            |table, _| of(table, |of| share(of.bits_set, of.bits)),
            |all| share(all.bits_set, all.bits),
        ),
        (right("k", 2, 0).extra(), |table, _| of(table, |of| or_dash(of.probes)), none),
    ]
}

/// The columns about a table's rate of false positives, its state, the form of its keys, its policy and its metaindex.
fn state_columns() -> [ListColumn; 5] {
    let (left, right) = (Column::left, Column::right);
    [
        (right("rate", 8, 0), rate_cell, |all| or_dash(all.random_fpr.mean().map(measured))),
        (left("state", 10, 0), state_cell, none),
        (
            left("filters of", 10, 0).extra(),
            |table, _| table.key_format.map_or("-", KeyFormat::name).into(),
            none,
        ),
        (left("policy", 27, 0).extra(), policy_cell, none),
        (left("metaindex", 0, 0).extra(), |table, _| metaindex_names(table).into(), none),
    ]
}

/// Leaves the cell empty in the row of totals.
fn none(_: &Totals) -> String {
    String::new()
}

/// The name of a table in a listing.
pub(crate) fn table_name(path: &Path, in_folder: bool) -> String {
    let name = path.file_name().filter(|_| in_folder).map_or(path, Path::new);
    escape_path(name).to_string()
}

/// The reason why a number of distinct keys is not exact although all entries were counted.
const BOUNDS_NOTE: &str =
    "distinct keys: estimated from some of them, or between bounds, as several tables may hold the same keys";

impl Listing {
    pub(crate) fn begin(kind: ListingKind, console: &mut Console) -> io::Result<Self> {
        let columns = columns(kind);
        let shown = columns.iter().map(|(column, ..)| column.clone()).collect();
        let layout = match kind.is_wide {
            true => Layout::all(shown),
            false => Layout::with_first(shown, MIN_NAME_WIDTH, console.width().unwrap_or(WIDTH)),
        };
        layout.write_titles(console)?;
        Ok(Self {
            layout,
            columns,
            kind,
            shows_cost: false,
            shows_estimate: false,
            shows_tail: false,
            is_partial: false,
            has_bounds: false,
        })
    }

    pub(crate) fn write(&mut self, table: &Table, console: &mut Console) -> io::Result<()> {
        self.shows_cost |= table.filter_cost.is_some();
        self.shows_estimate |= table.entries.is_some_and(|count| !count.exact);
        self.shows_tail |= table.depth == Some(Depth::Tail);
        let cells = self.columns.iter().map(|(_, cell, _)| cell(table, self.kind));
        self.layout.write(console, cells.collect())?;
        for (what, finding) in table.findings() {
            console.line(Tone::Bad, format!("  {what}:"), &format!(" {finding}"))?;
        }
        if table.is_not_live() {
            let name = table_name(&table.path, self.kind.in_folder);
            write_line(console, Tone::Dim, &format!("  note: {name} is {}", Note::Incomplete))?;
        }
        Ok(())
    }

    /// Takes note of numbers that are not exact, in the totals and in those by level.
    pub(crate) fn see_totals(&mut self, totals: &Totals) {
        let of_levels = totals.levels.values().map(|level| (&level.entries, &level.distinct_keys));
        for (entries, keys) in of_levels.chain([(&totals.entries, &totals.distinct_keys)]) {
            self.is_partial |= entries.is_partial && entries.count.is_some();
            self.has_bounds |= keys.number().is_some_and(|keys| !keys.exact);
        }
    }

    /// Explains the signs used, and names the columns that were left out.
    pub(crate) fn end(self, console: &mut Console) -> io::Result<()> {
        let mut notes = Vec::new();
        if self.shows_estimate {
            notes.push(levels::ESTIMATE_NOTE.to_owned());
        }
        if self.is_partial {
            notes.push("~ in totals: without the tables whose entries are not known".to_owned());
        }
        if self.has_bounds && !self.shows_estimate {
            notes.push(BOUNDS_NOTE.to_owned());
        }
        if self.shows_tail {
            notes.push(format!("depth {TAIL_NOTE}"));
        }
        if self.shows_cost {
            notes.push(format!(
                "filter sizes in parentheses: what one would take at {USUAL_BITS_PER_KEY} bits a key, an estimate"
            ));
        }
        let hidden = self.layout.hidden();
        if !hidden.is_empty() {
            notes.push(format!("no room for: {}; --wide shows all columns", hidden.join(", ")));
        }
        for note in notes {
            write_line(console, Tone::Dim, &format!("({note})"))?;
        }
        Ok(())
    }
}

/// Writes the totals: in the columns of `listing`, with remarks on the next line, or in one line without a listing.
pub(crate) fn write_totals(
    totals: &Totals,
    listing: Option<&Listing>,
    console: &mut Console,
) -> io::Result<()> {
    let numbers = [
        (totals.unfiltered, "without a filter that can be read"),
        (totals.damaged, "damaged"),
        (totals.not_live, "incomplete and unused"),
        (totals.unreadable, "unreadable"),
    ];
    let remarks = numbers.into_iter().filter(|(number, _)| *number > 0);
    let mut remarks: Vec<_> = remarks.map(|(number, what)| format!("{} {what}", count(number))).collect();
    if let (Some(number), Some(keys)) = (totals.entries.number(), totals.distinct_keys.number()) {
        remarks.push(entries_of_keys(number, keys));
    }
    let remarks = if remarks.is_empty() { String::new() } else { format!("({})", remarks.join(", ")) };
    let Some(listing) = listing else {
        let space = if remarks.is_empty() { "" } else { " " };
        return writeln!(
            console,
            "{}{space}{remarks}: {}, {}, {} ({} empty) in {}, of which offsets {}, false positives {}",
            counted(totals.tables, "table"),
            size(totals.file_size),
            counted(totals.data_blocks, "data block"),
            counted(totals.filters, "filter"),
            count(totals.empty_filters),
            size(totals.filter_size),
            size(totals.offset_array_bytes),
            or_dash(totals.random_fpr.mean().map(measured))
        );
    };
    let mut cells: Vec<Cell> = listing.columns.iter().map(|(.., text)| text(totals).into()).collect();
    cells.iter_mut().take(1).for_each(|name| name.tone = Tone::Title);
    listing.layout.write(console, cells)?;
    if remarks.is_empty() { Ok(()) } else { writeln!(console, "{remarks}") }
}

fn name_cell(table: &Table, kind: ListingKind) -> Cell {
    let tone = if table.is_damaged() { Tone::Bad } else { Tone::Plain };
    Cell::toned(table_name(&table.path, kind.in_folder), tone)
}

fn level_cell(table: &Table, _: ListingKind) -> Cell {
    match table.live {
        None => "-".into(),
        Some(true) => level_text(table.level).into(),
        Some(false) => Cell::toned(level_text(None), Tone::Dim),
    }
}

/// The size as the MANIFEST records it.
fn recorded_cell(table: &Table, _: ListingKind) -> Cell {
    let tone = if table.size_mismatch.is_some() { Tone::Bad } else { Tone::Plain };
    Cell::toned(or_dash(table.recorded_size.map(size)), tone)
}

fn blocks_cell(table: &Table, _: ListingKind) -> Cell {
    or_dash(table.data_blocks.map(count)).into()
}

fn compression_cell(table: &Table, _: ListingKind) -> Cell {
    let names = table.compression.as_deref().filter(|names| !names.is_empty());
    or_dash(names.map(|names| names.join(", "))).into()
}

/// The size of the filter block or, for a table without one, the estimated size of a new filter block. A dash if
/// neither is known.
fn filter_size_cell(table: &Table, _: ListingKind) -> Cell {
    match table.filter_cost {
        Some(cost) => Cell::toned(format!("(~{})", size(cost.size)), Tone::Dim),
        None => of(table, |filter| size(filter.size)),
    }
}

fn rate_cell(table: &Table, _: ListingKind) -> Cell {
    let rate = table.filter.as_ref().and_then(|filter| filter.random_fpr);
    let tone = if rate.is_some_and(|rate| rate.low > 0.1) { Tone::Bad } else { Tone::Plain };
    Cell::toned(or_dash(rate.map(measured)), tone)
}

/// A number about the filter block; a dash if there is no filter block.
fn of(table: &Table, number: impl Fn(&FilterBlock) -> String) -> Cell {
    or_dash(table.filter.as_ref().map(number)).into()
}

fn share(part: u64, all: u64) -> String {
    percent(ratio(part, all))
}

/// The size of the range of data blocks that a filter covers. `None` if `base_lg` is beyond 63.
pub(crate) fn range(base_lg: u8) -> Option<String> {
    1u64.checked_shl(base_lg.into()).map(size)
}

/// The state of a table in one or two words. Faults follow in lines of their own.
fn state_cell(table: &Table, _: ListingKind) -> Cell {
    match table.state() {
        TableState::Missing => Cell::toned("missing", Tone::Bad),
        TableState::Unreadable => Cell::toned("unreadable", Tone::Bad),
        TableState::Damaged => Cell::toned("damaged", Tone::Bad),
        TableState::NoFilter => Cell::toned("no filter", Tone::Dim),
        // The file is not a complete table, and need not be one.
        TableState::Unfinished => Cell::toned("incomplete", Tone::Dim),
        TableState::UnknownPolicy => "unknown".into(),
        TableState::Filtered => "ok".into(),
    }
}

fn policy_cell(table: &Table, _: ListingKind) -> Cell {
    match table.policy() {
        Some(name) => format!("{}{}", escape(name), if table.filter.is_some() { "" } else { "?" }).into(),
        None if table.is_opened() => "none".into(),
        None => "-".into(),
    }
}

/// The names in the metaindex.
pub(crate) fn metaindex_names(table: &Table) -> String {
    let names: Vec<_> = table.metaindex.iter().map(ToString::to_string).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
