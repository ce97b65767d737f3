//! The files of a damaged database: whatever can be listed and opened.

use std::collections::BTreeSet;

use filterblock::database::FileKind;

use crate::write::{Input, Result};

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
    /// The tables, logs and MANIFESTs.
    pub(super) fn of(input: Input<'_>) -> Result<Self> {
        let storage = input.engine.files.storage();
        let files = storage.list(input.dir).map_err(|error| input.not_listed(&error))?.unwrap_or_default();
        let others = storage.others(input.dir).map_err(|error| input.not_listed(&error))?;
        let has_lost_folder = storage.list(&input.path_of(LOST)).is_ok_and(|found| found.is_some());
        let mut listing = Self { has_lost_folder, ..Self::default() };
        files.into_iter().for_each(|(name, len)| listing.add(name, len));
        let strays = others.into_iter().filter_map(|(name, why)| {
            let (kind, number) = named(&name)?;
            Some(Stray { kind, number, name, why })
        });
        listing.strays.extend(strays);
        listing.sort();
        Ok(listing)
    }

    /// Adds a file, if its name is that of a table, a log or a MANIFEST, or like one.
    fn add(&mut self, name: String, len: u64) {
        match named(&name) {
            Some((kind, number)) => self.files.push(InputFile { kind, number, name, len }),
            None if is_like_one(&name) => {
                self.renamed.push(Renamed { of: FileKind::parse_copy(&name), name, len });
            }
            None if is_foreign(&name) => self.foreign.push(name),
            None => {}
        }
    }

    fn sort(&mut self) {
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
