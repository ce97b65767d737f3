//! An open folder, and the operations in it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::database::DatabaseLock;
use filterblock::escape_path;
use serde::Serialize;

use super::failure::{COPY, Failure, Refusal, Result, not_a_folder};
use super::new_file::NewFile;
use super::session::{Operation, Purpose, Session};
use super::status::{FileType, Status, is_mine, is_root};
use super::system::{self, Handle};
use super::volume;
use crate::report::ErrorKind;
use crate::report::Fault;

/// An open folder. On Unix, it stays the same, whatever becomes of its path. Names given to methods have no slash.
#[derive(Clone, Debug)]
pub(crate) struct Dir {
    handle: Arc<Handle>,
    /// The path, with links resolved.
    real: PathBuf,
    /// The path as the user gave it, or else with links resolved.
    path: PathBuf,
    session: Arc<Session>,
}

/// The maximum size in bytes of a note that one run leaves for another: enough for a million tables.
const MAX_NOTE: usize = 256 << 20;

const NOT_KNOWN: &str = "it is not known what a loss of power would leave now, so nothing is removed; once the file \
                         system is sound, run the same again";

impl Dir {
    /// Opens the folder at `path` and its parent, which is returned first; `None`: the folder is the root. Links on the
    /// way are followed once, before the first folder is opened.
    pub(crate) fn open(path: &Path, purpose: Purpose) -> Result<(Option<Self>, Self)> {
        let (above, folder) = Self::open_with(path, purpose, |_, _| Ok(()))?;
        // A path that ends with a link or with dots is not that of what is next to the folder.
        let parent = path.parent().unwrap_or(path);
        let dot = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let is_name = path.file_name().is_some_and(|name| folder.real.file_name() == Some(name));
        if !is_name || fs::canonicalize(dot).ok().as_deref() != folder.real.parent() {
            return Ok((above, folder));
        }
        let above = above.map(|above| Self { path: parent.to_owned(), ..above });
        Ok((above, Self { path: path.components().collect(), ..folder }))
    }

    /// Opens a folder as [`open`](Self::open) does, for writing. As root, refuses if another user owns the folder or
    /// one of the folders that lead to it, or could replace the contents of any of them.
    pub(crate) fn open_trusted(path: &Path, purpose: Purpose) -> Result<Self> {
        /// In a folder with this bit, users may remove only their own files.
        const STICKY: u32 = 0o1000;
        const OTHERS_WRITE: u32 = 0o022;
        let is_root = is_root();
        let (_, folder) = Self::open_with(path, purpose, |path, found| {
            let is_safe = found.owner == 0 && (found.mode & OTHERS_WRITE == 0 || found.mode & STICKY != 0);
            if !is_root || is_safe {
                return Ok(());
            }
            let who = if found.owner == 0 { "others".to_owned() } else { format!("user {}", found.owner) };
            let remedy = Some("choose another place, or run it as the owner of that folder");
            Err(io::Error::other(Refusal(format!("{who} can replace {}", escape_path(path)), remedy)))
        })?;
        Ok(folder)
    }

