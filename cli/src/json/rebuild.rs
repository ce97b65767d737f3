//! What became of a database that was rebuilt, as JSON objects. The fields are documented in
//! `docs/json.md`.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use crate::io::console::Console;
use crate::renderer::{RebuildAction, RebuildOutcome, RebuildRenderer};
use filterblock_engine::rebuild::failure::Failure;
use filterblock_engine::rebuild::report::{FiltersReport, Report, TableReport};
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::strings::{json_name, json_path};
use filterblock_engine::report::subject::Subject;

pub(crate) struct JsonRebuild;

#[derive(Serialize)]
struct JsonTable<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    error: Option<&'a str>,
    level: u8,
    new_name: &'a str,
    entries: Option<u64>,
    old_size: u64,
    new_size: u64,
    old_filter: Option<JsonFilter<'a>>,
    new_filter: Option<JsonFilter<'a>>,
}

#[derive(Serialize)]
struct JsonFilter<'a> {
    policy: Cow<'a, str>,
    size: u64,
    base_lg: Option<u8>,
    bits_per_key: Option<u32>,
}

#[derive(Serialize)]
struct JsonDatabase<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    error: Option<String>,
    tables: u64,
    kept: u64,
    old_size: u64,
    new_size: u64,
    old_filter_size: u64,
    new_filter_size: u64,
    policy: Option<Cow<'a, str>>,
    manifest: Option<&'a str>,
    verified: bool,
    target: Option<Cow<'a, str>>,
    undo: Option<Cow<'a, str>>,
}

impl<'a> From<&'a FiltersReport> for JsonFilter<'a> {
    fn from(filters: &'a FiltersReport) -> Self {
        let FiltersReport { policy, size, base_lg, bits_per_key } = filters;
        Self {
            policy: json_name(policy.as_bytes()),
            size: *size,
            base_lg: *base_lg,
            bits_per_key: *bits_per_key,
        }
    }
}

impl RebuildRenderer for JsonRebuild {
    fn outcome(
        &mut self,
        subject: Subject<'_>,
        outcome: &RebuildOutcome<'_>,
        console: &mut Console,
    ) -> io::Result<()> {
        let status = status(outcome);
        let report = match outcome.result {
            Ok(report) => report,
            Err(failure) => {
                console.message(failure);
                return database(subject, status, Some(failure), &Report::default(), console);
            }
        };
        report.notes.iter().for_each(|note| console.message(note));
        report.tables.iter().try_for_each(|one| table(subject, one, console))?;
        database(subject, status, None, report, console)
    }
}

fn status(outcome: &RebuildOutcome<'_>) -> &'static str {
    match (outcome.result, outcome.action) {
        (Err(Failure::Refused(_)), _) => "refused",
        (Err(Failure::InUse(_)), _) => "in-use",
        (Err(Failure::Failed(_)), _) => "failed",
        (Err(Failure::Interrupted(_)), _) => "interrupted",
        (Ok(report), _) if report.finished_earlier => "finished",
        (Ok(_), RebuildAction::Rebuild) => "rebuilt",
        (Ok(_), RebuildAction::DryRun) => "dry-run",
        (Ok(_), RebuildAction::Undo) => "undone",
        (Ok(_), RebuildAction::Discard) => "discarded",
    }
}

fn table(subject: Subject<'_>, table: &TableReport, console: &mut Console) -> io::Result<()> {
    let (path, kept) = (subject.path.join(&table.old_name), table.kept.as_ref());
    let json = JsonTable {
        frame: Frame::new("table", &Subject { path: &path, ..subject }, kept.and_then(|fault| fault.kind)),
        status: if kept.is_some() { "kept" } else { "rebuilt" },
        error: kept.map(|fault| &*fault.text),
        level: table.level,
        new_name: &table.new_name,
        entries: table.entries,
        old_size: table.old_size,
        new_size: table.new_size,
        old_filter: table.old_filters.as_ref().map(JsonFilter::from),
        new_filter: table.new_filters.as_ref().map(JsonFilter::from),
    };
    write_line(console, &json)
}

fn database(
    subject: Subject<'_>,
    status: &'static str,
    failure: Option<&Failure>,
    report: &Report,
    console: &mut Console,
) -> io::Result<()> {
    let error_kind = failure.and_then(Failure::kind);
    let frame = Frame::new("database", &subject, error_kind).note(report.notes.iter().cloned());
    let sums = report.sums();
    let json = JsonDatabase {
        frame,
        status,
        error: failure.map(Failure::to_string),
        tables: sums.tables,
        kept: sums.kept,
        old_size: sums.old_size,
        new_size: sums.new_size,
        old_filter_size: sums.old_filter_size,
        new_filter_size: sums.new_filter_size,
        policy: report.policy.as_deref().map(|name| json_name(name.as_bytes())),
        manifest: report.manifest.as_deref(),
        verified: report.verified,
        target: report.target.as_deref().map(json_path),
        undo: report.undo.as_deref().map(json_path),
    };
    write_line(console, &json)
}
