//! Whole folders: their files, copies of them, and a fast place for them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

/// Makes a folder, in memory if the system offers that: LevelDB and the program wait for a disk often.
pub fn new_folder() -> Result<TempDir> {
    let shared_memory = Path::new("/dev/shm");
    let in_memory = shared_memory.is_dir().then(|| tempfile::tempdir_in(shared_memory));
    Ok(match in_memory {
        Some(Ok(folder)) => folder,
        _ => tempfile::tempdir()?,
    })
}

/// All files of a folder: contents, times, modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files(BTreeMap<String, File>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    contents: Vec<u8>,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    mode: u32,
}

impl Files {
    /// Reads a folder, which has files only.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for file in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let file = file?;
            let (name, metadata) = (file.file_name().to_string_lossy().into_owned(), file.metadata()?);
            ensure!(metadata.is_file(), "{name} in {}: not a file", folder.display());
            let modified = (metadata.mtime(), metadata.mtime_nsec());
            let file = File { contents: fs::read(file.path())?, modified, mode: metadata.mode() };
            files.insert(name, file);
        }
        Ok(Self(files))
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The contents of a file.
    pub fn contents(&self, name: &str) -> Result<&[u8]> {
        Ok(&self.0.get(name).with_context(|| format!("no file {name}"))?.contents)
    }

    /// Fails if names, contents, modes or times of last change differ in `now`, with the first difference.
    pub fn ensure_same(&self, now: &Self) -> Result<()> {
        let names = |files: &Self| files.names().collect::<Vec<_>>().join(" ");
        ensure!(names(self) == names(now), "the files were {}, and are {}", names(self), names(now));
        for name in self.names() {
            self.ensure_same_file(name, now, name)?;
        }
        Ok(())
    }

    /// Like [`ensure_same`](Self::ensure_same), but CURRENT may have been written anew with the same contents.
    pub fn ensure_restored(&self, now: &Self) -> Result<()> {
        let mut current = self.clone();
        if let (Some(was), Some(is)) = (current.0.get_mut("CURRENT"), now.0.get("CURRENT")) {
            was.modified = is.modified;
        }
        current.ensure_same(now)
    }

    /// Fails unless `name` here and `new_name` in `now` have the same contents, mode and time of last change.
    pub fn ensure_same_file(&self, name: &str, now: &Self, new_name: &str) -> Result<()> {
        ensure!(self.contents(name)? == now.contents(new_name)?, "{name}, {new_name}: other contents");
        self.ensure_same_times(name, now, new_name)
    }

    /// Fails unless `name` here and `new_name` in `now` have the same mode and time of last change.
    pub fn ensure_same_times(&self, name: &str, now: &Self, new_name: &str) -> Result<()> {
        let of = |files: &Self, name: &str| {
            let file = files.0.get(name).with_context(|| format!("no file {name}"))?;
            anyhow::Ok((file.modified, file.mode))
        };
        let (was, is) = (of(self, name)?, of(now, new_name)?);
        ensure!(was == is, "{name}: time and mode were {was:?}, and of {new_name} are {is:?}");
        Ok(())
    }
}

/// Copies a folder's files into a new folder, but not its subfolders, of which `RepairDB` makes one.
pub fn copy(folder: &Path) -> Result<TempDir> {
    let copy = new_folder()?;
    for file in fs::read_dir(folder)? {
        let file = file?;
        if file.file_type()?.is_file() {
            fs::copy(file.path(), copy.path().join(file.file_name()))?;
        }
    }
    Ok(copy)
}