    fn open_with(
        path: &Path,
        purpose: Purpose,
        visit: impl FnMut(&Path, &Status) -> io::Result<()>,
    ) -> Result<(Option<Self>, Self)> {
        let system = |error: io::Error| match error.kind() {
            io::ErrorKind::NotADirectory => {
                let text = format!("{}: {}", escape_path(path), not_a_folder(path));
                Failure::failed(text, Some(ErrorKind::Unreadable))
            }
            io::ErrorKind::NotFound => {
                let text = format!("{}: {}", escape_path(path), Fault::MISSING);
                Failure::failed(text, Some(ErrorKind::Missing))
            }
            _ => Failure::system("looking for it", path, &error),
        };
        let path = fs::canonicalize(path).map_err(system)?;
        let (above, handle) = system::walk(&path, visit).map_err(system)?;
        let session = Arc::new(Session::new(purpose));
        let parent = path.parent().unwrap_or(&path).to_owned();
        let above = above.map(|handle| Self {
            handle: Arc::new(handle),
            path: parent.clone(),
            real: parent,
            session: Arc::clone(&session),
        });
        Ok((above, Self { handle: Arc::new(handle), path: path.clone(), real: path, session }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if this folder is `other`, or below it.
    pub(crate) fn is_in(&self, other: &Self) -> bool {
        self.real.starts_with(&other.real)
    }

    /// The path of a file in the folder, for messages.
    pub(crate) fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    #[cfg(unix)]
    pub(crate) fn descriptor(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&*self.handle)
    }

    /// The names of all files and folders in this folder, in no particular order.
    pub(crate) fn names(&self) -> Result<Vec<OsString>> {
        let names = self.session.perform(Operation::Look, || system::names(&self.handle));
        names.map_err(|error| Failure::system("listing it", &self.path, &error))
    }

    /// Returns the status of a name. A link is not followed. `None`: there is no such name.
    pub(crate) fn look(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Status>> {
        self.look_with(name.as_ref(), false)
    }

    /// Like [`look`](Self::look), but follows a link if the folder was opened for a copy.
    pub(crate) fn look_behind(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Status>> {
        self.look_with(name.as_ref(), self.session.purpose == Purpose::Copy)
    }

    fn look_with(&self, name: &OsStr, follow: bool) -> io::Result<Option<Status>> {
        self.session.perform(Operation::Look, || system::look(&self.handle, name, follow))
    }

    pub(crate) fn status(&self) -> io::Result<Status> {
        let itself = OsStr::new(".");
        self.look_with(itself, false)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Opens a regular file for reading. Anything else is an error: opening a pipe would wait for its other end.
    pub(crate) fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let (name, follow) = (name.as_ref(), self.session.purpose == Purpose::Copy);
        self.session.perform(Operation::Look, || {
            if let Some(found) = system::look(&self.handle, name, follow)? {
                check_regular(&found, follow)?;
            }
            let file = system::open(&self.handle, name, follow)?;
            // Another file may have taken the place of the one that was checked.
            check_regular(&system::status_of(&file)?, follow)?;
            Ok(file)
        })
    }

    /// Reads a regular file. `None`: it has more than `most` bytes.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut contents = Vec::new();
        self.open_file(name)?.take(most as u64 + 1).read_to_end(&mut contents)?;
        Ok((contents.len() <= most).then_some(contents))
    }

    /// Writes and syncs a note for another run. There must be no file of this name.
    pub(crate) fn write_note(&self, name: &str, note: &impl Serialize) -> Result<()> {
        let path = self.path_of(name);
        let contents = serde_json::to_vec_pretty(note)
            .map_err(|error| Failure::system("writing it", &path, &error.into()))?;
        if contents.len() > MAX_NOTE {
            let why = format!("would have {} bytes, and may have {MAX_NOTE}", contents.len());
            return Err(Failure::refused(&path, why).remedy("--no-undo needs less"));
        }
        self.write_new(name, &contents, None)
    }

    pub(crate) fn read_note(&self, name: &str) -> io::Result<Vec<u8>> {
        let contents = self.read(name, MAX_NOTE)?;
        contents.ok_or_else(|| io::Error::other(format!("expected at most {MAX_NOTE} bytes, found more")))
    }

    /// Creates a file, which on Unix only its owner may read and write. There must be no file of this name.
    pub(crate) fn create(&self, name: impl AsRef<OsStr>) -> io::Result<NewFile> {
        let name = name.as_ref();
        let operation = Operation::Create { folder: &self.real, name };
        let file = self.session.perform(operation, || system::create(&self.handle, name))?;
        Ok(NewFile::new(file, Arc::clone(&self.session)))
    }

    /// Writes and syncs a file that must not exist yet, with the permissions of `like`. Does not sync its name.
    pub(crate) fn write_new(
        &self,
        name: impl AsRef<OsStr>,
        contents: &[u8],
        like: Option<&File>,
    ) -> Result<()> {
        let write = || {
            let mut file = self.create(&name)?;
            io::Write::write_all(&mut file, contents)?;
            like.map_or(Ok(()), |like| file.copy_rights(like))?;
            file.sync()
        };
        write().map_err(|error| Failure::system("writing it", &self.path_of(&name), &error))
    }

    /// Renames a file, and replaces the file of the new name if there is one.
    pub(crate) fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        self.rename_with((self, from), (self, to), true)
            .map_err(|error| Failure::system("giving it its name", &self.path_of(to), &error))
    }

    /// Moves the folder `from` into `folder` as `to`. With `replaces`, it may take the place of an empty folder.
    pub(crate) fn move_folder(
        &self,
        from: impl AsRef<OsStr>,
        folder: &Self,
        to: impl AsRef<OsStr>,
        replaces: bool,
    ) -> io::Result<()> {
        self.rename_with((self, from.as_ref()), (folder, to.as_ref()), replaces)
    }

    fn rename_with(&self, from: (&Self, &OsStr), to: (&Self, &OsStr), replaces: bool) -> io::Result<()> {
        let operation = Operation::Rename { from: (&from.0.real, from.1), to: (&to.0.real, to.1) };
        self.session
            .perform(operation, || system::rename((&from.0.handle, from.1), (&to.0.handle, to.1), replaces))
    }

    pub(crate) fn link(&self, name: impl AsRef<OsStr>, to: &Self, new: impl AsRef<OsStr>) -> io::Result<()> {
        let (name, new) = (name.as_ref(), new.as_ref());
        self.session.perform(Operation::Link { from: (&self.real, name), to: (&to.real, new) }, || {
            system::link((&self.handle, name), (&to.handle, new))
        })
    }

    /// Removes a file, if it is there. In place, nothing is removed once a folder could not be synced: a loss of power
    /// could then bring back a state in which this file is needed.
    pub(crate) fn remove(&self, name: impl AsRef<OsStr>) -> Result<()> {
        let name = name.as_ref();
        self.check_known()?;
        let removed = self.session.perform(Operation::Remove { folder: &self.real, name }, || {
            match system::remove(&self.handle, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            }
        });
        removed.map_err(|error| Failure::system("removing it", &self.path_of(name), &error))
    }

    /// Makes a folder, which on Unix only its owner may enter, and opens it.
    pub(crate) fn make_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        let operation = Operation::MakeFolder { folder: &self.real, name };
        self.session.perform(operation, || system::make_folder(&self.handle, name))?;
        let made = self.open_folder(name)?;
        // Another folder may have taken the place of the new one before it was opened.
        let (found, parent) = (made.status()?, self.status()?);
        let is_private = found.mode & 0o077 == 0 && is_mine(&found);
        // Some file systems give the same owner and mode to everything that they hold.
        let is_like_all = (found.owner, found.mode) == (parent.owner, parent.mode);
        let is_empty = made.names().is_ok_and(|names| names.is_empty());
        if is_empty && (is_private || is_like_all) && found.id.0 == parent.id.0 {
            return Ok(made);
        }
        Err(io::Error::other("another folder has taken its place meanwhile"))
    }

    /// Opens a folder in this folder. A link is an error.
    pub(crate) fn open_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        let handle = self.session.perform(Operation::Look, || system::open_folder(&self.handle, name))?;
        let (real, path) = (self.real.join(name), self.path_of(name));
        Ok(Self { handle: Arc::new(handle), path, real, session: Arc::clone(&self.session) })
    }

