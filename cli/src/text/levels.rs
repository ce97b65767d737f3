//! The totals of each level as lines of a listing.

use std::io::{self, Write as _};

use super::columns::{Cell, Column, Layout};
use super::pictures::bar;
use crate::io::console::{Console, Signs, Tone};
use filterblock_engine::audit::inspect::totals::{FolderTotals, KeySum, LevelName, LevelTotals};
use filterblock_engine::words::numbers::{count, measured, or_dash, percent, ratio, size};

pub(super) const KEYS_NOTE: &str =
    "~ keys: estimated from some data blocks of each table; +-: how far they may be off";

/// The width of the bar for the share of all keys, in signs.
const BAR_WIDTH: usize = 12;

/// A level as a listing names it.
pub(super) fn level_text(level: LevelName) -> String {
    match level {
        LevelName::Level(level) => level.to_string(),
        LevelName::Obsolete => "obsolete".to_owned(),
    }
}

/// The number of keys of some tables; a dash if none is known.
pub(super) fn key_sum(sum: &KeySum) -> String {
    let about = if sum.estimated { "~" } else { "" };
    or_dash(sum.keys.map(|keys| format!("{about}{}", count(keys))))
}

/// The share by which a number of keys may be off; nothing if it is exact. A dash if some tables are
/// not in it, or none.
pub(super) fn key_error(sum: &KeySum) -> String {
    if sum.is_partial { "-".to_owned() } else { sum.error().map(percent).unwrap_or_default() }
}

/// Writes a line for each level, if the MANIFEST tells the levels.
pub(super) fn write(totals: &FolderTotals, console: &mut Console) -> io::Result<()> {
    let levels = totals.levels();
    if levels.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    let mut columns = vec![
        Column::right("level", 8, 0),
        Column::right("tables", 6, 0),
        Column::right("no filter", 9, 1),
        Column::right("size", 10, 4),
        Column::right("keys", 12, 2),
        Column::right("+-", 7, 5),
        Column::right("of all", 7, 0),
        Column::right("filter size", 11, 3),
        Column::right("rate", 8, 0),
    ];
    if console.signs().is_some() {
        // A picture of the share of all keys, which gives way before any number does.
        columns.push(Column::left("", BAR_WIDTH + 2, 9));
    }
    let layout = Layout::new(columns, console.width());
    layout.write_titles(console)?;
    let keys = levels.values().filter_map(|level| level.keys.keys).fold(0, u64::saturating_add);
    for (&name, level) in levels {
        layout.write(console, cells(name, level, keys, console.signs()))?;
    }
    Ok(())
}

/// `keys`: of all levels. `signs`: those to draw a bar with, if there is one.
fn cells(name: LevelName, level: &LevelTotals, keys: u64, signs: Option<Signs>) -> Vec<Cell> {
    let share = level.keys.keys.map(|of| ratio(of, keys));
    let bar = signs.map(|signs| share.map(|share| bar(share, BAR_WIDTH, signs)).unwrap_or_default());
    let tone = if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain };
    let mut cells: Vec<Cell> = vec![
        level_text(name).into(),
        count(level.tables).into(),
        Cell::toned(count(level.unfiltered), tone),
        size(level.file_size).into(),
        key_sum(&level.keys).into(),
        key_error(&level.keys).into(),
        or_dash(share.map(percent)).into(),
        size(level.filter_size).into(),
        or_dash(level.rates().random().map(measured)).into(),
    ];
    cells.extend(bar.map(Cell::from));
    cells
}
