//! The totals of each level as lines of a listing.

use std::io;

use filterblock_engine::report::{KeySum, LevelTotals, Totals};
use filterblock_engine::words::{count, measured, or_dash, percent, ratio, size};

use super::columns::{Cell, Column, Layout};
use super::pictures::bar;
use crate::io::{Console, Signs, Tone};

pub(super) const KEYS_NOTE: &str =
    "~ keys: estimated from some data blocks of each table; +-: how far they may be off";

/// The width of the bar for the share of all keys, in characters.
const BAR_WIDTH: usize = 12;

/// A level as a listing names it; `None`: tables that are not live.
pub(super) fn level_text(level: Option<u8>) -> String {
    level.map_or_else(|| "obsolete".to_owned(), |level| level.to_string())
}

/// The number of keys of some tables; a dash if none is known.
pub(super) fn key_sum(sum: &KeySum) -> String {
    let about = if sum.estimated { "~" } else { "" };
    or_dash(sum.keys.map(|keys| format!("{about}{}", count(keys))))
}

/// The share by which a number of keys may be off; empty if it is exact or no number is known. A
/// dash if the keys of some tables are not known.
pub(super) fn key_error(sum: &KeySum) -> String {
    if sum.is_partial { "-".to_owned() } else { sum.error().map(percent).unwrap_or_default() }
}

/// Makes the cell of a level from the level's totals, the number of keys on all levels and the
/// characters to draw with, if there are any.
type LevelCell = fn(&LevelTotals, (u64, Option<Signs>)) -> Cell;

fn unfiltered(tables: u64) -> Cell {
    Cell::toned(count(tables), if tables > 0 { Tone::Bad } else { Tone::Plain })
}

/// The level's share of all `keys`, if its keys are known.
fn share(level: &LevelTotals, keys: u64) -> Option<f64> {
    level.keys.keys.map(|of| ratio(of, keys))
}

fn picture(level: &LevelTotals, (keys, signs): (u64, Option<Signs>)) -> Cell {
    let bar = signs.zip(share(level, keys)).map(|(signs, share)| bar(share, BAR_WIDTH, signs));
    bar.unwrap_or_default().into()
}

/// Writes a line for each level, if the levels are known from the MANIFEST.
pub(super) fn write(totals: &Totals, console: &mut Console) -> io::Result<()> {
    if totals.levels.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    let keys = totals.levels.values().filter_map(|level| level.keys.keys).fold(0, u64::saturating_add);
    let of = (keys, console.signs());
    let right = Column::right;
    let mut columns: Vec<(Column, LevelCell)> = vec![
        (right("level", 8, 0), |level, _| level_text(level.level).into()),
        (right("tables", 6, 0), |level, _| count(level.tables).into()),
        (right("no filter", 9, 1), |level, _| unfiltered(level.unfiltered)),
        (right("size", 10, 4), |level, _| size(level.file_size).into()),
        (right("keys", 12, 2), |level, _| key_sum(&level.keys).into()),
        (right("+-", 7, 5), |level, _| key_error(&level.keys).into()),
        (right("of all", 7, 0), |level, (keys, _)| or_dash(share(level, keys).map(percent)).into()),
        (right("filter size", 11, 3), |level, _| size(level.filter_size).into()),
        (right("rate", 8, 0), |level, _| or_dash(level.random_fpr.mean().map(measured)).into()),
    ];
    if of.1.is_some() {
        // A picture of the share of all keys, which gives way before any number does.
        columns.push((Column::left("", BAR_WIDTH + 2, 9), picture));
    }
    let (columns, cells): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let layout = Layout::new(columns, console.width());
    layout.write_titles(console)?;
    totals
        .levels
        .values()
        .try_for_each(|level| layout.write(console, cells.iter().map(|cell| cell(level, of)).collect()))
}
