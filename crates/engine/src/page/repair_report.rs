//! The report of a repair as a page.

use std::path::Path;

use filterblock::escape_path;
use maud::{Markup, html};

use super::document::document;
use super::report::verdict_box;
use super::sections::grid::{Cell, folded, grid};
use super::words::{message, name, text};
use crate::report::{
    LossKind, LossReport, RepairReport, RepairRole, RepairStatus, RepairedFile, RepairedKind, Severity,
    StaleKey,
};
use crate::words::{count, counted, counted_as, sentence, size};

/// Files, losses of each kind, and stale keys to list.
const MOST: usize = 800;
/// Offsets to list in a cell.
const MOST_OFFSETS: usize = 20;

/// The page of a repair.
#[derive(Clone, Debug)]
pub struct RepairPage {
    /// The page, complete in itself.
    pub html: String,
    /// The part of the page from the name on, for a document that has [`STYLE`](super::STYLE) and
    /// [`ICONS`](super::ICONS).
    pub body: String,
}

/// The report of a repair of the database at `path`, as a page.
pub fn repair_page(path: &Path, report: &RepairReport) -> RepairPage {
    let path = text(escape_path(path).to_string().as_bytes());
    let what = match report.status {
        RepairStatus::DryRun => "What would be saved of the database",
        _ => "What was saved of the database",
    };
    let body = html! {
        h1 { span { (what) } code { (path) } }
        (verdict(report))
        (numbers(report))
        (completeness(report))
        (losses(report))
        (maybe_stale(report))
        (files(report))
        (facts(report))
    };
    let body = body.into_string();
    RepairPage { html: document(&format!("Repair of {path}"), &body), body }
}

fn verdict(report: &RepairReport) -> Markup {
    let keys = counted(report.sums.keys, "key");
    let state = match (report.status, report.sums.keys) {
        (RepairStatus::DryRun, _) => format!("{keys} would be saved; nothing was written."),
        (_, 1) => format!("{keys} is saved."),
        _ => format!("{keys} are saved."),
    };
    let (severity, advice) = match report.is_complete {
        true => (Severity::Good, "Nothing is lost, and no key may be stale."),
        false if report.unknown.is_empty() => {
            (Severity::Notice, "Nothing is lost or perhaps stale but what is told below.")
        }
        false => (Severity::Bad, "It is not known whether more is lost than what is told below."),
    };
    verdict_box(severity, &format!("{state} {advice}"), &[], &[], &[])
}

fn numbers(report: &RepairReport) -> Markup {
    let sums = &report.sums;
    let writes = sums.lost_writes.map_or_else(|| "not known".to_owned(), count);
    let numbers = [
        ("keys", count(sums.keys)),
        ("bits corrected", count(sums.bits_corrected)),
        ("losses", count(sums.losses)),
        ("writes lost from logs", writes),
        ("keys that may be stale", count(sums.maybe_stale)),
        ("of them from obsolete files", count(sums.from_obsolete)),
        ("of them left out", count(sums.left_out)),
    ];
    html! {
        dl.key {
            @for (what, number) in &numbers { div { dt { (what) } dd { (number) } } }
        }
    }
}

fn completeness(report: &RepairReport) -> Markup {
    html! {
        section {
            h2 { "Is this all?" }
            @if report.unknown.is_empty() {
                p { "Every loss is told below: a MANIFEST that can be trusted names all files, and no operation is missing \
                     from logs." }
            } @else {
                p { "More may be missing than is told below:" }
                ul { @for why in &report.unknown { li { (sentence(&message(why.text()))) } } }
            }
        }
    }
}

