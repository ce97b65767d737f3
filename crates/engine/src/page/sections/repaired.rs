//! What a repair saves and loses, in the page of a repair and in the report of a damaged database.

use filterblock::escape_path;
use maud::{Markup, html};

use super::grid::{Cell, grid, stacked};
use crate::page::document::icon;
use crate::page::names::{message, name, text};
use crate::page::parts::{Section, facts, more, tone};
use crate::page::pictures::{Damaged, StripFile, strip};
use crate::report::{
    LossKind, LossReport, OfFile, RepairReport, RepairRole, RepairedFile, RepairedKind, Severity, StaleKey,
};
use crate::text::{count, counted, counted_as, sentence, size};

/// Files, losses of each kind, and stale keys to list.
const MOST: usize = 500;
/// Files to draw.
const MOST_DRAWN: usize = 20;

/// Each loss and each correction, and the keys that may be stale. `told`: reasons why more may be missing that stand above.
pub(in crate::page) fn saved_and_lost(report: &RepairReport, told: usize) -> Section {
    let is_known = report.data.unknown.is_empty();
    let losses = |losses| counted_as(losses, "place is lost", "places are lost");
    let mut lines: Vec<_> = report.losses.iter().take(MOST).map(loss_line).collect();
    let more_losses = report.losses.len().saturating_sub(lines.len()) as u64;
    let is_noted = |OfFile { data: file, .. }: &&OfFile<RepairedFile>| {
        !file.corrected.is_empty() || file.note.is_some() || file.role == RepairRole::Missing
    };
    lines.extend(report.files.iter().filter(is_noted).take(MOST).map(noted_line));
    lines.extend(report.notes.iter().map(|note| noted(html! {}, &sentence(&message(note)))));
    lines.extend(saved_line(report));
    Section {
        title: "Saved and lost",
        answer: match (report.data.sums.losses, is_known) {
            (0, true) => "nothing is lost".to_owned(),
            (0, false) => "no known loss; more may be missing".to_owned(),
            (number, true) => format!("{}; every loss is known", losses(number)),
            (number, false) => format!("{}; more may be", losses(number)),
        },
        content: html! {
            @if report.data.unknown.len() > told {
                p { "More may be missing than is listed here:" }
                ul.ifs { @for why in report.data.unknown.iter().skip(told) { li { (sentence(&message(why.text()))) } } }
            }
            (stacked(&["", "file", "keys", "what happened"], &lines))
            (rest(more_losses, "more loss", "more losses"))
            (stale_keys(report))
        },
    }
}

/// A word with its sign.
fn what(severity: Severity, sign: &str, word: &str) -> Cell {
    Cell::Head(html! { span class={ "what " (tone(severity)) } { (icon(sign)) (word) } })
}

fn loss_line(OfFile { name: file, data: loss }: &OfFile<LossReport>) -> Vec<Cell> {
    let amount = match (loss.bytes, loss.writes) {
        (_, Some(writes)) => Some(counted(writes, "write")),
        (Some(bytes @ 1..), _) => Some(size(bytes)),
        _ => None,
    };
    let offset = loss.offset.map(|offset| format!("at offset {}", count(offset)));
    let about = amount.into_iter().chain(offset).collect::<Vec<_>>().join(" ");
    let bound = |key: Option<&[u8]>, none: &str| match key {
        Some(key) => name(key),
        None => html! { (none) },
    };
    let keys = match loss.kind {
        LossKind::Table if loss.first_key.is_some() && loss.first_key == loss.last_key => html! {
            span.keys { "only " (bound(loss.first_key.as_deref(), "")) }
        },
        LossKind::Table => html! {
            span.keys {
                "from " (bound(loss.first_key.as_deref(), "the first key")) br;
                "to " (bound(loss.last_key.as_deref(), "the last key"))
            }
        },
        LossKind::Log => {
            let number = |number: Option<u64>, none: &str| number.map_or_else(|| none.to_owned(), count);
            let after = number(loss.last_sequence_before, "the start");
            let before = number(loss.first_sequence_after, "the end");
            html! { "any; sequence numbers after " (after) ", before " (before) }
        }
    };
    let mut texts = vec![sentence(&message(&loss.why))];
    if loss.maybe_stale > 0 {
        let keys = counted_as(loss.maybe_stale, "saved key", "saved keys");
        texts.push(format!("{keys} of this range may be stale: a newer value may have been here."));
    }
    if loss.from_obsolete > 0 {
        let keys = counted(loss.from_obsolete, "key");
        texts.push(format!("Of these, {keys} from obsolete files."));
    }
    if loss.ruled_out > 0 {
        let keys = counted_as(loss.ruled_out, "saved key", "saved keys");
        texts.push(format!("Of {keys}, filters rule out a newer value here."));
    }
    vec![
        what(Severity::Bad, "lost", "lost"),
        Cell::Text(
            html! { (file_name(file)) @if !about.is_empty() { br; span class="dim file" { (about) } } },
        ),
        Cell::Text(keys),
        Cell::Words(html! { (texts.join(" ")) }),
    ]
}

