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
use super::order::Order;
use super::patched::Patch;
use crate::audit::correct::{Budget, footer};
use crate::audit::{decode_limit, decode_limit_text, read_options};
use partial::Stored;

pub(super) use cursor::TableCursor;
pub(super) use filters::FilterMeasures;
pub(super) use partial::PartialEntry;
pub(super) use stored::split;

/// The facts about a table that are known before it is read.
pub(super) struct Expected<'e> {
    pub(super) order: &'e Order,
    /// The table's record in a MANIFEST, if there is one.
    pub(super) record: Option<&'e LiveTable>,
    pub(super) limits: &'e Limits,
}

/// The limits on the work that a table may cause while it is looked at.
pub(super) struct Limits {
    pub(super) options: ReadOptions,
    pub(super) budget: Budget,
}

impl Limits {
    /// The limits for a table of this size. `max_output`: the bytes of blocks and keys that may be decoded;
    /// `None`: the default of all commands.
    pub(super) fn new(max_output: Option<u64>, file_size: u64) -> Self {
        let budget = Budget::new(decode_limit(max_output, file_size));
        let mut options = budget.options(&options());
        if let Some(bytes) = max_output {
            options = options.max_block_size(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        Self { options, budget }
    }

    /// The reason why blocks are lost: `why`, unless the limit is exceeded.
    fn why_lost(&self, why: &str) -> String {
        match self.budget.is_spent() {
            true => format!("expected {}, found more", decode_limit_text(self.budget.limit())),
            false => why.to_owned(),
        }
    }
}

/// The parts of a table that can be salvaged.
#[derive(Default)]
pub(super) struct SavedTable {
    /// The options for reading the table's blocks again.
    pub(super) options: ReadOptions,
    /// Wrong bits that are corrected.
    pub(super) patches: Vec<Patch>,
    pub(super) blocks: Blocks,
    pub(super) lost: Vec<LostRange>,
    /// Entries of blocks that are only partly there. No checksum covers them.
    pub(super) partial: Vec<PartialEntry>,
    /// The number of entries that were in `partial` before the survey took them out.
    pub(super) saved_partly: u64,
    /// The reason why blocks were searched for without the footer; `None`: the footer leads to an index.
    pub(super) carved: Option<String>,
    /// The file ends within the table, after all blocks that were read, as the file of a writer that was stopped does.
    pub(super) is_cut_off: bool,
    pub(super) facts: Facts,
    pub(super) filters: Option<FilterMeasures>,
    /// The table's filters, if they are sound and blocks are lost.
    pub(super) filter: Option<FilterBlockReader<SharedPolicy>>,
}

/// The places of the sound data blocks.
pub(super) enum Blocks {
    /// The index names the blocks. `lost`: the numbers of its entries for lost blocks, in ascending order.
    /// `count`: the number of entries that were looked at.
    Indexed { index: BlockHandle, lost: Vec<u64>, count: u64 },
    /// The blocks that were found by their checksums, in the order of the file.
    Found(Vec<BlockHandle>),
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Found(Vec::new())
    }
}

/// Facts about the contents of the sound blocks.
#[derive(Clone, Default, Debug)]
pub(super) struct Facts {
    pub(super) blocks: u64,
    pub(super) entries: u64,
    /// The size of the blocks, decompressed, in bytes.
    pub(super) block_bytes: u64,
    pub(super) snappy_blocks: u64,
    /// The first internal key. `None`: there are no entries.
    pub(super) smallest: Option<Vec<u8>>,
    /// The last internal key. `None`: there are no entries.
    pub(super) largest: Option<Vec<u8>>,
    pub(super) last_sequence: u64,
    /// The comparator may treat keys with other bytes as equal to one of these keys.
    pub(super) has_ambiguous_keys: bool,
    /// The order of the entries is not that of their keys. `None`: they are in order.
    pub(super) unsorted: Option<Unsorted>,
    /// The number of entries that are left out, as their keys are none of a database.
    pub(super) left_out: u64,
}

/// How far the entries of a table are from being in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Unsorted {
    /// They are in order but for those that are left out.
    LeftOut,
    /// Within blocks, or a whole block is in the place of another. The other blocks' keys are within their bounds.
    InBlocks,
    /// The keys of a block are not within its bounds, so these do not tell which keys other blocks had.
    Throughout,
}

impl Facts {
    fn add(&mut self, block: Self, order: &Order) {
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
    }
}

impl Facts {
    /// Takes account of a key that may be before the smallest or after the largest.
    fn widen(&mut self, key: &[u8], order: &Order) {
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

/// The options for reading tables of a database.
pub(in crate::repair) fn options() -> ReadOptions {
    read_options().internal_keys(true)
}

impl SavedTable {
    /// Reads a table and finds out which parts of it can be salvaged.
    ///
    /// # Errors
    ///
    /// Only if the file cannot be read.
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

    /// Adds entries that no checksum covers, within the limits: they stay in memory until they are sorted.
    fn add_partial(&mut self, entries: Vec<PartialEntry>, limits: &Limits) {
        for entry in entries {
            // Key and value count twice, because they are not only decoded but also kept.
            let parts = [&entry.key, &entry.value, &entry.key, &entry.value];
            if !parts.into_iter().all(|part| limits.budget.take(part).is_some()) {
                return;
            }
            self.partial.push(entry);
        }
    }

    /// The storage format of the table's blocks, according to those that are sound. `None`: there are no
    /// sound blocks.
    const fn stored(&self) -> Option<Stored> {
        match (self.facts.blocks, self.facts.snappy_blocks) {
            (0, _) => None,
            (_, 0) => Some(Stored::Raw),
            _ => Some(Stored::Snappy),
        }
    }

    /// A table of which nothing can be read, for the reason `why`.
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

    /// Looks at the filters. One bit of the metaindex and one of the filter block may be corrected.
    fn read_filters<R: ReadAt>(&mut self, source: &R, metaindex: BlockHandle) -> io::Result<()> {
        let Some(found) = filters::read(source, metaindex, &mut self.patches, &self.options)? else {
            return Ok(());
        };
        self.filters = Some(found.measures);
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
