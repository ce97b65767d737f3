//! A new database in a folder of its own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufWriter, IntoInnerError, Seek as _, Write};
use std::path::{Path, PathBuf};

use filterblock::database::FileKind;

use super::failure::{Failure, Result};
use super::new_file::NewFile;
use super::output::{Output, OutputFile, Scratch, copy_pieces};
use super::{Dir, DirStorage, Purpose};
use crate::report::ErrorKind;
use crate::walk::Source;

/// The greatest number of names that are tried for a hidden folder.
const TRIES: u32 = 8;

/// The unit, in bytes, in which file systems share space between files.
const SHARED_UNIT: u64 = 4096;

/// Bytes to write to a file at once.
const BUFFER: usize = 256 << 10;

/// A folder that is hidden beside its place until it is complete, with the owner, mode and attributes of the old one.
#[derive(Debug)]
pub struct NewFolder {
    parent: Dir,
    name: OsString,
    /// The path as the user gave it, for messages.
    target: PathBuf,
    old: Dir,
    /// A file of the old database, whose rights new files of new names get. `None`: there is none that can be opened.
    like: Option<File>,
    hidden: Option<Hidden>,
}

impl NewFolder {
    /// Prepares a folder at `target` for a database that is made of the one in `old`. Nothing is written yet.
    ///
    /// # Errors
    ///
    /// If there is something at `target` other than an empty folder, if it lies in the old database, or if others could
    /// replace its parent.
    pub fn new(target: &Path, old: &DirStorage) -> Result<Self> {
        Self::beside(target, old.dir().clone()).map_err(Failure::of_run)
    }

    fn beside(target: &Path, old: Dir) -> Result<Self> {
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            Some(_) => Path::new("."),
            None => return Err(Failure::refused(target, "exists already")),
        };
        let Some(name) = target.file_name() else {
            return Err(Failure::refused(target, "does not end with a name"));
        };
        let parent = Dir::open_trusted(parent, Purpose::Copy).map_err(|failure| match failure.kind {
            Some(ErrorKind::Missing) => Failure { text: format!("{failure}: create it first"), ..failure },
            _ => failure,
        })?;
        check(target, (&parent, name), &old)?;
        let like = rights_of(&old)?;
        let (name, target) = (name.to_owned(), target.components().collect());
        Ok(Self { parent, name, target, old, like, hidden: None })
    }

    pub(crate) fn check_room(&self, bytes: u64, files: u64) -> Result<()> {
        self.parent.check_room(bytes, files)
    }

    /// The folder that files are written to. Fails before [`begin`](Output::begin).
    pub(crate) fn dir(&self) -> io::Result<&Dir> {
        let hidden = self.hidden.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok(&hidden.folder)
    }
}

impl Output for NewFolder {
    fn create(&self, name: &str, like: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>> {
        if let Some(old) = like.and_then(|like| like.as_file()) {
            return LikeOld::create(self.dir()?, name, Some(old), true);
        }
        let of_same_name = self.old.open_file(name).ok();
        LikeOld::create(self.dir()?, name, of_same_name.as_ref().or(self.like.as_ref()), false)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(self.dir()?.open_file(name)?))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let folder =
            self.dir().map_err(|error| Failure::system("removing it", &self.path_of(name), &error))?;
        folder.remove(name)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(tempfile::tempfile_in(self.parent.path())?))
    }

    fn begin(&mut self, bytes: u64, files: u64) -> Result<()> {
        self.check_room(bytes, files)?;
        self.hidden = Some(Hidden::make(&self.parent)?);
        Ok(())
    }

    fn commit(&mut self) -> Result<Vec<String>> {
        let Some(hidden) = self.hidden.take() else { return Ok(Vec::new()) };
        let new = &hidden.folder;
        new.copy_attributes(&self.old).map_err(|error| {
            Failure::system("giving it owner, mode and attributes of the old folder", new.path(), &error)
        })?;
        new.sync()?;
        let note = new.note_of_lost_group(&self.path_of(""));
        hidden.finish(&self.name)?;
        Ok(note.into_iter().collect())
    }

    fn path_of(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.target.clone() } else { self.target.join(name) }
    }
}

/// New files in the folder of the old ones.
pub(crate) struct InPlace<'d>(pub(crate) &'d Dir);

impl Output for InPlace<'_> {
    fn create(&self, name: &str, like: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>> {
        LikeOld::create(self.0, name, like.and_then(|like| like.as_file()), true)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(self.0.open_file(name)?))
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.0.remove(name)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.0.path_of(name)
    }
}