    pub(crate) fn remove_folder(&self, name: impl AsRef<OsStr>) -> Result<()> {
        let name = name.as_ref();
        self.check_known()?;
        let operation = Operation::RemoveFolder { folder: &self.real, name };
        let removed = self.session.perform(operation, || system::remove_folder(&self.handle, name));
        removed.map_err(|error| Failure::system("removing the folder", &self.path_of(name), &error))
    }

    /// On Unix, gives the folder the owner, group, mode, attributes and times of `like`.
    pub(crate) fn copy_attributes(&self, like: &Self) -> io::Result<()> {
        // Elsewhere, folders cannot be opened as files.
        #[cfg(unix)]
        {
            let (folder, like) = (system::reopen(&self.handle)?, system::reopen(&like.handle)?);
            NewFile::new(folder, Arc::clone(&self.session)).copy_attributes(&like)?;
        }
        #[cfg(not(unix))]
        let _ = like;
        Ok(())
    }

    /// On Unix, syncs the names in the folder.
    pub(crate) fn sync(&self) -> Result<()> {
        let sync = || {
            #[cfg(unix)]
            system::reopen(&self.handle)?.sync_all()?;
            Ok(())
        };
        self.session.perform(Operation::SyncFolder { folder: &self.real }, sync).map_err(|error| {
            Session::set(&self.session.sync_failed);
            Failure::system("making its names durable", &self.path, &error).and(match self.session.purpose {
                Purpose::InPlace => NOT_KNOWN,
                Purpose::Copy => "it is not known whether the new folder would survive a loss of power",
            })
        })
    }

