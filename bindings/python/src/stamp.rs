//! How a change of a database on disk is noticed: by the times and sizes of a few files.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use filterblock::database::{Database, FileKind};

/// A folder whose time of change is younger than this may change again under the same time.
const SETTLED: Duration = Duration::from_millis(100);
/// Like [`SETTLED`], where file systems have times in whole seconds.
const SETTLED_COARSE: Duration = Duration::from_secs(3);

/// Returns the files whose changes reveal that a database has changed: the folder, where every new or removed file
/// shows, and the live logs, which grow. If the MANIFEST is damaged or has an incomplete end, all MANIFESTs are among
/// them.
///
/// CURRENT is only ever replaced, which changes the folder. What is appended to a sound MANIFEST says which tables
/// take the place of logs or of other tables. Until the replaced ones are removed, which changes the folder, they
/// give the same answers.
pub(crate) fn stamped(path: &Path, database: &Database) -> Vec<PathBuf> {
    let is_whole = database.manifest().is_ok_and(|manifest| manifest.incomplete_tail().is_none());
    let manifests = database.files().of_kind(FileKind::Manifest).filter(|_| !is_whole);
    let manifests = manifests.map(|file| file.path.clone());
    let logs = database.logs().filter(|log| log.is_live);
    let logs = logs.filter_map(|log| log.file.path().map(Path::to_owned));
    std::iter::once(path.to_owned()).chain(manifests).chain(logs).collect()
}

/// Sizes, times and identities of files.
pub(crate) struct FolderStamp {
    pub(crate) paths: Vec<PathBuf>,
    /// `None`: the file is not there.
    marks: Vec<Option<Mark>>,
    /// True if no change can have been missed because it left the same time.
    pub(crate) is_settled: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct Mark {
    is_folder: bool,
    len: u64,
    modified: Option<SystemTime>,
    node: (u64, u64),
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let is_folder = found.is_dir();
        // The size of a folder says nothing.
        let len = if is_folder { 0 } else { found.len() };
        Some(Self { is_folder, len, modified: found.modified().ok(), node: node(&found) })
    }

    /// Returns true if no later change can have the same mark. Files grow with each change.
    fn is_settled(&self) -> bool {
        if !self.is_folder {
            return true;
        }
        let Some(modified) = self.modified else { return false };
        let nanoseconds =
            modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
        let settled = if nanoseconds == 0 { SETTLED_COARSE } else { SETTLED };
        SystemTime::now().duration_since(modified).is_ok_and(|age| age > settled)
    }
}

#[cfg(unix)]
fn node(found: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn node(found: &Metadata) -> (u64, u64) {
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let created = found.created().ok().and_then(since).unwrap_or_default();
    (created.as_secs(), u64::from(created.subsec_nanos()))
}

impl FolderStamp {
    pub(crate) fn of(paths: Vec<PathBuf>) -> Self {
        let marks: Vec<_> = paths.iter().map(|path| Mark::of(path)).collect();
        let is_settled = marks.iter().all(|mark| mark.as_ref().is_some_and(Mark::is_settled));
        Self { paths, marks, is_settled }
    }

    pub(crate) fn is_current(&self) -> bool {
        self.is_settled && self.paths.iter().map(|path| Mark::of(path)).eq(self.marks.iter().cloned())
    }
}
