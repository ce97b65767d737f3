//! The results of a repair, as text.

use std::io;
use std::path::Path;

use filterblock::escape_path;
use filterblock_engine::report::{RepairReport, RepairRole, RepairedFile, RepairedKind};
use filterblock_engine::text::{RepairText, count, counted, repair_text, size};

use super::labelled::{paragraph, terminal_lines};
use crate::io::{Console, Tone};

/// Corrected offsets of a file to list.
const MOST: usize = 20;
const LABEL_WIDTH: usize = 9;

/// `page`: the page that was written. `is_verbose`: file by file as well.
pub(crate) fn write(
    database: &Path,
    report: &RepairReport,
    page: Option<&Path>,
    is_verbose: bool,
    console: &mut Console,
) -> io::Result<()> {
    let all_at = page.map_or_else(|| "--page".to_owned(), |page| escape_path(page).to_string());
    let RepairText { headline, rows, facts, next, commands, .. } = repair_text(database, report, &all_at);
    let tone = if report.data.is_complete { Tone::Good } else { Tone::Bad };
    let path = format!("{}: ", escape_path(database));
    for (number, line) in terminal_lines(console, 2, &format!("{path}{headline}")).iter().enumerate() {
        let (before, line) = match line.strip_prefix(&path).filter(|_| number == 0) {
            Some(rest) => (&*path, rest),
            None => ("  ", &**line),
        };
        let line = console.tone(tone, line).to_string();
        writeln!(console, "{before}{line}")?;
    }
    let mut last = "";
    for (label, text) in &rows {
        let label = if *label == last { "" } else { label };
        for (number, line) in terminal_lines(console, LABEL_WIDTH + 2, text).iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            writeln!(console, "  {label:LABEL_WIDTH$}{line}")?;
        }
        last = if label.is_empty() { last } else { label };
    }
    facts.iter().try_for_each(|fact| paragraph(console, 2, fact))?;
    if is_verbose {
        files(report, console)?;
    }
    if let Some(page) = page {
        paragraph(console, 2, &format!("The page is {}.", escape_path(page)))?;
    }
    if !next.is_empty() {
        paragraph(console, 2, &next)?;
    }
    commands.iter().try_for_each(|command| writeln!(console, "    {command}"))
}

fn files(report: &RepairReport, console: &mut Console) -> io::Result<()> {
    let sums = &report.data.sums;
    if let Some(name) = report.data.comparator.as_ref().filter(|_| !report.data.is_comparator_assumed) {
        writeln!(console, "  keys are ordered by {name}")?;
    }
    if report.data.target.is_some() {
        writeln!(console, "  new tables: {}, {}", count(sums.tables), size(sums.new_size))?;
    }
    if let (Some(policy), Some(bits)) = (&report.data.policy, report.data.bits_per_key) {
        writeln!(console, "  new filters: {policy}, {bits} bits per key")?;
    }
    report.files.iter().try_for_each(|file| writeln!(console, "  {}: {}", file.name, facts_of(&file.data)))
}

fn facts_of(file: &RepairedFile) -> String {
    let role = match file.role {
        RepairRole::Live => "used",
        RepairRole::Missing => "missing",
        RepairRole::Obsolete => "obsolete",
        RepairRole::PartlyObsolete => "partly obsolete",
        RepairRole::Used => "used",
        RepairRole::NotUsed => "not used",
    };
    let offsets: Vec<_> = file.corrected.iter().take(MOST).map(u64::to_string).collect();
    let corrected =
        (!offsets.is_empty()).then(|| format!("one bit corrected at offset {}", offsets.join(", ")));
    let lost = (file.losses > 0).then(|| match file.kind {
        // What is lost of an obsolete file is no loss.
        _ if file.role == RepairRole::Obsolete => None,
        RepairedKind::Table => Some(format!("{} lost", counted(file.losses, "range"))),
        RepairedKind::Log => Some(counted(file.losses, "damaged place")),
        RepairedKind::Manifest => None,
    });
    let facts = [Some(role.to_owned()), lost.flatten(), corrected, file.note.clone()];
    facts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