    /// Fails once a folder could not be synced, if the database is changed in place.
    pub(crate) fn check_known(&self) -> Result<()> {
        if !Session::is_set(&self.session.sync_failed) || self.session.purpose == Purpose::Copy {
            return Ok(());
        }
        let error = io::Error::other("a folder could not be synced before");
        Err(Failure::system("clearing away", &self.path, &error).and(NOT_KNOWN))
    }

    /// The note that the old files' group has no access to the new files; `None`: no group has lost its access.
    pub(crate) fn note_of_lost_group(&self, path: &Path) -> Option<String> {
        let what =
            "the group of the old files has no rights to the new ones, as it could not be given to them";
        let is_lost = Session::is_set(&self.session.group_was_lost);
        is_lost.then(|| format!("{}: {what}", escape_path(path)))
    }

    /// Refuses if the folder's file system has no room for tables of this many bytes, in this many files.
    pub(crate) fn check_room(&self, bytes: u64, files: u64) -> Result<()> {
        let room = volume::room(&self.handle)
            .map_err(|error| Failure::system("looking at the room on its file system", &self.path, &error))?;
        match room.and_then(|room| room.lacks(bytes, files)) {
            Some(why) => {
                Err(Failure::refused(&self.path, why).remedy("--to NEW on another disk, or free some space"))
            }
            None => Ok(()),
        }
    }

    /// Locks the database in the folder against programs that would write to it. `None`: there is no LOCK file, as in a
    /// database that no program has opened since it was copied.
    pub(crate) fn lock_for_reading(&self) -> Result<Option<DatabaseLock>> {
        #[cfg(unix)]
        let lock = DatabaseLock::shared_at(self.descriptor(), &self.path);
        #[cfg(not(unix))]
        let lock = DatabaseLock::shared(&self.path);
        lock.map_err(|error| Failure::of(error, &self.path))
    }

    /// The name of the folder's file system, if its locks may not hold for all programs that have files open on it.
    pub(crate) fn shared_file_system(&self) -> Result<Option<&'static str>> {
        volume::shared_file_system(&self.handle)
            .map_err(|error| Failure::system("looking at its file system", &self.path, &error))
    }
}

fn check_regular(found: &Status, follow: bool) -> io::Result<()> {
    match found.file_type {
        FileType::File => Ok(()),
        _ if follow => Err(io::Error::other("expected a regular file, found something else")),
        _ => {
            let why = "is a link, or no file".to_owned();
            Err(io::Error::other(Refusal(why, Some(COPY))))
        }
    }
}
