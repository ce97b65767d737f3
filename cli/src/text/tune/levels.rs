//! The levels of a database, and what the filters in use do on each.

use std::io::{self, Write as _};

use crate::io::console::{Console, Tone};
use crate::text::columns::{Cell, Column, Layout};
use crate::text::labelled::{line_width, write_text};
use filterblock_engine::audit::tune::report::{Level, LevelOutcome, Tuning};
use filterblock_engine::words::estimates::{about_count, about_size, number};
use filterblock_engine::words::numbers::{count, measured, or_dash, size};

/// Writes a line for each level, if the levels are known.
pub(super) fn write(tuning: &Tuning, console: &mut Console) -> io::Result<()> {
    if tuning.levels.iter().all(|level| level.number.is_none()) {
        return Ok(());
    }
    writeln!(console)?;
    let title = console.tone(Tone::Title, "Levels");
    writeln!(console, "{title}, with the filters as they are")?;
    let has_unfiltered = tuning.levels.iter().any(|level| level.unfiltered > 0);
    let has_lookups = tuning.lookups.is_some();
    let mut columns = vec![
        Column::right("level", 5, 0),
        Column::right("tables", 6, 2),
        Column::right("size", 10, 7),
        Column::right("entries", 11, 6),
        Column::right("asked", 7, 1),
        Column::right("filters", 11, 4),
        Column::right("random", 8, 5),
        Column::right("near", 8, 0),
    ];
    if has_unfiltered {
        columns.insert(2, Column::right("no filter", 9, 3));
    }
    if has_lookups {
        columns.push(Column::right("lookups", 7, 0));
    }
    let layout = Layout::new(columns, Some(line_width(console)));
    layout.write_titles(console)?;
    for (level, now) in tuning.levels.iter().zip(&tuning.now.levels) {
        let mut cells = cells(level, now);
        if has_unfiltered {
            let tone = if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain };
            cells.insert(2, Cell::toned(count(level.unfiltered), tone));
        }
        if has_lookups {
            cells.push(or_dash(now.rates.lookups.map(measured)).into());
        }
        layout.write(console, cells)?;
    }
    let rates = if has_lookups { "random, near, lookups" } else { "random, near" };
    let asked = "asked: tables of the level that the lookup of an absent key comes to, on average";
    write_text(console, Tone::Dim, asked)?;
    write_text(console, Tone::Dim, &format!("{rates}: share of absent keys that the filters let pass"))
}

fn cells(level: &Level, now: &LevelOutcome) -> Vec<Cell> {
    vec![
        or_dash(level.number).into(),
        count(level.tables).into(),
        size(level.size).into(),
        about_count(level.entries).into(),
        or_dash(level.visits.map(|visits| number(visits.absent))).into(),
        about_size(now.size).into(),
        or_dash(now.rates.random.map(measured)).into(),
        or_dash(now.rates.neighbours.map(measured)).into(),
    ]
}