/// A file that gets the rights of one of the old database.
struct LikeOld {
    /// A table is written block by block.
    file: BufWriter<NewFile>,
    like: Option<File>,
    /// It gets the times of `like`, too.
    takes_place: bool,
}

impl LikeOld {
    fn create(
        dir: &Dir,
        name: &str,
        like: Option<&File>,
        takes_place: bool,
    ) -> io::Result<Box<dyn OutputFile>> {
        let like = like.map(File::try_clone).transpose()?;
        let file = BufWriter::with_capacity(BUFFER, dir.create(name)?);
        Ok(Box::new(Self { file, like, takes_place }))
    }
}

impl Write for LikeOld {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputFile for LikeOld {
    /// File systems can share the bytes between both files.
    fn copy_from(&mut self, source: &dyn Source, len: u64) -> io::Result<()> {
        self.file.flush()?;
        let Some(mut source) = source.as_file() else { return copy_pieces(&mut self.file, source, len) };
        source.rewind()?;
        let whole = len / SHARED_UNIT * SHARED_UNIT;
        let file = self.file.get_mut();
        let copied = match source.metadata()?.len() == len {
            true => file.copy_from(source, u64::MAX)?,
            // Only whole units can be shared.
            false => file.copy_from(source, whole)? + file.copy_from(source, len - whole)?,
        };
        if copied < len {
            return Err(io::Error::other(format!("expected {len} bytes to copy, found {copied}")));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let file = self.file.into_inner().map_err(IntoInnerError::into_error)?;
        match &self.like {
            Some(like) if self.takes_place => file.copy_attributes(like)?,
            Some(like) => file.copy_rights(like)?,
            None => {}
        }
        file.sync()
    }
}

/// A table of the database or, if there is none that can be opened, its first file.
fn rights_of(dir: &Dir) -> Result<Option<File>> {
    let kinds = dir.names()?.into_iter().filter_map(|name| {
        let (kind, number) = FileKind::parse(name.to_str()?)?;
        Some((kind != FileKind::Table, number, name))
    });
    let mut names: Vec<_> = kinds.collect();
    names.sort();
    Ok(names.first().and_then(|(.., name)| dir.open_file(name).ok()))
}

/// Refuses a target in the database, or one that exists and is not an empty folder.
fn check(target: &Path, (parent, name): (&Dir, &OsStr), old: &Dir) -> Result<()> {
    if parent.is_in(old) {
        return Err(Failure::refused(target, "lies in the database itself"));
    }
    let path = parent.path_of(name);
    let system = |error| Failure::at_target("looking for it", &path, &error);
    let is_empty = match parent.look(name).map_err(system)? {
        None => true,
        Some(found) if !found.is_folder() => {
            return Err(Failure::refused(&path, "exists and is not a folder"));
        }
        Some(_) => parent.open_folder(name).map_err(system)?.names()?.is_empty(),
    };
    match is_empty {
        true => Ok(()),
        false => Err(Failure::refused(&path, "exists and is not empty: choose another --to")),
    }
}

/// A folder of a random name. Dropping it removes it and its files, unless [`finish`](Self::finish) has renamed it.
#[derive(Debug)]
struct Hidden {
    parent: Dir,
    name: String,
    folder: Dir,
    is_kept: bool,
}

impl Hidden {
    fn make(parent: &Dir) -> Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let name = format!(".filterblock-{:016x}", RandomState::new().hash_one(std::process::id()));
            match parent.make_folder(&name) {
                Ok(folder) => return Ok(Self { parent: parent.clone(), name, folder, is_kept: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        Err(Failure::at_target("making a folder in it", parent.path(), &last))
    }

    /// Renames the folder to `name`, replacing an empty folder of this name if there is one, and syncs the parent.
    fn finish(mut self, name: &OsStr) -> Result<()> {
        let path = self.parent.path_of(name);
        let system = |error| Failure::system("giving it its name", &path, &error);
        let own = self.folder.status().map_err(system)?;
        self.parent.move_folder(&self.name, &self.parent, name, true).map_err(system)?;
        let found = self.parent.look(name).map_err(system)?;
        // Another folder may have had the name that was renamed.
        if found.is_none_or(|found| found.id != own.id) {
            return Err(Failure::refused(&path, "another folder has taken its place meanwhile"));
        }
        self.is_kept = true;
        self.parent.sync()
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for name in self.folder.names().unwrap_or_default() {
            _ = self.folder.remove(name);
        }
        _ = self.parent.remove_folder(&self.name);
    }
}
