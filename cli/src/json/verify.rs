//! The verdict on a table as a JSON object. The fields are documented in `docs/json.md`.

use std::io;

use serde::Serialize;

use crate::io::console::Console;
use crate::renderer::VerifyRenderer;
use filterblock_engine::audit::lost_keys::LostKeys;
use filterblock_engine::audit::rates::measured::MeasuredRate;
use filterblock_engine::audit::verify::finding::Finding;
use filterblock_engine::audit::verify::verdict::{Verdict, VerdictCounts};
use filterblock_engine::report::fetched::Fetched;
use filterblock_engine::report::folder::Verified;
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::words::notes::note_text;

pub(crate) struct JsonVerify;

#[derive(Serialize)]
struct JsonVerdict<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    keys: u64,
    denied: u64,
    measured_fpr: Option<MeasuredRate>,
    estimated_fpr: Option<f64>,
    findings: Vec<JsonFinding>,
    #[serde(flatten)]
    fetched: Fetched,
}

#[derive(Serialize)]
struct JsonFinding {
    code: &'static str,
    offset: Option<u64>,
    expected: String,
    found: String,
    lost: Option<LostKeys>,
}

impl From<Finding> for JsonFinding {
    fn from(finding: Finding) -> Self {
        let Finding { code, offset, expected, found, lost, .. } = finding;
        Self { code: code.name(), offset, expected, found, lost: lost.as_deref().cloned() }
    }
}

impl VerifyRenderer for JsonVerify {
    fn verdict(
        &mut self,
        subject: Subject<'_>,
        of: Verified,
        verdict: &Verdict,
        console: &mut Console,
    ) -> io::Result<()> {
        console.remarks(subject.remarks);
        for note in &verdict.notes {
            console.message_about(subject.path, note_text(note));
        }
        let object = match of {
            Verified::Table => "table",
            Verified::Folder => "folder",
            Verified::Unreadable => "unreadable",
        };
        let frame = Frame::new(object, &subject, verdict.findings.kind());
        let json = JsonVerdict {
            frame: frame.note(verdict.notes.iter().map(note_text)),
            status: verdict.status().name(),
            keys: verdict.keys,
            denied: verdict.denied,
            measured_fpr: verdict.measured_fpr,
            estimated_fpr: verdict.estimated_fpr,
            findings: verdict.findings.to_list().into_iter().map(JsonFinding::from).collect(),
            fetched: subject.fetched.cloned().unwrap_or_default(),
        };
        write_line(console, &json)
    }

    fn end(&mut self, _: &VerdictCounts, _: &mut Console) -> io::Result<()> {
        Ok(())
    }
}
