//! The totals of each level as lines of a listing.

use std::io;

use filterblock_engine::report::{LevelTotals, Totals};
use filterblock_engine::words::{count, measured, or_dash, size};

use super::columns::{Cell, Column, Layout};
use super::list::{entry_sum, level_text};
use crate::io::Console;

type LevelCell = fn(&LevelTotals) -> String;

/// Writes a line for each level, if the levels are known from the MANIFEST. Unused tables are on no level.
pub(super) fn write(totals: &Totals, console: &mut Console) -> io::Result<()> {
    let levels: Vec<_> = totals.levels.values().filter(|level| level.level.is_some()).collect();
    if levels.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    let has_filters = levels.iter().any(|level| level.filter_size > 0);
    let columns: [(&str, LevelCell); 6] = [
        ("level", |level| level_text(level.level)),
        ("tables", |level| count(level.tables)),
        ("size", |level| size(level.file_size)),
        ("entries", |level| entry_sum(&level.entries)),
        ("filters", |level| match level.filter_size {
            0 => "none".to_owned(),
            bytes => size(bytes),
        }),
        ("false positives", |level| match level.filter_size {
            0 => "-".to_owned(),
            _ => or_dash(level.random_fpr.mean().map(measured)),
        }),
    ];
    let shown = columns.iter().take(if has_filters { 6 } else { 5 });
    let width = |cell: &LevelCell| levels.iter().map(|level| cell(level).len()).max().unwrap_or_default();
    let layout = Layout::all(
        shown
            .clone()
            .map(|(title, cell)| {
                // The level is set off like the lines above it.
                let indent = if *title == "level" { title.len() + 2 } else { 0 };
                Column::right(title, width(cell).max(indent), 0)
            })
            .collect(),
    );
    layout.write_titles(console)?;
    let cells = |level: &LevelTotals| shown.clone().map(|(_, cell)| Cell::from(cell(level))).collect();
    levels.iter().try_for_each(|level| layout.write(console, cells(level)))
}
