//! The result of a repair in words, the same on a terminal and on a page: saved, lost, perhaps stale, unknown, and what to
//! do next.

use std::path::{Path, PathBuf};

use filterblock::{escape_path, quote};

use super::commands::{free, repair_command_with};
use super::{count, counted, path_word, size};
use crate::report::{
    LossKind, LossReport, OfFile, RepairReport, RepairRole, RepairStatus, RepairedFile, Unknown,
};

/// Losses and keys to name one by one.
const MOST: usize = 5;
const READ_FIRST: &str = "Read what is lost before you use it, and prefer a backup or the program's own rebuild: \
                          docs/rescue.md. A node (Bitcoin, geth, Cosmos) must not go on with it.";

/// What a repair, or a dry run, came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepairText {
    /// How much was saved, and whether something is lost: what follows the path of the database.
    pub headline: String,
    /// The same without the paths.
    pub title: String,
    /// What is lost, what may be stale, and what is not known, each with its label.
    pub rows: Vec<(&'static str, String)>,
    /// What is good to know besides.
    pub facts: Vec<String>,
    /// What to do next.
    pub next: String,
    /// The commands for that.
    pub commands: Vec<String>,
}

/// Says what a repair of the database at `path` came to, and what to do next. `all_at`: the page with all that is lost, or
/// the option that writes one.
pub fn repair_text(path: &Path, report: &RepairReport, all_at: &str) -> RepairText {
    let lost = report.losses.iter().map(|loss| ("lost", loss_text(loss)));
    let mut rows: Vec<_> = lost.take(MOST).collect();
    rows.extend(more(report.losses.len() as u64, MOST, all_at).map(|text| ("", text)));
    rows.extend(stale_text(report, all_at).map(|text| ("stale?", text)));
    rows.extend(report.data.unknown.iter().map(|why| ("unknown", why.text().to_owned())));
    let (next, commands) = next(path, report);
    let mended: Vec<_> =
        report.files.iter().filter(|file| file.data.losses == 0).filter_map(mended_text).collect();
    let more = more(mended.len() as u64, MOST, "--verbose");
    let mut facts: Vec<_> = mended.into_iter().take(MOST).chain(more).chain(report.notes.clone()).collect();
    if let (Some(name), Some(how)) = (&report.data.comparator, report.comparator_inferred()) {
        facts.push(format!("keys are ordered by {name}, {how}"));
    }
    if !report.data.is_damaged {
        facts.push(format!(
            "No block, log or MANIFEST of {} is damaged; `filterblock verify` also checks its filters. If its program does \
             not open it, look for another reason: permissions, a second program that has it open, an older version of the program.",
            escape_path(path)
        ));
    }
    RepairText { headline: headline(report), title: title(report), rows, facts, next, commands }
}

fn headline(report: &RepairReport) -> String {
    let keys = counted(report.data.sums.keys, "key");
    let all = if report.data.sums.keys == 1 { "its only key is" } else { "all % are" };
    match (report.data.is_complete, &report.data.target) {
        (true, Some(target)) => {
            format!("nothing is lost: {} in {}", all.replace('%', &keys), escape_path(target))
        }
        (true, None) => {
            let all =
                if report.data.sums.keys == 1 { "its only key".to_owned() } else { format!("all {keys}") };
            format!("nothing would be lost: {all} would be saved; nothing was written")
        }
        (false, Some(target)) => format!("{keys} saved in {}; {}", escape_path(target), clause(report)),
        (false, None) => format!("{keys} would be saved, and {}; nothing was written", clause(report)),
    }
}

fn title(report: &RepairReport) -> String {
    let keys = counted(report.data.sums.keys, "key");
    let (all, are) = if report.data.sums.keys == 1 {
        ("its only key".to_owned(), "is")
    } else {
        (format!("all {keys}"), "are")
    };
    let would = report.data.status == RepairStatus::DryRun;
    match (report.data.is_complete, would) {
        (true, false) => format!("nothing is lost: {all} {are} saved"),
        (true, true) => format!("nothing would be lost: {all} would be saved"),
        (false, false) => format!("{keys} saved; {}", clause(report)),
        (false, true) => format!("{keys} would be saved; {}", clause(report)),
    }
}

