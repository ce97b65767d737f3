//! The answer for one table and one key, for people or as JSON.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::Path;

use filterblock::escape;
use serde::Serialize;

use crate::audit::query::candidates::Found;
use crate::io::console::{Console, Tone};
use crate::render::json::line::write_line;
use crate::render::show::{Hex, count, counted, json_path, path_text, percent};

/// How many data blocks are named on a line of a terminal, whose width is limited. All of them are counted.
const NAMED_BLOCKS: usize = 6;

pub(crate) struct Answer<'a> {
    pub(crate) path: &'a Path,
    pub(crate) key: &'a [u8],
    /// None where the table could not be opened.
    pub(crate) found: Option<&'a Found>,
    /// How many of the data blocks a lookup of the key reads at most; none if the order of the keys is not known.
    pub(crate) lookup_blocks: Option<u64>,
    /// Why the key may be there whatever the filters say.
    pub(crate) error: Option<&'a str>,
}

#[derive(Serialize)]
struct Report<'a> {
    path: Cow<'a, str>,
    key: Option<&'a str>,
    key_hex: String,
    may_match: bool,
    blocks: &'a [u64],
    error: Option<&'a str>,
    /// Whether the index told the data block; otherwise the filters of all were asked.
    by_index: bool,
    /// How many data blocks of the table a lookup in its database reads at most: 0 if the database does not use it, null where the index
    /// was of no use.
    lookup_blocks: Option<u64>,
    /// The chance that a key which is not there is said to be there.
    estimated_fpr: f64,
}

impl Answer<'_> {
    pub(crate) fn may_match(&self) -> bool {
        self.error.is_some() || self.found.is_none_or(|found| !found.blocks.is_empty())
    }

    pub(crate) fn write(&self, as_json: bool, console: &mut Console) -> io::Result<()> {
        if as_json { self.write_json(console) } else { self.write_text(console) }
    }

    fn write_json(&self, console: &mut Console) -> io::Result<()> {
        let report = Report {
            path: json_path(self.path),
            key: std::str::from_utf8(self.key).ok(),
            key_hex: Hex(self.key).to_string(),
            may_match: self.may_match(),
            blocks: self.found.map_or(&[], |found| &found.blocks),
            error: self.error,
            lookup_blocks: self.lookup_blocks,
            by_index: self.found.is_some_and(|found| found.by_index),
            estimated_fpr: self.found.filter(|_| self.error.is_none()).map_or(1.0, |found| found.chance),
        };
        write_line(console, &report)
    }

    fn write_text(&self, console: &mut Console) -> io::Result<()> {
        let verdict = if self.may_match() {
            console.tone(Tone::Good, "may be there")
        } else {
            console.tone(Tone::Dim, "not there")
        };
        write!(console, "{}: \"{}\": {verdict}", path_text(self.path), escape(self.key))?;
        if let Some(error) = self.error {
            return writeln!(console, ": {error}");
        }
        match self.found {
            Some(found) if self.may_match() => write_where(found, console),
            _ => writeln!(console),
        }
    }
}

/// Where the key may be, and how far that can be relied on.
fn write_where(found: &Found, console: &mut Console) -> io::Result<()> {
    let of = counted(found.of, "data block");
    let chance = percent(found.chance);
    if found.by_index {
        write!(console, ", in the data block at ")?;
        write_offsets(&found.blocks, console)?;
        return if found.filtered {
            writeln!(console, " by the index (its filter errs with a chance of {chance})")
        } else {
            writeln!(console, " by the index (there is no filter to ask)")
        };
    }
    if !found.filtered {
        return writeln!(console, ", in any of {of} (there is no filter to ask)");
    }
    write!(console, ", in {} of {of}: ", count(found.blocks.len() as u64))?;
    write_offsets(&found.blocks, console)?;
    writeln!(console, " (all filters asked; the chance that one errs is {chance})")
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
