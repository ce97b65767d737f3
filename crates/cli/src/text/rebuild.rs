//! The results of a rebuild, as text.

use std::{io, path::Path};

use filterblock::escape_path;
use filterblock_engine::rebuild::RebuildMode;
use filterblock_engine::report::{FiltersReport, RebuildReport, RebuildStatus, RebuiltTable};
use filterblock_engine::text::{count, counted, path_word, size};

use super::labelled::paragraph;
use crate::io::{Console, Tone};

pub(crate) fn write(
    database: &Path,
    request: &RebuildMode,
    report: &RebuildReport,
    is_verbose: bool,
    console: &mut Console,
) -> io::Result<()> {
    let path = escape_path(database);
    let mut done = |words: &str, rest: &str| {
        let words = console.tone(Tone::Good, words.to_owned());
        writeln!(console, "{path}: {words}{rest}")
    };
    match (request, report.data.status) {
        (RebuildMode::Undo, _) => return done("undone", ": the tables from before the rebuild are back"),
        (RebuildMode::Discard, RebuildStatus::Finished) => {
            return done("undone", ": an earlier --undo is finished now");
        }
        (RebuildMode::Discard, _) => {
            return done("discarded", ": the tables from before the rebuild are deleted");
        }
        (_, RebuildStatus::Finished) => {
            done("rebuilt", ": an earlier run is finished now")?;
            return undo_advice(database, report, console);
        }
        (_, RebuildStatus::DryRun) => {
            let tables = counted(report.data.sums.tables, "table");
            writeln!(console, "{path}: {tables} would be rebuilt; nothing was written")?;
        }
        _ if report.data.manifest.is_none() => {
            return writeln!(console, "{path}: no tables yet, so there is nothing to do");
        }
        _ => {
            let tables = counted(report.data.sums.tables - report.data.sums.unchanged, "table");
            let what = if report.data.policy.is_some() { "new filters" } else { "no filters" };
            let have = if report.data.sums.tables - report.data.sums.unchanged == 1 { "has" } else { "have" };
            done("rebuilt", &format!(": {tables} {have} {what}, and no entry changed"))?;
        }
    }
    paragraph(console, 2, &format!("filters  {}", filters_text(report)))?;
    if is_verbose {
        report.tables.iter().try_for_each(|table| table_line(table, console))?;
    }
    if report.data.sums.unchanged > 0 {
        paragraph(console, 2, &format!("unchanged: {}", counted(report.data.sums.unchanged, "table")))?;
    }
    for why in report.tables.iter().filter_map(|table| table.error.as_ref()) {
        paragraph(console, 2, why)?;
    }
    advice(database, report, console)
}

fn table_line(
    RebuiltTable { old_name, data: table, .. }: &RebuiltTable,
    console: &mut Console,
) -> io::Result<()> {
    let filters = |filters: &Option<FiltersReport>| {
        filters.as_ref().map_or_else(|| "none".to_owned(), |filters| size(filters.size))
    };
    let [before, now] = [&table.old_filters, &table.new_filters].map(filters);
    writeln!(console, "  level {}  {}  filters {before} before, {now} now", table.level, old_name)
}

/// The sizes of all filters before and after, and the bits per key.
fn filters_text(report: &RebuildReport) -> String {
    let sums = report.data.sums;
    let shown = |bytes| if bytes == 0 { "none".to_owned() } else { size(bytes) };
    let [before, now] = [sums.old_filter_size, sums.new_filter_size].map(shown);
    let [was, is] =
        if report.data.status == RebuildStatus::DryRun { ["now", "then"] } else { ["before", "now"] };
    let bits = report.tables.iter().find_map(|table| table.data.new_filters.as_ref()?.bits_per_key);
    let bits = bits.map(|bits| format!(": {} bits per key", count(bits.into()))).unwrap_or_default();
    format!("{before} {was}, {now} {is}{bits}")
}

fn advice(database: &Path, report: &RebuildReport, console: &mut Console) -> io::Result<()> {
    if report.data.status != RebuildStatus::Rebuilt || report.tables.is_empty() {
        return Ok(());
    }
    let text = match report.data.sums.old_filter_size {
        0 if report.data.policy.is_some() => "New tables get filters only if the program sets this policy.",
        _ => "New tables get what the program sets.",
    };
    paragraph(console, 2, text)?;
    if let Some(target) = &report.data.target {
        paragraph(console, 2, &format!("The new database is {}.", escape_path(target)))?;
    }
    undo_advice(database, report, console)
}

fn undo_advice(database: &Path, report: &RebuildReport, console: &mut Console) -> io::Result<()> {
    if let Some(undo) = &report.data.undo {
        let (undo, word) = (escape_path(undo), path_word(database));
        paragraph(console, 2, &format!("The old tables are in {undo}. To delete them, or to go back:"))?;
        writeln!(console, "    filterblock rebuild --discard {word}")?;
        writeln!(console, "    filterblock rebuild --undo {word}")?;
    }
    Ok(())
}
