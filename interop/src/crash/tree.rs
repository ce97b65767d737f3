//! Files and folders in memory.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

/// A file or a folder, whatever names it has.
pub type NodeId = usize;

/// The topmost folder.
pub const ROOT: NodeId = 0;

/// The contents of a file.
pub type Contents = Arc<Vec<u8>>;

/// A folder with everything in it. A file with several names is one node.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The entries of each folder.
    pub folders: BTreeMap<NodeId, BTreeMap<PathBuf, NodeId>>,
    /// Every file.
    pub files: BTreeMap<NodeId, Contents>,
}

/// The node of each inode number.
pub type Inodes = BTreeMap<u64, NodeId>;

impl Tree {
    /// Reads a folder.
    pub fn read(folder: &Path) -> Result<(Self, Inodes)> {
        let (mut tree, mut inodes) = (Self::default(), Inodes::new());
        inodes.insert(fs::metadata(folder)?.ino(), ROOT);
        tree.read_into(folder, ROOT, &mut inodes)?;
        Ok((tree, inodes))
    }

    fn read_into(&mut self, folder: &Path, id: NodeId, inodes: &mut Inodes) -> Result<()> {
        self.folders.insert(id, BTreeMap::new());
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            ensure!(metadata.is_dir() || metadata.is_file(), "{}: no file", entry.path().display());
            let next = inodes.len();
            let node = *inodes.entry(metadata.ino()).or_insert(next);
            if metadata.is_dir() {
                self.read_into(&entry.path(), node, inodes)?;
            } else {
                self.files.insert(node, Arc::new(fs::read(entry.path())?));
            }
            self.folders.get_mut(&id).context("inserted above")?.insert(entry.file_name().into(), node);
        }
        Ok(())
    }

    /// The node at a relative path.
    pub fn find(&self, path: &Path) -> Result<NodeId> {
        path.iter().try_fold(ROOT, |folder, name| {
            let entries =
                self.folders.get(&folder).with_context(|| format!("{}: no folder", path.display()))?;
            entries.get(Path::new(name)).copied().with_context(|| format!("{}: not there", path.display()))
        })
    }

    /// The contents of the file at a relative path.
    pub fn contents(&self, path: &Path) -> Result<&Contents> {
        self.files.get(&self.find(path)?).with_context(|| format!("{}: a folder", path.display()))
    }

    /// Writes everything below `folder`, which must not be there. Files with several names become
    /// hard links.
    pub fn write(&self, folder: &Path) -> Result<()> {
        self.write_from(ROOT, folder, &mut BTreeMap::new())
    }

    fn write_from(&self, id: NodeId, folder: &Path, written: &mut BTreeMap<NodeId, PathBuf>) -> Result<()> {
        fs::create_dir(folder).with_context(|| folder.display().to_string())?;
        for (name, node) in &self.folders[&id] {
            let path = folder.join(name);
            if self.folders.contains_key(node) {
                self.write_from(*node, &path, written)?;
            } else if let Some(first) = written.get(node) {
                fs::hard_link(first, &path)?;
            } else {
                fs::write(&path, &*self.files[node])?;
                written.insert(*node, path);
            }
        }
        Ok(())
    }

    /// All paths and contents. Files of several names have the first of them, too.
    pub fn listing(&self) -> BTreeMap<PathBuf, Option<(PathBuf, Contents)>> {
        let (mut listing, mut first) = (BTreeMap::new(), BTreeMap::new());
        self.list_from(ROOT, Path::new(""), &mut first, &mut listing);
        listing
    }

    fn list_from(
        &self,
        id: NodeId,
        folder: &Path,
        first: &mut BTreeMap<NodeId, PathBuf>,
        to: &mut BTreeMap<PathBuf, Option<(PathBuf, Contents)>>,
    ) {
        for (name, node) in &self.folders[&id] {
            let path = folder.join(name);
            if self.folders.contains_key(node) {
                to.insert(path.clone(), None);
                self.list_from(*node, &path, first, to);
            } else {
                let first = first.entry(*node).or_insert_with(|| path.clone()).clone();
                to.insert(path, Some((first, Arc::clone(&self.files[node]))));
            }
        }
    }

    /// Equal for trees of equal listings.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.listing().hash(&mut hasher);
        hasher.finish()
    }
}
