//! The files of a damaged database: whatever can be listed and opened.

use std::io;
use std::path::PathBuf;

use filterblock::database::FileKind;
use filterblock::table::ReadAt;

use crate::rebuild::{Failure, Folder, Result};

/// Access to the files. Threads use it concurrently.
pub(super) trait Input: Sync {
    /// The tables, logs and MANIFESTs.
    fn files(&self) -> Result<Listing>;

    /// Opens a file.
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>>;

    /// The path of a file, for messages.
    fn path_of(&self, name: &str) -> PathBuf;

    /// The contents of CURRENT, if they can be read.
    fn current(&self) -> Option<Vec<u8>>;
}

/// A file of the damaged database, of the kind and number that its name gives.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct InputFile {
    pub(super) kind: FileKind,
    pub(super) number: u64,
    pub(super) name: String,
    /// The length in bytes.
    pub(super) len: u64,
}

/// A name of a table, a log or a MANIFEST with no file behind it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Stray {
    pub(super) kind: FileKind,
    pub(super) number: u64,
    pub(super) name: String,
    /// The thing that is there instead of a file, in words.
    pub(super) why: &'static str,
}

/// The names in the folder of a database.
#[derive(Default, Debug)]
pub(super) struct Listing {
    /// The files, ordered by kind and number.
    pub(super) files: Vec<InputFile>,
    /// The names without a file, in the same order.
    pub(super) strays: Vec<Stray>,
}

/// The maximum length of CURRENT in bytes: more than the name of a MANIFEST takes.
pub(super) const MAX_CURRENT: usize = 64;

impl Input for Folder {
    fn files(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for name in self.names()? {
            let Some(name) = name.to_str() else { continue };
            let Some((kind, number)) = FileKind::parse(name) else { continue };
            if !matches!(kind, FileKind::Table | FileKind::Log | FileKind::Manifest) {
                continue;
            }
            let found = self.look_behind(name);
            let found =
                found.map_err(|error| Failure::system("looking at it", &self.path_of(name), &error))?;
            let name = name.to_owned();
            let why = match found {
                Some(found) if found.is_file() => {
                    listing.files.push(InputFile { kind, number, name, len: found.len });
                    continue;
                }
                Some(found) if found.is_folder() => "a folder",
                Some(_) => "a device or a pipe",
                None => "a link that leads nowhere",
            };
            listing.strays.push(Stray { kind, number, name, why });
        }
        listing.files.sort();
        listing.strays.sort();
        Ok(listing)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(self.open_file(name)?))
    }

    fn path_of(&self, name: &str) -> PathBuf {
        Self::path_of(self, name)
    }

    fn current(&self) -> Option<Vec<u8>> {
        self.read("CURRENT", MAX_CURRENT).ok().flatten()
    }
}
