//! Salvages the readable parts of a table.

mod carved;
mod cursor;
mod filters;
mod indexed;
mod partial;
mod stored;

use std::cmp::Ordering;
use std::io;

use bytes::Bytes;
use filterblock::database::LiveTable;
use filterblock::table::{BlockHandle, ReadAt, ReadOptions};
use filterblock::{FilterBlockReader, KeyFormat, SharedPolicy};

use super::lost::{Bound, LostRange};
use super::order::KeyOrder;
use super::patched::Patch;
use crate::audit::correct::{Budget, footer};
use crate::audit::stats::LEGACY_POLICY_NAME;
use crate::audit::{decode_limit, read_options};
use partial::Stored;

pub(super) use cursor::TableCursor;
pub(super) use filters::FilterMeasures;
pub(super) use partial::PartialEntry;
pub(super) use stored::split;

pub(super) struct Expected<'e> {
    pub(super) order: &'e KeyOrder,
    /// In a MANIFEST.
    pub(super) record: Option<&'e LiveTable>,
    pub(super) limits: &'e Limits,
}

pub(super) struct Limits {
    pub(super) options: ReadOptions,
    pub(super) budget: Budget,
}

impl Limits {
    /// `max_output`: bytes of blocks and keys to decode; `None`: the default of all commands.
    pub(super) fn new(max_output: Option<u64>, file_size: u64) -> Self {
        let budget = Budget::new(decode_limit(max_output, file_size));
        let mut options = budget.options(&options());
        if let Some(bytes) = max_output {
            options = options.max_block_size(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        Self { options, budget }
    }

    /// `why`, unless the limit is exceeded.
    fn why_lost(&self, why: &str) -> String {
        match self.budget.is_spent() {
            true => {
                format!("it decodes to more than {} bytes; --max-output allows more", self.budget.limit())
            }
            false => why.to_owned(),
        }
    }
}

#[derive(Default)]
pub(super) struct SavedTable {
    /// For reading the blocks again.
    pub(super) options: ReadOptions,
    /// Corrected bits.
    pub(super) patches: Vec<Patch>,
    pub(super) blocks: Blocks,
    pub(super) lost: Vec<LostRange>,
    /// Of blocks that are only partly there. No checksum covers them.
    pub(super) partial: Vec<PartialEntry>,
    /// Entries in `partial` before the salvage took them out.
    pub(super) saved_partly: u64,
    /// Why blocks were carved; `None`: the footer leads to an index.
    pub(super) carved: Option<String>,
    /// The file ends after all blocks that were read, as that of a writer that was stopped does.
    pub(super) is_cut_off: bool,
    pub(super) facts: Facts,
    pub(super) filters: Option<FilterMeasures>,
    /// If they are sound and blocks are lost.
    pub(super) filter: Option<FilterBlockReader<SharedPolicy>>,
}

pub(super) enum Blocks {
    /// `lost`: the index's entries for lost blocks, by number, ascending. `count`: the entries that were read.
    Indexed { index: BlockHandle, lost: Vec<u64>, count: u64 },
    /// Found by checksums, in the order of the file.
    Found(Vec<BlockHandle>),
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Found(Vec::new())
    }
}

/// Facts about the sound blocks.
#[derive(Clone, Default, Debug)]
pub(super) struct Facts {
    pub(super) blocks: u64,
    pub(super) entries: u64,
    /// In bytes, decompressed.
    pub(super) block_bytes: u64,
    pub(super) snappy_blocks: u64,
    /// Internal keys; `None`: no entries.
    pub(super) smallest: Option<Vec<u8>>,
    pub(super) largest: Option<Vec<u8>>,
    pub(super) last_sequence: u64,
    /// The comparator may treat keys with other bytes as equal to one of these.
    pub(super) has_ambiguous_keys: bool,
    /// LevelDB's old hash differs from goleveldb's for one of these.
    pub(super) has_two_hashes: bool,
    /// `None`: entries are in order.
    pub(super) unsorted: Option<Unsorted>,
    /// Entries whose keys are none of a database.
    pub(super) left_out: u64,
}

/// How far entries are from being in order, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Unsorted {
    /// In order but for those that are left out.
    LeftOut,
    /// Within blocks, or a whole block is in the place of another. The other blocks' keys are within their bounds.
    InBlocks,
    /// The keys of a block are not within its bounds, so these do not tell which keys other blocks had.
    Throughout,
}

impl Facts {
    fn add(&mut self, block: Self, order: &KeyOrder) {
        self.blocks = self.blocks.saturating_add(1);
        self.entries = self.entries.saturating_add(block.entries);
        self.block_bytes = self.block_bytes.saturating_add(block.block_bytes);
        self.snappy_blocks = self.snappy_blocks.saturating_add(block.snappy_blocks);
        self.unsorted = self.unsorted.max(block.unsorted);
        if self.unsorted.is_none() {
            self.smallest = self.smallest.take().or(block.smallest);
            self.largest = block.largest.or(self.largest.take());
        } else {
            block.smallest.iter().chain(&block.largest).for_each(|key| self.widen(key, order));
        }
        self.left_out = self.left_out.saturating_add(block.left_out);
        self.last_sequence = self.last_sequence.max(block.last_sequence);
        self.has_ambiguous_keys |= block.has_ambiguous_keys;
        self.has_two_hashes |= block.has_two_hashes;
    }
}

