//! Checks of databases that a crash left.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{FileKind, Manifest};
use filterblock_crash_states::Tree;
use tempfile::TempDir;

use super::case::{Case, DATABASE, Mode, TARGET, UNDO_FOLDER, UNFINISHED, work_folder};
use super::contents::{entries, read, repaired, unused_files};
use super::plan::Entries;
use crate::goleveldb::Goleveldb;
use crate::leveldb::{Database, DatabaseOptions, WriteBatch};
use crate::random::Random;

/// A check of a state that a crash left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// LevelDB opens the database and finds every key and value.
    LevelDb,
    /// goleveldb opens the database and finds every key and value.
    Goleveldb,
    /// The program does its work on the database and leaves nothing behind. LevelDB then finds everything.
    Again,
    /// LevelDB's repair makes the same of the database as of the original.
    Repair,
    /// LevelDB opens the database, in most cases writes to it, and in some compacts it, before the program is run
    /// again.
    Used,
    /// LevelDB empties no file that has a second name.
    Links,
    /// `--undo` brings back all that the program replaced.
    Undo,
    /// All that the program did is durable when it ends.
    Durable,
}

impl Check {
    /// Returns the checks of each state that a run in this mode can leave.
    pub const fn of(mode: Mode) -> &'static [Self] {
        use Check::*;
        match mode {
            // Neither goleveldb nor a repair nor a compaction skips damage.
            Mode::KeepUndecodable => &[LevelDb, Again, Links, Undo],
            Mode::To | Mode::Repair => &[LevelDb, Goleveldb, Again, Repair, Links],
            Mode::NoUndo | Mode::Discard => &[LevelDb, Goleveldb, Again, Repair, Used, Links],
            Mode::InPlace | Mode::Drop | Mode::Undo => {
                &[LevelDb, Goleveldb, Again, Repair, Used, Links, Undo]
            }
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LevelDb => "LevelDB opens it",
            Self::Goleveldb => "goleveldb opens it",
            Self::Again => "the program is run again",
            Self::Repair => "LevelDB repairs it",
            Self::Used => "LevelDB writes to it, the program is run again",
            Self::Links => "files that LevelDB may empty have no other name",
            Self::Undo => "the rebuild is undone",
            Self::Durable => "all is durable at the end",
        })
    }
}

fn compare(found: &Entries, expected: &Entries) -> Result<()> {
    let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    let lost: Vec<_> = expected.keys().filter(|key| !found.contains_key(*key)).map(|key| text(key)).collect();
    let stale = expected.iter().filter(|(key, value)| found.get(*key).is_some_and(|found| found != *value));
    let stale: Vec<_> = stale.map(|(key, _)| text(key)).collect();
    let more: Vec<_> = found.keys().filter(|key| !expected.contains_key(*key)).map(|key| text(key)).collect();
    ensure!(
        lost.is_empty() && stale.is_empty() && more.is_empty(),
        "of {} keys, {} are lost, {} have another value, and {} are there again: {:?}",
        expected.len(),
        lost.len(),
        stale.len(),
        more.len(),
        lost.iter().chain(&stale).chain(&more).next(),
    );
    Ok(())
}

/// Checks states of one case.
#[derive(Debug)]
pub struct Checker<'a> {
    case: &'a Case,
    goleveldb: Option<&'a mut Goleveldb>,
    work: TempDir,
    copies: u64,
    /// The number of times that the program refused at first because there was something to undo.
    pub refused: u64,
}

impl<'a> Checker<'a> {
    /// A checker that has checked nothing yet.
    pub fn new(case: &'a Case, goleveldb: Option<&'a mut Goleveldb>) -> Result<Self> {
        Ok(Self { case, goleveldb, work: work_folder()?, copies: 0, refused: 0 })
    }

    /// Makes one check of a state that the program left when it ran the command `mode`.
    pub fn check(&mut self, check: Check, tree: &Tree, mode: Mode, random: &mut Random) -> Result<()> {
        if check == Check::Links {
            return check_links(tree, DATABASE);
        }
        let root = self.work.path().join(self.copies.to_string());
        self.copies += 1;
        tree.write(&root)?;
        self.check_in(check, &root, mode, random)
            .with_context(|| format!("{check}; the database is {} of {mode}", self.case.plan.seed))?;
        fs::remove_dir_all(&root)?;
        Ok(())
    }

