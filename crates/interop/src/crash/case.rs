//! A database, the commands that change it, and a program that was recorded while it changed the database.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use filterblock::policy::LegacyBloomPolicy;
use filterblock_crash_states::{History, Inodes, Tree};
use tempfile::TempDir;

use super::contents::{Damaged, Repaired, read, repaired, unused_files};
use super::plan::Plan;
use super::{Recording, fast_folder, record};
use crate::leveldb::{DatabaseOptions, Filter};

/// The database's folder in the recorded folder.
pub const DATABASE: &str = "db";
/// The folder beside the database's by which a rebuild is undone.
pub const UNDO_FOLDER: &str = "db.filterblock-undo";
/// The second database, which `--to` makes by `rebuild` or `repair`.
pub const TARGET: &str = "new";
/// The beginning of the names of folders that `--to` has not finished.
pub const UNFINISHED: &str = ".filterblock-";

/// A command with which the program is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// `rebuild --in-place`, which leaves a folder for `--undo`.
    InPlace,
    /// `rebuild --in-place --no-undo`.
    NoUndo,
    /// `rebuild --undo` after `rebuild --in-place`.
    Undo,
    /// `rebuild --discard` after `rebuild --in-place`.
    Discard,
    /// `rebuild --in-place --drop`.
    Drop,
    /// `rebuild --in-place --keep-undecodable` of a database with a damaged table.
    KeepUndecodable,
    /// `rebuild --to`.
    To,
    /// `repair --to` of a database without damage.
    Repair,
}

impl Mode {
    /// All commands.
    pub const ALL: [Self; 8] = [
        Self::InPlace,
        Self::NoUndo,
        Self::Undo,
        Self::Discard,
        Self::Drop,
        Self::KeepUndecodable,
        Self::To,
        Self::Repair,
    ];

    /// Returns true if the program leaves a folder for `--undo`.
    pub const fn keeps_undo(self) -> bool {
        matches!(self, Self::InPlace | Self::Drop | Self::KeepUndecodable)
    }

    /// Returns true if the program makes a second database and leaves the first one as it is.
    pub const fn makes_target(self) -> bool {
        matches!(self, Self::To | Self::Repair)
    }

    /// Returns the command to run on a database after this one was cut off.
    pub const fn again(self) -> Self {
        match self {
            Self::Undo | Self::Discard => Self::InPlace,
            other => other,
        }
    }

    /// The program's arguments for the database below `root`. `filters`: the options for the new filters.
    pub fn arguments(self, root: &Path, filters: &[&str]) -> Vec<OsString> {
        let command = if self == Self::Repair { "repair" } else { "rebuild" };
        let mut arguments = vec![OsString::from(command), root.join(DATABASE).into()];
        let mut add = |options: &[&str]| arguments.extend(options.iter().map(OsString::from));
        match self {
            Self::InPlace | Self::Drop | Self::KeepUndecodable => add(&["--in-place"]),
            Self::NoUndo => add(&["--in-place", "--no-undo"]),
            Self::Undo => add(&["--undo"]),
            Self::Discard => add(&["--discard"]),
            Self::To | Self::Repair => add(&["--to"]),
        }
        match self {
            Self::Undo | Self::Discard => {}
            Self::Drop => add(&["--drop"]),
            Self::KeepUndecodable => {
                add(filters);
                add(&["--keep-undecodable"]);
            }
            Self::To => {
                arguments.push(root.join(TARGET).into());
                arguments.extend(filters.iter().map(OsString::from));
            }
            // `repair` has other options for filters than `rebuild`. Without them it takes over the tables' own.
            Self::Repair => arguments.push(root.join(TARGET).into()),
            Self::InPlace | Self::NoUndo => add(filters),
        }
        arguments
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InPlace => "rebuild --in-place",
            Self::NoUndo => "rebuild --in-place --no-undo",
            Self::Undo => "rebuild --undo",
            Self::Discard => "rebuild --discard",
            Self::Drop => "rebuild --in-place --drop",
            Self::KeepUndecodable => "rebuild --in-place --keep-undecodable",
            Self::To => "rebuild --to",
            Self::Repair => "repair --to",
        })
    }
}

/// The name of LevelDB's filters since 1.18, and the name of goleveldb's and of older filters.
const NEW_NAME: &str = "leveldb.BuiltinBloomFilter2";
const OLD_NAME: &str = "leveldb.BuiltinBloomFilter";

/// A database and the filters that it is to get.
#[derive(Debug)]
pub struct Case {
    /// The plan by which the database was made.
    pub plan: Plan,
    /// The program that changes databases.
    pub program: PathBuf,
    /// The database and nothing else, in a folder named [`DATABASE`].
    pub original: Tree,
    /// The options with which LevelDB opens the database afterwards.
    pub options: DatabaseOptions,
    /// Files in the database's folder that the database does not use.
    pub stale: BTreeSet<String>,
    /// The database after LevelDB's repair.
    pub repaired: Repaired,
    /// The database with a damaged table, if it has enough tables.
    pub damaged: Option<Damaged>,
    filters: Vec<&'static str>,
}

