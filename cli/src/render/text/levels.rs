//! The totals of each level as lines of a listing.

use std::io::{self, Write as _};

use super::columns::{Cell, Column, Layout};
use crate::audit::inspect::totals::{FolderTotals, KeySum, LevelName, LevelTotals};
use crate::io::console::{Console, Tone};
use crate::render::numbers::{count, measured, or_dash, percent, ratio, size};

pub(super) const KEYS_NOTE: &str =
    "~ keys: estimated from some data blocks of each table; +-: how far they may be off";

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
    let columns = vec![
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
    let layout = Layout::new(columns, console.width());
    layout.write_titles(console)?;
    let keys = levels.values().filter_map(|level| level.keys.keys).fold(0, u64::saturating_add);
    for (&name, level) in levels {
        layout.write(console, cells(name, level, keys))?;
    }
    Ok(())
}

/// `keys`: of all levels.
fn cells(name: LevelName, level: &LevelTotals, keys: u64) -> Vec<Cell> {
    let tone = if level.unfiltered > 0 { Tone::Bad } else { Tone::Plain };
    vec![
        level_text(name).into(),
        count(level.tables).into(),
        Cell::toned(count(level.unfiltered), tone),
        size(level.file_size).into(),
        key_sum(&level.keys).into(),
        key_error(&level.keys).into(),
        or_dash(level.keys.keys.map(|of| percent(ratio(of, keys)))).into(),
        size(level.filter_size).into(),
        or_dash(level.rates().random().map(measured)).into(),
    ]
}
