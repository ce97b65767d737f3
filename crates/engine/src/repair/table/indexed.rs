//! Tables whose index can be read.

use std::{collections::BTreeMap, io, ops::Range};

use bytes::Bytes;
use filterblock::KeyFormat;
use filterblock::table::{BlockHandle, ReadAt};

use super::partial::{self, Stored};
use super::stored::{self, KeyBounds};
use super::{Blocks, Expected, Facts, Limits, SavedTable, Unsorted};
use crate::repair::lost::{Bound, LostRange};
use crate::repair::order::KeyOrder;
use crate::text::counted;

/// Consecutive lost blocks.
struct Run {
    low: Option<Bound>,
    blocks: Vec<BlockHandle>,
    /// Of the last block.
    separator: Vec<u8>,
}

/// Reads as far as the index decodes within the limits.
pub(super) fn read<R: ReadAt>(
    source: &R,
    index: BlockHandle,
    expected: &Expected<'_>,
    table: &mut SavedTable,
) -> io::Result<()> {
    let Some(mut entries) = stored::read(source, index, &table.patches)?
        .and_then(|stored| stored::entries(&stored, &expected.limits.options))
    else {
        // The index does not decode, though its checksum is correct.
        let whole = Run::begin(expected, &table.facts, None).cut_off(expected, 0..source.len()?);
        table.lost.push(whole);
        return Ok(());
    };
    let (len, mut walk) = (source.len()?, Walk::default());
    while let Ok(true) = entries.next() {
        let Ok(handle) = entries.handle() else { break };
        if expected.limits.budget.take(entries.key()).is_none() {
            let run = walk.run.take().unwrap_or_else(|| Run::begin(expected, &table.facts, None));
            table.lost.push(run.cut_off(expected, handle.offset..source.len()?));
            break;
        }
        walk.block((source, len), handle, entries.key(), expected, table)?;
    }
    if let Some(run) = walk.run.take() {
        table.lost.push(run.end(expected, true));
    }
    table.blocks = Blocks::Indexed { index, lost: walk.lost, count: walk.count };
    for (handle, after, up_to) in walk.damaged {
        let between = KeyBounds { order: expected.order, after: after.as_deref(), up_to: Some(&up_to) };
        save_part(source, handle, &between, expected.limits, table)?;
    }
    Ok(())
}

#[derive(Default)]
struct Walk {
    /// Those that do not begin before the end of an earlier one, with the largest key before, and their separators.
    damaged: Vec<(BlockHandle, Option<Vec<u8>>, Vec<u8>)>,
    /// By number.
    lost: Vec<u64>,
    /// Of the preceding block.
    separator: Option<Vec<u8>>,
    /// Directly before the next block.
    run: Option<Run>,
    /// By blocks so far.
    taken: Taken,
    /// Blocks so far.
    count: u64,
}

impl Walk {
    /// `up_to`: its separator.
    fn block<R: ReadAt>(
        &mut self,
        (source, len): (&R, u64),
        handle: BlockHandle,
        up_to: &[u8],
        expected: &Expected<'_>,
        table: &mut SavedTable,
    ) -> io::Result<()> {
        let order = expected.order;
        // A separator may be made from a key that is none of a database.
        let is_bound = |separator: &&[u8]| KeyFormat::LevelDb.split(separator).is_some();
        let before = self.separator.as_deref().filter(is_bound);
        let after = before.or(table.facts.largest.as_deref());
        let between = KeyBounds { order, after, up_to: Some(up_to).filter(is_bound) };
        // A block that overlaps an earlier one counts as lost, so that no bytes are read as two blocks.
        let is_apart =
            handle.end().filter(|end| *end <= len).is_none_or(|end| self.taken.add(handle.offset..end));
        let found = match is_apart {
            true => stored::block(source, handle, &mut table.patches, &between, expected.limits)?,
            false => None,
        };
        match found {
            Some(mut found) => {
                if let Some(run) = self.run.take() {
                    table.lost.push(run.end(expected, false));
                }
                let low = before.and_then(|key| KeyFormat::LevelDb.user_key(key)).map(Bound::including);
                table.lost.extend(found.left_out(handle, low, Bound::up_to(up_to)));
                if !found.is_within {
                    let ascends = before.is_none_or(|before| order.compare_internal(before, up_to).is_lt());
                    let is_in_place = found.is_named_by(up_to);
                    found.facts.unsorted = Some(match ascends && !is_in_place {
                        true => Unsorted::InBlocks,
                        false => Unsorted::Throughout,
                    });
                    if !is_in_place {
                        // It is in the place of another, which is lost.
                        let mut run = Run::begin(expected, &table.facts, before);
                        run.blocks.push(handle);
                        run.separator = up_to.to_vec();
                        table.lost.push(run.end(expected, false));
                    }
                }
                table.facts.add(found.facts, order);
            }
            None => {
                self.lost.push(self.count);
                if is_apart {
                    self.damaged.push((handle, table.facts.largest.clone(), up_to.to_vec()));
                }
                let run = self.run.get_or_insert_with(|| Run::begin(expected, &table.facts, before));
                run.blocks.push(handle);
                run.separator = up_to.to_vec();
            }
        }
        let separator = self.separator.get_or_insert_default();
        separator.clear();
        separator.extend_from_slice(up_to);
        self.count = self.count.saturating_add(1);
        Ok(())
    }
}