impl Case {
    /// Makes the database. `goleveldb` is the program `go/databases`.
    pub fn new(seed: u64, program: &Path, goleveldb: Option<&Path>) -> Result<Self> {
        let plan = Plan::new(seed, goleveldb.is_some());
        let folder = work_folder()?;
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join(DATABASE))?;
        plan.write(&root.join(DATABASE), goleveldb)?;
        let (original, _) = Tree::read(&root)?;
        let (mut filters, mut filter) = match seed % 5 {
            0 => (vec!["--bits-per-key", "20"], Filter::BuiltIn(10)),
            1 => (vec![], Filter::BuiltIn(10)),
            2 => (vec!["--policy", OLD_NAME], Filter::BuiltIn(10)),
            3 => (vec!["--bits-per-key", "3"], Filter::BuiltIn(3)),
            _ => (vec!["--drop"], Filter::BuiltIn(10)),
        };
        let is_named = filters.iter().any(|option| matches!(*option, "--policy" | "--drop"));
        if !is_named && !plan.has_filters() {
            filters.extend(["--policy", NEW_NAME]);
        }
        if filters.contains(&OLD_NAME) || (!is_named && plan.has_filters() && plan.by_goleveldb) {
            filters.extend(["--hash", "unsigned"]);
            filter = Filter::Policy(Arc::new(LegacyBloomPolicy::new(10)));
        }
        let options = DatabaseOptions { filter, paranoid_checks: true, ..DatabaseOptions::default() };
        let mut case = Self {
            plan,
            program: program.to_owned(),
            original,
            options,
            stale: unused_files(&root.join(DATABASE))?,
            repaired: Repaired::default(),
            damaged: None,
            filters,
        };
        let copy = folder.path().join("copy");
        case.original.write(&copy)?;
        let found = read(&copy.join(DATABASE), &case.options, &case.plan.keys)?;
        ensure!(found == case.plan.live, "LevelDB reads something else than was written");
        let copy = folder.path().join("repaired");
        case.original.write(&copy)?;
        case.repaired = repaired(&copy.join(DATABASE), &case.options, &case.plan.keys)?;
        let copy = folder.path().join("damaged");
        case.original.write(&copy)?;
        case.damaged = Damaged::new(&case.plan, &copy, &case.options)?;
        Ok(case)
    }

    /// The program's arguments.
    pub fn arguments(&self, mode: Mode, root: &Path) -> Vec<OsString> {
        mode.arguments(root, &self.filters)
    }

    /// Runs the program unrecorded. Returns its exit status and everything it printed.
    pub fn run(&self, mode: Mode, root: &Path) -> Result<(i32, String)> {
        let output = Command::new(&self.program).args(self.arguments(mode, root)).output()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let status = output.status.code().with_context(|| format!("{}: {said}", output.status))?;
        Ok((status, said))
    }

    /// Returns the recorded folder before the program runs. `None` if the database has too few tables for the mode.
    pub fn before(&self, mode: Mode) -> Result<Option<Tree>> {
        match mode {
            Mode::KeepUndecodable => Ok(self.damaged.as_ref().map(|damaged| damaged.tree.clone())),
            Mode::Undo | Mode::Discard => {
                let folder = work_folder()?;
                let root = folder.path().join("root");
                self.original.write(&root)?;
                let (status, said) = self.run(Mode::InPlace, &root)?;
                ensure!(status == 0, "status {status}: {said}");
                Ok(Some(Tree::read(&root)?.0))
            }
            _ => Ok(Some(self.original.clone())),
        }
    }

    /// Runs the program on `before`, with everything recorded.
    pub fn record(&self, mode: Mode, before: &Tree) -> Result<Recorded> {
        let folder = work_folder()?;
        let root = std::fs::canonicalize(folder.path())?.join("root");
        before.write(&root)?;
        let (before, inodes) = (before.clone(), before.inodes(&root)?);
        let recording = record(&self.program, &self.arguments(mode, &root), &root)?;
        let (after, _) = Tree::read(&root)?;
        Ok(Recorded { before, inodes, recording, after })
    }
}

/// A recorded run of the program.
#[derive(Debug)]
pub struct Recorded {
    before: Tree,
    inodes: Inodes,
    /// The record of the run.
    pub recording: Recording,
    after: Tree,
}

impl Recorded {
    /// The history of the run. Fails if the program did anything to the folder that was not
    /// recorded.
    pub fn history(&self) -> Result<History> {
        let history = History::new(self.before.clone(), self.inodes.clone(), &self.recording.operations)?;
        self.check_complete(&history)?;
        Ok(history)
    }

    /// Returns the history of this run, which found the folder as the run of `history` left it after `done` steps.
    pub fn behind(&self, history: &History, done: usize) -> Result<History> {
        let history = history.continued(done, self.inodes.clone(), &self.recording.operations)?;
        self.check_complete(&history)?;
        Ok(history)
    }

    fn check_complete(&self, history: &History) -> Result<()> {
        let (replayed, real) = (history.after.listing(), self.after.listing());
        let names = |listing: &BTreeMap<PathBuf, _>| {
            listing.keys().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        ensure!(
            names(&replayed) == names(&real),
            "replayed {:?}, really {:?}",
            names(&replayed),
            names(&real)
        );
        for (path, file) in &replayed {
            let real = &real[path];
            ensure!(file.contents() == real.contents(), "{}: replayed other contents", path.display());
            let (replayed, real) = (file.mode, real.mode);
            ensure!(replayed == real, "{}: replayed the mode {replayed:o}, really {real:o}", path.display());
        }
        Ok(())
    }
}

/// A folder for copies, removed at the end.
pub fn work_folder() -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("filterblock-crash-").tempdir_in(fast_folder())?)
}
