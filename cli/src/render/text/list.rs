//! Tables as lines of a listing.

use std::io::{self, Write as _};
use std::path::Path;

use filterblock::{escape, escape_path};

use super::columns::{Cell, Column, Layout};
use super::levels::level_text;
use crate::audit::inspect::report::{FilterReport, TableReport};
use crate::audit::inspect::totals::{FolderTotals, LevelName};
use crate::audit::stats::filter_cost::{FilterCost, USUAL_BITS_PER_KEY};
use crate::audit::stats::filters::Summary;
use crate::audit::stats::table::TableStats;
use crate::io::console::{Console, Tone};
use crate::render::compression::compression_names;
use crate::render::numbers::{count, counted, or_dash, percent, ratio, size};

/// The greatest width of the column of names. A longer name has a line to itself.
const MAX_NAME_WIDTH: usize = 60;

pub(crate) struct Listing {
    layout: Layout,
    kind: ListingKind,
    /// A table without a filter was shown with the cost of one.
    shows_cost: bool,
}

/// The tables that a listing is of.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListingKind {
    /// They are in one folder, so that their file names are enough.
    pub(crate) in_folder: bool,
    /// A MANIFEST records each of them.
    pub(crate) has_records: bool,
}

/// The name of a table in a listing.
pub(crate) fn table_name(path: &Path, in_folder: bool) -> String {
    let name = path.file_name().filter(|_| in_folder).map_or(path, Path::new);
    escape_path(name).to_string()
}

impl Listing {
    pub(crate) fn begin(name_width: usize, kind: ListingKind, console: &mut Console) -> io::Result<Self> {
        let mut columns = vec![
            Column::left("table", name_width.min(MAX_NAME_WIDTH), 0),
            Column::right("size", 10, 0),
            Column::right("blocks", 6, 3),
            Column::left("compression", 11, 11),
            Column::right("filter size", 11, 2),
            Column::right("filters", 7, 1),
            Column::right("empty", 7, 4),
            Column::right("range", 7, 7),
            Column::right("base_lg", 7, 8),
            Column::right("offsets", 9, 10),
            Column::right("bits", 10, 9),
            Column::right("set", 6, 5),
            Column::right("k", 2, 6),
            Column::right("rate", 7, 0),
            Column::left("keys", 8, 12),
            Column::left("policy", 27, 13),
            Column::left("metaindex", 0, 14),
        ];
        if kind.has_records {
            columns.splice(1..1, [Column::right("level", 8, 0)]);
            columns.splice(3..3, [Column::right("recorded", 10, 6)]);
        }
        let listing = Self { layout: Layout::new(columns, console.width()), kind, shows_cost: false };
        listing.layout.write_titles(console)?;
        Ok(listing)
    }

    pub(crate) fn write(
        &mut self,
        path: &Path,
        report: &TableReport<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        let stats = report.stats.as_ref();
        let cost = stats.and_then(TableStats::filter_cost);
        self.shows_cost |= cost.is_some();
        let damaged = if report.is_damaged() { Tone::Bad } else { Tone::Plain };
        let mut cells = vec![Cell::toned(table_name(path, self.kind.in_folder), damaged)];
        let [level, recorded] = record_cells(report);
        let size = Cell::from(or_dash(report.file_size.map(size)));
        match self.kind.has_records {
            true => cells.extend([level, size, recorded]),
            false => cells.push(size),
        }
        cells.extend(stats.map_or_else(|| dashes(2), table_cells));
        cells.extend(report.filter.as_ref().map_or_else(|| no_filter_cells(cost), filter_cells));
        cells.push(stats.map_or_else(|| "-".into(), key_cell));
        cells.push(policy_cell(report));
        cells.push(stats.map_or_else(|| "-".into(), |stats| metaindex_names(stats).into()));
        self.layout.write(console, cells)?;
        for (what, finding) in report.findings() {
            let what = console.tone(Tone::Bad, format!("  {what}:"));
            writeln!(console, "{what} {finding}")?;
        }
        Ok(())
    }

    /// Explains the signs used, and names the columns that were left out.
    pub(crate) fn end(self, console: &mut Console) -> io::Result<()> {
        let mut notes = Vec::new();
        if self.shows_cost {
            notes
                .push(format!("~: what a filter would take at {USUAL_BITS_PER_KEY} bits a key, an estimate"));
        }
        let hidden = self.layout.hidden();
        if !hidden.is_empty() {
            notes.push(format!("no room for: {}", hidden.join(", ")));
        }
        for note in notes {
            let note = console.tone(Tone::Dim, format!("({note})"));
            writeln!(console, "{note}")?;
        }
        Ok(())
    }
}

