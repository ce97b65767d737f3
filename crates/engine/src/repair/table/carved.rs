//! Tables without an index: blocks are found by their checksums.

use std::{io, ops::Range};

use filterblock::KeyFormat;
use filterblock::table::{BlockHandle, ReadAt};

use super::partial::{self, Stored};
use super::stored::{self, KeyBounds};
use super::{Blocks, Expected, Limits, SavedTable, Unsorted, indexed};
use crate::audit::correct::footer;
use crate::audit::scan::carve::{
    finder::{BlockFinder, Region},
    kind::{BlockKind, KnownBlocks},
};
use crate::repair::lost::{Bound, LostRange};

/// Bytes to read of a block whose end is unknown.
const MAX_BEGINNING: u64 = 4 << 20;

pub(super) struct Carved {
    /// In the order of the file.
    stretches: Vec<FileRun>,
    /// The last block that can be an index, judging by its entries.
    index: Option<BlockHandle>,
    pub(super) metaindex: Option<BlockHandle>,
}

enum FileRun {
    Data(BlockHandle),
    Gap(Range<u64>),
}

impl Carved {
    pub(super) fn find<R: ReadAt>(source: &R, expected: &Expected<'_>) -> io::Result<Self> {
        let mut carved = Self { stretches: Vec::new(), index: None, metaindex: None };
        let mut known = KnownBlocks::default();
        let Limits { options, budget } = expected.limits;
        let mut finder = BlockFinder::new(source)?;
        while let Some(stretch) = finder
            .next(|source, handle| !budget.is_spent() && KnownBlocks::is_block(source, handle, options))?
        {
            match stretch {
                Region::Gap(gap) => {
                    known.add_gap(&gap);
                    carved.stretches.push(FileRun::Gap(gap));
                }
                // Blocks in a row are found without decoding them.
                Region::Block(handle) if budget.is_spent() => {
                    let end = handle.end().unwrap_or(handle.offset);
                    carved.stretches.push(FileRun::Gap(handle.offset..end));
                }
                Region::Block(handle) => {
                    match known.kind(source, handle, options) {
                        BlockKind::Data => carved.stretches.push(FileRun::Data(handle)),
                        BlockKind::Handles => carved.add_handles(source, handle, expected)?,
                        BlockKind::Other => {}
                    }
                    known.add(handle);
                }
            }
        }
        Ok(carved)
    }

    fn add_handles<R: ReadAt>(
        &mut self,
        source: &R,
        handle: BlockHandle,
        expected: &Expected<'_>,
    ) -> io::Result<()> {
        let limits = expected.limits;
        let Some(stored) = stored::read(source, handle, &[])? else { return Ok(()) };
        let first = stored::entries(&stored, &limits.options).and_then(|mut entries| {
            entries.next().ok().filter(|found| *found)?;
            Some(entries.key().starts_with(b"filter."))
        });
        match first {
            Some(true) => self.metaindex = Some(handle),
            _ if indexed::is_index(&stored, expected.order, limits).is_some() => self.index = Some(handle),
            _ => {}
        }
        Ok(())
    }

    /// `None`: it does not list all data blocks that were found.
    pub(super) fn index<R: ReadAt>(&self, source: &R, limits: &Limits) -> Option<BlockHandle> {
        let stored = stored::read(source, self.index?, &[]).ok()??;
        let mut entries = stored::entries(&stored, &limits.options)?;
        let data = self.stretches.iter().filter_map(|found| match found {
            FileRun::Data(handle) => Some(*handle),
            FileRun::Gap(_) => None,
        });
        for block in data {
            loop {
                if !entries.next().ok()? {
                    return None;
                }
                if entries.handle().ok()? == block {
                    break;
                }
            }
        }
        self.index
    }
}