    fn check_in(&mut self, check: Check, root: &Path, mode: Mode, random: &mut Random) -> Result<()> {
        let case = self.case;
        let database = root.join(DATABASE);
        let again = mode.again();
        match check {
            Check::LevelDb => {
                if root.join(TARGET).exists() {
                    compare(&read(&root.join(TARGET), &case.options, &case.plan.keys)?, &case.plan.live)?;
                }
                self.has_all(root, mode, &case.plan.live)
            }
            Check::Again if mode.makes_target() => self.copies_again(root, mode),
            Check::Undo => self.undoes(root, mode),
            Check::Links | Check::Durable => Ok(()), // Not by a folder.
            Check::Goleveldb => {
                let Some(goleveldb) = self.goleveldb.as_mut() else { return Ok(()) };
                goleveldb.compare(&database, &case.plan.live)
            }
            Check::Repair => {
                let found = repaired(&database, &case.options, &case.plan.keys)?;
                compare(&found.sought, &case.repaired.sought)?;
                compare(&found.scanned, &case.repaired.scanned)
            }
            Check::Again => {
                if random.one_in(4) {
                    // Run also if there is nothing to undo or to discard.
                    let first = if random.one_in(2) { Mode::Undo } else { Mode::Discard };
                    let (status, said) = case.run(first, root)?;
                    ensure!(status == 0 || (status == 1 && !said.is_empty()), "{first}: {status}: {said}");
                }
                self.finishes(root, again, &case.stale, random)?;
                self.has_all(root, mode, &case.plan.live)
            }
            Check::Used => {
                let live = self.use_it(&database, random)?;
                // When it is closed, LevelDB leaves tables that it has just compacted. It also leaves a MANIFEST that
                // was never in use until LevelDB's own has a higher number.
                let stale = unused_files(&database)?.into_iter();
                let is_leveldb = |name: &String| !name.ends_with(".dbtmp") && FileKind::parse(name).is_some();
                self.finishes(root, again, &stale.filter(is_leveldb).collect(), random)?;
                self.has_all(root, mode, &live)
            }
        }
    }

    fn has_all(&self, root: &Path, mode: Mode, live: &Entries) -> Result<()> {
        if let (Mode::KeepUndecodable, Some(damaged)) = (mode, &self.case.damaged) {
            return damaged.compare(&root.join(DATABASE), &self.case.plan, &self.case.options);
        }
        let found = read(&root.join(DATABASE), &self.case.options, &self.case.plan.keys)?;
        compare(&found, live)
    }

    /// Checks that `--to` makes the second database, unless it is there already.
    fn copies_again(&self, root: &Path, mode: Mode) -> Result<()> {
        let was_there = root.join(TARGET).exists();
        let (status, said) = self.case.run(mode, root)?;
        ensure!(status == i32::from(was_there), "status {status}: {said}");
        for entry in fs::read_dir(root)? {
            // The name of an unfinished folder is lost with the run that knew it.
            let name = entry?.file_name().to_string_lossy().into_owned();
            let is_expected = name == DATABASE || name == TARGET || name.starts_with(UNFINISHED);
            ensure!(is_expected, "{name} is left beside the database");
        }
        let found = read(&root.join(TARGET), &self.case.options, &self.case.plan.keys)?;
        compare(&found, &self.case.plan.live)?;
        self.has_all(root, mode, &self.case.plan.live)
    }

    /// Checks that `--undo` brings the original back, unless the original is there already.
    fn undoes(&self, root: &Path, mode: Mode) -> Result<()> {
        let rebuilt = !is_same(root, &self.case.original, "CURRENT")?;
        let (status, said) = self.case.run(Mode::Undo, root)?;
        ensure!(status == 0 || (status == 1 && !rebuilt), "status {status}: {said}");
        ensure!(is_same(root, &self.case.original, "CURRENT")?, "it is not the original: {said}");
        self.has_all(root, mode, &self.case.plan.live)
    }

