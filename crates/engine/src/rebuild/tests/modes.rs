//! The requests with which rebuilds are tested.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::{FilterRequest, RebuildMode, RebuildOptions, Result};
use super::databases::{NEW_NAME, Sample};
use super::state::{DATABASE, TARGET};
use crate::engine::Engine;
use crate::write::hook::{self, Hook};
use crate::{report::RebuildReport, run::Progress};

/// The request for a rebuild.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    InPlace,
    NoUndo,
    Drop,
    Undo,
    Discard,
    To,
}

impl Mode {
    pub(super) const ALL: [Self; 6] =
        [Self::InPlace, Self::NoUndo, Self::Drop, Self::Undo, Self::Discard, Self::To];

    /// Returns true if the rebuild can be undone.
    #[cfg(in_repository)]
    pub(super) const fn keeps_undo(self) -> bool {
        matches!(self, Self::InPlace | Self::Drop)
    }

    /// Returns true if this needs an earlier rebuild that can be undone.
    pub(super) const fn is_after_a_rebuild(self) -> bool {
        matches!(self, Self::Undo | Self::Discard)
    }
}

/// A folder for a database, which is removed when this is dropped.
pub(super) struct Root {
    _folder: tempfile::TempDir,
    pub(super) path: PathBuf,
}

impl Root {
    /// A root without a database, in memory if possible.
    pub(super) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let within = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::tempdir_in(within).unwrap();
        let path = std::fs::canonicalize(folder.path()).unwrap().join("root");
        Self { _folder: folder, path }
    }

    /// A root with a database, which was rebuilt in place if `mode` needs that.
    pub(super) fn with(sample: Sample, mode: Mode) -> Self {
        let root = Self::new();
        sample.make(&root.database());
        if mode.is_after_a_rebuild() {
            run(sample, Mode::InPlace, &root.path).unwrap();
        }
        root
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

/// Runs a rebuild in the folder `root`.
pub(super) fn run(sample: Sample, mode: Mode, root: &Path) -> Result<RebuildReport> {
    run_until(sample, mode, root, Arc::new(()))
}

pub(super) fn options(sample: Sample, mode: Mode) -> RebuildOptions {
    let filters = match mode {
        Mode::Drop => FilterRequest::Drop,
        _ => FilterRequest::Make { bits: 8, policy: Some(NEW_NAME.to_owned()), hash: None, base_lg: None },
    };
    RebuildOptions {
        filters,
        keep_undecodable: sample == Sample::Damaged,
        assume_bytewise_equality: false,
        dry_run: false,
    }
}

/// Runs a rebuild that `watch` may end.
pub(super) fn run_until(
    sample: Sample,
    mode: Mode,
    root: &Path,
    progress: Arc<dyn Progress>,
) -> Result<RebuildReport> {
    let options = options(sample, mode);
    let in_place = |keeps_undo| RebuildMode::InPlace { options: options.clone(), keeps_undo };
    let request = match mode {
        Mode::InPlace | Mode::Drop => in_place(true),
        Mode::NoUndo => in_place(false),
        Mode::Undo => RebuildMode::Undo,
        Mode::Discard => RebuildMode::Discard,
        Mode::To => RebuildMode::To(root.join(TARGET), options),
    };
    // With one thread, the order of operations is the same in each run.
    Engine::new().jobs(1).progress(progress).rebuild_folder(&root.join(DATABASE), &request)
}

/// Runs a rebuild that `hook` watches.
pub(super) fn run_with(
    hook: Arc<dyn Hook>,
    sample: Sample,
    mode: Mode,
    root: &Path,
) -> Result<RebuildReport> {
    hook::with(&hook, || run(sample, mode, root))
}
