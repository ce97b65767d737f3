//! Tables whose index can be read.

use std::{io, ops::Range};

use bytes::Bytes;
use filterblock::KeyFormat;
use filterblock::table::{BlockHandle, ReadAt};

use super::partial::{self, Stored};
use super::stored::{self, Between};
use super::{Blocks, Expected, Facts, Limits, SavedTable};
use crate::repair::lost::{Bound, LostRange};
use crate::repair::order::Order;

/// A run of blocks that are lost.
struct Run {
    low: Option<Bound>,
    blocks: Vec<BlockHandle>,
    /// The separator of the last block.
    separator: Vec<u8>,
}

/// Reads all data blocks that the index names.
pub(super) fn read<R: ReadAt>(
    source: &R,
    index: BlockHandle,
    expected: &Expected<'_>,
    table: &mut SavedTable,
) -> io::Result<()> {
    let order = expected.order;
    let Some(mut entries) = stored::read(source, index, &table.patches)?
        .and_then(|stored| stored::entries(&stored, &expected.limits.options))
    else {
        // The index does not decode, though its checksum is right.
        let whole = Run::begin(expected, &table.facts).cut_off(expected, 0..source.len()?);
        table.lost.push(whole);
        return Ok(());
    };
    let mut damaged = Vec::new();
    let (mut lost, mut separator, mut run): (Vec<u64>, Option<Vec<u8>>, Option<Run>) =
        (Vec::new(), None, None);
    let (mut end, mut count) = (0, 0);
    for number in 0_u64.. {
        let Ok(true) = entries.next() else { break };
        let Ok(handle) = entries.handle() else { break };
        if expected.limits.budget.take(entries.key()).is_none() {
            let run = run.take().unwrap_or_else(|| Run::begin(expected, &table.facts));
            table.lost.push(run.cut_off(expected, handle.offset..source.len()?));
            break;
        }
        count = number.saturating_add(1);
        let between = Between { order, after: separator.as_deref(), up_to: Some(entries.key()) };
        // No block lies in another one, so each byte is read and decoded once.
        let is_apart = handle.offset >= end;
        let found = match is_apart {
            true => stored::accept(source, handle, &mut table.patches, |stored| {
                stored::facts(stored, &between, expected.limits)
            })?,
            false => None,
        };
        match found {
            Some(facts) => {
                if let Some(run) = run.take() {
                    table.lost.push(run.end(expected, false));
                }
                table.facts.add(facts);
            }
            None => {
                lost.push(number);
                if is_apart {
                    damaged.push((handle, table.facts.largest.clone(), entries.key().to_vec()));
                }
                let run = run.get_or_insert_with(|| Run::begin(expected, &table.facts));
                run.blocks.push(handle);
                run.separator = entries.key().to_vec();
            }
        }
        end = end.max(handle.end().unwrap_or_default());
        let separator = separator.get_or_insert_default();
        separator.clear();
        separator.extend_from_slice(entries.key());
    }
    if let Some(run) = run.take() {
        table.lost.push(run.end(expected, true));
    }
    table.blocks = Blocks::Indexed { index, lost, count };
    for (handle, after, up_to) in damaged {
        let between = Between { order, after: after.as_deref(), up_to: Some(&up_to) };
        save_part(source, handle, &between, expected.limits, table)?;
    }
    Ok(())
}

/// Returns `Some` if the entries of a block are handles under ascending internal keys.
pub(super) fn is_index(stored: &Bytes, order: &Order, limits: &Limits) -> Option<()> {
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
    between: &Between<'_>,
    limits: &Limits,
    table: &mut SavedTable,
) -> io::Result<()> {
    if limits.budget.is_spent() {
        return Ok(());
    }
    let Some(bytes) = stored::read(source, handle, &[])? else { return Ok(()) };
    let Some(damage) = partial::zeroed(&bytes, handle.offset) else { return Ok(()) };
    let Some((contents, trailer)) = bytes.split_at_checked(bytes.len().saturating_sub(stored::TRAILER))
    else {
        return Ok(());
    };
    let stored = match trailer.first() {
        Some(0) if damage.end < contents.len() => Some(Stored::Raw),
        Some(1) => Some(Stored::Snappy),
        _ => table.stored(),
    };
    let Some(stored) = stored else { return Ok(()) };
    table.add_partial(partial::entries(contents, &damage, true, stored, between), limits);
    Ok(())
}

impl Run {
    fn begin(expected: &Expected<'_>, before: &Facts) -> Self {
        let record = expected.record.and_then(|record| KeyFormat::LevelDb.user_key(&record.smallest));
        let low = match &before.largest {
            Some(key) => Bound::behind(key),
            None => record.map(Bound::including),
        };
        Self { low, blocks: Vec::new(), separator: Vec::new() }
    }

    /// The range of all that follows in the table, where the limits are exceeded before the index ends.
    fn cut_off(self, expected: &Expected<'_>, bytes: Range<u64>) -> LostRange {
        let record = expected.record.and_then(|record| KeyFormat::LevelDb.user_key(&record.largest));
        let start = self.blocks.first().map_or(bytes.start, |handle| handle.offset.min(bytes.start));
        let why = expected.limits.why_lost("expected an index that decodes within the limits, found another");
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
            // The last separator may be far after the last key.
            Some(largest) if is_last => Some(Bound::including(largest)),
            _ => Bound::up_to(&self.separator),
        };
        let start = self.blocks.first().map_or(0, |handle| handle.offset);
        let end = self.blocks.last().and_then(BlockHandle::end).unwrap_or(start);
        LostRange {
            low: self.low,
            high,
            bytes: start..end,
            blocks: self.blocks.iter().map(|handle| handle.offset).collect(),
            why: expected.limits.why_lost("expected right checksums and keys in order, found damage"),
        }
    }
}
