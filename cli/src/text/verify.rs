//! The verdicts of `verify`, as text.

use std::io;

use filterblock::escape_path;
use filterblock_engine::VerifyOutcome;
use filterblock_engine::report::{About, VerdictCounts, Verified, VerifyStatus};
use filterblock_engine::words::{SAVE, count, counted, counted_as, measured, percent, repair_command};

use super::{columns::width, labelled::terminal_lines};
use crate::io::{Console, Tone};

pub(crate) fn write(verified: &Verified, console: &mut Console) -> io::Result<()> {
    let Verified { verdict, status, .. } = verified;
    let is_sound_folder = verified.about == About::Folder && *status == VerifyStatus::Sound;
    if is_sound_folder && verdict.notes.is_empty() {
        return Ok(());
    }
    let tone = match status {
        VerifyStatus::Sound => Tone::Good,
        VerifyStatus::NotLive => Tone::Dim,
        VerifyStatus::Findings | VerifyStatus::Unreadable => Tone::Bad,
    };
    let path = escape_path(&verified.path).to_string();
    let mut numbers = String::new();
    if verdict.entries > 0 || (*status == VerifyStatus::Sound && !is_sound_folder) {
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
    writeln!(
        console,
        "{} in all: {}; {}, {} denied",
        counted(counts.all(), "file"),
        parts.join(", "),
        counted_as(counts.entries, "entry", "entries"),
        count(counts.denied)
    )
}
