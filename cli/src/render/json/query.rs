//! The answer for one table and one key as a JSON object. Fields are only ever added.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::line::write_line;
use super::strings::{Hex, json_path};
use crate::audit::query::candidates::Answer;
use crate::audit::query::logs::LogAnswer;
use crate::audit::query::totals::{QueryTotals, TableMatches};
use crate::io::console::Console;
use crate::render::renderer::QueryRenderer;

pub(crate) struct JsonQuery;

#[derive(Serialize)]
struct JsonAnswer<'a> {
    path: Cow<'a, str>,
    key: Option<&'a str>,
    key_hex: String,
    may_match: bool,
    blocks: &'a [u64],
    error: Option<&'a str>,
    /// For a log: "value", "deletion" or "absent".
    log: Option<&'static str>,
    /// The index named the data block; otherwise the filters of all were asked.
    by_index: bool,
    /// The most data blocks of the table that a lookup in its database reads: 0 if the database
    /// does not use the table, null if the index was of no use.
    lookup_blocks: Option<u64>,
    /// The chance that an absent key is said to be there.
    estimated_fpr: f64,
}

/// The answers for one table, counted.
#[derive(Serialize)]
struct JsonCount<'a> {
    path: Cow<'a, str>,
    keys: u64,
    matches: u64,
    error: Option<&'a str>,
    /// The mean chance that an absent key is said to be there.
    estimated_fpr: f64,
}

impl QueryRenderer for JsonQuery {
    fn answer(&mut self, path: &Path, answer: &Answer<'_>, console: &mut Console) -> io::Result<()> {
        let blocks = answer.blocks;
        let json = JsonAnswer {
            path: json_path(path),
            key: std::str::from_utf8(answer.key).ok(),
            key_hex: Hex(answer.key).to_string(),
            may_match: answer.may_match(),
            blocks: blocks.map_or(&[], |blocks| &blocks.offsets),
            error: answer.error,
            log: answer.log.map(LogAnswer::name),
            by_index: blocks.is_some_and(|blocks| blocks.by_index),
            lookup_blocks: answer.log.map(|_| 0).or_else(|| blocks?.lookup_blocks),
            estimated_fpr: answer.fpr(),
        };
        write_line(console, &json)
    }

    fn lookup_blocks(&mut self, _: &[u8], _: u64, _: &mut Console) -> io::Result<()> {
        // The answers for the tables have it.
        Ok(())
    }

    fn count(
        &mut self,
        path: &Path,
        matches: &TableMatches,
        error: Option<&str>,
        console: &mut Console,
    ) -> io::Result<()> {
        let TableMatches { keys, matches: found, .. } = *matches;
        let path = json_path(path);
        let json = JsonCount { path, keys, matches: found, error, estimated_fpr: matches.fpr() };
        write_line(console, &json)
    }

    fn totals(&mut self, _: &QueryTotals, _: &mut Console) -> io::Result<()> {
        Ok(())
    }
}