/// What a repair would do, by its dry run, in a sentence.
pub(crate) fn prospect(report: &RepairReport) -> String {
    let keys = counted(report.data.sums.keys, "key");
    match report.data.is_complete {
        true if report.data.sums.keys == 1 => "A repair saves its only key; nothing is lost.".to_owned(),
        true => format!("A repair saves all {keys}; nothing is lost."),
        false => format!("A repair saves {keys}; {}.", clause(report)),
    }
}

/// The worst of what is not certain.
fn clause(report: &RepairReport) -> &'static str {
    let has_lost = |kind| report.losses.iter().any(|loss| loss.data.kind == kind);
    match () {
        () if has_lost(LossKind::Table) => "some entries are lost",
        () if has_lost(LossKind::Log) => "some writes are lost",
        () if report.data.unknown.iter().all(|why| matches!(why, Unknown::Writes(_)))
            && !report.data.unknown.is_empty() =>
        {
            "writes may be lost"
        }
        () if !report.data.unknown.is_empty() => "entries may be lost",
        () => "some keys may be stale",
    }
}

fn loss_text(OfFile { name, data: loss }: &OfFile<LossReport>) -> String {
    let key = |key: &Option<Vec<u8>>| key.as_deref().map(|key| quote(key).to_string());
    let keys = match (key(&loss.first_key), key(&loss.last_key)) {
        (Some(first), Some(last)) if first == last => format!("entries of {name} with the key {first}"),
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
        LossKind::Table => format!("{keys}: {}{}", loss.why, place(loss.offset)),
        LossKind::Log => {
            let writes = loss.writes.map_or_else(|| "writes".to_owned(), |lost| counted(lost, "write"));
            let after =
                loss.last_sequence_before.map(|last| format!(" after sequence number {}", count(last)));
            format!("{writes} of {name}{}: {}{}", after.unwrap_or_default(), loss.why, place(loss.offset))
        }
    }
}

/// `None`: no key may be stale.
fn stale_text(report: &RepairReport, all_at: &str) -> Option<String> {
    let number = Some(report.data.sums.maybe_stale).filter(|number| *number > 0)?;
    let mut keys: Vec<_> =
        report.stale_keys.iter().take(MOST).map(|key| quote(&key.data.key).to_string()).collect();
    keys.extend(more(number, keys.len(), all_at));
    let left_out = report.data.sums.left_out;
    // All values are left out, or none is.
    let deleted = match left_out {
        // Not all are listed.
        0 if report.stale_keys.len() as u64 != number => 0,
        0 => report.stale_keys.iter().filter(|key| key.data.is_deletion).count() as u64,
        _ => number.saturating_sub(left_out),
    };
    let share = |share, what| match (share, number) {
        (0, _) => String::new(),
        (_, 1) => format!(", {what}"),
        _ => format!(", {} of them {what}", count(share)),
    };
    let (deleted, left_out) = (share(deleted, "deleted"), share(left_out, "left out"));
    let comma = if deleted.is_empty() && left_out.is_empty() { "" } else { "," };
    let (values, them) = if number == 1 { ("a newer value", "it") } else { ("newer values", "them") };
    let why = format!("may have had {values} there, or no checksum covers {them}");
    Some(format!("{}{deleted}{left_out}{comma} {why}: {}", counted(number, "key"), keys.join(", ")))
}

/// What was wrong with a file that is used, and cost nothing.
fn mended_text(OfFile { name, data: file }: &OfFile<RepairedFile>) -> Option<String> {
    let is_used = matches!(file.role, RepairRole::Live | RepairRole::PartlyObsolete | RepairRole::Used);
    let bits = match &file.corrected[..] {
        [] => None,
        [at] => Some(format!("one bit was wrong, at offset {at}, and is corrected")),
        [first, more @ ..] => {
            let more = counted(more.len() as u64, "more bit");
            Some(format!("one bit was wrong, at offset {first}, and {more}; all are corrected"))
        }
    };
    let texts: Vec<_> = bits.into_iter().chain(file.note.clone()).collect();
    (is_used && !texts.is_empty()).then(|| format!("{name}: {}", texts.join("; ")))
}

fn more(all: u64, shown: usize, all_at: &str) -> Option<String> {
    let left = all.saturating_sub(shown as u64);
    (left > 0).then(|| format!("… and {} more: {all_at}", count(left)))
}

