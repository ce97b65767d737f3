//! Records what a rebuild does to files, as operations of `filterblock_crash_states`.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, ffi::OsStr, io, sync::Mutex};

use filterblock_crash_states as model;

use crate::write::hook::{Hook, Operation};

/// Records the operations below `root`.
pub(crate) struct Recorder {
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    operations: Vec<model::Operation>,
    /// The number of bytes written to each new file, by inode.
    written: BTreeMap<u64, u64>,
    /// True if the file that is about to be removed exists.
    is_there: bool,
}

impl Recorder {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), state: Mutex::default() }
    }

    pub(crate) fn operations(&self) -> Vec<model::Operation> {
        self.state.lock().unwrap().operations.clone()
    }

    fn relative(&self, folder: &Path, name: &OsStr) -> PathBuf {
        folder.join(name).strip_prefix(&self.root).expect("below the root").to_owned()
    }
}

fn look(folder: &Path, name: &OsStr) -> io::Result<Metadata> {
    fs::symlink_metadata(folder.join(name))
}

const PERMISSIONS: u32 = 0o7777;

/// The bytes that were written to `file` since the last call.
fn written(state: &mut State, file: &File) -> model::Operation {
    let metadata = file.metadata().unwrap();
    let offset = state.written.insert(metadata.ino(), metadata.len()).unwrap_or(0);
    let mut data = vec![0; (metadata.len() - offset) as usize];
    file.read_exact_at(&mut data, offset).unwrap();
    model::Operation::Write { inode: metadata.ino(), offset, data }
}

impl Hook for Recorder {
    fn before(&self, operation: &Operation<'_>) -> io::Result<()> {
        if let Operation::Remove { folder, name } = operation {
            self.state.lock().unwrap().is_there = look(folder, name).is_ok();
        }
        Ok(())
    }

    fn after(&self, operation: &Operation<'_>) {
        use model::Operation as To;
        let mut state = self.state.lock().unwrap();
        let noted = match *operation {
            Operation::Look => return,
            Operation::Create { folder, name } => {
                let made = look(folder, name).unwrap();
                state.written.insert(made.ino(), 0);
                let mode = made.mode() & PERMISSIONS;
                To::Create { inode: made.ino(), path: self.relative(folder, name), mode }
            }
            Operation::Write { file } => written(&mut state, file),
            Operation::Attributes { file } => {
                let metadata = file.metadata().unwrap();
                To::SetMode { inode: metadata.ino(), mode: metadata.mode() & PERMISSIONS }
            }
            Operation::Sync { file } => To::Sync { inode: file.metadata().unwrap().ino() },
            Operation::Rename { from, to } => {
                To::Rename { from: self.relative(from.0, from.1), to: self.relative(to.0, to.1) }
            }
            Operation::Link { from, to } => {
                To::Link { from: self.relative(from.0, from.1), to: self.relative(to.0, to.1) }
            }
            Operation::Remove { .. } if !state.is_there => return,
            Operation::Remove { folder, name } => To::Unlink { path: self.relative(folder, name) },
            Operation::MakeFolder { folder, name } => {
                let made = look(folder, name).unwrap();
                let mode = made.mode() & PERMISSIONS;
                To::MakeFolder { inode: made.ino(), path: self.relative(folder, name), mode }
            }
            Operation::RemoveFolder { folder, name } => {
                To::RemoveFolder { path: self.relative(folder, name) }
            }
            Operation::SyncFolder { folder } => {
                let inode = fs::metadata(folder).unwrap().ino();
                To::SyncFolder { inode }
            }
        };
        state.operations.push(noted);
    }
}