/// A short name stays in one line.
fn file_name(file: &str) -> Markup {
    const SHORT: usize = 24;
    let shown = name(file.as_bytes());
    if file.len() > SHORT {
        shown
    } else {
        html! { span.file { (shown) } }
    }
}

/// A file that is corrected, missing, or noteworthy.
fn noted_line(OfFile { name, data: file }: &OfFile<RepairedFile>) -> Vec<Cell> {
    let corrected = (!file.corrected.is_empty()).then(|| match &file.corrected[..] {
        [at] => format!("One bit was wrong, at offset {}.", count(*at)),
        places => format!(
            "{} were wrong, the first at offset {}.",
            counted(places.len() as u64, "bit"),
            offset(places)
        ),
    });
    let texts: Vec<_> =
        corrected.into_iter().chain(file.note.as_deref().map(|note| sentence(&message(note)))).collect();
    let (text, file_name) = (texts.join(" "), file_name(name));
    let word = match (file.role, file.corrected.is_empty()) {
        (RepairRole::Missing, _) => what(Severity::Notice, "doubt", "missing"),
        (_, false) => what(Severity::Good, "fixed", "corrected"),
        _ => return noted(file_name, &text),
    };
    vec![word, Cell::Text(file_name), Cell::text(""), Cell::Words(html! { (text) })]
}

fn noted(file: Markup, text: &str) -> Vec<Cell> {
    let word = what(Severity::Unknown, "none", "noted");
    vec![word, Cell::Text(file), Cell::text(""), Cell::Words(html! { (text) })]
}

fn offset(places: &[u64]) -> String {
    places.first().copied().map(count).unwrap_or_default()
}

/// The files of which nothing is lost.
fn saved_line(report: &RepairReport) -> Option<Vec<Cell>> {
    let of = |kind| {
        let is_whole = |OfFile { data: file, .. }: &&OfFile<RepairedFile>| {
            file.kind == kind && file.losses == 0 && file.entries > 0
        };
        report.files.iter().filter(is_whole).count() as u64
    };
    let kinds = [(of(RepairedKind::Table), "table"), (of(RepairedKind::Log), "log")];
    let names: Vec<_> =
        kinds.iter().filter(|(number, _)| *number > 0).map(|(number, what)| counted(*number, what)).collect();
    (!names.is_empty()).then(|| {
        vec![
            what(Severity::Good, "fine", "saved"),
            Cell::Text(html! { span.file { (names.join(", ")) } }),
            Cell::text(""),
            Cell::Words(html! { "All current entries." }),
        ]
    })
}

