//! The totals of each level as lines of a listing.

use std::io;

use filterblock_engine::report::Totals;
use filterblock_engine::text::{count, entry_sum, measured, or_dash, size};

use super::columns::{Align, Cell, Layout};
use super::list::level_text;
use crate::io::Console;

/// The level is set off like the lines above it.
const TITLES: [&str; 6] = ["  level", "tables", "size", "entries", "filters", "false positives"];

/// Writes a line for each level, if the levels are known from the MANIFEST. Unused tables are on no level.
pub(super) fn write(totals: &Totals, console: &mut Console) -> io::Result<()> {
    let levels: Vec<_> = totals.levels.values().filter(|level| level.level.is_some()).collect();
    if levels.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    let has_filters = levels.iter().any(|level| level.filter_size > 0);
    let shown = if has_filters { 6 } else { 5 };
    let titles = TITLES.map(|title| (title, Align::Right));
    let rows = levels.into_iter().map(|level| {
        let (filters, rate) = match level.filter_size {
            0 => ("none".to_owned(), "-".to_owned()),
            bytes => (size(bytes), or_dash(level.random_fpr.mean().map(measured))),
        };
        let (tables, bytes) = (count(level.tables), size(level.file_size));
        let cells = [level_text(level.level), tables, bytes, entry_sum(&level.entries), filters, rate];
        cells.into_iter().take(shown).map(Cell::from).collect()
    });
    Layout::write_all(titles.get(..shown).unwrap_or_default(), rows.collect(), console)
}
