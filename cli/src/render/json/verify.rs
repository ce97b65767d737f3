//! The verdict on a table as a JSON object. The fields are documented in `docs/findings.md`.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::line::write_line;
use super::lost_keys::JsonLostKeys;
use super::strings::json_path;
use crate::audit::verify::finding::Finding;
use crate::audit::verify::verdict::{Verdict, VerdictCounts};
use crate::io::console::Console;
use crate::render::notes::note_text;
use crate::render::renderer::VerifyRenderer;

pub(crate) struct JsonVerify;

#[derive(Serialize)]
struct JsonVerdict<'a> {
    path: Cow<'a, str>,
    status: &'static str,
    keys: u64,
    denied: u64,
    measured_fpr: Option<f64>,
    estimated_fpr: Option<f64>,
    findings: Vec<JsonFinding>,
}

#[derive(Serialize)]
struct JsonFinding {
    code: &'static str,
    offset: Option<u64>,
    expected: String,
    found: String,
    lost: Option<JsonLostKeys>,
}

impl From<Finding> for JsonFinding {
    fn from(finding: Finding) -> Self {
        let Finding { code, offset, expected, found, lost } = finding;
        Self { code: code.name(), offset, expected, found, lost: lost.as_ref().map(JsonLostKeys::from) }
    }
}

impl VerifyRenderer for JsonVerify {
    fn verdict(&mut self, path: &Path, verdict: &Verdict, console: &mut Console) -> io::Result<()> {
        for note in &verdict.notes {
            console.message_about(path, note_text(note));
        }
        let json = JsonVerdict {
            path: json_path(path),
            status: verdict.status().name(),
            keys: verdict.keys,
            denied: verdict.denied,
            measured_fpr: verdict.measured_fpr,
            estimated_fpr: verdict.estimated_fpr,
            findings: verdict.findings.to_list().into_iter().map(JsonFinding::from).collect(),
        };
        write_line(console, &json)
    }

    fn end(&mut self, _: &VerdictCounts, _: &mut Console) -> io::Result<()> {
        Ok(())
    }
}
