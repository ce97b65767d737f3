//! The reads of LevelDB for lookups, by its own counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::SharedPolicy;
use filterblock::database::{DatabaseFiles, LiveTable, Manifest};
use filterblock::policy::default_read_policies;
use filterblock::table::{Lookup, ReadOptions, Table};

use crate::compare::rebuild::files;
use crate::leveldb::{Store, StoreFilter, StoreOptions};

/// A mean, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    pub(super) value: f64,
    pub(super) error: f64,
}

impl Mean {
    /// Returns the mean of `count` numbers with this sum and sum of squares.
    fn of(count: u64, sum: u64, squares: u64) -> Self {
        let count = count as f64;
        let value = sum as f64 / count;
        let variance = squares as f64 / count - value * value;
        Self { value, error: (variance.max(0.0) / count).sqrt() }
    }
}

/// The data blocks that a lookup reads.
#[derive(Debug, Clone)]
pub(super) struct Reads {
    pub(super) mean: Mean,
    /// All blocks read, by level.
    pub(super) blocks: BTreeMap<u8, u64>,
    count: u64,
}

impl Reads {
    /// Returns the mean number of blocks read on each level.
    pub(super) fn by_level(&self) -> BTreeMap<u8, f64> {
        self.blocks.iter().map(|(level, blocks)| (*level, *blocks as f64 / self.count as f64)).collect()
    }
}

/// An open database that does not change, and of which only data blocks are read.
pub(super) struct Reader {
    // Closed before the folder is removed.
    store: Store,
    folder: tempfile::TempDir,
    levels: BTreeMap<u64, u8>,
    files: BTreeSet<String>,
    tables: String,
}

impl Reader {
    /// Opens a copy of the database, and all its tables.
    pub(super) fn open(folder: &Path, filter: StoreFilter) -> Result<Self> {
        let folder = files::copy(folder)?;
        let manifest = Manifest::read(folder.path())?;
        let levels: BTreeMap<u64, u8> =
            manifest.tables().iter().map(|table| (table.number, table.level)).collect();
        let options = StoreOptions {
            filter,
            must_exist: true,
            without_block_cache: true,
            max_open_files: Some(10_000),
            // No compaction by seeks, nor by the sizes of levels.
            hold_background: true,
            ..StoreOptions::default()
        };
        let store = Store::open(folder.path(), &options)?;
        let files = table_names(folder.path())?;
        ensure!(files.len() == levels.len(), "{files:?} for {} live tables", levels.len());
        let tables = store.property("leveldb.sstables").context("leveldb.sstables")?;
        let reader = Self { store, folder, levels, files, tables };
        reader.present()?;
        let opened = reader.store.counts().opened;
        ensure!(opened == reader.levels.len() as u64, "{opened} of {} tables are open", reader.levels.len());
        Ok(reader)
    }

    /// Returns the keys that the iterator finds. The iterator opens every table.
    pub(super) fn present(&self) -> Result<Vec<Vec<u8>>> {
        let mut keys = Vec::new();
        self.store.scan(|key, _| {
            keys.push(key.to_vec());
            true
        })?;
        Ok(keys)
    }