fn next(path: &Path, report: &RepairReport) -> (String, Vec<String>) {
    let Some(target) = &report.data.target else {
        return match report.data.status {
            RepairStatus::DryRun if report.data.is_damaged => {
                let command = repair_command_with(path, report.wanted.as_deref(), &report.arguments);
                ("To save it:".to_owned(), vec![command])
            }
            _ => (String::new(), Vec::new()),
        };
    };
    match (report.data.is_complete, report.data.is_damaged) {
        (true, false) => (String::new(), Vec::new()),
        (true, true) => {
            let next = "The new database was read back in full. To use it, close the program and swap; the old one may go \
                        once the program runs:";
            (next.to_owned(), swap(path, target))
        }
        (false, _) => (format!("The new database was read back in full. {READ_FIRST}"), Vec::new()),
    }
}

/// The commands that put the new database in the place of the old one, whose name then ends in `-old`.
pub(crate) fn swap(path: &Path, target: &Path) -> Vec<String> {
    let given: PathBuf = path.components().collect();
    // Such as `.`, which cannot be renamed.
    let [path, target] = match given.file_name() {
        Some(_) => [given, target.to_owned()],
        None => [path, target].map(full),
    };
    let Some(name) = path.file_name() else { return Vec::new() };
    let mut old = name.to_owned();
    old.push("-old");
    let old = free(path.with_file_name(old));
    if cfg!(windows) {
        // `ren` takes no path as its second argument.
        let ren = |from: &Path, to: &std::ffi::OsStr| {
            format!("ren {} {}", path_word(from), path_word(Path::new(to)))
        };
        let back = match target.parent() == path.parent() {
            true => ren(&target, name),
            false => format!("move {} {}", path_word(&target), path_word(&path)),
        };
        return vec![ren(&path, old.file_name().unwrap_or_default()), back];
    }
    vec![format!(
        "mv {} {} && mv {} {}",
        path_word(&path),
        path_word(&old),
        path_word(&target),
        path_word(&path)
    )]
}

