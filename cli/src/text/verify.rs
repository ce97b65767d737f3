//! The verdict on a table, for people.

use std::io;

use filterblock::escape_path;
use filterblock_engine::report::{About, VerdictCounts, Verified, VerifyStatus};
use filterblock_engine::words::{count, counted, counted_as, measured, percent};

use crate::io::{Console, Tone};

pub(crate) fn write(verified: &Verified, console: &mut Console) -> io::Result<()> {
    let Verified { verdict, status, .. } = verified;
    if verified.about == About::Folder && *status == VerifyStatus::Sound {
        return Ok(());
    }
    let tone = match status {
        VerifyStatus::Sound => Tone::Good,
        VerifyStatus::NotLive => Tone::Dim,
        VerifyStatus::Findings | VerifyStatus::Unreadable => Tone::Bad,
    };
    let name = console.tone(tone, status.name());
    write!(console, "{}: {name}", escape_path(&verified.path))?;
    if verdict.entries > 0 || *status == VerifyStatus::Sound {
        let entries = counted_as(verdict.entries, "entry", "entries");
        let keys = counted(verdict.distinct_keys, "distinct key");
        write!(console, ", {entries}, {keys}, {} denied", count(verdict.denied))?;
    }
    if let (Some(found), Some(estimated)) = (verdict.measured_fpr, verdict.estimated_fpr) {
        let (found, estimated) = (measured(found), percent(estimated));
        write!(console, ", false positives {found} of changed keys, {estimated} by the bits set")?;
    }
    writeln!(console)?;
    for finding in verdict.findings.to_list() {
        let finding = console.tone(Tone::Bad, finding);
        writeln!(console, "  {finding}")?;
    }
    for note in &verdict.notes {
        let note = console.tone(Tone::Dim, format!("note: {}", note));
        writeln!(console, "  {note}")?;
    }
    Ok(())
}

/// Writes the totals over all verdicts, if there are several.
pub(crate) fn write_counts(counts: &VerdictCounts, console: &mut Console) -> io::Result<()> {
    if counts.all() < 2 {
        return Ok(());
    }
    let mut parts = vec![format!("{} sound", count(counts.sound))];
    for (number, what) in
        [(counts.not_live, "not live"), (counts.findings, "with findings"), (counts.unreadable, "unreadable")]
    {
        if number > 0 {
            parts.push(format!("{} {what}", count(number)));
        }
    }
    writeln!(
        console,
        "{} in all: {}; {}, {} denied",
        counted(counts.all(), "file"),
        parts.join(", "),
        counted_as(counts.entries, "entry", "entries"),
        count(counts.denied)
    )
}