    /// Writes to the database with LevelDB. Returns its entries.
    fn use_it(&self, folder: &Path, random: &mut Random) -> Result<Entries> {
        let mut live = self.case.plan.live.clone();
        let options = DatabaseOptions { reuse_logs: random.one_in(2), ..self.case.options.clone() };
        let mut database = Database::open(folder, &options)?;
        if random.one_in(5) {
            return Ok(live); // Opened and closed, nothing else.
        }
        let mut batch = WriteBatch::new();
        let keys: Vec<_> = self.case.plan.keys.iter().collect();
        for _ in 0..random.between(1, 60) {
            let key = keys[random.index(keys.len())];
            if random.one_in(3) {
                batch.delete(key);
                live.remove(key);
            } else {
                let value = random.bytes(30);
                batch.put(key, &value);
                live.insert(key.clone(), value);
            }
        }
        database.write(&batch)?;
        if random.one_in(2) {
            database.compact(None);
        }
        compare(&entries(&database, &self.case.plan.keys)?, &live)?;
        Ok(live)
    }

    /// Runs the program again, to the end. `stale` are files that are not the program's and may stay.
    fn finishes(
        &mut self,
        root: &Path,
        mode: Mode,
        stale: &BTreeSet<String>,
        random: &mut Random,
    ) -> Result<()> {
        let case = self.case;
        let (mut status, mut said) = case.run(mode, root)?;
        if status == 1 {
            ensure!(root.join(UNDO_FOLDER).exists(), "it refuses, and nothing is there to undo: {said}");
            let is_original = is_same(root, &case.original, "CURRENT")? && {
                let name = fs::read_to_string(root.join(DATABASE).join("CURRENT"))?;
                is_same(root, &case.original, name.trim_end())?
            };
            ensure!(!is_original, "it refuses, and the database is the original: {said}");
            self.refused += 1;
            let mut way = if random.one_in(2) { Mode::Undo } else { Mode::Discard };
            let (mut cleared, mut why) = case.run(way, root)?;
            if cleared == 1 && way == Mode::Undo {
                // Somebody has written to the database since.
                way = Mode::Discard;
                (cleared, why) = case.run(way, root)?;
            }
            ensure!(cleared == 0, "it refuses ({said}), and {way} ends with {cleared}: {why}");
            (status, said) = case.run(mode, root)?;
        }
        ensure!(status == 0, "status {status}: {said}");
        for entry in fs::read_dir(root)? {
            let name = entry?.file_name();
            let is_expected = name == DATABASE || (name == UNDO_FOLDER && mode.keeps_undo());
            ensure!(is_expected, "{} is left beside the database", name.display());
        }
        let left: Vec<_> = unused_files(&root.join(DATABASE))?.difference(stale).cloned().collect();
        ensure!(left.is_empty(), "{left:?} is left in the database");
        Ok(())
    }
}

/// Returns true if a file of the database has its original contents.
fn is_same(root: &Path, original: &Tree, name: &str) -> Result<bool> {
    let path = Path::new(DATABASE).join(name);
    Ok(fs::read(root.join(&path))? == **original.contents(&path)?)
}

/// Fails if a file that LevelDB may overwrite has a second name. LevelDB numbers new files from the MANIFEST's next
/// number on. It empties existing files of these names, which also empties the file under its second name.
fn check_links(tree: &Tree, database: &str) -> Result<()> {
    let folder = Path::new(database);
    let current = String::from_utf8_lossy(tree.contents(&folder.join("CURRENT"))?).into_owned();
    let manifest = tree.contents(&folder.join(current.trim_end()))?;
    let next = Manifest::parse(manifest).context("the MANIFEST")?.next_file_number();
    let listing = tree.listing();
    let mut names: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for (path, entry) in &listing {
        if let Some((first, _)) = &entry.file {
            names.entry(first).or_default().push(path);
        }
    }
    for paths in names.values().filter(|paths| paths.len() > 1) {
        for path in paths.iter().filter(|path| path.parent() == Some(folder)) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = FileKind::parse(name).map_or(0, |(_, number)| number);
            ensure!(number < next, "{name}, which LevelDB may use from {next} on, is one of {paths:?}");
        }
    }
    Ok(())
}
