//! The result of a repair in words, the same on a terminal and on a page: saved, lost, perhaps stale, unknown, and what to
//! do next.

use std::path::Path;

use filterblock::{escape_path, quote};

use super::{count, counted, path_word, repair_command, size};
use crate::report::{LossKind, LossReport, RepairReport, RepairStatus, Unknown};

/// Losses and keys to name one by one.
const MOST: usize = 5;
const READ_FIRST: &str = "Read what is lost before you use it, and prefer a backup or the program's own rebuild: \
                          docs/rescue.md";

/// What a repair, or a dry run, came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepairText {
    /// How much was saved, and whether something is lost: what follows the path of the database.
    pub headline: String,
    /// What is lost, what may be stale, and what is not known, each with its label.
    pub rows: Vec<(&'static str, String)>,
    /// What is good to know besides.
    pub facts: Vec<String>,
    /// What to do next.
    pub next: String,
    /// The commands for that.
    pub commands: Vec<String>,
}

/// Says what a repair of the database at `path` came to, and what to do next.
pub fn repair_text(path: &Path, report: &RepairReport) -> RepairText {
    let lost = report.losses.iter().map(|loss| ("lost", loss_text(loss)));
    let mut rows: Vec<_> = lost.take(MOST).collect();
    rows.extend(more(report.losses.len() as u64, MOST).map(|text| ("", text)));
    rows.extend(stale_text(report).map(|text| ("stale?", text)));
    rows.extend(report.unknown.iter().map(|why| ("unknown", why.text().to_owned())));
    let (next, commands) = next(path, report);
    let mut facts = report.notes.clone();
    if !report.is_damaged {
        facts.push(format!(
            "{} is not damaged. If its program does not open it, look for another reason: permissions, a second program \
             that has it open, an older version.",
            escape_path(path)
        ));
    }
    RepairText { headline: headline(report), rows, facts, next, commands }
}

fn headline(report: &RepairReport) -> String {
    let keys = counted(report.sums.keys, "key");
    let all = if report.sums.keys == 1 { "its only key is" } else { "all % are" };
    match (report.is_complete, &report.target) {
        (true, Some(target)) => {
            format!("nothing is lost: {} in {}", all.replace('%', &keys), escape_path(target))
        }
        (true, None) => {
            let all = if report.sums.keys == 1 { "its only key".to_owned() } else { format!("all {keys}") };
            format!("nothing would be lost: {all} would be saved; nothing was written")
        }
        (false, Some(target)) => format!("{keys} saved in {}; {}", escape_path(target), clause(report)),
        (false, None) => format!("{keys} would be saved, and {}; nothing was written", clause(report)),
    }
}

/// The worst of what is not certain.
fn clause(report: &RepairReport) -> &'static str {
    let has_lost = |kind| report.losses.iter().any(|loss| loss.kind == kind);
    match () {
        () if has_lost(LossKind::Table) => "some entries are lost",
        () if has_lost(LossKind::Log) => "some writes are lost",
        () if report.unknown.iter().all(|why| matches!(why, Unknown::Writes(_)))
            && !report.unknown.is_empty() =>
        {
            "writes may be lost"
        }
        () if !report.unknown.is_empty() => "entries may be lost",
        () => "some keys may be stale",
    }
}

fn loss_text(loss: &LossReport) -> String {
    let LossReport { name, why, .. } = loss;
    let key = |key: &Option<Vec<u8>>| key.as_deref().map(|key| quote(key).to_string());
    let keys = match (key(&loss.first_key), key(&loss.last_key)) {
        (Some(first), Some(last)) => format!("entries of {name} between {first} and {last}"),
        (Some(first), None) => format!("entries of {name} from {first} on"),
        (None, Some(last)) => format!("entries of {name} up to {last}"),
        (None, None) => format!("entries of {name}"),
    };
    let place = |offset: Option<u64>| match (loss.bytes, offset) {
        (Some(bytes), Some(offset)) if bytes > 0 => format!(" ({} at offset {offset})", size(bytes)),
        (_, Some(offset)) => format!(" (at offset {offset})"),
        _ => String::new(),
    };
    match loss.kind {
        LossKind::Table => format!("{keys}: {why}{}", place(loss.offset)),
        LossKind::Log => {
            let writes = loss.operations.map_or_else(|| "writes".to_owned(), |lost| counted(lost, "write"));
            let after = loss.last_sequence_before.map(|last| format!(" after number {}", count(last)));
            format!("{writes} of {name}{}: {why}{}", after.unwrap_or_default(), place(loss.offset))
        }
    }
}

/// `None`: no key may be stale.
fn stale_text(report: &RepairReport) -> Option<String> {
    let number = Some(report.sums.doubtful).filter(|number| *number > 0)?;
    let keys: Vec<_> = report.doubtful.iter().take(MOST).map(|key| quote(&key.key).to_string()).collect();
    let more = more(number, keys.len()).map(|more| format!(", {more}")).unwrap_or_default();
    let (keys, of) = (keys.join(", "), counted(number, "key"));
    let what = match (report.sums.left_out, number) {
        (0, 1) => format!("{of} may have had a newer value there"),
        (0, _) => format!("{of} may have had newer values there"),
        _ => format!("{of} may have had newer values there, and {} left out", count(report.sums.left_out)),
    };
    Some(format!("{what}: {keys}{more}"))
}

fn more(all: u64, shown: usize) -> Option<String> {
    let left = all.saturating_sub(shown as u64);
    (left > 0).then(|| format!("… and {} more: --page", count(left)))
}

fn next(path: &Path, report: &RepairReport) -> (String, Vec<String>) {
    let Some(target) = &report.target else {
        return match report.status {
            RepairStatus::DryRun => ("To save it:".to_owned(), vec![repair_command(path)]),
            _ => (String::new(), Vec::new()),
        };
    };
    match (report.is_complete, report.is_damaged) {
        (true, false) => (String::new(), Vec::new()),
        (true, true) => {
            let next = "The new database was read back in full, and has the owner and rights of the old one. To use it, \
                        close the program and swap; the old one may go once the program runs:";
            (next.to_owned(), swap(path, target))
        }
        (false, _) => (format!("The new database was read back in full. {READ_FIRST}"), Vec::new()),
    }
}

/// The commands that put the new database in the place of the old one, whose name then ends in `-old`.
fn swap(path: &Path, target: &Path) -> Vec<String> {
    let path: std::path::PathBuf = path.components().collect();
    let Some(name) = path.file_name() else { return Vec::new() };
    let mut old = name.to_owned();
    old.push("-old");
    if cfg!(windows) {
        // `ren` takes no path as its second argument.
        let ren = |from: &Path, to: &std::ffi::OsStr| {
            format!("ren {} {}", path_word(from), path_word(Path::new(to)))
        };
        let back = match target.parent() == path.parent() {
            true => ren(target, name),
            false => format!("move {} {}", path_word(target), path_word(&path)),
        };
        return vec![ren(&path, &old), back];
    }
    let old = path.with_file_name(old);
    vec![format!(
        "mv {} {} && mv {} {}",
        path_word(&path),
        path_word(&old),
        path_word(target),
        path_word(&path)
    )]
}
