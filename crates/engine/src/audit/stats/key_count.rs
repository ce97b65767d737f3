//! The numbers of a table's entries and of its different keys: counted, or estimated from a stratified sample.
//!
//! One block of each of equal parts of the index is decoded; parts are cut in two while the error is large.

use std::{collections::BTreeSet, ops::Range};

use filterblock::Result;
use filterblock::table::{BlockHandle, ReadAt, Table};

use super::block_keys::{BlockKeys, KeyCounter, keys_before};
use super::distinct::KeySketch;
use super::{blocks::Blocks, sample::Sample};
use crate::audit::{rates::mix, reading::decode_limit_of};
use crate::report::{Estimate, KeyCount};

/// Parts of the index to begin with.
const FIRST_PARTS: u64 = 16;
/// Up to this many data blocks without the last, all may be decoded. In larger tables, fewer parts are never good
/// enough, unless [`DECODED_ONE_IN`] allows no more.
const MIN_PARTS: u64 = 64;
const MAX_PARTS: u64 = 1024;
/// One in this many data blocks of a large table is decoded, without the last; at least [`FIRST_PARTS`] blocks.
const DECODED_ONE_IN: u64 = 32;
/// The error, as a share of the estimate, that ends decoding.
const GOOD_ENOUGH: f64 = 0.1;
/// 1.96 would give 95% for the normal distribution. But numbers of keys are skewed, and sampling ends when the error
/// happens to look small.
const STANDARD_ERRORS: f64 = 2.5;
/// Bytes that may be decoded whatever the size of the file. The last block may exceed it.
const MIN_DECODED: u64 = 1 << 20;
/// Further bytes that may be decoded, as a multiple of the file's size.
const FILES_DECODED: u64 = 4;

struct Parts {
    /// Of the index, without the last one.
    entries: u64,
    /// By part: the position of the block chosen, and its counts; `None`: it was not decoded.
    chosen: Vec<(u64, Option<BlockKeys>)>,
}

struct Counter<'a, R> {
    table: &'a Table<R>,
    blocks: &'a mut Blocks,
    sample: &'a Sample,
    keys: KeyCounter,
    /// Of the blocks dealt with so far.
    seen: BTreeSet<u64>,
    /// Bytes that may still be read.
    read_left: u64,
    /// Bytes that may still be decoded.
    decoded_left: u64,
}

#[derive(Default, PartialEq, Debug)]
pub(crate) struct Counts {
    /// `None`: no block was read, or too few could be decoded.
    pub entries: Option<Estimate<u64>>,
    pub distinct_keys: Option<KeyCount>,
    /// `None`: not all keys were seen, or the table has too many data blocks to note them.
    pub seen: Option<KeySketch>,
}

impl Counts {
    /// Decodes up to 1025 data blocks, spread over the index; `sample`: those already decoded. Both counts are `None`
    /// if none of the first 65 can be decoded. Notes damage in `blocks`.
    pub(super) fn estimate<R: ReadAt>(table: &Table<R>, blocks: &mut Blocks, sample: &Sample) -> Self {
        let parts = blocks.entries.saturating_sub(1);
        let most =
            if parts <= MIN_PARTS { parts } else { (parts / DECODED_ONE_IN).clamp(FIRST_PARTS, MAX_PARTS) };
        let decoded = table.file_size().saturating_mul(FILES_DECODED).saturating_add(MIN_DECODED);
        Self::by_parts(table, blocks, sample, [FIRST_PARTS, most.min(MIN_PARTS), most], decoded)
    }

    /// Like [`estimate`](Self::estimate), but decodes all data blocks that the limit allows.
    pub(super) fn count<R: ReadAt>(table: &Table<R>, blocks: &mut Blocks, sample: &Sample) -> Self {
        let parts = blocks.entries.saturating_sub(1);
        let decoded = decode_limit_of(table);
        Self::by_parts(table, blocks, sample, [parts; 3], decoded)
    }

