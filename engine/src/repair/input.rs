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
    /// The names of files that LevelDB does not have, and databases of other formats have.
    pub(super) foreign: Vec<String>,
}

/// The thing that is there instead of a file, in words, if a link leads to nothing.
const NOWHERE: &str = "a link that leads nowhere";

/// The thing that is there instead of a file, in words, if a link cannot be followed for this reason. `None`: the
/// system failed, so there may be a file.
fn why_not_behind(error: &io::Error) -> Option<&'static str> {
    #[cfg(unix)]
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::LOOP) => return Some("a link that leads in a circle"),
        Some(rustix::io::Errno::NAMETOOLONG) => return Some(NOWHERE),
        _ => {}
    }
    // `ERROR_CANT_RESOLVE_FILENAME`.
    #[cfg(windows)]
    if error.raw_os_error() == Some(1921) {
        return Some("a link that leads in a circle");
    }
    match error.kind() {
        io::ErrorKind::NotADirectory => Some(NOWHERE),
        io::ErrorKind::PermissionDenied => Some("a link to where this user may not look"),
        _ => None,
    }
}

impl Input for Folder {
    fn files(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for name in self.names()? {
            let Some(name) = name.to_str() else { continue };
            let Some((kind, number)) = FileKind::parse(name) else { continue };
            if kind == FileKind::Foreign {
                listing.foreign.push(name.to_owned());
            }
            if !matches!(kind, FileKind::Table | FileKind::Log | FileKind::Manifest) {
                continue;
            }
            let name = name.to_owned();
            let why = match self.look_behind(&name) {
                Ok(Some(found)) if found.is_file() => {
                    listing.files.push(InputFile { kind, number, name, len: found.len });
                    continue;
                }
                Ok(Some(found)) if found.is_folder() => "a folder",
                Ok(Some(_)) => "a device or a pipe",
                Ok(None) => NOWHERE,
                Err(error) => {
                    // In a folder that may be listed only, no name can be looked at: the links are not to blame.
                    let is_link =
                        self.look(&name).is_ok_and(|found| found.is_some_and(|found| found.is_link()));
                    let why = why_not_behind(&error).filter(|_| is_link);
                    why.ok_or_else(|| Failure::system("looking at it", &self.path_of(&name), &error))?
                }
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
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// A link to an unreadable disk may be the live log.
    #[test]
    fn a_link_leads_nowhere_unless_the_system_fails() {
        for (error, why) in [
            (Errno::LOOP, Some("a link that leads in a circle")),
            (Errno::NOTDIR, Some(NOWHERE)),
            (Errno::NAMETOOLONG, Some(NOWHERE)),
            (Errno::ACCESS, Some("a link to where this user may not look")),
            (Errno::IO, None),
            (Errno::NOMEM, None),
            (Errno::STALE, None),
        ] {
            assert_eq!(why_not_behind(&error.into()), why, "{error}");
        }
    }
}