    /// Looks keys up. Fails if a key is found and its flag says otherwise, or the reverse. Returns the reads.
    pub(super) fn ask<'k>(&self, keys: impl Iterator<Item = (&'k [u8], bool)>) -> Result<Reads> {
        let before: BTreeMap<u64, u64> = self.store.table_reads().into_iter().collect();
        let opened = self.store.counts().opened;
        let (mut count, mut sum, mut squares) = (0, 0, 0);
        let mut last = self.store.counts().reads;
        for (key, is_present) in keys {
            let found = self.store.get(key)?.is_some();
            ensure!(found == is_present, "{} is found: {found}", crate::hex(key));
            let now = self.store.counts().reads;
            let reads = now - last;
            (count, sum, squares, last) = (count + 1, sum + reads, squares + reads * reads, now);
        }
        ensure!(self.store.counts().opened == opened, "a table was opened: its index is no data block");
        let tables = self.store.property("leveldb.sstables");
        ensure!(tables.as_ref() == Some(&self.tables), "compacted: {tables:?}, before {}", self.tables);
        ensure!(table_names(self.folder.path())? == self.files, "the tables' files changed");
        ensure!(count > 0, "nothing to ask for");
        let mut blocks = BTreeMap::new();
        for (table, reads) in self.store.table_reads() {
            let level = *self.levels.get(&table).with_context(|| format!("table {table} is not live"))?;
            let reads = reads - before.get(&table).copied().unwrap_or(0);
            *blocks.entry(level).or_default() += reads;
        }
        Ok(Reads { mean: Mean::of(count, sum, squares), blocks, count })
    }
}

fn table_names(folder: &Path) -> Result<BTreeSet<String>> {
    let names = fs::read_dir(folder)?.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
    let is_table = |name: &String| name.ends_with(".ldb") || name.ends_with(".sst");
    let names: Vec<_> = names.collect::<Result<_>>()?;
    Ok(names.into_iter().filter(is_table).collect())
}

/// The bytes of all filter blocks, without their trailers, and the number of tables on each level.
pub(super) fn filter_bytes(folder: &Path) -> Result<(u64, BTreeMap<u8, u64>)> {
    let (manifest, listed) = (Manifest::read(folder)?, DatabaseFiles::list(folder)?);
    let options = ReadOptions::default().filter_policies(default_read_policies());
    let (mut bytes, mut levels) = (0, BTreeMap::new());
    for live in manifest.tables() {
        let file = listed.table(live.number).ok().flatten();
        let path = &file.with_context(|| format!("no table {}", live.number))?.path;
        let table = Table::open_path(path, &options)?;
        ensure!(table.filter_error().is_none(), "{}: {:?}", path.display(), table.filter_error());
        bytes += table.filter().map_or(0, |filter| filter.contents().len() as u64);
        *levels.entry(live.level).or_default() += 1;
    }
    Ok((bytes, levels))
}

/// A sequence number above all that are written.
const SEQUENCE: u64 = (1 << 56) - 1;

/// A database whose filters are asked with one policy.
pub(super) struct Emulated {
    /// Tables in the order in which LevelDB asks them.
    tables: Vec<(LiveTable, Table<File>)>,
}

impl Emulated {
    pub(super) fn open(folder: &Path, policy: SharedPolicy) -> Result<Self> {
        let (manifest, listed) = (Manifest::read(folder)?, DatabaseFiles::list(folder)?);
        let options = ReadOptions::default().internal_keys(true).filter_policies(vec![policy]);
        let open = |live: &LiveTable| {
            let file = listed.table(live.number).ok().flatten().context("no file")?;
            Ok((live.clone(), Table::open_path(&file.path, &options)?))
        };
        let mut tables: Vec<_> = manifest.tables().iter().map(open).collect::<Result<_>>()?;
        // On level 0 the newest comes first.
        tables.sort_by_key(|(live, _)| (live.level, std::cmp::Reverse(live.number)));
        Ok(Self { tables })
    }

    /// The number of blocks that LevelDB reads for these keys on each level.
    pub(super) fn reads<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<BTreeMap<u8, u64>> {
        let mut blocks = BTreeMap::new();
        for key in keys {
            let sought = [key, &(SEQUENCE << 8 | 1).to_le_bytes()].concat();
            for (live, table) in &self.tables {
                let (smallest, largest) = live.user_keys().context("not a key of LevelDB's")?;
                if key < smallest || largest < key || !table.may_contain(&sought)? {
                    continue;
                }
                *blocks.entry(live.level).or_default() += 1;
                if table.get_at(key, SEQUENCE)? != Lookup::Absent {
                    break;
                }
            }
        }
        Ok(blocks)
    }
}
