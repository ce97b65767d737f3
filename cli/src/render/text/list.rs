//! Tables as lines of a listing.

use std::io::{self, Write as _};
use std::path::Path;

use filterblock::escape;

use crate::audit::inspect::report::{Facts, FilterFacts};
use crate::audit::inspect::totals::{Totals, place_name};
use crate::audit::stats::{Cost, Summary, Survey, USUAL_BITS_PER_KEY};
use crate::io::console::{Console, Tone};
use crate::render::json::inspect::compression_names;
use crate::render::show::{count, counted, or_dash, path_text, percent, ratio, size};
use crate::render::text::columns::{Cell, Column, Layout};

/// The widest that the column of names gets. A longer name has a line to itself.
const MAX_NAME_WIDTH: usize = 60;

pub(crate) struct Rows {
    layout: Layout,
    shape: Shape,
    /// Whether what a filter would cost was shown for a table without one.
    shows_cost: bool,
}

/// What tables a listing is of.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shape {
    /// Whether they are in one folder, so that their names say enough.
    pub(crate) in_folder: bool,
    /// Whether a MANIFEST says what each of them is.
    pub(crate) placed: bool,
}

/// What a table is called in a listing.
pub(crate) fn name(path: &Path, in_folder: bool) -> String {
    let name = path.file_name().filter(|_| in_folder).map_or(path, Path::new);
    path_text(name).to_string()
}

impl Rows {
    pub(crate) fn begin(name_width: usize, shape: Shape, console: &mut Console) -> io::Result<Self> {
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
        if shape.placed {
            columns.splice(1..1, [Column::right("level", 8, 0)]);
            columns.splice(3..3, [Column::right("recorded", 10, 6)]);
        }
        let rows = Self { layout: Layout::new(columns, console.width()), shape, shows_cost: false };
        rows.layout.write_titles(console)?;
        Ok(rows)
    }

    pub(crate) fn write(&mut self, facts: &Facts<'_>, console: &mut Console) -> io::Result<()> {
        let cost = facts.survey.and_then(Survey::cost);
        self.shows_cost |= cost.is_some();
        let damaged = if facts.is_damaged() { Tone::Bad } else { Tone::Plain };
        let mut cells = vec![Cell::toned(name(facts.path, self.shape.in_folder), damaged)];
        let [level, recorded] = place_cells(facts);
        let size = Cell::from(or_dash(facts.file_size.map(size)));
        match self.shape.placed {
            true => cells.extend([level, size, recorded]),
            false => cells.push(size),
        }
        cells.extend(facts.survey.map_or_else(|| dashes(2), table_cells));
        cells.extend(facts.filter.as_ref().map_or_else(|| no_filter_cells(cost), filter_cells));
        cells.push(facts.survey.map_or_else(|| "-".into(), key_cell));
        cells.push(policy_cell(facts));
        cells.push(facts.survey.map_or_else(|| "-".into(), |survey| names(survey).into()));
        self.layout.write(console, cells)?;
        for (what, finding) in facts.findings() {
            let what = console.tone(Tone::Bad, format!("  {what}:"));
            writeln!(console, "{what} {finding}")?;
        }
        Ok(())
    }

    /// Explains what needs it, and says what was left out for want of room.
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

/// Writes the line of totals, into the columns of `rows` if there are some.
pub(crate) fn write_totals(totals: &Totals, rows: Option<&Rows>, console: &mut Console) -> io::Result<()> {
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
    let Some(rows) = rows else {
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
    match rows.shape.placed {
        true => cells.extend(["".into(), size_of_all, "".into()]),
        false => cells.push(size_of_all),
    }
    cells.extend([count(totals.data_blocks).into(), "".into(), size(totals.filter_size).into()]);
    cells.extend(numbers(summary, None));
    cells.push(or_dash(totals.rate().map(percent)).into());
    rows.layout.write(console, cells)?;
    if remarks.is_empty() { Ok(()) } else { writeln!(console, "{}", remarks.trim()) }
}

/// The filter block in words: how many filters, and what they take.
pub(crate) fn filter_sizes(summary: &Summary, filter_size: u64) -> String {
    let filters = counted(summary.filters, "filter");
    format!(
        "{filters} ({} empty) in {}, of which offsets {}",
        count(summary.empty),
        size(filter_size),
        size(summary.array_bytes)
    )
}

/// Its level, and the size that the MANIFEST records.
fn place_cells(facts: &Facts<'_>) -> [Cell; 2] {
    let Some(place) = facts.place else { return ["-".into(), "-".into()] };
    let level = place.live.map(|live| live.level);
    let tone = if facts.misplaced.is_some() { Tone::Bad } else { Tone::Plain };
    let recorded = or_dash(place.live.map(|live| size(live.size)));
    [
        Cell::toned(place_name(level), if level.is_some() { Tone::Plain } else { Tone::Dim }),
        Cell::toned(recorded, tone),
    ]
}

fn dashes(number: usize) -> Vec<Cell> {
    vec!["-".into(); number]
}

fn table_cells(survey: &Survey) -> Vec<Cell> {
    let compression: Vec<_> = compression_names(survey).collect();
    let compression = if compression.is_empty() { "-".to_owned() } else { compression.join(", ") };
    vec![count(survey.blocks.offsets.len()).into(), compression.into()]
}

fn filter_cells(filter: &FilterFacts<'_>) -> Vec<Cell> {
    let mut cells = vec![size(filter.size).into()];
    cells.extend(numbers(&filter.summary, Some(filter.census.reader().base_lg())));
    let tone = match filter.rate {
        Some(rate) if rate > 0.1 => Tone::Bad,
        _ => Tone::Plain,
    };
    cells.push(Cell::toned(or_dash(filter.rate.map(percent)), tone));
    cells
}

/// From the number of filters to k.
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

/// The range of data blocks that a filter is for.
pub(crate) fn range(base_lg: u8) -> Option<String> {
    1u64.checked_shl(base_lg.into()).map(size)
}

fn no_filter_cells(cost: Option<Cost>) -> Vec<Cell> {
    let mut cells = dashes(10);
    if let (Some(cell), Some(cost)) = (cells.first_mut(), cost) {
        *cell = Cell::toned(format!("(~{})", size(cost.bytes)), Tone::Dim);
    }
    cells
}

fn key_cell(survey: &Survey) -> Cell {
    survey.sample.key_format().map_or("-", |format| format.name()).into()
}

fn policy_cell(facts: &Facts<'_>) -> Cell {
    match (&facts.filter, facts.survey.and_then(|survey| survey.metaindex.filter_names().next())) {
        (Some(filter), _) => escape(filter.policy.as_bytes()).to_string().into(),
        (None, Some(name)) => format!("{}?", escape(name)).into(),
        (None, None) if facts.survey.is_some() => "none".into(),
        (None, None) => "-".into(),
    }
}

/// The names in the metaindex.
pub(crate) fn names(survey: &Survey) -> String {
    let names: Vec<_> = survey.metaindex.names(|name| escape(name).to_string()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
