//! The steps of a program in a folder, and which of them were durable at each time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::operation::Operation;
use super::states::complete;
use super::tree::{Inodes, NodeId, Tree};

/// A change of a file's contents.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of the system calls")]
pub enum Change {
    /// Bytes are written at an offset.
    Write { offset: usize, data: Vec<u8> },
    /// The file gets another length.
    Truncate { len: usize },
}

impl Change {
    /// Makes the change.
    pub fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => {
                let end = offset + data.len();
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[*offset..end].copy_from_slice(data);
            }
            Self::Truncate { len } => contents.resize(*len, 0),
        }
    }
}

/// A name that a folder gets, or loses.
#[derive(Debug, Clone)]
pub struct NameChange {
    /// The folder.
    pub folder: NodeId,
    /// The name in the folder.
    pub name: PathBuf,
    /// The node that the name stands for from now on. `None`: the folder loses the name.
    pub node: Option<NodeId>,
}

/// One operation, with nodes instead of paths.
#[derive(Debug, Clone)]
pub enum Step {
    /// Names change, all at once or not at all.
    Names(Vec<NameChange>),
    /// The contents of a file change.
    Contents(NodeId, Change),
    /// The contents of a file become durable.
    Sync(NodeId),
    /// The names in a folder become durable.
    SyncFolder(NodeId),
    /// The permission bits of a file or a folder change. They are durable once the file or folder is synced.
    Mode(NodeId, u32),
}

/// A folder and all steps that were made in it.
#[derive(Debug, Clone)]
pub struct History {
    /// The folder before the steps. All of it is durable. The files and folders that the steps make have their first
    /// modes here, but no names.
    pub before: Tree,
    /// The steps.
    pub steps: Vec<Step>,
    /// The steps in words.
    pub words: Vec<String>,
    /// The folder after all steps.
    pub after: Tree,
    /// The number of steps that earlier runs of the program made before they were killed.
    pub earlier: usize,
}

impl History {
    /// Follows the operations on the folder `before`, whose files had these inode numbers.
    ///
    /// # Errors
    ///
    /// If an operation does not fit those before it, because one between them was not recorded.
    pub fn new(before: Tree, inodes: Inodes, operations: &[Operation]) -> Result<Self> {
        let nothing =
            Self { after: before.clone(), before, steps: Vec::new(), words: Vec::new(), earlier: 0 };
        nothing.continued(0, inodes, operations)
    }

    /// The history of this run up to a step, at which the program is killed, and of another run after it. The kill
    /// itself loses nothing: the other run finds the folder of [`complete`]. But what the first run had not synced is
    /// not durable until the second run syncs it. `inodes` are the numbers in the second run, as [`Tree::inodes`]
    /// returns them.
    ///
    /// # Errors
    ///
    /// If an operation does not fit those before it, because one between them was not recorded.
    pub fn continued(&self, done: usize, inodes: Inodes, operations: &[Operation]) -> Result<Self> {
        let mut follower = Follower {
            first_modes: self.before.modes.clone(),
            live: complete(self, done).tree,
            inodes,
            next: self.after.next_id(),
            steps: self.steps[..done].to_vec(),
            words: self.words[..done].to_vec(),
        };
        for operation in operations {
            follower.follow(operation).with_context(|| format!("{operation:?}"))?;
        }
        let Follower { live, first_modes, steps, words, .. } = follower;
        let before = Tree { modes: first_modes, ..self.before.clone() };
        Ok(Self { before, steps, words, after: live, earlier: done })
    }

    /// The indexes of all steps that change names.
    pub fn name_steps(&self) -> Vec<usize> {
        (0..self.steps.len()).filter(|at| matches!(self.steps[*at], Step::Names(_))).collect()
    }

    /// Returns true if the names that step `at` changed are durable once `done` steps are done: if all their folders
    /// were synced after that step.
    pub fn is_durable(&self, at: usize, done: usize) -> bool {
        let Step::Names(changes) = &self.steps[at] else { return false };
        changes.iter().all(|change| {
            let is_sync = |step: &Step| matches!(step, Step::SyncFolder(folder) if *folder == change.folder);
            self.steps[at..done].iter().any(is_sync)
        })
    }

    /// For each file, the contents that are durable once `done` steps are done, and the later changes, which are not
    /// durable.
    pub fn contents(&self, done: usize) -> BTreeMap<NodeId, (Vec<u8>, Vec<&Change>)> {
        let mut files: BTreeMap<NodeId, (Vec<u8>, Vec<&Change>)> = self
            .before
            .files
            .iter()
            .map(|(node, contents)| (*node, (contents.to_vec(), Vec::new())))
            .collect();
        for node in self.after.files.keys() {
            files.entry(*node).or_default();
        }
        for step in &self.steps[..done] {
            match step {
                Step::Contents(node, change) => {
                    files.entry(*node).or_default().1.push(change);
                }
                Step::Sync(node) => {
                    let (durable, since) = files.entry(*node).or_default();
                    for change in since.drain(..) {
                        change.apply(durable);
                    }
                }
                Step::Names(_) | Step::SyncFolder(_) | Step::Mode(..) => {}
            }
        }
        files
    }

    /// For each file and folder, the mode that is durable once `done` steps are done, and the later modes, which are
    /// not durable.
    pub fn modes(&self, done: usize) -> BTreeMap<NodeId, (u32, Vec<u32>)> {
        let mut modes: BTreeMap<_, _> =
            self.before.modes.iter().map(|(node, mode)| (*node, (*mode, Vec::new()))).collect();
        for step in &self.steps[..done] {
            match step {
                Step::Mode(node, mode) => modes.entry(*node).or_default().1.push(*mode),
                Step::Sync(node) | Step::SyncFolder(node) => {
                    let (durable, since) = modes.entry(*node).or_default();
                    *durable = since.drain(..).next_back().unwrap_or(*durable);
                }
                Step::Names(_) | Step::Contents(..) => {}
            }
        }
        modes
    }
}

