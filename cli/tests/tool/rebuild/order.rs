//! The order in which files appear and disappear, as another program sees it meanwhile. A crash leaves
//! one of these states.

use std::collections::BTreeSet;

use super::*;

const TABLES: u64 = 60;
const OLD_MANIFEST: &str = "MANIFEST-000100";
const NEW_MANIFEST: &str = "MANIFEST-000162";

/// A database whose old tables have numbers from 5 on, and whose new ones from 102 on.
fn many() -> Db {
    let tables: Vec<_> = (0..60).map(|at| spec(2, 5 + u64::from(at), at * 20..at * 20 + 20)).collect();
    Plan { manifest: 100, log: 101, next: 102, ..plan(tables) }.make()
}

/// The folder at one time.
struct Seen {
    old: BTreeSet<u64>,
    new: BTreeSet<u64>,
    names: Vec<String>,
    /// The MANIFEST that `CURRENT` named before and after the folder was listed.
    before: String,
    after: String,
    /// Whether the undo folder was there before and after that.
    has_undo_folder: [bool; 2],
}

impl Seen {
    fn of(db: &Db) -> Self {
        let current = || String::from_utf8(db.read("CURRENT")).unwrap().trim_end().to_owned();
        let has_undo_folder = || db.undo_folder().exists();
        let had_undo_folder = has_undo_folder();
        let (before, names, after) = (current(), db.names(), current());
        let has_undo_folder = [had_undo_folder, has_undo_folder()];
        let number = |name: &String| name.strip_suffix(".ldb").map(|digits| digits.parse::<u64>().unwrap());
        let (old, new) = names.iter().filter_map(number).partition(|number| *number < 102);
        Self { old, new, names, before, after, has_undo_folder }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|found| found == name)
    }

    /// If there is any new table, there are all that are newer.
    #[track_caller]
    fn new_tables_are_the_newest(&self) {
        let Some(first) = self.new.first() else { return };
        assert_eq!(self.new, (*first..102 + TABLES).collect(), "RepairDB would lose what is newer");
    }
}

/// Runs the program, and looks at the folder until it ends.
#[track_caller]
fn watch(db: &Db, options: &[&str], mut look: impl FnMut(&Seen)) {
    let mut child = command(&args!["rebuild", db.dir()]).args(options).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        look(&Seen::of(db));
    }
    finish(child).expect(0).quiet();
    look(&Seen::of(db));
}

#[test]
fn in_place() {
    for options in [&["--in-place"][..], &["--in-place", "--no-undo"]] {
        let db = many();
        let mut partly_named = 0;
        watch(&db, options, |seen| {
            seen.new_tables_are_the_newest();
            partly_named += u32::from((1..TABLES as usize).contains(&seen.new.len()));
            if seen.before == NEW_MANIFEST {
                assert_eq!(seen.new.len() as u64, TABLES);
                assert!(seen.has(NEW_MANIFEST));
                assert!(options.len() == 2 || db.undo_folder().join("filterblock-undo").exists());
            }
            if seen.after == OLD_MANIFEST {
                assert_eq!(seen.old.len() as u64, TABLES);
                assert!(seen.has(OLD_MANIFEST));
            }
            if !seen.has("filterblock-rebuild") {
                assert!(seen.new.is_empty() != seen.old.is_empty(), "the marker tells of all leftovers");
                assert!(seen.new.is_empty() || !seen.has(OLD_MANIFEST));
                assert!(!seen.names.iter().any(|name| name.ends_with(".dbtmp")));
            }
        });
        assert!(partly_named > 0, "nothing was seen");
    }
}

#[test]
fn in_batches() {
    let db = many();
    let mut last = 0;
    watch(&db, &["--in-place", "--no-undo", "--batch", "1"], |seen| {
        seen.new_tables_are_the_newest();
        assert!(seen.old.len() + seen.new.len() >= TABLES as usize);
        assert!(seen.new.len() >= last);
        last = seen.new.len();
    });
}

#[test]
fn undo() {
    let db = many();
    db.done(&["--in-place"]);
    let mut partly_removed = 0;
    watch(&db, &["--undo"], |seen| {
        seen.new_tables_are_the_newest();
        partly_removed += u32::from((1..TABLES as usize).contains(&seen.new.len()));
        if seen.before == OLD_MANIFEST {
            assert_eq!(seen.old.len() as u64, TABLES);
            assert!(seen.has(OLD_MANIFEST));
        }
        if seen.after == NEW_MANIFEST {
            assert_eq!(seen.new.len() as u64, TABLES);
            assert!(seen.has(NEW_MANIFEST));
        }
        if !seen.has("filterblock-rebuild") {
            assert!(seen.new.is_empty() != seen.old.is_empty(), "the marker tells of all leftovers");
            // Unless it went meanwhile.
            assert!(seen.has_undo_folder.contains(&seen.old.is_empty()));
        }
    });
    assert!(partly_removed > 0, "nothing was seen");
}