fn stale_keys(report: &RepairReport) -> Markup {
    let all = report.data.sums.maybe_stale;
    let listed: Vec<_> = report.stale_keys.iter().take(MOST).map(stale_key).collect();
    html! {
        @if all > 0 {
            @let titles = ["key", "#sequence number", "", "file", "in the new database"];
            @let content = html! {
                p { "Of these keys, a newer version may be in what is lost, or no checksum covers the version that there is." }
                (grid(&titles, &listed))
                (rest(all.saturating_sub(listed.len() as u64), "more key", "more keys"))
            };
            (more(&counted_as(all, "key that may be stale", "keys that may be stale"), &content))
        }
    }
}

fn stale_key(OfFile { name: file, data: key }: &OfFile<StaleKey>) -> Vec<Cell> {
    let kept = match (key.is_kept, key.is_deletion) {
        (true, false) => "kept",
        (true, true) => "stays deleted",
        (false, _) => "left out",
    };
    vec![
        Cell::Key(name(&key.key)),
        Cell::Number(count(key.sequence)),
        Cell::text(if key.is_deletion { "deletion" } else { "value" }),
        Cell::Text(html! { (name(file.as_bytes())) @if key.is_obsolete { ", obsolete" } }),
        Cell::text(kept),
    ]
}

/// The damaged places of files. `map`: a further picture. `None`: no place is known, and nothing is lost or there is no such
/// picture.
pub(in crate::page) fn places(report: &RepairReport, title: &'static str, map: &Markup) -> Option<Section> {
    let drawn: Vec<_> = report.files.iter().filter_map(|file| strip_file(report, file)).collect();
    if drawn.is_empty() && (map.0.is_empty() || report.losses.is_empty()) {
        return None;
    }
    let more = drawn.len().saturating_sub(MOST_DRAWN) as u64;
    Some(Section {
        title,
        answer: match &drawn[..] {
            [] => "in no known place of a file".to_owned(),
            [file] => format!("in {}", file.name),
            files => format!("in {}", counted(files.len() as u64, "file")),
        },
        content: html! {
            @if !drawn.is_empty() { (strip(drawn.get(..MOST_DRAWN).unwrap_or(&drawn))) }
            (rest(more, "more file", "more files"))
            (map)
        },
    })
}

/// `None`: no place of the file is damaged, as far as is known.
fn strip_file(report: &RepairReport, of: &OfFile<RepairedFile>) -> Option<StripFile> {
    let OfFile { name, data: file } = of;
    let len = file.size.filter(|size| *size > 0)?;
    let of_file = || report.losses.iter().filter(|loss| loss.name == *name).map(|loss| &loss.data);
    let lost =
        of_file().filter_map(|loss| Some((Damaged::Lost, loss.offset?, loss.bytes.unwrap_or_default())));
    let torn = file.damaged.iter().map(|at| (Damaged::Lost, *at, 0));
    let corrected = file.corrected.iter().map(|at| (Damaged::Corrected, *at, 1));
    let mut places: Vec<_> = lost.chain(torn).chain(corrected).collect();
    places.sort_by_key(|(_, offset, bytes)| (*offset, std::cmp::Reverse(*bytes)));
    places.dedup_by_key(|(_, offset, _)| *offset);
    let (kind, first, bytes) = *places.first()?;
    let amount = match (places.len(), kind, bytes) {
        (1, Damaged::Corrected, _) => "1 bit".to_owned(),
        (1, Damaged::Lost, 1..) => size(bytes),
        (number, ..) => counted(number as u64, "place"),
    };
    let at = if places.len() == 1 { "at offset" } else { "the first at offset" };
    let about = file.level.map(|level| format!("level {level}")).unwrap_or_default();
    let text = [amount, format!("{at} {}", count(first))];
    Some(StripFile { name: text_of(name), about, size: len, places, text })
}

fn text_of(name: &str) -> String {
    text(name.as_bytes())
}

