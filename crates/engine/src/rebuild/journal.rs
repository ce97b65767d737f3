//! The journal: the file from which the next run learns what a run that was cut off was doing.

use std::io;

use filterblock::{database::FileKind, quote};
use serde::{Deserialize, Serialize};

use super::file_digest::FileDigest;
use crate::report::ErrorKind;
use crate::write::Dir;
use crate::write::failure::{Failure, Result};

/// The journal's name. LevelDB and goleveldb ignore it.
const NAME: &str = "filterblock-rebuild";
/// The journal's name while it is being written.
const TEMPORARY: &str = "filterblock-rebuild.tmp";

const FORMAT: u32 = 1;

/// The next steps of a run, written before it takes them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    pub(super) format: u32,
    pub(super) action: Action,
    /// The requested filters: if cut off after the last commit, the same request only completes the run. Undo: empty.
    pub(super) options: String,
    pub(super) keeps_undo: bool,
    /// The MANIFEST before the commit.
    pub(super) old: FileDigest,
    /// The MANIFEST after the commit; `None`: not known yet, so the commit has not taken place.
    pub(super) new: Option<FileDigest>,
    /// The files to remove if the commit has not taken place: the tables that it would have made live, the lowest
    /// number first, then their MANIFEST.
    pub(super) new_files: Vec<String>,
    /// The files to remove after the commit: the tables that it replaced, the lowest number first, then their MANIFEST.
    pub(super) old_files: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Rebuild,
    Undo,
}

impl Journal {
    pub(super) const fn new(action: Action, old: FileDigest) -> Self {
        Self {
            format: FORMAT,
            action,
            options: String::new(),
            keeps_undo: false,
            old,
            new: None,
            new_files: Vec::new(),
            old_files: Vec::new(),
        }
    }

    /// Writes the journal atomically, and syncs it.
    pub(super) fn write(&self, dir: &Dir) -> Result<()> {
        dir.remove(TEMPORARY)?;
        dir.write_note(TEMPORARY, self)?;
        dir.rename(TEMPORARY, NAME)?;
        dir.sync()
    }

    pub(super) fn read(dir: &Dir) -> Result<Option<Self>> {
        let path = dir.path_of(NAME);
        let contents = match dir.read_note(NAME) {
            Ok(contents) => contents,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::system("reading it", &path, &error)),
        };
        let refused = |found: String| {
            let why = format_args!("is none of filterblock's ({found}): look at it, then remove it");
            Failure::refused(&path, why).of_kind(ErrorKind::Damaged)
        };
        let journal: Self = serde_json::from_slice(&contents).map_err(|error| refused(error.to_string()))?;
        if journal.format != FORMAT {
            return Err(refused(format!("format {}, not {FORMAT}", journal.format)));
        }
        // A file that somebody else made must not cause other files to be removed.
        let is_ours =
            |name: &str| matches!(FileKind::parse(name), Some((FileKind::Table | FileKind::Manifest, _)));
        if let Some(name) = journal.names().find(|name| !is_ours(name)) {
            return Err(refused(format!("{} in it", quote(name.as_bytes()))));
        }
        Ok(Some(journal))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        let manifests = [Some(&self.old), self.new.as_ref()].into_iter().flatten();
        self.new_files.iter().chain(&self.old_files).chain(manifests.map(|manifest| &manifest.name))
    }

    /// Removes the journal, and syncs the folder.
    pub(super) fn remove(dir: &Dir) -> Result<()> {
        Self::remove_temporary(dir)?;
        dir.remove(NAME)?;
        dir.sync()
    }

    /// Removes a journal that was never completed.
    pub(super) fn remove_temporary(dir: &Dir) -> Result<()> {
        dir.remove(TEMPORARY)
    }
}
