//! A folder that is removed with its files unless it gets its name.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::io;

use super::super::failure::{Failure, Result};
use super::folder::Folder;

/// A folder of a name that nobody else has, in which files are written. It and its files go when this is dropped.
#[derive(Debug)]
pub struct Unfinished {
    parent: Folder,
    name: String,
    pub folder: Folder,
    is_kept: bool,
}

/// Names that are tried before another folder is believed to be none.
const TRIES: u32 = 8;

impl Unfinished {
    /// Makes a hidden folder in `parent`.
    pub fn new(parent: &Folder) -> Result<Self> {
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
        Err(Failure::system("making a folder in it", parent.path(), &last))
    }

    /// Gives the folder its name, where there may be an empty one, and makes that durable.
    pub fn finish(mut self, name: &OsStr) -> Result<()> {
        let renamed = self.parent.move_folder(&self.name, &self.parent, name, true);
        renamed.map_err(|error| Failure::system("giving it its name", &self.parent.path_of(name), &error))?;
        self.is_kept = true;
        self.parent.sync()
    }
}

impl Drop for Unfinished {
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