/// Writes the line of totals, in the columns of `listing` if there is one.
pub(crate) fn write_totals(
    totals: &FolderTotals,
    listing: Option<&Listing>,
    console: &mut Console,
) -> io::Result<()> {
    let mut remarks = Vec::new();
    for (number, what) in [
        (totals.unfiltered, "without a filter that can be read"),
        (totals.damaged, "damaged"),
        (totals.unreadable, "unreadable"),
    ] {
        if number > 0 {
            remarks.push(format!("{} {what}", count(number)));
        }
    }
    let tables = counted(totals.tables, "table");
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
    let Some(listing) = listing else {
        let size = size(totals.file_size);
        let blocks = counted(totals.data_blocks, "data block");
        let rate = or_dash(totals.rate().map(percent));
        return writeln!(
            console,
            "{tables}{remarks}: {size}, {blocks}, {}, false positives {rate}",
            filter_sizes(&totals.summary, totals.filter_size)
        );
    };
    let summary = &totals.summary;
    let size_of_all = size(totals.file_size).into();
    let mut cells = vec![Cell::toned(tables, Tone::Title)];
    match listing.kind.has_records {
        true => cells.extend(["".into(), size_of_all, "".into()]),
        false => cells.push(size_of_all),
    }
    cells.extend([count(totals.data_blocks).into(), "".into(), size(totals.filter_size).into()]);
    cells.extend(numbers(summary, None));
    cells.push(or_dash(totals.rate().map(percent)).into());
    listing.layout.write(console, cells)?;
    if remarks.is_empty() { Ok(()) } else { writeln!(console, "{}", remarks.trim()) }
}

/// The filter block in words: the number of filters, and their size.
pub(crate) fn filter_sizes(summary: &Summary, filter_size: u64) -> String {
    let filters = counted(summary.filters, "filter");
    format!(
        "{filters} ({} empty) in {}, of which offsets {}",
        count(summary.empty),
        size(filter_size),
        size(summary.array_bytes)
    )
}

/// The table's level, and its size as the MANIFEST records it.
fn record_cells(report: &TableReport<'_>) -> [Cell; 2] {
    let Some(record) = report.record else { return ["-".into(), "-".into()] };
    let level = record.live.map_or(LevelName::Obsolete, |live| LevelName::Level(live.level));
    let level_tone = if record.live.is_some() { Tone::Plain } else { Tone::Dim };
    let size_tone = if report.size_mismatch.is_some() { Tone::Bad } else { Tone::Plain };
    let recorded = or_dash(record.live.map(|live| size(live.size)));
    [Cell::toned(level_text(level), level_tone), Cell::toned(recorded, size_tone)]
}

fn dashes(number: usize) -> Vec<Cell> {
    vec!["-".into(); number]
}

fn table_cells(stats: &TableStats) -> Vec<Cell> {
    let compression = compression_names(stats);
    let compression = if compression.is_empty() { "-".to_owned() } else { compression.join(", ") };
    vec![count(stats.blocks.offsets.len()).into(), compression.into()]
}

fn filter_cells(filter: &FilterReport) -> Vec<Cell> {
    let mut cells = vec![size(filter.size).into()];
    cells.extend(numbers(&filter.summary, Some(filter.stats.reader().base_lg())));
    let tone = match filter.rate {
        Some(rate) if rate > 0.1 => Tone::Bad,
        _ => Tone::Plain,
    };
    cells.push(Cell::toned(or_dash(filter.rate.map(percent)), tone));
    cells
}

/// The cells from the number of filters to k.
fn numbers(summary: &Summary, base_lg: Option<u8>) -> Vec<Cell> {
    let cells = [
        count(summary.filters),
        count(summary.empty),
        base_lg.map_or_else(String::new, |base_lg| or_dash(range(base_lg))),
        base_lg.map_or_else(String::new, |base_lg| base_lg.to_string()),
        size(summary.array_bytes),
        count(summary.bits),
        percent(ratio(summary.bits_set, summary.bits)),
        if base_lg.is_some() { or_dash(summary.probes) } else { String::new() },
    ];
    cells.map(Cell::from).to_vec()
}

/// The range of data blocks that a filter covers.
pub(crate) fn range(base_lg: u8) -> Option<String> {
    1u64.checked_shl(base_lg.into()).map(size)
}

fn no_filter_cells(cost: Option<FilterCost>) -> Vec<Cell> {
    let mut cells = dashes(10);
    if let (Some(cell), Some(cost)) = (cells.first_mut(), cost) {
        *cell = Cell::toned(format!("(~{})", size(cost.bytes)), Tone::Dim);
    }
    cells
}

fn key_cell(stats: &TableStats) -> Cell {
    stats.sample.key_format().map_or("-", |format| format.name()).into()
}

fn policy_cell(report: &TableReport<'_>) -> Cell {
    let stats = report.stats.as_ref();
    match (&report.filter, stats.and_then(|stats| stats.metaindex.filter_names().next())) {
        (Some(filter), _) => escape(filter.policy().as_bytes()).to_string().into(),
        (None, Some(name)) => format!("{}?", escape(name)).into(),
        (None, None) if stats.is_some() => "none".into(),
        (None, None) => "-".into(),
    }
}

/// The names in the metaindex.
pub(crate) fn metaindex_names(stats: &TableStats) -> String {
    let names: Vec<_> = stats.metaindex.names(|name| escape(name).to_string()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
