//! What came of checking a table, as JSON and for people.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::finding::{Finding, Findings};
use crate::io::console::{Console, Tone};
use crate::render::json::line::write_line;
use crate::render::show::{count, counted, json_path, path_text, percent};

#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) path: PathBuf,
    /// How many entries were decoded, and how many of their keys a filter denies.
    pub(crate) keys: u64,
    pub(crate) denied: u64,
    /// The share of absent keys that pass; `None` if there is no filter to ask.
    pub(crate) measured_fpr: Option<f64>,
    pub(crate) estimated_fpr: Option<f64>,
    pub(crate) findings: Findings,
    /// What is no fault, but good to know.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Sound,
    Findings,
    /// Something could not be looked at, whatever else was found.
    Unreadable,
}

impl Status {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Findings => "findings",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The names of the fields are documented in `docs/findings.md`.
#[derive(Serialize)]
struct Report<'a> {
    path: Cow<'a, str>,
    status: &'static str,
    keys: u64,
    denied: u64,
    measured_fpr: Option<f64>,
    estimated_fpr: Option<f64>,
    findings: &'a [Finding],
}

impl Verdict {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            keys: 0,
            denied: 0,
            measured_fpr: None,
            estimated_fpr: None,
            findings: Findings::default(),
            notes: Vec::new(),
        }
    }

    /// Of something about which there is one thing to say.
    pub(crate) fn of_finding(path: &Path, finding: Finding) -> Self {
        let mut verdict = Self::new(path);
        verdict.findings.push(finding);
        verdict
    }

    pub(crate) fn status(&self) -> Status {
        match () {
            () if self.findings.hide_something() => Status::Unreadable,
            () if self.findings.is_empty() => Status::Sound,
            () => Status::Findings,
        }
    }

    pub(crate) fn write(self, as_json: bool, console: &mut Console) -> io::Result<()> {
        let status = self.status();
        let Self { path, keys, denied, measured_fpr, estimated_fpr, findings, notes } = self;
        let findings = findings.into_list();
        if as_json {
            // What is no finding has no place in a finding's list.
            notes.iter().for_each(|note| console.complain(&path, note));
            let (path, status) = (json_path(&path), status.name());
            let report =
                Report { path, status, keys, denied, measured_fpr, estimated_fpr, findings: &findings };
            return write_line(console, &report);
        }
        let tone = if status == Status::Sound { Tone::Good } else { Tone::Bad };
        let verdict = console.tone(tone, status.name());
        write!(console, "{}: {verdict}", path_text(&path))?;
        if keys > 0 || status == Status::Sound {
            write!(console, ", {}, {} denied", counted(keys, "key"), count(denied))?;
        }
        if let (Some(measured), Some(estimated)) = (measured_fpr, estimated_fpr) {
            let (measured, estimated) = (percent(measured), percent(estimated));
            write!(console, ", false positives {measured} measured, {estimated} estimated")?;
        }
        writeln!(console)?;
        for finding in &findings {
            let finding = console.tone(Tone::Bad, finding);
            writeln!(console, "  {finding}")?;
        }
        for note in &notes {
            let note = console.tone(Tone::Dim, format!("note: {note}"));
            writeln!(console, "  {note}")?;
        }
        Ok(())
    }
}
