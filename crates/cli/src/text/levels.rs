//! The totals of each level as lines of a listing.

use std::io;

use filterblock_engine::report::{EntrySum, LevelTotals, Totals};
use filterblock_engine::words::{count, distinct_keys, entries, measured, or_dash, percent, ratio, size};

use super::columns::{Cell, Column, Layout};
use super::pictures::bar;
use crate::io::{Console, Signs, Tone};

pub(super) const ESTIMATE_NOTE: &str = "~ estimated from some data blocks of each table; +-: how far entries may be off; distinct keys of several tables lie \
     between bounds, as these may hold the same keys";

/// The width to fit lines into if there is no terminal of known width.
pub(super) const WIDTH: usize = 100;
/// The width of the bar for the share of all entries, in characters.
const BAR_WIDTH: usize = 12;

/// A level as a listing names it. `None` stands for tables that are not live: obsolete ones, and those that the
/// MANIFEST does not list yet.
pub(super) fn level_text(level: Option<u8>) -> String {
    level.map_or_else(|| "unused".to_owned(), |level| level.to_string())
}

/// The number of entries of some tables; a dash if no number is known.
pub(super) fn entry_sum(sum: &EntrySum) -> String {
    or_dash(sum.number().map(entries))
}

/// The share by which a number of entries may be off; empty if the number is exact or there are
/// no tables, and a dash if the entries of some tables are not known.
pub(super) fn entry_error(sum: &EntrySum) -> String {
    if sum.is_partial { "-".to_owned() } else { sum.error().map(percent).unwrap_or_default() }
}

/// Makes a level's cell, given the number of entries on all levels and the characters to draw with,
/// if there are any.
type LevelCell = fn(&LevelTotals, (u64, Option<Signs>)) -> Cell;

fn unfiltered(tables: u64) -> Cell {
    Cell::toned(count(tables), if tables > 0 { Tone::Bad } else { Tone::Plain })
}

/// A level's share of all `entries`; `None` if its own number is not known.
fn share(level: &LevelTotals, entries: u64) -> Option<f64> {
    level.entries.count.map(|of| ratio(of, entries))
}

fn picture(level: &LevelTotals, (entries, signs): (u64, Option<Signs>)) -> Cell {
    let bar = signs.zip(share(level, entries)).map(|(signs, share)| bar(share, BAR_WIDTH, signs));
    bar.unwrap_or_default().into()
}

/// Writes a line for each level, if the levels are known from the MANIFEST.
pub(super) fn write(totals: &Totals, console: &mut Console) -> io::Result<()> {
    if totals.levels.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    let entries = totals.levels.values().filter_map(|level| level.entries.count).fold(0, u64::saturating_add);
    let of = (entries, console.signs());
    let right = Column::right;
    let mut columns: Vec<(Column, LevelCell)> = vec![
        (right("level", 8, 0), |level, _| level_text(level.level).into()),
        (right("tables", 6, 0), |level, _| count(level.tables).into()),
        (right("no filter", 9, 1), |level, _| unfiltered(level.unfiltered)),
        (right("size", 10, 4), |level, _| size(level.file_size).into()),
        (right("entries", 12, 2), |level, _| entry_sum(&level.entries).into()),
        (right("+-", 7, 5), |level, _| entry_error(&level.entries).into()),
        (right("of all", 7, 0), |level, (entries, _)| or_dash(share(level, entries).map(percent)).into()),
        (right("distinct keys", 13, 2), |level, _| {
            or_dash(level.distinct_keys.number().map(distinct_keys)).into()
        }),
        (right("filter size", 11, 3), |level, _| size(level.filter_size).into()),
        (right("rate", 8, 0), |level, _| or_dash(level.random_fpr.mean().map(measured)).into()),
    ];
    if of.1.is_some() {
        // A picture of the share of all entries. If lines are too wide, it is hidden before any number is.
        columns.push((Column::left("", BAR_WIDTH + 2, 9), picture));
    }
    let (columns, cells): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let layout = Layout::new(columns, Some(console.width().unwrap_or(WIDTH)));
    layout.write_titles(console)?;
    totals
        .levels
        .values()
        .try_for_each(|level| layout.write(console, cells.iter().map(|cell| cell(level, of)).collect()))
}