    /// `first`: parts to begin with. `least`: parts with which an estimate may be good. `most`: parts at most.
    fn by_parts<R: ReadAt>(
        table: &Table<R>,
        blocks: &mut Blocks,
        sample: &Sample,
        [first, least, most]: [u64; 3],
        decoded_left: u64,
    ) -> Self {
        let Some(entries) = blocks.entries.checked_sub(1) else {
            let none = blocks.damage.is_none().then(|| Estimate::exact(0));
            return Self::new(none, none, KeyCounter::new(0), true);
        };
        let size = table.file_size();
        let mut counter = Counter {
            table,
            blocks,
            sample,
            keys: sample.keys().clone(),
            seen: BTreeSet::new(),
            read_left: size.saturating_sub(sample.bytes_read()),
            decoded_left,
        };
        // The last block is not like the others: it may not be full.
        let last = counter.keys_at(&[entries]).first().copied().flatten();
        let mut parts = Parts { entries, chosen: Vec::new() };
        let mut number = first.min(most);
        loop {
            parts.refine(number, &mut counter);
            let estimate = |least, of: fn(BlockKeys) -> u64| {
                parts.estimate(last.map(of), counter.blocks.offsets.len(), least, of)
            };
            // A block has at least one entry, but all may be versions of the last key of the block before.
            let (count, keys) = (estimate(1, |block| block.entries), estimate(0, |block| block.keys));
            let is_good = number >= least && count.is_none_or(is_good);
            if is_good || number >= most || counter.decoded_left == 0 || counter.read_left == 0 {
                let is_internal = sample.has_internal_keys(&counter.keys);
                let counts = Self::new(count, keys, counter.keys, is_internal);
                let seen = counts.seen.filter(|_| counter.blocks.damage.is_none());
                return Self { seen, ..counts };
            }
            number = number.saturating_mul(2).min(most);
        }
    }

    /// `keys`: different user keys. If keys are not internal keys, all entries are different.
    pub(super) fn new(
        entries: Option<Estimate<u64>>,
        keys: Option<Estimate<u64>>,
        counter: KeyCounter,
        is_internal: bool,
    ) -> Self {
        let distinct_keys = if is_internal { keys } else { entries };
        let are_all = distinct_keys.is_some_and(|keys| keys.is_exact());
        Self {
            entries,
            distinct_keys: distinct_keys.map(Into::into),
            seen: counter.into_seen(is_internal).filter(|_| are_all),
        }
    }
}

fn is_good(count: Estimate<u64>) -> bool {
    count.high.saturating_sub(count.low) as f64 <= 2.0 * GOOD_ENOUGH * count.value as f64
}

/// The first position of a part, if the index is cut into `number` parts.
fn start_of(part: u64, number: u64, entries: u64) -> u64 {
    let start = u128::from(entries) * u128::from(part) / u128::from(number.max(1));
    u64::try_from(start).unwrap_or(u64::MAX)
}

/// Chooses a block of a part. Each is as likely as any other, but every run chooses the same.
fn position(part: Range<u64>, entries: u64) -> u64 {
    part.start + mix(part.start ^ entries.rotate_left(32)) % (part.end - part.start)
}

/// The blocks that [`Counts::estimate`] begins with: one from each of up to 16 equal parts, and the last. Together they
/// are no larger than the file.
pub(super) fn spread_at_random<R: ReadAt>(table: &Table<R>, blocks: &Blocks) -> Vec<BlockHandle> {
    let Some(entries) = blocks.entries.checked_sub(1) else { return Vec::new() };
    let number = FIRST_PARTS.min(entries);
    let parts = (0..number).map(|part| start_of(part, number, entries)..start_of(part + 1, number, entries));
    let mut positions = parts.map(|part| position(part, entries)).chain([entries]).peekable();
    let (mut left, mut seen, mut chosen) = (table.file_size(), BTreeSet::new(), Vec::new());
    for (at, handle) in (0..).zip(table.data_blocks()) {
        let is_due = positions.next_if_eq(&at).is_some();
        let Ok(handle) = handle else { continue };
        let is_listed = blocks.offsets.contains(handle.offset);
        if is_due && is_listed && handle.size <= left && seen.insert(handle.offset) {
            left -= handle.size;
            chosen.push(handle);
        }
    }
    chosen
}

impl Parts {
    /// Cuts the index into `number` parts. Chooses a block of each, or keeps the one chosen before.
    fn refine<R: ReadAt>(&mut self, number: u64, counter: &mut Counter<'_, R>) {
        let number = number.min(self.entries);
        let mut positions = Vec::new();
        for part in 0..number {
            let (start, end) = (self.start(part, number), self.start(part + 1, number));
            let behind = self.chosen.partition_point(|(at, _)| *at < start);
            if self.chosen.get(behind).is_none_or(|(at, _)| *at >= end) {
                positions.push(position(start..end, self.entries));
            }
        }
        let keys = counter.keys_at(&positions);
        self.chosen.extend(positions.into_iter().zip(keys));
        self.chosen.sort_by_key(|(one, _)| *one);
    }

    fn start(&self, part: u64, number: u64) -> u64 {
        start_of(part, number, self.entries)
    }

