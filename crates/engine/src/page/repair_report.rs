//! The page of a repair: its verdict, and what to do next.

use std::path::Path;

use filterblock::escape_path;
use maud::{Markup, html};

use super::document::document;
use super::names::text;
use super::parts::{Tally, VerdictBox, command, name_and_facts, tally};
use super::sections::repaired::{about, files, new_database, places, saved_and_lost};
use crate::report::{RepairReport, RepairRole, RepairStatus, RepairedKind, Severity};
use crate::text::{capitalized, count, counted, repair_text, sentence, size, swap};

/// Reasons to name in the verdict.
const MOST_REASONS: usize = 5;

/// The page of a repair.
#[derive(Clone, Debug)]
pub struct RepairPage {
    /// What it is about.
    pub title: String,
    /// The part of the page from the name on, for a document that has [`STYLE`](super::STYLE) and
    /// [`ICONS`](super::ICONS).
    pub body: String,
}

/// The report of a repair of the database at `path`, as a page.
pub fn repair_page(path: &Path, report: &RepairReport) -> RepairPage {
    let body = html! {
        (name_and_facts(path, &facts_of(report)))
        (verdict(path, report))
        div.parts {
            (saved_and_lost(report, MOST_REASONS).show(true))
            @if let Some(section) = new_database(report) { (section.show(true)) }
            @if let Some(section) = places(report, "Where the damage was", &html! {}) { (section.show(false)) }
            (files(report).show(false))
            (about(report).show(false))
        }
    };
    let body = body.into_string();
    let title = format!("Repair of {}", text(escape_path(path).to_string().as_bytes()));
    RepairPage { title, body }
}

impl RepairPage {
    /// The page, complete in itself.
    pub fn html(&self) -> String {
        document(&self.title, &self.body)
    }
}

/// The files in use: the tables and their size, and the logs.
pub(super) fn facts_of(report: &RepairReport) -> Vec<String> {
    let in_use = |kind| {
        let files = report.files.iter().map(|file| &file.data);
        files.filter(move |file| file.kind == kind && file.role != RepairRole::Obsolete)
    };
    let logs = in_use(RepairedKind::Log).count() as u64;
    let mut facts = vec![
        counted(in_use(RepairedKind::Table).count() as u64, "table"),
        size(in_use(RepairedKind::Table).filter_map(|table| table.size).sum()),
    ];
    facts.extend((logs > 0).then(|| counted(logs, "log")));
    facts
}

fn verdict(path: &Path, report: &RepairReport) -> Markup {
    let words = repair_text(path, report, "");
    let is_dry = report.data.status == RepairStatus::DryRun;
    let (severity, tag) = match (report.data.is_complete, report.data.unknown.is_empty()) {
        (true, _) => (Severity::Good, "Repaired"),
        (_, true) if report.losses.is_empty() => (Severity::Notice, "Repaired, perhaps with stale keys"),
        (_, true) => (Severity::Notice, "Repaired, with a loss"),
        _ => (Severity::Bad, "Repaired, but not all is known"),
    };
    let unknown = report.data.unknown.iter().take(MOST_REASONS).map(|why| sentence(why.text()));
    let conditions: Vec<_> = unknown.collect();
    let verdict = VerdictBox {
        severity,
        tag: if is_dry { "Dry run" } else { tag },
        title: &capitalized(&words.title),
        sentence: match is_dry {
            true => "Nothing was written.",
            false => "Every block, entry and filter of the new database was read back.",
        },
        action: action(path, report, &words.commands),
        conditions: &conditions,
        aside: Some((aside_title(is_dry), tally_of(report))),
    };
    verdict.show()
}

/// The title of [`tally_of`].
pub(super) const fn aside_title(is_dry: bool) -> &'static str {
    if is_dry { "What a repair would do" } else { "What the repair did" }
}

/// The command of a repair, or the steps by which the new database takes the place of the old one.
fn action(path: &Path, report: &RepairReport, commands: &[String]) -> Markup {
    let Some(target) = report.data.target.as_deref() else {
        return html! { @for text in commands { (command(text)) } };
    };
    if report.data.is_complete && !report.data.is_damaged {
        return html! { p { b { "Nothing to do." } } };
    }
    let old = text(escape_path(path).to_string().as_bytes());
    html! {
        h3 { "Put it back" }
        @if !report.data.is_complete {
            p {
                "Read what is lost before you use it, and prefer a backup. A node's database (Bitcoin, geth, Cosmos) has to be "
                "rebuilt by its program instead."
            }
        }
        ol.steps {
            @if report.data.is_complete {
                li { "Close the program that uses it." }
            } @else {
                li { "Close the program that uses it, and copy the folder " code { (old) } "." }
            }
            li { "Put the new database in its place:" @for text in swap(path, target) { (command(&text)) } }
            @if report.data.is_complete {
                li { "Start the program, and check that everything is there. Only then delete the old folder." }
            } @else {
                li { "Start the program, and check what is there. Keep the old folder: nothing else has what is lost." }
            }
        }
    }
}

/// How much is saved and lost, in four numbers.
pub(super) fn tally_of(report: &RepairReport) -> Markup {
    let sums = &report.data.sums;
    let severity = |is_good: bool, bad| if is_good { Severity::Good } else { bad };
    let cell = |severity, icon, number, what: &str| Tally { severity, icon, number, what: what.to_owned() };
    let bytes = report.losses.iter().map(|loss| loss.data.bytes).sum::<Option<u64>>();
    let (number, what) = match (sums.losses, bytes, report.data.unknown.is_empty()) {
        (0, _, true) => ("0".to_owned(), "lost".to_owned()),
        (0, _, false) => ("not known".to_owned(), "whether more is lost".to_owned()),
        (losses, Some(bytes @ 1..), _) => (size(bytes), format!("lost, in {}", counted(losses, "place"))),
        (losses, ..) => (counted(losses, "place"), "lost".to_owned()),
    };
    let (stale, what_stale) = match sums.maybe_stale {
        0 if !report.data.unknown.is_empty() => ("not known".to_owned(), "whether keys are stale"),
        1 => ("1".to_owned(), "key that may be stale"),
        keys => (count(keys), "keys that may be stale"),
    };
    let has_stale = sums.maybe_stale > 0 || !report.data.unknown.is_empty();
    let is_known = report.data.unknown.is_empty() && sums.losses == 0;
    tally(&[
        cell(
            Severity::Good,
            "fine",
            count(sums.keys),
            if sums.keys == 1 { "key saved" } else { "keys saved" },
        ),
        cell(Severity::Good, "fixed", counted(sums.bits_corrected, "bit"), "corrected, proved by a checksum"),
        cell(severity(is_known, Severity::Bad), if is_known { "fine" } else { "lost" }, number, &what),
        cell(
            severity(!has_stale, Severity::Notice),
            if has_stale { "doubt" } else { "fine" },
            stale,
            what_stale,
        ),
    ])
}