/// Lists at most [`MOST`], beginning with those about which there is something to report.
pub(in crate::page) fn files(report: &RepairReport) -> Section {
    let is_plain = |OfFile { data: file, .. }: &&OfFile<RepairedFile>| {
        matches!(file.role, RepairRole::Live | RepairRole::Used)
            && file.corrected.is_empty()
            && file.damaged.is_empty()
            && file.losses == 0
            && file.note.is_none()
    };
    let told = report.files.iter().filter(|file| !is_plain(file));
    let listed: Vec<_> = told.chain(report.files.iter().filter(is_plain)).take(MOST).map(file_line).collect();
    let left = report.files.len().saturating_sub(listed.len());
    Section {
        title: "All files",
        answer: count(report.files.len() as u64),
        content: html! {
            (grid(
                &["file", "what it is", "level", "#size", "#entries saved", "#damaged places", "first key", "last key"],
                &listed,
            ))
            (rest(left as u64, "more file", "more files"))
        },
    }
}

fn file_line(OfFile { name: file_name, data: file }: &OfFile<RepairedFile>) -> Vec<Cell> {
    let key = |key: &Option<Vec<u8>>| Cell::Key(html! { @if let Some(key) = key { (name(key)) } });
    let damaged = file.corrected.len() as u64 + file.losses;
    vec![
        Cell::Head(name(file_name.as_bytes())),
        Cell::text(role(file)),
        Cell::text(file.level.map(|level| level.to_string()).unwrap_or_default()),
        Cell::Number(file.size.map(size).unwrap_or_default()),
        Cell::Number(match file.kind {
            RepairedKind::Manifest => String::new(),
            _ => count(file.entries),
        }),
        Cell::Number(if damaged > 0 { count(damaged) } else { String::new() }),
        key(&file.first_key),
        key(&file.last_key),
    ]
}

const fn role(file: &RepairedFile) -> &'static str {
    match (file.kind, file.role) {
        (_, RepairRole::Missing) => "missing",
        (RepairedKind::Table, RepairRole::Live) => "table",
        (RepairedKind::Log, RepairRole::Live) => "log",
        (RepairedKind::Table, RepairRole::Obsolete) => "obsolete table",
        (RepairedKind::Log, RepairRole::Obsolete) => "obsolete log",
        (_, RepairRole::PartlyObsolete) => "table, obsolete in part",
        (_, RepairRole::Used) => "MANIFEST, used",
        (_, RepairRole::NotUsed) => "MANIFEST, not used",
        (RepairedKind::Manifest, _) => "MANIFEST",
    }
}

/// `None`: there is none.
pub(in crate::page) fn new_database(report: &RepairReport) -> Option<Section> {
    let (target, sums) = (report.data.target.as_deref()?, &report.data.sums);
    let filters = match (&report.data.policy, report.data.bits_per_key) {
        (Some(policy), Some(bits)) => html! { (name(policy.as_bytes())) ", " (bits) " bits per key" },
        _ => html! { "none, as before" },
    };
    let list = [
        ("Folder", name(escape_path(target).to_string().as_bytes())),
        ("Tables", html! { (counted(sums.tables, "table")) ", " (size(sums.new_size)) }),
        ("Filters", filters),
        ("Greatest sequence number", html! { (count(sums.last_sequence)) }),
    ];
    Some(Section {
        title: "The new database",
        answer: format!("{}, {}", counted(sums.tables, "table"), size(sums.new_size)),
        content: facts(&list),
    })
}

pub(in crate::page) fn about(report: &RepairReport) -> Section {
    let mut list = vec![(
        "Files in use",
        match &report.data.manifest {
            Some(manifest) => html! { "by " (name(manifest.as_bytes())) },
            None => html! { "by the entries that files share, as no MANIFEST can be used" },
        },
    )];
    if let Some(comparator) = &report.data.comparator {
        let text = html! {
            (name(comparator.as_bytes()))
            @if let Some(how) = report.comparator_inferred() { ", " (how) }
        };
        list.push(("Order of keys", text));
    }
    Section {
        title: "About the database",
        answer: "files in use, order of keys".to_owned(),
        content: facts(&list),
    }
}

fn rest(more: u64, one: &str, many: &str) -> Markup {
    html! {
        @if more > 0 {
            p.dim { (counted_as(more, one, many)) ": " code { "filterblock repair --json" } " lists all." }
        }
    }
}
