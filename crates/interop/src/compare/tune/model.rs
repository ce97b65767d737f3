//! The contents of a database, read by LevelDB, and the keys that it is asked for.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{DatabaseFiles, Manifest};

use super::write::Keys;
use crate::leveldb::{Table, TableOptions};
use crate::random::Random;

/// The length of the tag after a user key.
const TAG: usize = 8;

/// The keys of a database.
pub(super) struct Model {
    /// The user key of each entry of each table: older versions and deletions, too.
    entries: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
    /// The keys that are found.
    present: Vec<Vec<u8>>,
    /// The bytes that occur at each position.
    bytes: Vec<BTreeSet<u8>>,
    keys: Keys,
}

/// A kind of keys to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Stored keys followed by 16 random bytes.
    Random,
    /// Stored keys with a byte changed to another one that occurs there.
    Changed,
    /// Missing numbers between stored ones.
    Between,
    /// Stored keys without their last one to four bytes.
    Cut,
    /// Stored keys followed by one to four bytes.
    Longer,
    /// Keys that are found.
    Present,
}

impl Model {
    /// Reads all tables. `present` are the keys that LevelDB's iterator finds.
    pub(super) fn read(folder: &Path, keys: Keys, present: Vec<Vec<u8>>) -> Result<Self> {
        let (manifest, listed) = (Manifest::read(folder)?, DatabaseFiles::list(folder)?);
        let mut entries = Vec::new();
        for table in manifest.tables() {
            let file = listed.table(table.number).ok().flatten();
            let path = &file.with_context(|| format!("no table {}", table.number))?.path;
            let contents = fs::read(path)?;
            let options = TableOptions { internal_keys: true, ..TableOptions::default() };
            Table::open(&options, &contents)?.scan(|key, _| {
                entries.push(key[..key.len() - TAG].to_vec());
                true
            })?;
        }
        let known = entries.iter().cloned().collect();
        ensure!(!present.is_empty(), "no keys are found");
        let mut bytes: Vec<BTreeSet<u8>> = Vec::new();
        for key in &entries {
            bytes.resize_with(bytes.len().max(key.len()), BTreeSet::new);
            bytes.iter_mut().zip(key).for_each(|(bytes, byte)| _ = bytes.insert(*byte));
        }
        Ok(Self { entries, known, present, bytes, keys })
    }

    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Draws a key of a kind, from all entries or all present keys alike. Absent keys are in no table.
    pub(super) fn draw(&self, kind: Kind, random: &mut Random) -> Vec<u8> {
        if kind == Kind::Present {
            return self.present[random.index(self.present.len())].clone();
        }
        loop {
            let key = &self.entries[random.index(self.entries.len())];
            let key = match kind {
                Kind::Changed => Some(self.changed(key, random)),
                Kind::Between => self.keys.between(key, random),
                Kind::Cut => {
                    let most = 4.min(key.len() as u64 - 1);
                    (most > 0).then(|| key[..key.len() - random.between(1, most) as usize].to_vec())
                }
                Kind::Longer => {
                    let mut key = key.clone();
                    for _ in 0..random.between(1, 4) {
                        key.push(self.occurring(key.len() - 1, random).unwrap_or_default());
                    }
                    Some(key)
                }
                Kind::Random | Kind::Present => Some([&key[..], &random.bytes(16)].concat()),
            };
            if let Some(key) = key.filter(|key| !self.known.contains(key)) {
                return key;
            }
        }
    }

    /// Returns true if there are keys of a kind to draw.
    pub(super) fn has(&self, kind: Kind) -> bool {
        kind != Kind::Between || self.keys.between(&self.entries[0], &mut Random::for_case(0, 0)).is_some()
    }

    fn occurring(&self, at: usize, random: &mut Random) -> Option<u8> {
        let bytes = self.bytes.get(at.min(self.bytes.len() - 1))?;
        bytes.iter().nth(random.index(bytes.len())).copied()
    }

    fn changed(&self, key: &[u8], random: &mut Random) -> Vec<u8> {
        let at = random.index(key.len());
        let mut key = key.to_vec();
        let others: Vec<u8> = self.bytes[at].iter().copied().filter(|byte| *byte != key[at]).collect();
        key[at] = match others.is_empty() {
            true => key[at] ^ random.between(1, 255) as u8,
            false => others[random.index(others.len())],
        };
        key
    }

    /// `count` lookups as a program might make them: a third is absent; most are in a tenth of the
    /// range of keys, and some keys come again and again.
    pub(super) fn skewed(&self, count: usize, random: &mut Random) -> Vec<Vec<u8>> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable();
        let mut present: Vec<_> = self.present.iter().collect();
        present.sort_unstable();
        let place = |len: usize, random: &mut Random| match random.below(10) {
            0..4 => len / 2 + random.index(len.div_ceil(10)) / 2,
            4..8 => len / 2 + random.index(len.div_ceil(10)),
            _ => random.index(len),
        };
        let mut lookups = Vec::with_capacity(count);
        while lookups.len() < count {
            let key = match random.below(3) {
                0 => {
                    let key = entries[place(entries.len(), random).min(entries.len() - 1)];
                    let key = match random.below(2) {
                        0 => self.changed(key, random),
                        _ => [&key[..], b"/none"].concat(),
                    };
                    if self.known.contains(&key) {
                        continue;
                    }
                    key
                }
                _ => present[place(present.len(), random).min(present.len() - 1)].clone(),
            };
            for _ in 0..random.between(1, 3) {
                lookups.push(key.clone());
            }
        }
        lookups.truncate(count);
        lookups
    }

    pub(super) fn finds(&self) -> HashSet<&[u8]> {
        self.present.iter().map(|key| &key[..]).collect()
    }
}
