//! Somebody else who exchanges a folder for a symbolic link to another one, while the program works.
//!
//! The other folder, the victim, has files of the same names. Nothing in the victim may change, and no key of the
//! database may be lost, wherever the database's folder is afterwards. There is one exception: if the program opens
//! its database after the exchange, the victim is its database, and nothing in the original folder may change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use filterblock_crash_states::Tree;

use super::case::{Case, work_folder};
use super::contents::read;
use super::mode::{DATABASE, Mode, TARGET, UNDO_FOLDER, UNFINISHED};
use super::record::{Disturbance, Exchange, record};

/// A user without rights.
const NOBODY: u32 = 65534;

/// The most calls up to the one that opens the database's folder, or the target's parent. An exchange before that
/// call may lead to the victim: the program's arguments then name it.
const CALLS_TO_OPEN: u64 = 6;

/// The user who runs the program, and those who can write to the folder around the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// A user who owns everything.
    User,
    /// Root, who owns the database, in a folder of a user's.
    InUsersFolder,
    /// Root, who owns the database, in a folder that everyone can write to.
    InOpenFolder,
    /// Like `InOpenFolder`, with the sticky bit, as in `/tmp`: others cannot rename or remove what is there.
    InStickyFolder,
}

impl Setting {
    /// Returns the settings that this process can arrange.
    pub fn all() -> &'static [Self] {
        match rustix::process::geteuid().is_root() {
            true => &[Self::User, Self::InUsersFolder, Self::InOpenFolder, Self::InStickyFolder],
            false => &[Self::User],
        }
    }

    const fn is_root(self) -> bool {
        !matches!(self, Self::User)
    }
}

/// The folder that is exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The database's folder.
    Database,
    /// The folder for `--undo`, or its name while there is no such folder.
    UndoFolder,
    /// The folder that the database is in.
    Parent,
    /// The name that `--to` gives to the new folder at the end.
    Target,
    /// The folder that `--to` works in.
    Unfinished,
}

impl Place {
    /// The folders that a mode uses.
    pub const fn of(mode: Mode) -> &'static [Self] {
        match mode {
            Mode::To | Mode::Repair => &[Self::Database, Self::Parent, Self::Target, Self::Unfinished],
            _ => &[Self::Database, Self::UndoFolder, Self::Parent],
        }
    }

    fn path(self, parent: &Path) -> PathBuf {
        match self {
            Self::Database => parent.join(DATABASE),
            Self::UndoFolder => parent.join(UNDO_FOLDER),
            Self::Parent => parent.to_owned(),
            Self::Target => parent.join(TARGET),
            Self::Unfinished => parent.join(format!("{UNFINISHED}*")),
        }
    }

    fn victim(self, other: &Path) -> PathBuf {
        match self {
            Self::Target => other.join("empty"), // `--to` takes an empty folder.
            Self::Unfinished => other.join(DATABASE),
            _ => self.path(other),
        }
    }
}

/// The endings of runs in which a folder was exchanged before each call in turn.
#[derive(Debug, Default)]
pub struct Races {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs in which the folder could be exchanged.
    pub exchanged: u64,
    /// The number of runs that ended with each status.
    pub statuses: BTreeMap<i32, u64>,
    /// The number of runs that resolved the names after the exchange: they changed the victim, as they may, and left
    /// the database alone.
    pub taken: u64,
    /// Runs in which the victim was changed, or keys were lost, each described.
    pub failures: Vec<String>,
}

impl fmt::Display for Races {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, exchanged, statuses, taken, failures } = self;
        write!(f, "{runs} runs, {exchanged} with the folder exchanged, statuses {statuses:?}")?;
        if *taken > 0 {
            write!(f, ", in {taken} before its name was resolved")?;
        }
        if !failures.is_empty() {
            write!(f, "; {} FAILED", failures.len())?;
        }
        failures.iter().take(2).try_for_each(|failure| write!(f, "\n  {failure}"))
    }
}

/// Runs the program once for each of its calls that resolve a name, and exchanges a folder before that call.
pub fn races(case: &Case, mode: Mode, setting: Setting, place: Place) -> Result<Races> {
    let rebuilt = rebuilt(case, user_of(setting))?;
    let (before, victim) = match mode {
        Mode::Undo | Mode::Discard => (rebuilt.clone(), rebuilt),
        _ => (case.original.clone(), with_database_of(rebuilt, &case.original)?),
    };
    let mut races = Races::default();
    for at in 1.. {
        let folder = work_folder()?;
        let top = fs::canonicalize(folder.path())?.join("top");
        let (parent, other) = (top.join("parent"), top.join("other"));
        arrange(setting, &top, (&parent, &before), (&other, &victim))?;
        let exchange = Exchange {
            at,
            by: setting.is_root().then_some(NOBODY),
            folder: place.path(&parent),
            victim: place.victim(&other),
        };
        let disturbance =
            Disturbance { exchange: Some(exchange), user: user_of(setting), ..Disturbance::default() };
        let (before, victim) = (snapshot(&parent)?, snapshot(&other)?);
        let recording = record(&case.program, &case.arguments(mode, &parent), &top, disturbance)?;
        let what = || format!("before call {at}; {}", recording.ending());
        ensure!(!recording.messages.contains("panicked"), what());
        ensure!(matches!(recording.status, Some(0..=3)), what());
        let Some(is_exchanged) = recording.exchange else { break };
        races.runs += 1;
        races.exchanged += u64::from(is_exchanged);
        *races.statuses.entry(recording.status.unwrap_or(-1)).or_default() += 1;
        let changed = differences(&victim, &snapshot(&other)?);
        let is_early = at <= CALLS_TO_OPEN && matches!(place, Place::Database | Place::Parent);
        if !changed.is_empty() && is_early && is_alone(place, &parent, &before)? {
            races.taken += 1;
            if let Err(error) = has_all_in(case, &other.join(DATABASE)) {
                races.failures.push(format!("{}: the victim: {error:#}", what()));
            }
        } else if !changed.is_empty() {
            races.failures.push(format!("{}: the victim has changed: {changed:?}", what()));
        } else if let Err(error) = has_all(case, place, &parent) {
            races.failures.push(format!("{}: {error:#}", what()));
        }
    }
    Ok(races)
}

