//! The totals of each level as lines of a listing.

use std::io::{self, Write as _};

use super::columns::{Cell, Column, Layout};
use crate::audit::inspect::totals::{FolderTotals, LevelName, LevelTotals};
use crate::io::console::{Console, Tone};
use crate::render::numbers::{count, measured, or_dash, percent, ratio, size};

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
        Column::right("keys", 12, 2),
        Column::right("of all", 7, 0),
        Column::right("filter size", 11, 3),
        Column::right("rate", 8, 0),
    ];
    let layout = Layout::new(columns, console.width());
    layout.write_titles(console)?;
    let keys = levels.values().fold(0u64, |sum, level| sum.saturating_add(level.keys));
    for (&name, level) in levels {
        layout.write(console, cells(name, level, keys))?;
    }
    if levels.values().any(|level| level.estimated) {
        let note = "(~: keys are estimated from up to 16 data blocks of each table)";
        let note = console.tone(Tone::Dim, note);
        writeln!(console, "{note}")?;
    }
    Ok(())
}

/// `keys`: of all levels.
fn cells(name: LevelName, level: &LevelTotals, keys: u64) -> Vec<Cell> {
    let about = if level.estimated { "~" } else { "" };
    let tone = if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain };
    vec![
        level_text(name).into(),
        count(level.tables).into(),
        Cell::toned(count(level.unfiltered), tone),
        size(level.file_size).into(),
        format!("{about}{}", count(level.keys)).into(),
        percent(ratio(level.keys, keys)).into(),
        size(level.filter_size).into(),
        or_dash(level.rate().map(measured)).into(),
    ]
}