    /// Estimates the sum of `of` over all blocks, each at least `least`. `last`: of the last block. `blocks`: fewer
    /// than the index has entries if it is damaged. `None`: of several blocks, none was decoded.
    fn estimate(
        &self,
        last: Option<u64>,
        blocks: u64,
        least: u64,
        of: impl Fn(BlockKeys) -> u64,
    ) -> Option<Estimate<u64>> {
        let chosen = || self.chosen.iter().map(|(_, block)| block.map(&of));
        let found: Vec<u64> = chosen().flatten().chain(last).collect();
        let decoded = found.len() as u64;
        let sum: u64 = found.iter().fold(0, |sum, keys| sum.saturating_add(*keys));
        if decoded == blocks {
            return Some(Estimate::exact(sum));
        }
        let mean = (decoded > 0).then(|| sum as f64 / decoded as f64)?;
        let number = self.chosen.len() as u64;
        let (mut keys, mut variance, mut unknown) = (last.map_or(mean, |last| last as f64), 0.0, 0.0);
        unknown += if last.is_none() { mean } else { 0.0 };
        let mut pair = None;
        for (part, found) in (0..).zip(chosen()) {
            let blocks = (self.start(part + 1, number) - self.start(part, number)) as f64;
            keys += blocks * found.map_or(mean, |found| found as f64);
            let Some(found) = found else {
                unknown += blocks * mean;
                continue;
            };
            // The squared difference of neighbours with the same mean is on average twice the variance of each.
            match pair.take() {
                None => pair = Some((found, blocks)),
                Some((other, other_blocks)) => {
                    let difference = found as f64 - other as f64;
                    let undecoded = (blocks * (blocks - 1.0)).max(other_blocks * (other_blocks - 1.0));
                    variance += difference * difference * undecoded;
                }
            }
        }
        let scale = blocks as f64 / (self.entries as f64 + 1.0);
        // A difference that no decoded block shows is assumed in fewer than one of `number` blocks.
        let rare = if number < self.entries { keys / number.max(1) as f64 } else { 0.0 };
        let error = (STANDARD_ERRORS * variance.sqrt()).max(rare) + unknown;
        let at_least = sum.saturating_add(blocks.saturating_sub(decoded).saturating_mul(least));
        let whole = |value: f64| (value * scale).round().max(0.0) as u64;
        let keys = whole(keys).max(at_least);
        Some(Estimate {
            value: keys,
            low: whole(keys as f64 / scale - error).clamp(at_least.min(keys), keys),
            high: keys.saturating_add(whole(error)),
        })
    }
}

impl<R: ReadAt> Counter<'_, R> {
    /// `positions` in the index are ascending. `None`: no block within the file, or it cannot be decoded, exceeds a
    /// limit, or was counted before.
    fn keys_at(&mut self, positions: &[u64]) -> Vec<Option<BlockKeys>> {
        let mut handles = (0..).zip(self.table.data_blocks());
        let handles: Vec<Option<BlockHandle>> = positions
            .iter()
            .map(|position| {
                let (_, handle) = handles.find(|(at, _)| at == position).unzip();
                let handle = handle.and_then(Result::ok);
                handle.filter(|handle| self.blocks.offsets.contains(handle.offset))
            })
            .collect();
        let mut offsets: Vec<u64> = handles.iter().flatten().map(|handle| handle.offset).collect();
        offsets.sort_unstable();
        let before = keys_before(self.table, &offsets);
        let keys = |handle: Option<BlockHandle>| {
            handle.and_then(|handle| self.keys_of(handle, before.get(&handle.offset).copied()))
        };
        handles.into_iter().map(keys).collect()
    }

    fn keys_of(&mut self, handle: BlockHandle, before: Option<u64>) -> Option<BlockKeys> {
        if !self.seen.insert(handle.offset) {
            return None;
        }
        if let Some(known) = self.sample.keys_of(handle.offset) {
            return known;
        }
        if handle.size > self.read_left || self.decoded_left == 0 {
            return None;
        }
        self.read_left -= handle.size;
        let counted = self.count(handle, before);
        if let Err(error) = &counted {
            self.blocks.damage.note_block(error, handle.offset);
        }
        counted.ok()
    }

    fn count(&mut self, handle: BlockHandle, before: Option<u64>) -> Result<BlockKeys> {
        let mut entries = self.table.block_cursor(handle)?;
        self.decoded_left = self.decoded_left.saturating_sub(entries.size() as u64);
        self.keys.begin();
        while entries.next()? {
            self.keys.add(entries.key(), before);
        }
        Ok(self.keys.end())
    }
}
