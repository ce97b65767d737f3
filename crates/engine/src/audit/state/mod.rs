//! The facts about a database as a whole: what its MANIFEST does not list, what it lists and is missing, and its size.
//! LevelDB appends to a MANIFEST for as long as it runs, so it may be much longer than it has to be.

mod faults;
mod own_entries;

use std::path::Path;

use filterblock::database::{FileKind, LogWriter, Manifest};

use crate::audit::current_manifest::current;
use crate::report::{Code, HugeManifest, Problem};
use crate::text::{repair_command, size};
use crate::walk::Folder;

pub(crate) use faults::{faults, faults_for, faults_of};

/// The least size of a MANIFEST that is called huge, in bytes: programs notice the time that it takes to read.
const HUGE: u64 = 64 << 20;
/// A MANIFEST is huge only if it has this many times the size of a new one.
const HUGE_FACTOR: u64 = 100;
/// The least size that is told of a new MANIFEST, in bytes.
const LEAST_TOLD: u64 = 1 << 10;

impl HugeManifest {
    pub(crate) fn title(&self) -> String {
        format!("{} has {}", self.name, self.sizes())
    }

    /// Its size, and the size of a new one, as text.
    pub fn sizes(&self) -> String {
        format!("{}, and {} would do", size(self.len), size(self.needed.max(LEAST_TOLD)))
    }

    /// The fact, its meaning, and the command that makes a short MANIFEST for the database in the folder `database`.
    pub(crate) fn text(&self, database: &Path) -> String {
        Self::text_of(&self.title(), database)
    }

    pub(crate) fn text_of(title: &str, database: &Path) -> String {
        let command = repair_command(database);
        format!(
            "{title}: LevelDB reads all of it whenever it opens the database; `{command}` makes a short one"
        )
    }

    pub(crate) fn problem(&self) -> Problem {
        let expected = format!("a MANIFEST of about {} bytes", self.needed);
        let problem = Problem::new(Code::ManifestHuge, None, expected, format!("{} bytes", self.len));
        Problem { plain: Some(self.title()), title: Some(self.title()), ..problem }
    }
}

/// The MANIFEST of the database in a folder, if it is huge.
pub(crate) fn huge_manifest(folder: &Folder) -> Option<HugeManifest> {
    let manifests = || folder.database().files().of_kind(FileKind::Manifest).filter(|file| file.len >= HUGE);
    manifests().next()?;
    let path = current(folder)?;
    let file = manifests().find(|file| file.path == path)?;
    huge(&path, file.len, folder.database().manifest().ok()?)
}

pub(crate) fn huge(path: &Path, len: u64, manifest: &Manifest) -> Option<HugeManifest> {
    if len < HUGE {
        return None;
    }
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    manifest.snapshot().encode(&mut record).and_then(|()| log.add_record(&record)).ok()?;
    let needed = log.into_writer().len() as u64;
    let name = path.file_name()?.to_str()?.to_owned();
    (needed.saturating_mul(HUGE_FACTOR) <= len).then_some(HugeManifest { name, len, needed })
}
