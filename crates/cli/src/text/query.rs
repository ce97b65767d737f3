//! The answers of tables and logs for keys, as text.

use std::io;

use filterblock::{escape, escape_path};
use filterblock_engine::QueryOutcome;
use filterblock_engine::report::{Answer, Count, LogAnswer};
use filterblock_engine::text::{count, counted, percent};

use crate::io::{Console, Tone};

/// Data blocks named on a line of a terminal, whose width is limited. All blocks are counted.
const NAMED_BLOCKS: usize = 6;

/// `data_blocks`: of the table. `has_filters`: there are filters to check.
pub(crate) fn write(
    answer: &Answer<'_>,
    data_blocks: u64,
    has_filters: bool,
    console: &mut Console,
) -> io::Result<()> {
    let verdict = match answer.may_match {
        true => console.tone(Tone::Good, "may be there"),
        false => console.tone(Tone::Dim, "not there"),
    };
    write!(console, "{}: \"{}\": {verdict}", escape_path(&answer.frame.path), escape(answer.key_hex.0))?;
    if let Some(error) = answer.frame.error.as_deref() {
        return writeln!(console, ": {error}");
    }
    match answer.log {
        Some(LogAnswer::Value) => writeln!(console, ", with a value in this log"),
        Some(LogAnswer::Deletion) => writeln!(console, ": deleted in this log"),
        Some(LogAnswer::Absent) => writeln!(console, ", in no write of this log"),
        None if answer.may_match => write_blocks(answer, data_blocks, has_filters, console),
        None => writeln!(console),
    }
}

/// Writes how many data blocks a lookup in the database reads at most, apart from tables that cannot be read.
pub(crate) fn write_lookup(
    key: &[u8],
    blocks: u64,
    tables_left_out: u64,
    console: &mut Console,
) -> io::Result<()> {
    write!(console, "\"{}\": a lookup reads at most {}", escape(key), counted(blocks, "data block"))?;
    match tables_left_out {
        0 => writeln!(console),
        tables => writeln!(console, ", and those of {} that cannot be read", counted(tables, "table")),
    }
}

pub(crate) fn write_count(of: &Count<'_>, console: &mut Console) -> io::Result<()> {
    let keys = counted(of.keys, "key");
    write!(console, "{}: {} of {keys} may be there", escape_path(&of.frame.path), count(of.matches))?;
    match of.frame.error.as_deref() {
        Some(error) => writeln!(console, ": {error}"),
        None => writeln!(console, " (false-positive rate {})", percent(of.estimated_fpr)),
    }
}

/// Writes the totals over all files, if there are several.
pub(crate) fn write_totals(outcome: &QueryOutcome, console: &mut Console) -> io::Result<()> {
    if outcome.files < 2 {
        return Ok(());
    }
    let found = outcome.found.iter().filter(|found| **found).count();
    let (files, keys) = (counted(outcome.files, "file"), counted(outcome.found.len() as u64, "key"));
    writeln!(console, "{files} in all: {} of {keys} may be in one", count(found as u64))
}

/// Writes in which data blocks the key may be, and how likely that is for an absent key.
fn write_blocks(
    answer: &Answer<'_>,
    data_blocks: u64,
    has_filters: bool,
    console: &mut Console,
) -> io::Result<()> {
    let (of, fpr) = (counted(data_blocks, "data block"), percent(answer.estimated_fpr));
    let number = count(answer.blocks.len() as u64);
    let offsets = offsets_text(&answer.blocks, console.width().map_or(usize::MAX, |_| NAMED_BLOCKS));
    match (answer.by_index, has_filters) {
        (true, true) => {
            writeln!(console, ", in the data block at {offsets} by the index (false-positive rate {fpr})")
        }
        (true, false) => writeln!(console, ", in the data block at {offsets} by the index (no filter)"),
        (false, false) => writeln!(console, ", in any of {of} (no filter)"),
        (false, true) => writeln!(
            console,
            ", in {number} of {of}: {offsets} (all filters checked; false-positive rate {fpr})"
        ),
    }
}

fn offsets_text(offsets: &[u64], most: usize) -> String {
    let named = offsets.iter().take(most).map(u64::to_string).collect::<Vec<_>>().join(", ");
    match offsets.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {} more", count(more as u64)),
    }
}