fn full(path: &Path) -> PathBuf {
    // A shell of Windows does not take what links are resolved to there.
    let full = if cfg!(windows) { std::path::absolute(path) } else { path.canonicalize() };
    full.unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RepairData, RepairSums, StaleKey};

    fn repaired(keys: u64) -> RepairReport {
        let sums = RepairSums { keys, ..RepairSums::default() };
        let target = Some("broken-repaired".into());
        let data = RepairData { sums, target, is_complete: true, is_damaged: true, ..RepairData::default() };
        RepairReport { data, ..RepairReport::default() }
    }

    fn loss(kind: LossKind) -> OfFile<LossReport> {
        let why = "one block is damaged".to_owned();
        let data = LossReport { kind, offset: Some(99_428), why, ..LossReport::default() };
        OfFile { name: "000007.ldb".to_owned(), data }
    }

    fn text(report: &RepairReport) -> RepairText {
        repair_text(Path::new("broken"), report, "--page")
    }

    #[test]
    fn where_nothing_is_lost_the_swap_is_told() {
        let sound = text(&repaired(60_000));
        assert_eq!(sound.headline, "nothing is lost: all 60,000 keys are in broken-repaired");
        assert_eq!((sound.rows, sound.facts), (vec![], vec![]));
        assert!(sound.next.ends_with("swap; the old one may go once the program runs:"));
        #[cfg(not(windows))]
        assert_eq!(sound.commands, ["mv broken broken-old && mv broken-repaired broken"]);
        #[cfg(windows)]
        assert_eq!(sound.commands, ["ren broken broken-old", "ren broken-repaired broken"]);
        assert_eq!(text(&repaired(1)).headline, "nothing is lost: its only key is in broken-repaired");
        // There is no reason to swap what is not damaged.
        let mut report = repaired(2);
        report.data.is_damaged = false;
        let whole = text(&report);
        assert!(whole.facts[0].starts_with("No block, log or MANIFEST of broken is damaged; "));
        assert_eq!((whole.next, whole.commands), (String::new(), vec![]));
        (report.data.target, report.data.status) = (None, RepairStatus::DryRun);
        let dry = text(&report);
        assert_eq!(dry.headline, "nothing would be lost: all 2 keys would be saved; nothing was written");
        assert_eq!((dry.next, dry.commands), (String::new(), vec![]));
    }

    #[cfg(all(unix, feature = "fs"))]
    #[test]
    fn a_swap_replaces_nothing_and_names_folders_in_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["db", "db-old", "db-old-2", "db-repaired", "new"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        let [db, old, new] = ["db", "db-old-3", "new"].map(|name| path_word(&path(name)));
        assert_eq!(swap(&path("db"), &path("new")), [format!("mv {db} {old} && mv {new} {db}")]);
        let command = format!("filterblock repair {db} --to {}", path_word(&path("db-repaired-2")));
        assert_eq!(repair_command_with(&path("db"), None, &[]), command);
        let [here, new] = [".", "src"].map(|path| Path::new(path).canonicalize().unwrap());
        let old = path_word(Path::new(&format!("{}-old", here.display())));
        let [here, new] = [here, new].map(|path| path_word(&path));
        assert_eq!(swap(Path::new("."), Path::new("src")), [format!("mv {here} {old} && mv {new} {here}")]);
    }

    #[test]
    fn what_is_lost_comes_with_its_meaning_and_without_a_swap() {
        let mut table = loss(LossKind::Table);
        table.data = LossReport {
            first_key: Some(b"user:0000008283".to_vec()),
            last_key: Some(b"user:0000008546".to_vec()),
            bytes: Some(4096),
            ..table.data
        };
        let stale = StaleKey {
            key: b"user:0000008545".to_vec(),
            sequence: 7,
            is_deletion: false,
            is_obsolete: false,
            is_kept: true,
        };
        let stale = OfFile { name: "000009.ldb".to_owned(), data: stale };
        let unknown =
            "the end of MANIFEST-000002 is missing, so another table or log may be missing unnoticed";
        let mut report = repaired(59_944);
        (report.losses, report.stale_keys) = (vec![table], vec![stale]);
        report.data.is_complete = false;
        report.data.unknown = vec![Unknown::Files(unknown.to_owned())];
        report.data.sums.maybe_stale = 1;
        let told = text(&report);
        assert_eq!(told.headline, "59,944 keys saved in broken-repaired; some entries are lost");
        let lost = "entries of 000007.ldb between \"user:0000008283\" and \"user:0000008546\": one block is damaged \
                    (4 KiB at offset 99428)";
        let stale = "1 key may have had a newer value there, or no checksum covers it: \"user:0000008545\"";
        assert_eq!(
            told.rows,
            [("lost", lost), ("stale?", stale), ("unknown", unknown)]
                .map(|(label, text)| (label, text.to_owned()))
        );
        assert_eq!((told.next.ends_with(READ_FIRST), told.commands), (true, vec![]));
        report.data.target = None;
        let dry = "59,944 keys would be saved, and some entries are lost; nothing was written";
        assert_eq!(text(&report).headline, dry);
        // Six losses are five and a number.
        report.losses = vec![loss(LossKind::Log); 6];
        let rows = text(&report).rows;
        assert_eq!(rows[4].1, "writes of 000007.ldb: one block is damaged (at offset 99428)");
        assert_eq!(rows[5].1, "… and 1 more: --page");
    }

    #[test]
    fn the_headline_names_the_worst() {
        let unknown = |unknown: Unknown| {
            let mut report = repaired(50_000);
            (report.data.is_complete, report.data.unknown) = (false, vec![unknown]);
            text(&report).headline
        };
        let writes = Unknown::Writes("000010.log is missing".to_owned());
        assert_eq!(unknown(writes), "50,000 keys saved in broken-repaired; writes may be lost");
        let files = Unknown::Files("there is no MANIFEST".to_owned());
        assert_eq!(unknown(files), "50,000 keys saved in broken-repaired; entries may be lost");
        let mut stale = repaired(9);
        stale.data.is_complete = false;
        (stale.data.sums.maybe_stale, stale.data.sums.left_out) = (3, 2);
        let told = text(&stale);
        assert_eq!(told.headline, "9 keys saved in broken-repaired; some keys may be stale");
        let keys = "3 keys, 1 of them deleted, 2 of them left out, may have had newer values there, or no checksum covers \
                     them: ";
        assert!(told.rows[0].1.starts_with(keys), "{told:?}");
        let mut lost = loss(LossKind::Log);
        (lost.data.writes, lost.data.last_sequence_before) = (Some(3), Some(1200));
        stale.losses = vec![lost];
        let told = text(&stale);
        assert!(told.headline.ends_with("some writes are lost"));
        assert!(told.rows[0].1.starts_with("3 writes of 000007.ldb after sequence number 1,200: "));
    }
}
