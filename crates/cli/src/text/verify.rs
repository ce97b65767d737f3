//! The verdicts of `verify`, as text.

use std::io;

use filterblock::escape_path;
use filterblock_engine::VerifyOutcome;
use filterblock_engine::report::{About, VerdictCounts, Verified, VerifyStatus};
use filterblock_engine::words::{SAVE, count, counted, counted_as, measured, percent, repair_command, size};

use super::columns::width;
use super::labelled::{self, terminal_lines};
use crate::io::{Console, Tone};

/// Writes a verdict. `file_size`: the size of the file, if it is to be shown.
pub(crate) fn write(verified: &Verified, file_size: Option<u64>, console: &mut Console) -> io::Result<()> {
    let Verified { verdict, status, .. } = verified;
    let is_sound_folder = verified.about == About::Folder && *status == VerifyStatus::Sound;
    if is_sound_folder && verdict.notes.is_empty() {
        return Ok(());
    }
    if let Some(found) = verdict.findings.first().and_then(|finding| finding.other_format.as_ref()) {
        return labelled::write_other_format(&verified.path, found, console);
    }
    let tone = match status {
        VerifyStatus::Sound => Tone::Good,
        VerifyStatus::NotLive => Tone::Dim,
        VerifyStatus::Findings | VerifyStatus::Unreadable => Tone::Bad,
    };
    let path = escape_path(&verified.path).to_string();
    let mut numbers = String::new();
    if verified.about == About::Manifest {
        numbers += ", a MANIFEST; filterblock manifest shows it";
    }
    if let (Some(writes), Some(batches)) = (verdict.writes, verdict.batches) {
        let (writes, batches) = (counted(writes, "write"), counted_as(batches, "batch", "batches"));
        numbers += &format!(", a log, {writes} in {batches}");
    }
    if let Some(bytes) = file_size {
        numbers += &format!(", {}", size(bytes));
    }
    if verified.about == About::Table && (verdict.entries > 0 || *status == VerifyStatus::Sound) {
        let entries = counted_as(verdict.entries, "entry", "entries");
        let keys = counted(verdict.distinct_keys, "distinct key");
        numbers += &format!(", {entries}, {keys}, {} denied", count(verdict.denied));
    }
    if let (Some(found), Some(estimated)) = (verdict.measured_fpr, verdict.estimated_fpr) {
        let (found, estimated) = (measured(found), percent(estimated));
        numbers += &format!(", false positives {found} of changed keys, {estimated} by the bits set");
    }
    let name = console.tone(tone, status.name());
    let fits =
        console.width().is_none_or(|most| width(&format!("{path}: {}{numbers}", status.name())) <= most);
    if fits || numbers.is_empty() {
        writeln!(console, "{path}: {name}{numbers}")?;
    } else {
        writeln!(console, "{path}: {name}")?;
        let numbers = numbers.strip_prefix(", ").unwrap_or_default();
        indented(console, Tone::Plain, numbers)?;
    }
    for finding in verdict.findings.to_list() {
        indented(console, Tone::Bad, &finding.to_string())?;
    }
    verdict.notes.iter().try_for_each(|note| indented(console, Tone::Dim, &format!("note: {note}")))
}

/// Writes a text below the line that it is about.
fn indented(console: &mut Console, tone: Tone, text: &str) -> io::Result<()> {
    for line in terminal_lines(console, 2, text) {
        let line = console.tone(tone, line);
        writeln!(console, "  {line}")?;
    }
    Ok(())
}

/// Writes what to do about damage, if there is any, with a command for each of the first databases.
pub(crate) fn write_remedies(outcome: &VerifyOutcome, console: &mut Console) -> io::Result<()> {
    if outcome.damaged.is_empty() {
        return Ok(());
    }
    let text = terminal_lines(console, 0, SAVE);
    text.iter().try_for_each(|line| writeln!(console, "{line}"))?;
    for database in &outcome.damaged {
        writeln!(console, "  {}", repair_command(database))?;
    }
    match outcome.more_damaged {
        0 => Ok(()),
        more => writeln!(console, "  and {} more", count(more)),
    }
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
    let writes = counts.writes.map(|writes| format!(", {} in logs", counted(writes, "write")));
    let writes = writes.unwrap_or_default();
    writeln!(
        console,
        "{} in all: {}; {}{writes}, {} denied",
        counted(counts.all(), "file"),
        parts.join(", "),
        counted_as(counts.entries, "entry", "entries"),
        count(counts.denied)
    )
}
