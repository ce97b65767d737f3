//! The live tables of a database before and after a rebuild, compared: numbers, blocks, entries, filters.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{DatabaseFiles, FileKind, LiveTable, Manifest};
use filterblock::policy::default_read_policies;
use filterblock::table::{self, ReadOptions};

use super::choice::{Choice, Way};
use super::files::Files;
use crate::leveldb::{BlockScript, Bloom, Table, TableOptions};

/// The number of bytes after a block: compression type and checksum.
const TRAILER: u64 = 5;

/// A database's MANIFEST, its files and its live tables.
pub(super) struct Tables {
    pub(super) manifest: Manifest,
    pub(super) files: Files,
    /// The live tables, by number.
    pub(super) live: Vec<Live>,
}

/// A live table.
pub(super) struct Live {
    recorded: LiveTable,
    name: String,
    /// The entries, as LevelDB's own `Table` reads them.
    pub(super) entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Data blocks with their trailers.
    data: Vec<u8>,
    /// Index block with its trailer.
    index: Vec<u8>,
    /// The offset of each data block, and its user keys.
    blocks: Vec<(u64, Vec<Vec<u8>>)>,
    /// The name of the policy and the filter block.
    filter: Option<(String, Vec<u8>)>,
}

impl Tables {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let (manifest, files) = (Manifest::read(folder)?, Files::read(folder)?);
        let listed = DatabaseFiles::list(folder)?;
        let mut live = Vec::new();
        for recorded in manifest.tables() {
            let file = listed.table(recorded.number).ok().flatten();
            let path = &file.with_context(|| format!("no table {}", recorded.number))?.path;
            let name = path.file_name().context("a name")?.to_string_lossy().into_owned();
            let contents = files.contents(&name)?;
            live.push(Live::read(recorded.clone(), &name, contents).with_context(|| name.clone())?);
        }
        live.sort_by_key(|table| table.recorded.number);
        Ok(Self { manifest, files, live })
    }

    /// The tables in the folder that are not live.
    pub(super) fn unlisted(&self) -> Vec<&str> {
        let live: BTreeSet<&str> = self.live.iter().map(|table| &*table.name).collect();
        let is_table = |name: &&str| matches!(FileKind::parse(name), Some((FileKind::Table, _)));
        self.files.names().filter(is_table).filter(|name| !live.contains(name)).collect()
    }

    /// The largest number in the names of files of these kinds.
    fn largest_number(&self, kinds: &[FileKind]) -> u64 {
        let files = self.files.names().filter_map(FileKind::parse);
        files.filter(|(kind, _)| kinds.contains(kind)).map(|(_, number)| number).max().unwrap_or(0)
    }

    /// Returns true if for each key the table with the largest number has the newest version. `RepairDB` takes that
    /// for granted.
    pub(super) fn numbers_are_ages(&self) -> Result<bool> {
        let mut newest: BTreeMap<&[u8], u64> = BTreeMap::new();
        for table in &self.live {
            let mut here: BTreeMap<&[u8], u64> = BTreeMap::new();
            for (key, _) in &table.entries {
                let (user_key, tag) = split(key)?;
                let entry = here.entry(user_key).or_default();
                *entry = (*entry).max(tag >> 8);
            }
            for (key, sequence) in here {
                if newest.insert(key, sequence).is_some_and(|before| before > sequence) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Returns the number of keys for which the two hashes under LevelDB's old name differ. These are keys with a
    /// byte of 0x80 or more among the one to three bytes after their last whole four-byte word.
    pub(super) fn telling_keys(&self) -> usize {
        let keys = self.live.iter().flat_map(|table| &table.blocks).flat_map(|(_, keys)| keys);
        keys.filter(|key| key[key.len() / 4 * 4..].iter().any(|byte| *byte >= 0x80)).count()
    }

    /// Checks that `after` is this database with other filters.
    pub(super) fn compare(&self, after: &Self, choice: &Choice) -> Result<()> {
        ensure!(
            self.live.len() == after.live.len(),
            "{} tables, {} before",
            after.live.len(),
            self.live.len()
        );
        let (was, is) = (&self.manifest, &after.manifest);
        ensure!(was.comparator() == is.comparator(), "another comparator");
        ensure!(was.last_sequence() == is.last_sequence(), "another last sequence number");
        // A copy of goleveldb's names the first log that is there, if goleveldb has removed the one that it named.
        let is_later = choice.way == Way::To && is.log_number() > was.log_number();
        ensure!(is_later || was.log_number() == is.log_number(), "another log number");
        ensure!(was.prev_log_number() == is.prev_log_number(), "another previous log number");
        // LevelDB itself continues after the numbers of logs. Without tables nothing is rebuilt, and a table that LevelDB had
        // begun when it was closed is there still.
        let used = after.largest_number(&[FileKind::Table, FileKind::Manifest]);
        ensure!(self.live.is_empty() || is.next_file_number() > used, "the number {used} will be used twice");
        ensure!(is.next_file_number() >= was.next_file_number(), "numbers go back");
        ensure!(is.incomplete_tail().is_none(), "an incomplete MANIFEST");
        for (old, new) in self.live.iter().zip(&after.live) {
            let names = || format!("{} and {}", old.name, new.name);
            self.compare_table(old, new, after, choice).with_context(names)?;
        }
        self.compare_folders(after, choice)
    }

    fn compare_table(&self, old: &Live, new: &Live, after: &Self, choice: &Choice) -> Result<()> {
        let expected = match choice.way {
            Way::To => old.recorded.number..=old.recorded.number,
            _ => {
                let kinds = [FileKind::Table, FileKind::Log, FileKind::Manifest, FileKind::Temporary];
                self.largest_number(&kinds).max(self.manifest.next_file_number() - 1) + 1..=u64::MAX
            }
        };
        ensure!(expected.contains(&new.recorded.number), "not a number of {expected:?}");
        ensure!(old.recorded.level == new.recorded.level, "another level");
        ensure!(old.recorded.smallest == new.recorded.smallest, "another smallest key");
        ensure!(old.recorded.largest == new.recorded.largest, "another largest key");
        let extension = |name: &str| name.split_once('.').map(|(_, extension)| extension.to_owned());
        ensure!(extension(&old.name) == extension(&new.name), "another extension");
        ensure!(old.entries == new.entries, "LevelDB reads other entries");
        ensure!(old.data == new.data, "other data blocks");
        ensure!(old.index == new.index, "another index");
        self.files.ensure_same_times(&old.name, &after.files, &new.name)?;
        new.check_filter(old, choice)
    }

    /// Checks the files that are not live tables.
    fn compare_folders(&self, after: &Self, choice: &Choice) -> Result<()> {
        for name in after.files.names() {
            let kind = FileKind::parse(name).with_context(|| format!("{name} was left"))?.0;
            ensure!(kind != FileKind::Temporary || self.files.contents(name).is_ok(), "{name} was left");
        }
        let manifests = |tables: &Self| {
            let is_manifest = |name: &&str| matches!(FileKind::parse(name), Some((FileKind::Manifest, _)));
            tables.files.names().filter(is_manifest).count()
        };
        ensure!(manifests(after) <= manifests(self), "the old MANIFEST is still there");
        let (unlisted, before) = (after.unlisted(), self.unlisted());
        ensure!(unlisted.iter().all(|name| before.contains(name)), "{unlisted:?} were left");
        ensure!(choice.way != Way::To || unlisted.is_empty(), "{unlisted:?} were copied");
        for name in self.files.names() {
            let Some((FileKind::Log, number)) = FileKind::parse(name) else { continue };
            if choice.way != Way::To || self.manifest.is_log_live(number) {
                self.files.ensure_same_file(name, &after.files, name)?;
            }
        }
        Ok(())
    }
}

impl Live {
    fn read(recorded: LiveTable, name: &str, contents: &[u8]) -> Result<Self> {
        ensure!(
            recorded.size == contents.len() as u64,
            "{} bytes, {} recorded",
            contents.len(),
            recorded.size
        );
        let options = TableOptions { internal_keys: true, ..TableOptions::default() };
        let entries = Table::open(&options, contents)?.entries()?;
        let read =
            table::Table::open(contents, &ReadOptions::default().filter_policies(default_read_policies()))?;
        ensure!(read.filter_error().is_none(), "{:?}", read.filter_error());
        let filter =
            read.filter().map(|filter| (filter.policy().name().to_owned(), filter.contents().to_vec()));
        let (mut blocks, mut end) = (Vec::new(), 0);
        for handle in read.data_blocks() {
            let handle = handle?;
            let (mut keys, mut cursor) = (Vec::new(), read.block_cursor(handle)?);
            while cursor.next()? {
                keys.push(split(cursor.key())?.0.to_vec());
            }
            blocks.push((handle.offset, keys));
            end = handle.offset + handle.size + TRAILER;
        }
        let part = |from: u64, to: u64| {
            let range = usize::try_from(from)?..usize::try_from(to)?;
            anyhow::Ok(contents.get(range).context("blocks within the file")?.to_vec())
        };
        let index = read.index_handle();
        let data = part(0, end)?;
        let index = part(index.offset, index.offset + index.size + TRAILER)?;
        Ok(Self { recorded, name: name.to_owned(), entries, data, index, blocks, filter })
    }

    /// Checks the filter block. Compares it with LevelDB's own filters if LevelDB makes such filters.
    fn check_filter(&self, old: &Self, choice: &Choice) -> Result<()> {
        let filter = self.filter.as_ref();
        if choice.drop {
            ensure!(filter.is_none(), "still has filters");
            return Ok(());
        }
        let (name, block) = filter.context("no filters")?;
        let expected = choice.policy_after();
        ensure!(name == expected, "filters of {name} instead of {expected}");
        let old_base_lg = old.filter.as_ref().and_then(|(_, block)| block.last());
        let base_lg = choice.base_lg.or(old_base_lg.copied()).unwrap_or(11);
        ensure!(block.last() == Some(&base_lg), "base_lg {:?} instead of {base_lg}", block.last());
        if choice.filters_are_as_leveldb_makes_them() {
            let bits = choice.bits;
            ensure!(*block == self.filter_block(bits, base_lg), "not LevelDB's filters of {bits} bits");
        }
        Ok(())
    }

    /// The filter block that LevelDB, or goleveldb with this `base_lg`, would have made.
    fn filter_block(&self, bits: u32, base_lg: u8) -> Vec<u8> {
        let end = self.data.len() as u64;
        if base_lg == 11 {
            let mut script = BlockScript::new();
            script.begin(bits);
            for (offset, keys) in &self.blocks {
                script.start_block(*offset);
                keys.iter().for_each(|key| script.add_key(key));
            }
            script.start_block(end);
            script.finish();
            return script.build().concat();
        }
        let mut ranges: BTreeMap<u64, Vec<&[u8]>> = BTreeMap::new();
        for (offset, keys) in &self.blocks {
            ranges.entry(offset >> base_lg).or_default().extend(keys.iter().map(Vec::as_slice));
        }
        let used = ranges.keys().last().map_or(0, |last| last + 1);
        let (mut filters, mut offsets) = (Vec::new(), Vec::new());
        for range in 0..used.max(end >> base_lg) {
            offsets.extend_from_slice(&(filters.len() as u32).to_le_bytes());
            if let Some(keys) = ranges.get(&range) {
                filters.extend(Bloom::new(bits).create_filter(keys));
            }
        }
        let array = (filters.len() as u32).to_le_bytes();
        [&filters[..], &offsets, &array, &[base_lg]].concat()
    }
}

/// Splits off the sequence number and type after the user key.
pub(super) fn split(internal_key: &[u8]) -> Result<(&[u8], u64)> {
    let (user_key, tag) = internal_key.split_last_chunk::<8>().context("an internal key")?;
    Ok((user_key, u64::from_le_bytes(*tag)))
}