fn losses(report: &RepairReport) -> Markup {
    let of = |kind| report.losses.iter().filter(move |loss| loss.kind == kind);
    let tables: Vec<_> = of(LossKind::Table).take(MOST).map(table_loss).collect();
    let logs: Vec<_> = of(LossKind::Log).take(MOST).map(log_loss).collect();
    let more = report.losses.len().saturating_sub(tables.len()).saturating_sub(logs.len());
    html! {
        section {
            h2 { "What is lost" }
            @if report.losses.is_empty() { p { "Nothing that is known." } }
            @if !tables.is_empty() {
                p { "Ranges of keys of tables. A key in such a range may be missing, have an older value, or be there \
                     though it was deleted. The last column counts keys that are certain all the same, as a sound filter \
                     denies that they were there." }
                (grid(
                    &["table", "keys from", "to", "#at offset", "#bytes", "why", "#keys that may be stale", "#from obsolete files",
                      "#ruled_out by filters"],
                    &tables,
                ))
            }
            @if !logs.is_empty() {
                p { "Parts of logs, and gaps of sequence numbers. Any key may be among these writes." }
                (grid(
                    &["log", "#at offset ", "behind number", "before number", "#writes", "why lost"],
                    &logs,
                ))
            }
            (rest(more as u64, "more loss", "more losses"))
        }
    }
}

fn table_loss(loss: &LossReport) -> Vec<Cell> {
    vec![
        Cell::Head(name(loss.name.as_bytes())),
        bound(loss.first_key.as_deref(), "the first key"),
        bound(loss.last_key.as_deref(), "the last key"),
        Cell::Number(loss.offset.map(count).unwrap_or_default()),
        Cell::Number(loss.bytes.map(count).unwrap_or_default()),
        Cell::Words(html! { (message(&loss.why)) }),
        Cell::Number(count(loss.maybe_stale)),
        Cell::Number(count(loss.from_obsolete)),
        Cell::Number(count(loss.ruled_out)),
    ]
}

fn log_loss(loss: &LossReport) -> Vec<Cell> {
    let not_known = || "not known".to_owned();
    vec![
        Cell::Head(name(loss.name.as_bytes())),
        Cell::Number(loss.offset.map(count).unwrap_or_default()),
        Cell::text(loss.last_sequence_before.map_or_else(|| "the start".to_owned(), count)),
        Cell::text(loss.first_sequence_after.map_or_else(|| "the end".to_owned(), count)),
        Cell::Number(loss.writes.map_or_else(not_known, count)),
        Cell::Words(html! { (message(&loss.why)) }),
    ]
}

fn bound(key: Option<&[u8]>, none: &str) -> Cell {
    Cell::Key(match key {
        Some(key) => name(key),
        None => html! { (none) },
    })
}

fn maybe_stale(report: &RepairReport) -> Markup {
    let listed: Vec<_> = report.stale_keys.iter().take(MOST).map(stale_key).collect();
    let all = report.sums.maybe_stale;
    html! {
        section {
            h2 { "Keys that may be stale" }
            @if all == 0 {
                p { "None: of every key that is saved, no newer version can be in what is known to be lost." }
            } @else {
                p { "Of these keys, a newer version may be in what is lost, or no checksum covers the version that there \
                     is." }
                (folded(
                    &counted_as(all, "key that may be stale", "keys that may be stale"),
                    &["key", "#number", "what it is", "file", "", "in the new database"],
                    &listed,
                ))
                (rest(all.saturating_sub(listed.len() as u64), "more key", "more keys"))
            }
        }
    }
}

fn stale_key(key: &StaleKey) -> Vec<Cell> {
    let kept = match (key.is_kept, key.is_deletion) {
        (true, false) => "kept",
        (true, true) => "stays deleted",
        (false, _) => "left out",
    };
    vec![
        Cell::Key(name(&key.key)),
        Cell::Number(count(key.sequence)),
        Cell::text(if key.is_deletion { "deletion" } else { "value" }),
        Cell::Text(name(key.file.as_bytes())),
        Cell::text(if key.is_obsolete { "obsolete" } else { "" }),
        Cell::text(kept),
    ]
}

/// Lists at most [`MOST`], beginning with those about which there is something to report.
fn files(report: &RepairReport) -> Markup {
    let is_plain = |file: &&RepairedFile| {
        matches!(file.role, RepairRole::Live | RepairRole::Used)
            && file.corrected.is_empty()
            && file.damaged.is_empty()
            && file.losses == 0
            && file.note.is_none()
    };
    let told = report.files.iter().filter(|file| !is_plain(file));
    let listed: Vec<_> = told.chain(report.files.iter().filter(is_plain)).take(MOST).map(file_line).collect();
    let more = report.files.len().saturating_sub(listed.len());
    html! {
        section {
            h2 { "The files" }
            (grid(
                &["file", "", "level", "#size", "#entries saved", "first key", "last key", "bits corrected at",
                  "damaged or torn at", "#lost ranges", "note"],
                &listed,
            ))
            (rest(more as u64, "more file", "more files"))
        }
    }
}

