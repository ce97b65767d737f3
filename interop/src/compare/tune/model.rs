//! What a database has, read by LevelDB, and what it is asked for.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{DatabaseFiles, Manifest};

use crate::leveldb::{Table, TableOptions};
use crate::random::Random;

/// The length of the tag behind a user key.
const TAG: usize = 8;

/// The keys of a database.
pub(super) struct Model {
    /// The user key of each entry of each table: older versions and deletions, too.
    entries: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
    /// The keys that are found.
    present: Vec<Vec<u8>>,
}

/// Keys to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Stored keys with eight random bytes behind them.
    Random,
    /// Stored keys with a byte changed or six random ones behind them.
    Neighbours,
    /// Keys that are found.
    Present,
}

impl Model {
    /// Reads all tables. `present` are the keys that LevelDB's iterator finds.
    pub(super) fn read(folder: &Path, present: Vec<Vec<u8>>) -> Result<Self> {
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
        Ok(Self { entries, known, present })
    }

    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// One key of a kind. Absent ones are in no table, and all entries or present keys are drawn
    /// evenly.
    pub(super) fn draw(&self, kind: Kind, random: &mut Random) -> Vec<u8> {
        if kind == Kind::Present {
            return self.present[random.index(self.present.len())].clone();
        }
        loop {
            let key = &self.entries[random.index(self.entries.len())];
            let key = match kind {
                Kind::Neighbours => neighbour(key, random),
                _ => [&key[..], &random.next_u64().to_le_bytes()].concat(),
            };
            if !self.known.contains(&key) {
                return key;
            }
        }
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
                        0 => neighbour(key, random),
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

/// Another key, made as `tune` makes it (`change` in the tool's `audit/rates/neighbours.rs`).
fn neighbour(key: &[u8], random: &mut Random) -> Vec<u8> {
    let [how, with, rest @ ..] = random.next_u64().to_le_bytes();
    let at = random.index(key.len().max(1));
    let mut key = key.to_vec();
    match key.get_mut(at) {
        Some(byte) if how % 2 == 0 => *byte ^= with.max(1),
        _ => key.extend_from_slice(&rest),
    }
    key
}
