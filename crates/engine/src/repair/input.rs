//! The files of a damaged database: whatever can be listed and opened.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use filterblock::database::FileKind;
use filterblock::table::ReadAt;

use crate::write::{Dir, Failure, Result};

/// Access to the files. Threads use it concurrently.
pub(super) trait Input: Sync {
    /// The tables, logs and MANIFESTs.
    fn files(&self) -> Result<Listing>;

    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>>;

    /// For messages.
    fn path_of(&self, name: &str) -> PathBuf;
}

pub(super) fn folder_of(input: &dyn Input) -> PathBuf {
    input.path_of("").components().collect()
}

pub(super) fn refused(input: &dyn Input, why: impl Display) -> Failure {
    Failure::refused(&folder_of(input), why)
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct InputFile {
    pub(super) kind: FileKind,
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) len: u64,
}

/// A name of a table, a log or a MANIFEST with no file behind it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Stray {
    pub(super) kind: FileKind,
    pub(super) number: u64,
    pub(super) name: String,
    /// What is there instead of a file, in words.
    pub(super) why: &'static str,
}

/// A file whose name is none of LevelDB's, but has the ending of a table, or is like those that copies get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Renamed {
    pub(super) name: String,
    pub(super) len: u64,
    /// The kind and number of the file that this is probably a copy of.
    of: Option<(FileKind, u64)>,
}

impl Renamed {
    /// Whether the name is like one that a copy gets, and not only like that of a table.
    pub(super) const fn is_copy(&self) -> bool {
        self.of.is_some()
    }
}

#[derive(Default, Debug)]
pub(super) struct Listing {
    /// The files, ordered by kind and number.
    pub(super) files: Vec<InputFile>,
    /// The names without a file, in the same order.
    pub(super) strays: Vec<Stray>,
    /// Files of other names, the largest first: of two copies, the smaller one may be incomplete.
    pub(super) renamed: Vec<Renamed>,
    /// There is a folder `lost`, to which LevelDB's RepairDB moves files.
    pub(super) has_lost_folder: bool,
    /// The names of files that LevelDB does not have, and databases of other formats have.
    pub(super) foreign: Vec<String>,
}

/// The name of the folder to which LevelDB's RepairDB moves files.
pub(super) const LOST: &str = "lost";

/// The kind and number of a table, a log or a MANIFEST of this name; `None` for all other names.
fn named(name: &str) -> Option<(FileKind, u64)> {
    let is_one = |kind| matches!(kind, FileKind::Table | FileKind::Log | FileKind::Manifest);
    FileKind::parse(name).filter(|(kind, _)| is_one(*kind))
}

/// Whether this is the name of a copy, or that of a table but for the number or capital letters.
fn is_like_one(name: &str) -> bool {
    let is_table = |ending: &str| ["ldb", "sst"].iter().any(|table| ending.eq_ignore_ascii_case(table));
    FileKind::parse_copy(name).is_some()
        || FileKind::parse(name).is_none()
            && name.rsplit_once('.').is_some_and(|(_, ending)| is_table(ending))
}

fn is_foreign(name: &str) -> bool {
    FileKind::parse(name).is_some_and(|(kind, _)| kind == FileKind::Foreign)
}

impl Listing {
    /// Adds a file, if its name is that of a table, a log or a MANIFEST, or like one.
    pub(super) fn add(&mut self, name: String, len: u64) {
        match named(&name) {
            Some((kind, number)) => self.files.push(InputFile { kind, number, name, len }),
            None if is_like_one(&name) => {
                self.renamed.push(Renamed { of: FileKind::parse_copy(&name), name, len });
            }
            None if is_foreign(&name) => self.foreign.push(name),
            None => {}
        }
    }

    pub(super) fn sort(&mut self) {
        self.files.sort();
        self.strays.sort();
        self.renamed.sort_by(|a, b| b.len.cmp(&a.len).then(a.name.cmp(&b.name)));
    }

    /// Takes copies for missing files of this kind. `fits`: whether a file of this number has this size, if known.
    pub(super) fn take_copies(&mut self, kind: FileKind, fits: impl Fn(u64, u64) -> bool) {
        let there = self.files.iter().filter(|file| file.kind == kind && fits(file.number, file.len));
        let mut there: BTreeSet<u64> = there.map(|file| file.number).collect();
        let files = &mut self.files;
        self.renamed.retain(|one| {
            let Some((_, number)) = one.of.filter(|(of, _)| *of == kind) else { return true };
            if !fits(number, one.len) || !there.insert(number) {
                return true;
            }
            files.push(InputFile { kind, number, name: one.name.clone(), len: one.len });
            false
        });
        self.files.sort();
    }
}

const NOWHERE: &str = "a link that leads nowhere";

/// What is there instead of a file if a link fails so. `None`: the system failed, so there may be a file.
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

impl Input for Dir {
    fn files(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for name in self.names()? {
            let Some(name) = name.to_str() else { continue };
            let Some((kind, number)) = named(name) else {
                if name == LOST || is_like_one(name) || is_foreign(name) {
                    let found = self.look_behind(name).ok().flatten();
                    listing.has_lost_folder |=
                        name == LOST && found.as_ref().is_some_and(|it| it.is_folder());
                    let file = found.filter(|found| found.is_file());
                    file.into_iter().for_each(|file| listing.add(name.to_owned(), file.len));
                }
                continue;
            };
            let name = name.to_owned();
            let why = match self.look_behind(&name) {
                Ok(Some(found)) if found.is_file() => {
                    listing.add(name, found.len);
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
        listing.sort();
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
