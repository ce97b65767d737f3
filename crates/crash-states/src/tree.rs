//! Files and folders in memory.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

/// Identifies a file or a folder, whatever names it has.
pub type NodeId = usize;

/// The topmost folder.
pub const ROOT: NodeId = 0;

/// The contents of a file.
pub type Contents = Arc<Vec<u8>>;

/// The permission bits of a mode.
pub const PERMISSIONS: u32 = 0o7777;

/// A folder with everything in it. A file with several names is one node.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The entries of each folder.
    pub folders: BTreeMap<NodeId, BTreeMap<PathBuf, NodeId>>,
    /// Every file.
    pub files: BTreeMap<NodeId, Contents>,
    /// The permission bits of files and folders.
    pub modes: BTreeMap<NodeId, u32>,
}

/// The node of each inode number.
pub type Inodes = BTreeMap<u64, NodeId>;

/// The file or folder at a path of a [`Tree`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The permission bits.
    pub mode: u32,
    /// The first path of the file, and its contents. `None`: a folder.
    pub file: Option<(PathBuf, Contents)>,
}

impl Entry {
    /// The contents, if this is a file.
    pub fn contents(&self) -> Option<&Contents> {
        self.file.as_ref().map(|(_, contents)| contents)
    }
}

impl Tree {
    /// Reads a folder.
    ///
    /// # Errors
    ///
    /// If the folder holds something other than files and folders, or cannot be read.
    pub fn read(folder: &Path) -> Result<(Self, Inodes)> {
        let (mut tree, mut inodes) = (Self::default(), Inodes::new());
        let metadata = fs::metadata(folder)?;
        inodes.insert(metadata.ino(), ROOT);
        tree.modes.insert(ROOT, metadata.mode() & PERMISSIONS);
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
            self.modes.insert(node, metadata.mode() & PERMISSIONS);
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
    ///
    /// # Errors
    ///
    /// If there is no node at this path.
    pub fn find(&self, path: &Path) -> Result<NodeId> {
        path.iter().try_fold(ROOT, |folder, name| {
            let entries =
                self.folders.get(&folder).with_context(|| format!("{}: no folder", path.display()))?;
            entries.get(Path::new(name)).copied().with_context(|| format!("{}: not there", path.display()))
        })
    }

    /// The contents of the file at a relative path.
    ///
    /// # Errors
    ///
    /// If there is no such file.
    pub fn contents(&self, path: &Path) -> Result<&Contents> {
        self.files.get(&self.find(path)?).with_context(|| format!("{}: a folder", path.display()))
    }

    /// Writes everything below `folder`, which must not exist. Files with several names become hard links.
    ///
    /// # Errors
    ///
    /// If a file or a folder cannot be made or written.
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
                self.set_mode(*node, &path)?;
                written.insert(*node, path);
            }
        }
        // Last, because a folder that nobody may write to has to get its files first.
        self.set_mode(id, folder)
    }

    fn set_mode(&self, node: NodeId, path: &Path) -> Result<()> {
        let Some(mode) = self.modes.get(&node) else { return Ok(()) };
        Ok(fs::set_permissions(path, fs::Permissions::from_mode(*mode))?)
    }

    /// The node of each inode number, once the tree is written below `folder`.
    ///
    /// # Errors
    ///
    /// If a file is not there, or its metadata cannot be read.
    pub fn inodes(&self, folder: &Path) -> Result<Inodes> {
        let mut inodes = Inodes::from([(fs::metadata(folder)?.ino(), ROOT)]);
        for path in self.listing().keys() {
            let metadata = fs::symlink_metadata(folder.join(path));
            let metadata = metadata.with_context(|| path.display().to_string())?;
            inodes.insert(metadata.ino(), self.find(path)?);
        }
        Ok(inodes)
    }

    /// All paths, and what they stand for.
    pub fn listing(&self) -> BTreeMap<PathBuf, Entry> {
        let (mut listing, mut first) = (BTreeMap::new(), BTreeMap::new());
        self.list_from(ROOT, Path::new(""), &mut first, &mut listing);
        listing
    }

    fn list_from(
        &self,
        id: NodeId,
        folder: &Path,
        first: &mut BTreeMap<NodeId, PathBuf>,
        to: &mut BTreeMap<PathBuf, Entry>,
    ) {
        for (name, node) in &self.folders[&id] {
            let path = folder.join(name);
            let mode = self.modes.get(node).copied().unwrap_or_default();
            if self.folders.contains_key(node) {
                to.insert(path.clone(), Entry { mode, file: None });
                self.list_from(*node, &path, first, to);
            } else {
                let first = first.entry(*node).or_insert_with(|| path.clone()).clone();
                to.insert(path, Entry { mode, file: Some((first, Arc::clone(&self.files[node]))) });
            }
        }
    }

    /// A number above those of all nodes.
    pub(crate) fn next_id(&self) -> NodeId {
        let last = [self.folders.keys().next_back(), self.files.keys().next_back()];
        last.into_iter().flatten().max().map_or(0, |last| last + 1)
    }

    /// Returns a hash of the listing, the same for trees with equal listings.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.listing().hash(&mut hasher);
        hasher.finish()
    }
}
