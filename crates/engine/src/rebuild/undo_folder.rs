//! The folder that keeps what a rebuild replaced, next to the folder of the database.
//!
//! The undo folder is made in the database's folder and moved to its place in one step: a user who can write to the
//! database's parent folder can neither swap it for another folder in the meantime nor slip anything into it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use filterblock::{database::FileKind, quote};
use serde::{Deserialize, Serialize};

use super::file_digest::{FileDigest, name_in_current};
use crate::report::{ErrorKind, RebuildStatus};
use crate::walk::{UNDO_RECORD as RECORD, UNDO_SUFFIX as SUFFIX};
use crate::write::failure::{Failure, Result};
use crate::write::{Dir, Status};

/// The name of the folder while it is being made, in the database's folder. LevelDB and goleveldb ignore it.
const UNFINISHED: &str = "filterblock-undo.tmp";
/// What [`try_out`](UndoFolder::try_out) puts into the folder: every database has it, and no undo folder keeps one.
const TRIAL: &str = "CURRENT";
const FORMAT: u32 = 1;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct UndoRecord {
    format: u32,
    /// The MANIFEST before the rebuild.
    pub(super) original: FileDigest,
    pub(super) original_tables: Vec<TableFile>,
    /// The MANIFEST that the rebuild wrote. A database with another MANIFEST was opened since.
    pub(super) rebuilt: FileDigest,
    pub(super) rebuilt_tables: Vec<String>,
    /// The live logs. If they have changed, something was written since.
    pub(super) logs: Vec<FileDigest>,
    /// The logs with this number or a higher one are live.
    pub(super) first_live_log: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct TableFile {
    pub(super) name: String,
    pub(super) length: u64,
    /// The rights before the rebuild; `None`: not recorded, as by earlier versions.
    #[serde(default)]
    pub(super) rights: Option<Rights>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Rights {
    owner: u32,
    group: u32,
    mode: u32,
}

impl Rights {
    pub(super) const fn of(status: &Status) -> Self {
        Self { owner: status.owner, group: status.group, mode: status.mode }
    }
}

impl UndoRecord {
    pub(super) const fn new(original: FileDigest, rebuilt: FileDigest) -> Self {
        Self {
            format: FORMAT,
            original,
            original_tables: Vec::new(),
            rebuilt,
            rebuilt_tables: Vec::new(),
            logs: Vec::new(),
            first_live_log: 0,
        }
    }

    /// All names of files in the record, each with the kind of file that it has to name.
    fn names(&self) -> impl Iterator<Item = (FileKind, &String)> {
        let manifests = [&self.original.name, &self.rebuilt.name].into_iter();
        let tables = self.original_tables.iter().map(|table| &table.name).chain(&self.rebuilt_tables);
        let logs = self.logs.iter().map(|log| (FileKind::Log, &log.name));
        let tables = tables.map(|name| (FileKind::Table, name));
        manifests.map(|name| (FileKind::Manifest, name)).chain(tables).chain(logs)
    }
}

/// The undo folder, whether it exists or not.
pub(super) struct UndoFolder {
    database: Dir,
    /// The parent folder of the database and of the undo folder.
    parent: Dir,
    name: OsString,
}

pub(super) struct FoundUndo {
    pub(super) folder: Dir,
    pub(super) contents: Contents,
}

/// The contents of the undo folder, according to the names of its files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Contents {
    /// Nothing that an undo needs: left by [`try_out`](UndoFolder::try_out) or by a removal that was cut off.
    Nothing,
    /// Files without their record: left by a removal that was cut off.
    Rest,
    /// The record, which is written last and removed first.
    All,
}

impl UndoFolder {
    /// The undo folder for a database that is in `parent`. Without a parent, the database is refused.
    pub(super) fn of(database: &Dir, parent: Option<Dir>) -> Result<Self> {
        let path = database.path();
        let (Some(parent), Some(name)) = (parent, path.file_name()) else {
            return Err(Failure::refused(path, "is no folder within another one"));
        };
        let mut name = name.to_owned();
        name.push(SUFFIX);
        Ok(Self { database: database.clone(), parent, name })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.parent.path_of(&self.name)
    }

    /// Finds the folder; `None`: nothing has its name. Fails for what no rebuild can have made: it is no folder, has
    /// another owner than the database's folder, lets more users write to it, or holds files that no rebuild makes.
    pub(super) fn find(&self) -> Result<Option<FoundUndo>> {
        let path = self.path();
        let system = |error: io::Error| Failure::system("looking at it", &path, &error);
        let looked = match self.parent.look(&self.name) {
            // Nothing can have a name that is too long.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => None,
            looked => looked.map_err(system)?,
        };
        match looked {
            None => return Ok(None),
            // A link may lead to anything.
            Some(found) if !found.is_folder() => {
                let why = "is not a folder; that of the tables from before the rebuild has this name";
                return Err(Failure::refused(&path, why));
            }
            Some(_) => {}
        }
        let folder = self.parent.open_folder(&self.name).map_err(system)?;
        let status = folder.status().map_err(system)?;
        let of = self.database.status().map_err(system)?;
        check_folder(&path, &status, &of)?;
        let contents = contents(&folder)?;
        Ok(Some(FoundUndo { folder, contents }))
    }

    /// Makes the folder with one link in it and removes it, so that obstacles show before the tables are rewritten.
    /// `like`: the file whose attributes new files get.
    pub(super) fn try_out(&self, like: &str) -> Result<()> {
        self.try_all(like).inspect_err(|_| {
            // If this fails as well, the next run clears the folder away.
            _ = self.remove_unfinished();
        })
    }

    fn try_all(&self, like: &str) -> Result<()> {
        let refused = |error: io::Error| {
            let path = self.path();
            let failure = Failure::system("making the folder for --undo", &path, &error);
            Failure { status: RebuildStatus::Refused, ..failure }.remedy("--no-undo does without this folder")
        };
        let folder = self.database.make_folder(UNFINISHED).map_err(refused)?;
        let (made, of) = (folder.status().map_err(refused)?, self.database.status().map_err(refused)?);
        if made.owner != of.owner {
            let why = format!("belongs to user {}, and the folder for --undo would have to, too", of.owner);
            let failure = Failure::refused(self.database.path(), why);
            return Err(failure.remedy("--no-undo does without this folder"));
        }
        let old = self.database.open_file(like);
        let old = old.map_err(|error| Failure::system("reading it", &self.database.path_of(like), &error))?;
        let given = folder.create(TRIAL).and_then(|file| file.copy_attributes(&old));
        given.map_err(|error| {
            let action = "giving a new file its owner, mode, attributes and times";
            Failure::system(action, &self.database.path_of(like), &error)
        })?;
        folder.remove(TRIAL)?;
        self.database.link(TRIAL, &folder, TRIAL).map_err(refused)?;
        self.put_in_place().map_err(refused)?;
        self.remove()
    }

    /// Makes the folder: links to the database's files of these names, and then the record. The folder is moved to
    /// its place only once it is complete, and is then synced there.
    pub(super) fn make(&self, names: impl Iterator<Item = String>, record: &UndoRecord) -> Result<()> {
        let system = |error: io::Error| Failure::system("making the folder for --undo", &self.path(), &error);
        let folder = self.database.make_folder(UNFINISHED).map_err(system)?;
        for name in names {
            self.database
                .link(&name, &folder, &name)
                .map_err(|error| Failure::system("making a hard link", &folder.path_of(&name), &error))?;
        }
        folder.write_note(RECORD, record)?;
        folder.sync()?;
        self.put_in_place().map_err(system)?;
        self.parent.sync()?;
        self.database.sync()
    }

    fn put_in_place(&self) -> io::Result<()> {
        self.database.move_folder(UNFINISHED, &self.parent, &self.name, false)
    }

    /// Removes an incomplete folder, and one that [`try_out`](Self::try_out) moved to its place and left there.
    pub(super) fn remove_unfinished(&self) -> Result<()> {
        let path = self.database.path_of(UNFINISHED);
        let system = |error: io::Error| Failure::system("looking at it", &path, &error);
        if self.database.look(UNFINISHED).map_err(system)?.is_some() {
            let folder = self.database.open_folder(UNFINISHED).map_err(system)?;
            contents(&folder)?;
            remove_files(&folder)?;
            self.database.remove_folder(UNFINISHED)?;
        }
        match self.find() {
            Ok(Some(found)) if found.contents == Contents::Nothing => self.remove(),
            // Other files and folders of this name are of no concern here.
            _ => Ok(()),
        }
    }

    /// Removes the folder: the record first, so that what is left is not taken for a complete folder. Refuses a folder
    /// with files that no rebuild made.
    pub(super) fn remove(&self) -> Result<()> {
        let Some(found) = self.find()? else { return Ok(()) };
        found.folder.remove(RECORD)?;
        found.folder.sync()?;
        remove_files(&found.folder)?;
        self.parent.remove_folder(&self.name)?;
        self.parent.sync()
    }

    /// Syncs that the folder exists, or that it does not.
    pub(super) fn sync(&self) -> Result<()> {
        self.parent.sync()
    }

    /// Refuses a file that somebody else may have put there. `before`: its rights before the rebuild; `None`: unknown.
    pub(super) fn check_file(&self, found: &Status, name: &str, before: Option<Rights>) -> Result<()> {
        let path = self.path().join(name);
        if before.is_some_and(|before| before != Rights::of(found)) {
            let why = "has another owner or mode than before the rebuild";
            return Err(Failure::refused(&path, why).of_kind(ErrorKind::Damaged));
        }
        let system = |error: io::Error| Failure::system("looking at it", &path, &error);
        let of = self.database.status().map_err(system)?;
        match before.is_some() || found.owner == 0 || found.owner == of.owner {
            true => Ok(()),
            false => Err(foreign(&path, "a file", found, &of)),
        }
    }
}

impl FoundUndo {
    /// `of`: the folder of the database.
    pub(super) fn record(&self, of: &Dir) -> Result<UndoRecord> {
        let path = self.folder.path_of(RECORD);
        let refused = |found: String| {
            let why = format!("is no record of a rebuild ({found}), and --undo needs it");
            Failure::refused(&path, why).of_kind(ErrorKind::Damaged)
        };
        let system = |error: io::Error| Failure::system("reading it", &path, &error);
        let Some(status) = self.folder.look(RECORD).map_err(system)? else {
            return Err(refused("no such file".to_owned()));
        };
        // Earlier versions gave the record the mode of CURRENT.
        let (of, current) = (of.status().map_err(system)?, of.look("CURRENT").map_err(system)?);
        if !is_safe(&status, &of) && !current.is_some_and(|current| is_safe(&status, &current)) {
            return Err(foreign(&path, "a file", &status, &of));
        }
        let contents = self.folder.read_note(RECORD).map_err(system)?;
        let record: UndoRecord =
            serde_json::from_slice(&contents).map_err(|error| refused(error.to_string()))?;
        if record.format != FORMAT {
            return Err(refused(format!("format {}, not {FORMAT}", record.format)));
        }
        let is_wrong = |(kind, name): &(FileKind, &String)| {
            FileKind::parse(name).is_none_or(|(found, _)| found != *kind)
        };
        if let Some((_, name)) = record.names().find(is_wrong) {
            return Err(refused(format!("{} in it", quote(name.as_bytes()))));
        }
        Ok(record)
    }
}

/// Returns true if only those who can change `of` can have made or changed `found`.
fn is_safe(found: &Status, of: &Status) -> bool {
    found.owner == of.owner && found.lets_nobody_else_write_than(of)
}

/// Refuses a folder that somebody else may have put there or changed. `of`: the folder of the database.
fn check_folder(path: &Path, found: &Status, of: &Status) -> Result<()> {
    match is_safe(found, of) {
        true => Ok(()),
        false => Err(foreign(path, "a folder", found, of)),
    }
}

fn foreign(path: &Path, what: &str, found: &Status, of: &Status) -> Failure {
    let why = format!(
        "is {what} that no rebuild of user {} has made: it is of user {} and group {}, with mode {:04o}",
        of.owner, found.owner, found.group, found.mode
    );
    Failure::refused(path, why).remedy("move it somewhere else")
}

/// Finds out the contents of a folder. Refuses a folder with files that no rebuild made.
fn contents(folder: &Dir) -> Result<Contents> {
    let foreign = |name: &OsStr| {
        let name = quote(name.as_encoded_bytes());
        let why = format!("has {name}, which no rebuild has made");
        Failure::refused(folder.path(), why).remedy("move it somewhere else")
    };
    let mut contents = Contents::Nothing;
    let mut is_trial = false;
    for name in folder.names()? {
        let found = kind(&name).ok_or_else(|| foreign(&name))?;
        is_trial |= found == Contents::Nothing;
        contents = contents.max(found);
    }
    let trial = OsStr::new(TRIAL);
    match is_trial && (contents != Contents::Nothing || !is_of_trial(folder)) {
        true => Err(foreign(trial)),
        false => Ok(contents),
    }
}

/// Returns true if [`TRIAL`] may be from `try_out`: it names a MANIFEST, as the database's CURRENT does, or is empty.
fn is_of_trial(folder: &Dir) -> bool {
    name_in_current(folder.open_file(TRIAL), &folder.path_of(TRIAL)).is_ok()
        || matches!(folder.look(TRIAL), Ok(Some(found)) if found.is_file() && found.len == 0)
}

/// The contents that a file of this name implies. `None`: no rebuild makes such a file.
fn kind(name: &OsStr) -> Option<Contents> {
    match name.to_str()? {
        RECORD => Some(Contents::All),
        TRIAL => Some(Contents::Nothing),
        name => matches!(FileKind::parse(name)?, (FileKind::Table | FileKind::Manifest, _))
            .then_some(Contents::Rest),
    }
}

/// Removes the files that a rebuild has put into a folder.
fn remove_files(folder: &Dir) -> Result<()> {
    for name in folder.names()? {
        if kind(&name).is_some() {
            folder.remove(name)?;
        }
    }
    Ok(())
}
