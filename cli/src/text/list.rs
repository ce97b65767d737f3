//! Tables as lines of a listing.

use std::io::{self, Write as _};
use std::path::Path;

use filterblock::{escape, escape_path};

use super::columns::{Cell, Column, Layout};
use super::levels::{self, key_error, key_sum, level_text};
use crate::io::console::{Console, Tone};
use filterblock_engine::audit::inspect::report::{FilterReport, TableReport};
use filterblock_engine::audit::inspect::totals::{FolderTotals, KeySum, LevelName};
use filterblock_engine::audit::stats::filter_cost::{FilterCost, USUAL_BITS_PER_KEY};
use filterblock_engine::audit::stats::filters::Summary;
use filterblock_engine::audit::stats::table::TableStats;
use filterblock_engine::words::compression::compression_names;
use filterblock_engine::words::numbers::{count, counted, measured, or_dash, percent, ratio, size};

/// The width to fit lines into where there is no terminal.
const WIDTH: usize = 100;
/// The least and the greatest width of the column of names. A longer name has a line to itself.
const MIN_NAME_WIDTH: usize = 10;
const MAX_NAME_WIDTH: usize = 60;

pub(crate) struct Listing {
    layout: Layout,
    kind: ListingKind,
    /// A table without a filter was shown with the cost of one.
    shows_cost: bool,
    /// A number of keys was shown that is an estimate.
    shows_estimate: bool,
}

/// The tables that a listing is of.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListingKind {
    /// They are in one folder, so that their file names are enough.
    pub(crate) in_folder: bool,
    /// A MANIFEST records each of them.
    pub(crate) has_records: bool,
    /// All columns are shown, however wide the lines are.
    pub(crate) is_wide: bool,
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
            Column::right("size", 10, 4),
            Column::right("blocks", 6, 0).extra(),
            Column::left("compression", 11, 0).extra(),
            Column::right("keys", 11, 1),
            Column::right("+-", 7, 6),
            Column::right("filter size", 11, 2),
            Column::right("bits/key", 8, 5),
            Column::right("filters", 7, 0).extra(),
            Column::right("empty", 7, 0).extra(),
            Column::right("range", 7, 0).extra(),
            Column::right("base_lg", 7, 0).extra(),
            Column::right("offsets", 9, 0).extra(),
            Column::right("bits", 10, 0).extra(),
            Column::right("set", 6, 0).extra(),
            Column::right("k", 2, 0).extra(),
            Column::right("rate", 8, 0),
            Column::left("state", 10, 0),
            Column::left("filters of", 10, 0).extra(),
            Column::left("policy", 27, 0).extra(),
            Column::left("metaindex", 0, 0).extra(),
        ];
        if kind.has_records {
            columns.splice(1..1, [Column::right("level", 8, 3)]);
            columns.splice(3..3, [Column::right("recorded", 10, 0).extra()]);
        }
        let layout = match kind.is_wide {
            true => Layout::all(columns),
            false => Layout::with_first(columns, MIN_NAME_WIDTH, console.width().unwrap_or(WIDTH)),
        };
        let listing = Self { layout, kind, shows_cost: false, shows_estimate: false };
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
        let mut keys = KeySum::default();
        keys.add(report.keys());
        self.shows_estimate |= keys.estimated && keys.keys.is_some();
        cells.extend([key_sum(&keys).into(), key_error(&keys).into()]);
        cells.extend(report.filter.as_ref().map_or_else(
            || no_filter_cells(cost),
            |filter| filter_cells(filter, report.keys().map(|count| count.keys)),
        ));
        cells.push(state_cell(report));
        cells.push(stats.map_or_else(|| "-".into(), key_format_cell));
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
        if self.shows_estimate {
            notes.push(levels::KEYS_NOTE.to_owned());
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
        (totals.not_live, "unfinished and not live"),
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
        let rate = or_dash(totals.rates().random().map(measured));
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
    cells.extend([count(totals.data_blocks).into(), "".into()]);
    cells.extend([key_sum(&totals.keys).into(), key_error(&totals.keys).into()]);
    cells.extend([size(totals.filter_size).into(), bits_per_key(summary, totals.filtered_keys.keys).into()]);
    cells.extend(numbers(summary, None));
    cells.push(or_dash(totals.rates().random().map(measured)).into());
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

/// The cells from the size of the filter block to the rate. `keys`: of the table.
fn filter_cells(filter: &FilterReport, keys: Option<u64>) -> Vec<Cell> {
    let mut cells = vec![size(filter.size).into(), bits_per_key(&filter.summary, keys).into()];
    cells.extend(numbers(&filter.summary, Some(filter.stats.reader().base_lg())));
    let tone = match filter.random_rate {
        Some(measured) if measured.low > 0.1 => Tone::Bad,
        _ => Tone::Plain,
    };
    cells.push(Cell::toned(or_dash(filter.random_rate.map(measured)), tone));
    cells
}

fn bits_per_key(summary: &Summary, keys: Option<u64>) -> String {
    let keys = keys.filter(|keys| *keys > 0 && summary.bits > 0);
    or_dash(keys.map(|keys| format!("{:.1}", ratio(summary.bits, keys))))
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
    let mut cells = dashes(11);
    if let (Some(cell), Some(cost)) = (cells.first_mut(), cost) {
        *cell = Cell::toned(format!("(~{})", size(cost.bytes)), Tone::Dim);
    }
    cells
}

/// The state of a table in one or two words. What is wrong follows in lines of its own.
fn state_cell(report: &TableReport<'_>) -> Cell {
    match (&report.filter, &report.stats) {
        _ if report.is_damaged() => Cell::toned("damaged", Tone::Bad),
        (None, Some(stats)) if stats.metaindex.filter_names().next().is_some() => "unknown".into(),
        (None, Some(_)) => Cell::toned("no filter", Tone::Dim),
        (Some(_), Some(stats)) if stats.filter_unsupported => "unknown".into(),
        // It is no whole table, and need not be one.
        (None, None) => Cell::toned("unfinished", Tone::Dim),
        _ => "ok".into(),
    }
}

fn key_format_cell(stats: &TableStats) -> Cell {
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