/// Returns the user who runs the program, if not the present one.
fn user_of(setting: Setting) -> Option<u32> {
    (!setting.is_root() && rustix::process::geteuid().is_root()).then_some(NOBODY)
}

/// Returns the database as the user has rebuilt it. Its record for `--undo` names the owner.
fn rebuilt(case: &Case, user: Option<u32>) -> Result<Tree> {
    let folder = work_folder()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let root = folder.path().join("root");
    case.original.write(&root)?;
    let mut command = Command::new(&case.program);
    command.args(case.arguments(Mode::InPlace, &root));
    if let Some(user) = user {
        give(&root, user)?;
        command.uid(user).gid(user);
    }
    let output = command.output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(Tree::read(&root)?.0)
}

/// Puts the database of `of`, which has files of other names, beside the undo folder of `rebuilt`.
fn with_database_of(rebuilt: Tree, of: &Tree) -> Result<Tree> {
    let folder = work_folder()?;
    let (root, from) = (folder.path().join("root"), folder.path().join("from"));
    rebuilt.write(&root)?;
    of.write(&from)?;
    fs::remove_dir_all(root.join(DATABASE))?;
    fs::rename(from.join(DATABASE), root.join(DATABASE))?;
    Ok(Tree::read(&root)?.0)
}

fn arrange(setting: Setting, top: &Path, database: (&Path, &Tree), victim: (&Path, &Tree)) -> Result<()> {
    let work = top.parent().context("within another folder")?;
    fs::set_permissions(work, fs::Permissions::from_mode(0o755))?;
    fs::create_dir(top)?;
    database.1.write(database.0)?;
    victim.1.write(victim.0)?;
    fs::create_dir(victim.0.join("empty"))?;
    let (mode, owner) = match setting {
        // Without root's rights the user owns everything already.
        Setting::User => return user_of(setting).map_or(Ok(()), |user| give(top, user)),
        Setting::InUsersFolder => (0o755, NOBODY),
        Setting::InOpenFolder => (0o777, 0),
        Setting::InStickyFolder => (0o1777, 0),
    };
    for folder in [top, database.0] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode))?;
        chown(folder, Some(owner), Some(owner))?;
    }
    for folder in ["", DATABASE, UNDO_FOLDER, "empty"] {
        fs::set_permissions(victim.0.join(folder), fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Gives a folder and all in it to a user.
fn give(path: &Path, user: u32) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(chown(path, Some(user), Some(user))?)
}

/// Inode, mode, owner and group, and contents.
type File = (u64, u32, u32, u32, Vec<u8>);

fn snapshot(folder: &Path) -> Result<BTreeMap<PathBuf, File>> {
    let mut files = BTreeMap::new();
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let metadata = fs::symlink_metadata(&path)?;
        let contents = if metadata.is_file() { fs::read(&path)? } else { Vec::new() };
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                paths.push(entry?.path());
            }
        }
        let file = (metadata.ino(), metadata.mode(), metadata.uid(), metadata.gid(), contents);
        files.insert(path.strip_prefix(folder)?.to_owned(), file);
    }
    Ok(files)
}

/// Returns the path of each file that is not the same, and how it differs.
fn differences(before: &BTreeMap<PathBuf, File>, after: &BTreeMap<PathBuf, File>) -> Vec<String> {
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differing = paths.into_iter().filter_map(|path| {
        let how = match (before.get(path), after.get(path)) {
            (Some(before), Some(after)) if before == after => return None,
            (Some(before), Some(after)) if before.0 != after.0 => "another file",
            (Some(before), Some(after)) if before.4 != after.4 => "other contents",
            (Some(_), Some(_)) => "other rights",
            (Some(_), None) => "gone",
            (None, _) => "new",
        };
        Some(format!("{} {how}", path.display()))
    });
    differing.collect()
}

/// Returns the present path of a folder, which the exchange may have renamed.
fn away(path: PathBuf) -> PathBuf {
    let mut away = path.clone().into_os_string();
    away.push(".away");
    let away = PathBuf::from(away);
    if away.exists() { away } else { path }
}

/// Returns true if the database and the folder for `--undo` are as before.
fn is_alone(place: Place, parent: &Path, before: &BTreeMap<PathBuf, File>) -> Result<bool> {
    let parent = match place {
        Place::Parent => away(parent.to_owned()),
        _ => parent.to_owned(),
    };
    for name in [DATABASE, UNDO_FOLDER] {
        let folder = away(parent.join(name));
        let now = if folder.exists() { snapshot(&folder)? } else { BTreeMap::new() };
        let below = |(path, file): (&PathBuf, &File)| {
            path.strip_prefix(name).ok().map(|path| (path.to_owned(), file.clone()))
        };
        if now != before.iter().filter_map(below).collect() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_all(case: &Case, place: Place, parent: &Path) -> Result<()> {
    let database = match place {
        Place::Parent => away(parent.to_owned()).join(DATABASE),
        _ => away(parent.join(DATABASE)),
    };
    has_all_in(case, &database)
}

fn has_all_in(case: &Case, database: &Path) -> Result<()> {
    let found = read(database, &case.options, &case.plan.keys)?;
    ensure!(found == case.plan.live, "LevelDB finds other entries");
    Ok(())
}