impl Facts {
    /// Takes a key that may be before the smallest or after the largest.
    fn widen(&mut self, key: &[u8], order: &KeyOrder) {
        let is = |end: &Option<Vec<u8>>, is: fn(Ordering) -> bool| {
            end.as_deref().is_none_or(|end| is(order.compare_internal(key, end)))
        };
        if is(&self.smallest, Ordering::is_lt) {
            self.smallest = Some(key.to_vec());
        }
        if is(&self.largest, Ordering::is_gt) {
            self.largest = Some(key.to_vec());
        }
    }
}

pub(in crate::repair) fn options() -> ReadOptions {
    read_options().internal_keys(true)
}

impl SavedTable {
    /// Finds out which parts can be saved. Fails only if the file cannot be read.
    pub(super) fn read<R: ReadAt>(source: R, expected: &Expected<'_>) -> io::Result<Self> {
        let limits = expected.limits;
        let mut table = Self { options: limits.options.clone(), ..Self::default() };
        let is_index = |stored: &Bytes| indexed::is_index(stored, expected.order, limits);
        let footer = footer::find(&source, is_index, &mut table.patches)?;
        let (index, metaindex) = match footer {
            Some(footer) => (Some(footer.index), Some(footer.metaindex)),
            None => {
                table.carved = Some("footer or index is lost".to_owned());
                let found = carved::Carved::find(&source, expected)?;
                let parts = (found.index(&source, limits), found.metaindex);
                if parts.0.is_none() {
                    carved::read(&source, found, expected, &mut table)?;
                }
                parts
            }
        };
        if let Some(index) = index {
            indexed::read(&source, index, expected, &mut table)?;
        }
        if table.facts.unsorted == Some(Unsorted::Throughout) {
            table.lost.iter_mut().for_each(|range| (range.low, range.high) = (None, None));
        }
        if let Some(metaindex) = metaindex {
            table.read_filters(&source, metaindex)?;
        }
        Ok(table)
    }

    /// Keeps to the limits: entries stay in memory until they are sorted.
    fn add_partial(&mut self, entries: Vec<PartialEntry>, limits: &Limits) {
        for entry in entries {
            // Twice, because they are not only decoded but also kept.
            let parts = [&entry.key, &entry.value, &entry.key, &entry.value];
            if !parts.into_iter().all(|part| limits.budget.take(part).is_some()) {
                return;
            }
            self.partial.push(entry);
        }
    }

    /// Judges by the sound blocks; `None`: there are none.
    const fn stored(&self) -> Option<Stored> {
        match (self.facts.blocks, self.facts.snappy_blocks) {
            (0, _) => None,
            (_, 0) => Some(Stored::Raw),
            _ => Some(Stored::Snappy),
        }
    }

    /// Nothing can be read of it.
    pub(super) fn missing(record: &LiveTable, why: &str) -> Self {
        let user_key = |key| KeyFormat::LevelDb.user_key(key);
        let range = LostRange {
            low: user_key(&record.smallest).map(Bound::including),
            high: user_key(&record.largest).map(Bound::including),
            bytes: 0..record.size,
            blocks: Vec::new(),
            why: why.to_owned(),
        };
        Self { lost: vec![range], ..Self::default() }
    }

    /// Only a sound table tells which hash its filters are made with.
    fn may_tell_hash(&self) -> bool {
        let is_sound = self.lost.is_empty() && self.patches.is_empty() && self.carved.is_none();
        let is_legacy = self.filters.as_ref().is_some_and(|filters| filters.policy == LEGACY_POLICY_NAME);
        is_sound && is_legacy && self.facts.has_two_hashes
    }

    /// May correct one bit of the metaindex and one of the filter block.
    fn read_filters<R: ReadAt>(&mut self, source: &R, metaindex: BlockHandle) -> io::Result<()> {
        let Some(found) = filters::read(source, metaindex, &mut self.patches, &self.options)? else {
            return Ok(());
        };
        self.filters = Some(found.measures);
        if let Some(reader) = found.reader.as_ref().filter(|_| self.may_tell_hash()) {
            let hash = filters::hash_told(source, self, reader.contents())?;
            self.filters.iter_mut().for_each(|filters| filters.hash = hash);
        }
        if !self.lost.is_empty() {
            self.filter = found.reader;
        }
        if let Some(base_lg) = self.filter.as_ref().map(FilterBlockReader::base_lg) {
            // One block for each filter is enough.
            for range in &mut self.lost {
                if range.blocks.is_empty() {
                    range.blocks = filters::blocks_in(&range.bytes, base_lg);
                }
                range.blocks.dedup_by_key(|offset| offset.checked_shr(base_lg.into()));
            }
        }
        Ok(())
    }
}
