//! What became of a database that was rebuilt, as JSON objects. The fields are documented in
//! `docs/json.md`.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use super::frame::Frame;
use super::line::write_line;
use super::strings::json_path;
use crate::io::console::Console;
use crate::rebuild::failure::Failure;
use crate::rebuild::report::{FiltersReport, Report, TableReport};
use crate::render::renderer::{RebuildAction, RebuildOutcome, RebuildRenderer};
use crate::render::subject::Subject;

pub(crate) struct JsonRebuild;

#[derive(Serialize)]
struct JsonTable<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    level: u8,
    new_name: &'a str,
    old_size: u64,
    new_size: u64,
    old_filters: Option<JsonFilters<'a>>,
    new_filters: Option<JsonFilters<'a>>,
    entries: Option<u64>,
    kept: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonFilters<'a> {
    policy: &'a str,
    size: u64,
    base_lg: Option<u8>,
    bits_per_key: Option<u32>,
}

#[derive(Serialize)]
struct JsonDatabase<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    message: Option<String>,
    tables: u64,
    policy: Option<&'a str>,
    manifest: Option<&'a str>,
    verified: bool,
    target: Option<Cow<'a, str>>,
    undo: Option<Cow<'a, str>>,
}

impl<'a> From<&'a FiltersReport> for JsonFilters<'a> {
    fn from(filters: &'a FiltersReport) -> Self {
        let FiltersReport { policy, size, base_lg, bits_per_key } = filters;
        Self { policy, size: *size, base_lg: *base_lg, bits_per_key: *bits_per_key }
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
                let message = Some(failure.to_string());
                return database(subject, status, message, &Report::default(), console);
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
    let path = subject.path.join(&table.old_name);
    let json = JsonTable {
        frame: Frame::new("table", &Subject { path: &path, ..subject }, None),
        level: table.level,
        new_name: &table.new_name,
        old_size: table.old_size,
        new_size: table.new_size,
        old_filters: table.old_filters.as_ref().map(JsonFilters::from),
        new_filters: table.new_filters.as_ref().map(JsonFilters::from),
        entries: table.entries,
        kept: table.kept.as_deref(),
    };
    write_line(console, &json)
}

fn database(
    subject: Subject<'_>,
    status: &'static str,
    message: Option<String>,
    report: &Report,
    console: &mut Console,
) -> io::Result<()> {
    let frame = Frame::new("database", &subject, None).note(report.notes.iter().cloned());
    let json = JsonDatabase {
        frame,
        status,
        message,
        tables: report.tables.len() as u64,
        policy: report.policy.as_deref(),
        manifest: report.manifest.as_deref(),
        verified: report.verified,
        target: report.target.as_deref().map(json_path),
        undo: report.undo.as_deref().map(json_path),
    };
    write_line(console, &json)
}
