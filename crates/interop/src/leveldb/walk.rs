//! LevelDB's iterators, moved about at will.

use std::path::Path;

use anyhow::Result;

use super::Script;
use super::ffi;

/// A step of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `Next`. Does nothing if the iterator is at no entry.
    Next,
    /// `Prev`. Does nothing if the iterator is at no entry.
    Prev,
    /// `SeekToFirst`.
    First,
    /// `SeekToLast`.
    Last,
    /// `Seek`.
    Seek(Vec<u8>),
}

impl Step {
    /// Returns true if the step depends on where the iterator is.
    pub fn is_relative(&self) -> bool {
        matches!(self, Self::Next | Self::Prev)
    }
}

/// The state of an iterator after a step.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// True if the iterator's status is ok.
    pub ok: bool,
    /// Key and value, if the iterator is at an entry.
    pub entry: Option<(Vec<u8>, Vec<u8>)>,
}

/// An iterator over a table.
#[derive(Debug)]
pub struct TableWalk(ffi::Walk);

/// An iterator over a database. Opening the database changes it.
#[derive(Debug)]
pub struct DatabaseWalk(ffi::Walk);

impl TableWalk {
    /// Opens a table in memory.
    pub fn new(contents: &[u8], internal_keys: bool, verify: bool) -> Result<Self> {
        ffi::Walk::table(contents, internal_keys, verify).map(Self)
    }

    /// Makes the steps. With `renew`, a new iterator makes each step that is not relative.
    pub fn run(&mut self, steps: &[Step], renew: bool) -> Vec<Place> {
        run(&mut self.0, steps, renew)
    }

    /// `Table::ApproximateOffsetOf`.
    pub fn offset_of(&self, key: &[u8]) -> u64 {
        self.0.offset_of(key)
    }
}

impl DatabaseWalk {
    /// Opens the database in a folder.
    pub fn new(folder: &Path) -> Result<Self> {
        ffi::Walk::database(folder).map(Self)
    }

    /// Makes the steps.
    pub fn run(&mut self, steps: &[Step]) -> Vec<Place> {
        run(&mut self.0, steps, false)
    }
}

fn run(walk: &mut ffi::Walk, steps: &[Step], renew: bool) -> Vec<Place> {
    let mut script = Script::default();
    for step in steps {
        match step {
            Step::Next => script.op(0),
            Step::Prev => script.op(1),
            Step::First => script.op(2),
            Step::Last => script.op(3),
            Step::Seek(key) => {
                script.op(4);
                script.bytes(key);
            }
        }
    }
    let answers = walk.run(&script, renew);
    let mut rest = &answers[..];
    let mut bytes = |len: usize| {
        let (bytes, behind) = rest.split_at(len);
        rest = behind;
        bytes
    };
    let places = steps.iter().map(|_| {
        let flags = [bytes(1)[0], bytes(1)[0]];
        let [key, value] = [(); 2].map(|()| {
            let len = u32::from_ne_bytes(bytes(4).try_into().expect("four bytes"));
            bytes(len as usize).to_vec()
        });
        Place { ok: flags[1] != 0, entry: (flags[0] != 0).then_some((key, value)) }
    });
    places.collect()
}
