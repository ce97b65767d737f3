//! The answer for one table and one key as a JSON object. Fields are only ever added.

use std::io;

use serde::Serialize;

use super::folder;
use crate::io::console::Console;
use crate::renderer::QueryRenderer;
use filterblock_engine::audit::query::candidates::Answer;
use filterblock_engine::audit::query::logs::LogAnswer;
use filterblock_engine::audit::query::totals::{QueryTotals, TableMatches};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::fetched::Fetched;
use filterblock_engine::report::folder::FolderHeader;
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::strings::Hex;
use filterblock_engine::report::subject::Subject;

pub(crate) struct JsonQuery;

#[derive(Serialize)]
struct JsonAnswer<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
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
    #[serde(flatten)]
    fetched: Fetched,
}

/// The answers for one table, counted.
#[derive(Serialize)]
struct JsonCount<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    keys: u64,
    matches: u64,
    error: Option<&'a str>,
    /// The mean chance that an absent key is said to be there.
    estimated_fpr: f64,
    #[serde(flatten)]
    fetched: Fetched,
}

impl QueryRenderer for JsonQuery {
    fn begin_folder(
        &mut self,
        subject: Subject<'_>,
        folder: &FolderHeader<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        folder::write(subject, folder, "all tables are asked", console)
    }

    fn begin_table(&mut self, subject: Subject<'_>, error: Option<(&str, ErrorKind)>, console: &mut Console) {
        console.remarks(subject.remarks);
        if let Some((error, _)) = error {
            console.message_about(subject.path, error);
        }
    }

    fn answer(&mut self, subject: Subject<'_>, answer: &Answer<'_>, console: &mut Console) -> io::Result<()> {
        let blocks = answer.blocks;
        let json = JsonAnswer {
            frame: Frame::new("answer", &subject, answer.error.map(|(_, kind)| kind)),
            key: std::str::from_utf8(answer.key).ok(),
            key_hex: Hex(answer.key).to_string(),
            may_match: answer.may_match(),
            blocks: blocks.map_or(&[], |blocks| &blocks.offsets),
            error: answer.error.map(|(error, _)| error),
            log: answer.log.map(LogAnswer::name),
            by_index: blocks.is_some_and(|blocks| blocks.by_index),
            lookup_blocks: answer.log.map(|_| 0).or_else(|| blocks?.lookup_blocks),
            estimated_fpr: answer.fpr(),
            fetched: subject.fetched.cloned().unwrap_or_default(),
        };
        write_line(console, &json)
    }

    fn lookup_blocks(&mut self, _: &[u8], _: u64, _: &mut Console) -> io::Result<()> {
        // The answers for the tables have it.
        Ok(())
    }

    fn count(
        &mut self,
        subject: Subject<'_>,
        matches: &TableMatches,
        error: Option<(&str, ErrorKind)>,
        console: &mut Console,
    ) -> io::Result<()> {
        let TableMatches { keys, matches: found, .. } = *matches;
        let frame = Frame::new("count", &subject, error.map(|(_, kind)| kind));
        let error = error.map(|(error, _)| error);
        let (estimated_fpr, fetched) = (matches.fpr(), subject.fetched.cloned().unwrap_or_default());
        let json = JsonCount { frame, keys, matches: found, error, estimated_fpr, fetched };
        write_line(console, &json)
    }

    fn totals(&mut self, _: &QueryTotals, _: &mut Console) -> io::Result<()> {
        Ok(())
    }
}
