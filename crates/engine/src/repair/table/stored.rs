//! The entries of blocks as they are stored.

use std::cmp::Ordering;
use std::io;

use bytes::Bytes;
use filterblock::KeyFormat;
use filterblock::table::{BlockHandle, Codec, ReadAt};

use super::{Facts, Limits, Unsorted};
pub(super) use crate::audit::correct::patched::{TRAILER, accept, entries, is_sound, read};
use crate::audit::has_one_hash;
use crate::repair::lost::{Bound, LostRange};
use crate::repair::order::KeyOrder;
use crate::repair::patched::Patch;
use crate::text::counted;

/// The greatest type of an internal key.
const VALUE: u64 = 1;

pub(super) struct KeyBounds<'b> {
    pub(super) order: &'b KeyOrder,
    /// Exclusive: an internal key or a separator; `None`: no bound.
    pub(super) after: Option<&'b [u8]>,
    /// Inclusive: a separator or an internal key; `None`: no bound.
    pub(super) up_to: Option<&'b [u8]>,
}

#[derive(Default)]
pub(super) struct Contents {
    pub(super) facts: Facts,
    /// Of the keys.
    pub(super) is_within: bool,
    /// Whatever the key is. `None`: there are no entries.
    pub(super) last: Option<Vec<u8>>,
    /// The internal keys before and after all entries that are left out, if any.
    around: (Option<Vec<u8>>, Option<Vec<u8>>),
}

impl Contents {
    const fn is_in_order(&self) -> bool {
        self.is_within && self.facts.unsorted.is_none()
    }

    /// True if `separator` was made for this block: it is the last key, or a shorter one that LevelDB or goleveldb puts
    /// after it.
    pub(super) fn is_named_by(&self, separator: &[u8]) -> bool {
        let Some(last) = &self.last else { return false };
        let user_key = |key| KeyFormat::LevelDb.user_key(key);
        let shortened = user_key(separator).and_then(|key| key.split_last()).zip(user_key(last));
        last == separator
            || shortened.is_some_and(|((end, start), last)| {
                let next = last.strip_prefix(start).and_then(<[u8]>::first);
                next.and_then(|next| next.checked_add(1)) == Some(*end)
            })
    }

    /// Returns the range where entries of the block were left out. `low` and `high`: the bounds of its keys.
    pub(super) fn left_out(
        &self,
        handle: BlockHandle,
        low: Option<Bound>,
        high: Option<Bound>,
    ) -> Option<LostRange> {
        let many = Some(self.facts.left_out).filter(|many| *many > 0)?;
        let (before, after) = &self.around;
        let is_sure = self.facts.unsorted == Some(Unsorted::LeftOut) && self.is_within;
        let beside = |key: &Option<Vec<u8>>| Bound::behind(key.as_deref().filter(|_| is_sure)?);
        Some(LostRange {
            low: beside(before).or(low),
            high: beside(after).or(high),
            bytes: handle.offset..handle.end().unwrap_or(handle.offset),
            blocks: vec![handle.offset],
            why: format!("{} without a valid sequence number and type, left out", counted(many, "key")),
        })
    }
}

/// `None`: the key is none of a database.
pub(in crate::repair) fn split(key: &[u8]) -> Option<(&[u8], u64)> {
    KeyFormat::LevelDb.split(key).filter(|(_, tag)| tag & 0xff <= VALUE)
}

/// Reads a block. With a correct checksum, entries may be in any order. If not, corrects one bit if all entries then
/// are in order and within the bounds. `None`: the block is damaged.
pub(super) fn block<R: ReadAt>(
    source: &R,
    handle: BlockHandle,
    patches: &mut Vec<Patch>,
    between: &KeyBounds<'_>,
    limits: &Limits,
) -> io::Result<Option<Contents>> {
    let Some(stored) = read(source, handle, patches)? else { return Ok(None) };
    if is_sound(&stored) {
        return Ok(contents(&stored, between, limits));
    }
    accept(source, handle, patches, |right| contents(right, between, limits).filter(Contents::is_in_order))
}

/// The checksum is correct. `None`: the block cannot be decoded, or exceeds the limits.
fn contents(stored: &Bytes, between: &KeyBounds<'_>, limits: &Limits) -> Option<Contents> {
    if limits.budget.is_spent() {
        return None;
    }
    let mut entries = entries(stored, &limits.options)?;
    let order = between.order;
    let mut found = Contents::default();
    let facts = &mut found.facts;
    facts.block_bytes = entries.size() as u64;
    facts.snappy_blocks = u64::from(entries.codec() == Codec::Snappy);
    let (mut last, mut is_left_out): (Option<Vec<u8>>, _) = (None, false);
    while entries.next().ok()? {
        let key = entries.key();
        limits.budget.take(key)?;
        let parts = split(key);
        is_left_out = parts.is_none();
        let Some((user_key, tag)) = parts else {
            if facts.left_out == 0 {
                found.around.0.clone_from(&last);
            }
            found.around.1 = None;
            found.last = Some(key.to_vec());
            facts.left_out = facts.left_out.saturating_add(1);
            continue;
        };
        if facts.left_out > 0 && found.around.1.is_none() {
            found.around.1 = Some(key.to_vec());
        }
        facts.entries = facts.entries.saturating_add(1);
        facts.last_sequence = facts.last_sequence.max(tag >> 8);
        facts.has_ambiguous_keys |= !order.can_be_filtered(user_key);
        facts.has_two_hashes |= !has_one_hash(user_key);
        if facts.smallest.is_none() {
            facts.smallest = Some(key.to_vec());
        }
        if last.as_ref().is_some_and(|last| order.compare_internal(last, key).is_ge()) {
            facts.unsorted = Some(Unsorted::InBlocks);
            facts.largest = facts.largest.take().or(last.take());
        }
        if facts.unsorted.is_some() {
            facts.widen(key, order);
        }
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
    }
    facts.unsorted = facts.unsorted.or((facts.left_out > 0).then_some(Unsorted::LeftOut));
    facts.largest = facts.largest.take().or_else(|| last.clone());
    if !is_left_out {
        found.last = last;
    }
    let is = |key: &Option<Vec<u8>>, bound: Option<&[u8]>, is: fn(Ordering) -> bool| {
        key.as_deref().zip(bound).is_none_or(|(key, bound)| is(order.compare_internal(key, bound)))
    };
    found.is_within = is(&facts.smallest, between.after, Ordering::is_gt)
        && is(&facts.largest, between.up_to, Ordering::is_le);
    Some(found)
}
