//! The results of a rebuild, as text.

use std::{collections::BTreeMap, io, path::Path};

use filterblock::{escape, escape_path};
use filterblock_engine::rebuild::Request;
use filterblock_engine::report::{FiltersReport, RebuildStatus, Report, Sums, TableReport};
use filterblock_engine::words::{count, counted, path_word, size};

use crate::io::{Console, Tone};

/// Writes the results of a request to rebuild a database.
pub(crate) fn write(
    database: &Path,
    request: &Request,
    report: &Report,
    console: &mut Console,
) -> io::Result<()> {
    let path = escape_path(database);
    let good = |console: &Console, text: &str| console.tone(Tone::Good, text.to_owned());
    match (request, report.status) {
        (Request::Undo, _) => {
            let done = good(console, "undone");
            return writeln!(console, "{path}: {done}, the tables are those from before the rebuild");
        }
        (Request::Discard, RebuildStatus::Finished) => {
            let done = good(console, "as before the rebuild");
            return writeln!(console, "{path}: {done}, as an earlier --undo is finished now");
        }
        (Request::Discard, _) => {
            let done = good(console, "discarded");
            return writeln!(console, "{path}: the tables before the rebuild are {done}");
        }
        (_, RebuildStatus::Finished) => {
            let done = good(console, "rebuilt");
            writeln!(console, "{path}: {done} by an earlier run, which is finished now")?;
            return undo_advice(database, report, console);
        }
        (_, RebuildStatus::DryRun) => {
            writeln!(console, "{path}: would be rebuilt, {}; nothing was written", tables(report))?;
            report.tables.iter().try_for_each(|table| table_line(table, console))?;
        }
        _ if report.manifest.is_none() => {
            return writeln!(console, "{path}: it has no tables yet, so there is nothing to do");
        }
        _ => {
            let done = good(console, "rebuilt");
            writeln!(console, "{path}: {done}, {}", tables(report))?;
        }
    }
    sums(report, console)?;
    for why in report.tables.iter().filter_map(|table| table.error.as_ref()) {
        let kept = console.tone(Tone::Bad, format!("left as it is: {why}"));
        writeln!(console, "  {kept}")?;
    }
    advice(database, report, console)
}

fn tables(report: &Report) -> String {
    let sums = report.sums;
    let mut text = counted(sums.tables, "table");
    if sums.kept > 0 {
        text += &format!(", {} of them left as they are", count(sums.kept));
    }
    text
}

fn table_line(table: &TableReport, console: &mut Console) -> io::Result<()> {
    let filters = |filters: &Option<FiltersReport>| filters.as_ref().map_or(0, |filters| filters.size);
    writeln!(
        console,
        "  level {}  {}  {} -> {}, filters {} -> {}",
        table.level,
        table.old_name,
        size(table.old_size),
        size(table.new_size),
        size(filters(&table.old_filters)),
        size(filters(&table.new_filters)),
    )
}

fn sums(report: &Report, console: &mut Console) -> io::Result<()> {
    let Sums { old_size, new_size, old_filter_size, new_filter_size, .. } = report.sums;
    writeln!(console, "  tables           {} before, {} now", size(old_size), size(new_size))?;
    writeln!(console, "  filters          {} before, {} now", size(old_filter_size), size(new_filter_size))?;
    if let Some(policy) = &report.policy {
        writeln!(console, "  filter policy    {}", escape(policy.as_bytes()))?;
        let mut levels = BTreeMap::<u8, u32>::new();
        for table in &report.tables {
            let bits = table.new_filters.as_ref().and_then(|filters| filters.bits_per_key);
            levels.extend(bits.map(|bits| (table.level, bits)));
        }
        if let Some(bits) = bits_text(&levels) {
            writeln!(console, "  bits a key       {bits}")?;
        }
    }
    if report.verified {
        writeln!(console, "  verified         every block, entry and filter of the new tables")?;
    }
    Ok(())
}

/// Returns one number if it is the same on all levels, or else a number for each level. `None` if
/// there are no filters.
fn bits_text(levels: &BTreeMap<u8, u32>) -> Option<String> {
    let first = levels.values().next()?;
    if levels.values().all(|bits| bits == first) {
        return Some(first.to_string());
    }
    let each: Vec<_> = levels.iter().map(|(level, bits)| format!("{bits} on level {level}")).collect();
    Some(each.join(", "))
}

/// Writes what the user should know or do next.
fn advice(database: &Path, report: &Report, console: &mut Console) -> io::Result<()> {
    if report.status != RebuildStatus::Rebuilt || report.tables.is_empty() {
        return Ok(());
    }
    writeln!(console)?;
    match &report.policy {
        Some(_) => writeln!(
            console,
            "A program uses these filters only if its own filter policy has this name. Tables that it\n\
             compacts later get filters by its own settings."
        )?,
        None => writeln!(console, "Tables that a program compacts later get filters by its own settings.")?,
    }
    if let Some(target) = &report.target {
        writeln!(console, "The new database is {}.", escape_path(target))?;
    }
    undo_advice(database, report, console)
}

fn undo_advice(database: &Path, report: &Report, console: &mut Console) -> io::Result<()> {
    if let Some(undo) = &report.undo {
        let word = path_word(database);
        writeln!(console, "The tables before are in {}, until", escape_path(undo))?;
        writeln!(console, "  filterblock rebuild --undo {word}     brings them back")?;
        writeln!(console, "  filterblock rebuild --discard {word}  removes them")?;
    }
    Ok(())
}