/// Blocks that cannot be read, or have no keys of a database, count as lost.
pub(super) fn read<R: ReadAt>(
    source: &R,
    found: Carved,
    expected: &Expected<'_>,
    table: &mut SavedTable,
) -> io::Result<()> {
    let order = expected.order;
    let (mut blocks, mut gap): (Vec<BlockHandle>, Option<Range<u64>>) = (Vec::new(), None);
    let widen = |gap: &mut Option<Range<u64>>, more: Range<u64>| {
        let start = gap.as_ref().map_or(more.start, |gap| gap.start);
        *gap = Some(start..more.end);
    };
    for stretch in found.stretches {
        let handle = match stretch {
            FileRun::Data(handle) => handle,
            FileRun::Gap(range) => {
                widen(&mut gap, range);
                continue;
            }
        };
        let between = KeyBounds { order, after: table.facts.largest.as_deref(), up_to: None };
        let found = stored::block(source, handle, &mut table.patches, &between, expected.limits)?;
        match found.filter(|found| found.facts.entries > 0 || found.facts.left_out == 0) {
            Some(mut found) => {
                if let Some(bytes) = gap.take() {
                    let high =
                        found.facts.smallest.as_deref().and_then(|key| KeyFormat::LevelDb.user_key(key));
                    table.lost.push(lost(table, expected, high.map(Bound::including), bytes));
                }
                let low = table.facts.largest.as_deref().and_then(Bound::behind);
                table.lost.extend(found.left_out(handle, low, None));
                if found.facts.unsorted >= Some(Unsorted::InBlocks) || !found.is_within {
                    found.facts.unsorted = Some(Unsorted::Throughout);
                }
                blocks.push(handle);
                table.facts.add(found.facts, order);
            }
            None => widen(&mut gap, handle.offset..handle.end().unwrap_or(handle.offset)),
        }
    }
    // Without an index, only the last key that a MANIFEST records proves that the table is complete.
    let record = expected.record.and_then(|record| KeyFormat::LevelDb.user_key(&record.largest));
    let is_whole =
        expected.record.is_some_and(|record| table.facts.largest.as_deref() == Some(&*record.largest));
    if !is_whole {
        let len = source.len()?;
        if let Some(gap) = gap.as_ref().filter(|gap| gap.end == len) {
            let is_cut = expected.record.is_none_or(|record| record.size > len);
            save_beginning(source, gap, is_cut, expected, table)?;
        }
        let bytes = gap.map_or(len, |gap| gap.start)..len;
        let is_limited = expected.limits.budget.is_spent();
        table.is_cut_off = table.lost.is_empty() && !is_limited && !footer::is_there(source)?;
        table.lost.push(lost(table, expected, record.map(Bound::including), bytes));
    }
    table.blocks = Blocks::Found(blocks);
    Ok(())
}

/// Saves entries of the block after those that were found, up to zeros or the end of a file that was cut short.
fn save_beginning<R: ReadAt>(
    source: &R,
    gap: &Range<u64>,
    is_cut: bool,
    expected: &Expected<'_>,
    table: &mut SavedTable,
) -> io::Result<()> {
    let len = gap.end.saturating_sub(gap.start).min(MAX_BEGINNING);
    let bytes = source.read_at(gap.start, len as usize)?;
    let end = match partial::zeroed(&bytes, gap.start).first() {
        Some(zeros) => zeros.start,
        None if is_cut => bytes.len(),
        None => return Ok(()),
    };
    let up_to = expected.record.map(|record| &*record.largest);
    let between = KeyBounds { order: expected.order, after: table.facts.largest.as_deref(), up_to };
    // Without a sound block, both storage formats are tried. The wrong one is very unlikely to give internal keys.
    let kinds = table.stored().map_or(vec![Stored::Snappy, Stored::Raw], |stored| vec![stored]);
    let damage = end..bytes.len();
    let damage = std::slice::from_ref(&damage);
    let found = kinds.into_iter().map(|kind| partial::entries(&bytes, damage, false, kind, &between));
    let found = found.max_by_key(Vec::len).unwrap_or_default();
    table.add_partial(found, expected.limits);
    Ok(())
}

fn lost(table: &SavedTable, expected: &Expected<'_>, high: Option<Bound>, bytes: Range<u64>) -> LostRange {
    let record = expected.record.and_then(|record| KeyFormat::LevelDb.user_key(&record.smallest));
    let low = match &table.facts.largest {
        Some(key) => Bound::behind(key),
        None => record.map(Bound::including),
    };
    let why = expected.limits.why_lost("blocks are missing or damaged");
    LostRange { low, high, bytes, blocks: Vec::new(), why }
}
