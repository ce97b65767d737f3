//! The answers of tables and logs for keys, as text.

use std::io;

use filterblock::{escape, escape_path};
use filterblock_engine::QueryOutcome;
use filterblock_engine::report::{Answer, Count, LogAnswer};
use filterblock_engine::words::{count, counted, percent};

use crate::io::{Console, Tone};

/// Data blocks named on a line of a terminal, whose width is limited. All blocks are counted.
const NAMED_BLOCKS: usize = 6;

pub(crate) fn write(answer: &Answer<'_>, console: &mut Console) -> io::Result<()> {
    let verdict = match answer.may_match {
        true => console.tone(Tone::Good, "may be there"),
        false => console.tone(Tone::Dim, "not there"),
    };
    write!(console, "{}: \"{}\": {verdict}", escape_path(answer.path), escape(answer.key_hex.0))?;
    if let Some(error) = answer.frame.error.as_deref() {
        return writeln!(console, ": {error}");
    }
    match answer.log {
        Some(LogAnswer::Value) => writeln!(console, ", with a value in this log"),
        Some(LogAnswer::Deletion) => writeln!(console, ": deleted in this log"),
        Some(LogAnswer::Absent) => writeln!(console, ", in no write of this log"),
        None if answer.may_match => write_blocks(answer, console),
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
    write!(console, "{}: {} of {keys} may be there", escape_path(of.path), count(of.matches))?;
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
fn write_blocks(answer: &Answer<'_>, console: &mut Console) -> io::Result<()> {
    let of = counted(answer.of, "data block");
    let fpr = percent(answer.estimated_fpr);
    if answer.by_index {
        write!(console, ", in the data block at ")?;
        write_offsets(&answer.blocks, console)?;
        return if answer.filtered {
            writeln!(console, " by the index (false-positive rate {fpr})")
        } else {
            writeln!(console, " by the index (no filter)")
        };
    }
    if !answer.filtered {
        return writeln!(console, ", in any of {of} (no filter)");
    }
    write!(console, ", in {} of {of}: ", count(answer.blocks.len() as u64))?;
    write_offsets(&answer.blocks, console)?;
    writeln!(console, " (all filters checked; false-positive rate {fpr})")
}

fn write_offsets(offsets: &[u64], console: &mut Console) -> io::Result<()> {
    let named = if console.width().is_some() { NAMED_BLOCKS } else { usize::MAX };
    for (at, offset) in offsets.iter().take(named).enumerate() {
        write!(console, "{}{offset}", if at == 0 { "" } else { ", " })?;
    }
    match offsets.len().saturating_sub(named) {
        0 => Ok(()),
        more => write!(console, " and {} more", count(more as u64)),
    }
}