/// They do not overlap. Adjacent ones are one.
#[derive(Default)]
struct Taken(BTreeMap<u64, u64>);

impl Taken {
    /// False, and not added, if it overlaps an earlier one.
    fn add(&mut self, Range { mut start, mut end }: Range<u64>) -> bool {
        let before = self.0.range(..=start).next_back().map(|(&start, &end)| start..end);
        let after = self.0.range(start..).next().map(|(&start, &end)| start..end);
        if before.as_ref().is_some_and(|it| it.end > start) || after.as_ref().is_some_and(|it| it.start < end)
        {
            return false;
        }
        if let Some(before) = before.filter(|it| it.end == start) {
            start = before.start;
        }
        if let Some(after) = after.filter(|it| it.start == end) {
            self.0.remove(&after.start);
            end = after.end;
        }
        self.0.insert(start, end);
        true
    }
}

/// An index has entries with ascending internal keys and handles of blocks that do not overlap, in the order of the
/// file. `None` also if the budget is spent.
pub(super) fn is_index(stored: &Bytes, order: &KeyOrder, limits: &Limits) -> Option<()> {
    let mut entries = stored::entries(stored, &limits.options)?;
    let (mut last, mut end): (Option<Vec<u8>>, _) = (None, 0);
    while entries.next().ok()? {
        limits.budget.take(entries.key())?;
        let handle = entries.handle().ok()?;
        let ascends = last.as_ref().is_none_or(|last| order.compare_internal(last, entries.key()).is_lt());
        if entries.key().len() < 8 || handle.offset < end || !ascends {
            return None;
        }
        end = handle.end()?;
        last = Some(entries.key().to_vec());
    }
    last.map(|_| ())
}

/// Saves entries of a block with zeroed sectors.
fn save_part<R: ReadAt>(
    source: &R,
    handle: BlockHandle,
    between: &KeyBounds<'_>,
    limits: &Limits,
    table: &mut SavedTable,
) -> io::Result<()> {
    if limits.budget.is_spent() {
        return Ok(());
    }
    let Some(bytes) = stored::read(source, handle, &[])? else { return Ok(()) };
    let damage = partial::zeroed(&bytes, handle.offset);
    let Some(last) = damage.last() else { return Ok(()) };
    let Some((contents, trailer)) = bytes.split_at_checked(bytes.len().saturating_sub(stored::TRAILER))
    else {
        return Ok(());
    };
    let stored = match trailer.first() {
        Some(0) if last.end < contents.len() => Some(Stored::Raw),
        Some(1) => Some(Stored::Snappy),
        _ => table.stored(),
    };
    let Some(stored) = stored else { return Ok(()) };
    table.add_partial(partial::entries(contents, &damage, true, stored, between), limits);
    Ok(())
}

impl Run {
    /// `separator`: of the block before, if known.
    fn begin(expected: &Expected<'_>, before: &Facts, separator: Option<&[u8]>) -> Self {
        let user_key = |key| KeyFormat::LevelDb.user_key(key);
        let record = expected.record.and_then(|record| user_key(&record.smallest));
        let low = match &before.largest {
            // The block with the largest key may be in the place of another.
            Some(_) if before.unsorted.is_some() => separator.and_then(user_key).map(Bound::including),
            Some(key) => Bound::behind(key),
            None => record.map(Bound::including),
        };
        Self { low, blocks: Vec::new(), separator: Vec::new() }
    }

    /// All that follows in the table, if the index does not decode to its end within the limits.
    fn cut_off(self, expected: &Expected<'_>, bytes: Range<u64>) -> LostRange {
        let record = expected.record.and_then(|record| KeyFormat::LevelDb.user_key(&record.largest));
        let start = self.blocks.first().map_or(bytes.start, |handle| handle.offset.min(bytes.start));
        let why = expected.limits.why_lost("the index is damaged");
        LostRange {
            low: self.low,
            high: record.map(Bound::including),
            bytes: start..bytes.end,
            blocks: Vec::new(),
            why,
        }
    }

    fn end(self, expected: &Expected<'_>, is_last: bool) -> LostRange {
        let record = expected.record.and_then(|record| KeyFormat::LevelDb.user_key(&record.largest));
        let high = match record {
            // The last separator may be far after the last key, which the MANIFEST records.
            Some(largest) if is_last => Some(Bound::including(largest)),
            _ => Bound::up_to(&self.separator),
        };
        let start = self.blocks.first().map_or(0, |handle| handle.offset);
        let end = self.blocks.last().and_then(BlockHandle::end).unwrap_or(start);
        let why = match self.blocks.len() {
            0 | 1 => "one block is damaged".to_owned(),
            many => format!("{} are damaged", counted(many as u64, "block")),
        };
        LostRange {
            low: self.low,
            high,
            bytes: start..end,
            blocks: self.blocks.iter().map(|handle| handle.offset).collect(),
            why: expected.limits.why_lost(&why),
        }
    }
}