fn file_line(file: &RepairedFile) -> Vec<Cell> {
    let key = |key: &Option<Vec<u8>>| Cell::Key(html! { @if let Some(key) = key { (name(key)) } });
    vec![
        Cell::Head(name(file.name.as_bytes())),
        Cell::text(role(file)),
        Cell::text(file.level.map(|level| level.to_string()).unwrap_or_default()),
        Cell::Number(file.size.map(size).unwrap_or_default()),
        Cell::Number(match file.kind {
            RepairedKind::Manifest => String::new(),
            _ => count(file.entries),
        }),
        key(&file.first_key),
        key(&file.last_key),
        Cell::Words(html! { (offsets(&file.corrected)) }),
        Cell::Words(html! { (offsets(&file.damaged)) }),
        Cell::Number(match file.kind {
            RepairedKind::Table => count(file.losses),
            _ => String::new(),
        }),
        Cell::Words(html! { (message(file.note.as_deref().unwrap_or_default())) }),
    ]
}

const fn role(file: &RepairedFile) -> &'static str {
    match (file.kind, file.role) {
        (_, RepairRole::Missing) => "missing",
        (RepairedKind::Table, RepairRole::Live) => "live table",
        (RepairedKind::Log, RepairRole::Live) => "live log",
        (RepairedKind::Table, RepairRole::Obsolete) => "obsolete table",
        (RepairedKind::Log, RepairRole::Obsolete) => "obsolete log",
        (_, RepairRole::PartlyObsolete) => "table, obsolete in part",
        (_, RepairRole::Used) => "MANIFEST, trusted",
        (_, RepairRole::NotUsed) => "MANIFEST, not trusted",
        (RepairedKind::Manifest, _) => "MANIFEST",
    }
}

fn offsets(offsets: &[u64]) -> String {
    let mut shown: Vec<_> = offsets.iter().take(MOST_OFFSETS).map(|offset| count(*offset)).collect();
    let more = offsets.len().saturating_sub(MOST_OFFSETS);
    shown.extend((more > 0).then(|| format!("and {} more", count(more as u64))));
    shown.join("; ")
}

fn facts(report: &RepairReport) -> Markup {
    let sums = &report.sums;
    let fact = |what: &str, text: Markup| html! { div { dt { (what) } dd { (text) } } };
    html! {
        section {
            h2 { "The database" }
            dl.facts {
                (fact("Live files", match &report.manifest {
                    Some(manifest) => html! { "by " (name(manifest.as_bytes())) },
                    None => html! { "by the entries that files share, as no MANIFEST can be trusted" },
                }))
                @if let Some(comparator) = &report.comparator {
                    (fact("Order of keys", html! {
                        (name(comparator.as_bytes()))
                        @if let Some(how) = report.comparator_inferred() { ", " (how) }
                    }))
                }
                (fact("Greatest sequence number", html! { (count(sums.last_sequence)) }))
                (fact("Size before", html! { (size(sums.old_size)) }))
                @if let Some(target) = &report.target {
                    (fact("New database", name(escape_path(target).to_string().as_bytes())))
                    (fact("New tables", html! { (counted(sums.tables, "table")) ", " (size(sums.new_size)) }))
                }
                @if let (Some(policy), Some(bits)) = (&report.policy, report.bits_per_key) {
                    (fact("New filters", html! { (name(policy.as_bytes())) ", " (counted(bits.into(), "bit")) " a key" }))
                }
                @if report.verified {
                    (fact("Verified", html! { "every block, entry and filter of the new tables" }))
                }
                @for note in &report.notes { (fact("Note", html! { (message(note)) })) }
            }
        }
    }
}

fn rest(more: u64, one: &str, many: &str) -> Markup {
    html! {
        @if more > 0 {
            p.dim { (counted_as(more, one, many)) ": " code { "filterblock repair --json" } " lists all." }
        }
    }
}
