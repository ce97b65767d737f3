//! The totals of each level as lines of a listing.

use std::io::{self, Write as _};

use super::columns::{Cell, Column, Layout};
use crate::audit::inspect::totals::{FolderTotals, LevelName, LevelTotals};
use crate::io::console::{Console, Tone};
use crate::render::numbers::{count, or_dash, percent, ratio, size};

/// A level as a listing names it.
pub(super) fn level_text(level: LevelName) -> String {
    match level {
        LevelName::Level(level) => level.to_string(),
        LevelName::Obsolete => "obsolete".to_owned(),
    }
}

/// Writes a line for each level, if the MANIFEST tells the levels.
pub(super) fn write(totals: &FolderTotals, console: &mut Console) -> io::Result<()> {
    let levels = totals.levels();
    if levels.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    let columns = vec![
        Column::right("level", 8, 0),
        Column::right("tables", 6, 0),
        Column::right("no filter", 9, 1),
        Column::right("size", 10, 4),
        Column::right("keys", 18, 2),
        Column::right("of all", 7, 0),
        Column::right("filter size", 11, 3),
        Column::right("rate", 7, 0),
    ];
    let layout = Layout::new(columns, console.width());
    layout.write_titles(console)?;
    let keys = levels.values().filter_map(|level| level.keys).fold(0, u64::saturating_add);
    for (&name, level) in levels {
        layout.write(console, cells(name, level, keys))?;
    }
    if levels.values().any(|level| level.estimated) {
        let note = "(~: estimated from some data blocks of each table, and how much that may be off)";
        let note = console.tone(Tone::Dim, note);
        writeln!(console, "{note}")?;
    }
    Ok(())
}

fn key_text(keys: u64, level: &LevelTotals) -> String {
    match level.estimated {
        true => format!("~{} +-{}", count(keys), percent(level.error() / keys.max(1) as f64)),
        false => count(keys),
    }
}

/// `keys`: of all levels.
fn cells(name: LevelName, level: &LevelTotals, keys: u64) -> Vec<Cell> {
    let tone = if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain };
    vec![
        level_text(name).into(),
        count(level.tables).into(),
        Cell::toned(count(level.unfiltered), tone),
        size(level.file_size).into(),
        level.keys.map_or_else(|| "-".to_owned(), |keys| key_text(keys, level)).into(),
        level.keys.map_or_else(|| "-".to_owned(), |of| percent(ratio(of, keys))).into(),
        size(level.filter_size).into(),
        or_dash(level.rate().map(percent)).into(),
    ]
}
