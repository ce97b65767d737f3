//! The answer for one table and one key for people.

use std::io::{self, Write as _};

use filterblock::{escape, escape_path};

use crate::io::console::{Console, Tone};
use crate::renderer::QueryRenderer;
use filterblock_engine::audit::query::candidates::{Answer, KeyBlocks};
use filterblock_engine::audit::query::logs::LogAnswer;
use filterblock_engine::audit::query::totals::{QueryTotals, TableMatches};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::words::numbers::{count, counted, percent};

/// The most data blocks to name on a line of a terminal, whose width is limited. All are counted.
const NAMED_BLOCKS: usize = 6;

pub(crate) struct TextQuery;

impl QueryRenderer for TextQuery {
    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &FolderHeader<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        if let Some((path, error)) = folder.manifest_error {
            console.message_about(path, format_args!("{error}; all tables are asked"));
        }
        console.remarks(subject.remarks);
        Ok(())
    }

    fn begin_table(&mut self, subject: Subject<'_>, error: Option<(&str, ErrorKind)>, console: &mut Console) {
        console.remarks(subject.remarks);
        if let Some((error, _)) = error {
            console.message_about(subject.path, error);
        }
    }

    fn answer(&mut self, subject: Subject<'_>, answer: &Answer<'_>, console: &mut Console) -> io::Result<()> {
        let verdict = if answer.may_match() {
            console.tone(Tone::Good, "may be there")
        } else {
            console.tone(Tone::Dim, "not there")
        };
        write!(console, "{}: \"{}\": {verdict}", escape_path(subject.path), escape(answer.key))?;
        if let Some((error, _)) = answer.error {
            return writeln!(console, ": {error}");
        }
        match answer.log {
            Some(LogAnswer::Value) => return writeln!(console, ", with a value in this log"),
            Some(LogAnswer::Deletion) => return writeln!(console, ": deleted in this log"),
            Some(LogAnswer::Absent) => return writeln!(console, ", in no write of this log"),
            None => {}
        }
        match answer.blocks {
            Some(blocks) if answer.may_match() => write_blocks(blocks, console),
            _ => writeln!(console),
        }
    }

    fn lookup_blocks(&mut self, key: &[u8], blocks: u64, console: &mut Console) -> io::Result<()> {
        writeln!(console, "\"{}\": a lookup reads at most {}", escape(key), counted(blocks, "data block"))
    }

    fn count(
        &mut self,
        subject: Subject<'_>,
        matches: &TableMatches,
        error: Option<(&str, ErrorKind)>,
        console: &mut Console,
    ) -> io::Result<()> {
        let keys = counted(matches.keys, "key");
        write!(console, "{}: {} of {keys} may be there", escape_path(subject.path), count(matches.matches))?;
        match error {
            Some((error, _)) => writeln!(console, ": {error}"),
            None => writeln!(console, " (chance for an absent key: {})", percent(matches.fpr())),
        }
    }

    fn totals(&mut self, totals: &QueryTotals, console: &mut Console) -> io::Result<()> {
        if totals.files < 2 {
            return Ok(());
        }
        let (keys, found) = totals.keys();
        let files = counted(totals.files, "file");
        writeln!(console, "{files} in all: {} of {} may be in one", count(found), counted(keys, "key"))
    }
}

/// Writes in which data blocks the key may be, and how far that can be relied on.
fn write_blocks(blocks: &KeyBlocks, console: &mut Console) -> io::Result<()> {
    let of = counted(blocks.of, "data block");
    let fpr = percent(blocks.fpr);
    if blocks.by_index {
        write!(console, ", in the data block at ")?;
        write_offsets(&blocks.offsets, console)?;
        return if blocks.filtered {
            writeln!(console, " by the index (its filter errs with a chance of {fpr})")
        } else {
            writeln!(console, " by the index (there is no filter to ask)")
        };
    }
    if !blocks.filtered {
        return writeln!(console, ", in any of {of} (there is no filter to ask)");
    }
    write!(console, ", in {} of {of}: ", count(blocks.offsets.len() as u64))?;
    write_offsets(&blocks.offsets, console)?;
    writeln!(console, " (all filters asked; the chance that one errs is {fpr})")
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