struct Follower {
    first_modes: BTreeMap<NodeId, u32>,
    live: Tree,
    inodes: Inodes,
    next: NodeId,
    steps: Vec<Step>,
    words: Vec<String>,
}

impl Follower {
    fn follow(&mut self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Create { inode, path, mode } => {
                let node = self.new_node(*inode, *mode);
                self.live.files.insert(node, Arc::default());
                self.names(&[(path, Some(node))], format!("create {}", path.display()))
            }
            Operation::MakeFolder { inode, path, mode } => {
                let node = self.new_node(*inode, *mode);
                self.live.folders.insert(node, BTreeMap::new());
                self.names(&[(path, Some(node))], format!("mkdir {}", path.display()))
            }
            Operation::Rename { from, to } => {
                let node = self.live.find(from)?;
                if self.live.find(to).is_ok_and(|found| found == node) {
                    return Ok(()); // Two names of one file: both stay.
                }
                let words = format!("rename {} to {}", from.display(), to.display());
                self.names(&[(from, None), (to, Some(node))], words)
            }
            Operation::Link { from, to } => {
                let node = self.live.find(from)?;
                let words = format!("link {} as {}", from.display(), to.display());
                self.names(&[(to, Some(node))], words)
            }
            Operation::Unlink { path } => self.names(&[(path, None)], format!("unlink {}", path.display())),
            Operation::RemoveFolder { path } => {
                self.names(&[(path, None)], format!("rmdir {}", path.display()))
            }
            Operation::Write { inode, offset, data } => {
                let change = Change::Write { offset: usize::try_from(*offset)?, data: data.clone() };
                let words = format!("write {} bytes at {offset} of {}", data.len(), self.name(*inode));
                self.contents(*inode, change, words)
            }
            Operation::Truncate { inode, len } => {
                let words = format!("truncate {} to {len}", self.name(*inode));
                self.contents(*inode, Change::Truncate { len: usize::try_from(*len)? }, words)
            }
            Operation::Sync { inode } => {
                let words = format!("fsync {}", self.name(*inode));
                self.push(Step::Sync(self.node(*inode)?), words);
                Ok(())
            }
            Operation::SyncFolder { inode } => {
                let node = self.node(*inode)?;
                ensure!(self.live.folders.contains_key(&node), "no folder");
                let words = format!("fsync folder {}", self.name(*inode));
                self.push(Step::SyncFolder(node), words);
                Ok(())
            }
            Operation::SetMode { inode, mode } => {
                let node = self.node(*inode)?;
                let words = format!("chmod {mode:o} {}", self.name(*inode));
                self.live.modes.insert(node, *mode);
                self.push(Step::Mode(node, *mode), words);
                Ok(())
            }
        }
    }

    fn new_node(&mut self, inode: u64, mode: u32) -> NodeId {
        let node = self.next;
        self.next += 1;
        self.first_modes.insert(node, mode);
        self.live.modes.insert(node, mode);
        self.inodes.insert(inode, node);
        node
    }

    fn node(&self, inode: u64) -> Result<NodeId> {
        self.inodes.get(&inode).copied().context("an unknown inode")
    }

    /// For reports: a path of the file or folder with this inode number, or words for one without a path.
    fn name(&self, inode: u64) -> String {
        let Some(node) = self.inodes.get(&inode) else { return format!("inode {inode}") };
        let mut folders = vec![(super::tree::ROOT, PathBuf::new())];
        while let Some((folder, path)) = folders.pop() {
            if folder == *node {
                return if path.as_os_str().is_empty() { ".".into() } else { path.display().to_string() };
            }
            for (name, entry) in &self.live.folders[&folder] {
                if self.live.folders.contains_key(entry) || entry == node {
                    if entry == node && !self.live.folders.contains_key(entry) {
                        return path.join(name).display().to_string();
                    }
                    folders.push((*entry, path.join(name)));
                }
            }
        }
        "a file without a name".to_owned()
    }

    fn names(&mut self, changes: &[(&PathBuf, Option<NodeId>)], words: String) -> Result<()> {
        let mut all = Vec::new();
        for (path, node) in changes {
            let folder = self.live.find(path.parent().unwrap_or_else(|| Path::new("")))?;
            let name = PathBuf::from(path.file_name().context("a path without a name")?);
            let change = NameChange { folder, name, node: *node };
            ensure!(node.is_some() || self.live.folders[&folder].contains_key(&change.name), "not there");
            apply_names(&mut self.live, std::slice::from_ref(&change));
            all.push(change);
        }
        self.push(Step::Names(all), words);
        Ok(())
    }

    fn contents(&mut self, inode: u64, change: Change, words: String) -> Result<()> {
        let node = self.node(inode)?;
        let contents = self.live.files.get_mut(&node).context("a folder")?;
        change.apply(Arc::make_mut(contents));
        self.push(Step::Contents(node, change), words);
        Ok(())
    }

    fn push(&mut self, step: Step, words: String) {
        self.steps.push(step);
        self.words.push(words);
    }
}

/// Makes these changes to the names in folders.
pub fn apply_names(tree: &mut Tree, changes: &[NameChange]) {
    for NameChange { folder, name, node } in changes {
        let entries = tree.folders.entry(*folder).or_default();
        match node {
            Some(node) => entries.insert(name.clone(), *node),
            None => entries.remove(name),
        };
    }
}
