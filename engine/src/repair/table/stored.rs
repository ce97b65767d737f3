//! Blocks as they are stored: with their checksums, and one bit corrected.

use std::io;

use bytes::Bytes;
use filterblock::KeyFormat;
use filterblock::table::{BlockCursor, BlockHandle, Codec, ReadAt};

use super::{Facts, options};
use crate::audit::correct::{WrongBit, stored_crc, wrong_bits};
use crate::repair::order::Order;
use crate::repair::patched::{Patch, Patched};

/// The length of the type and the checksum after a block.
pub(super) const TRAILER: usize = 5;
/// The greatest type in internal keys: values.
const VALUE: u64 = 1;

/// Reads the block at `handle` with its trailer. `None`: it reaches beyond the file.
pub(super) fn read<R: ReadAt>(
    source: &R,
    handle: BlockHandle,
    patches: &[Patch],
) -> io::Result<Option<Bytes>> {
    let Some(end) = handle.end().filter(|&end| source.len().is_ok_and(|len| end <= len)) else {
        return Ok(None);
    };
    let Ok(len) = usize::try_from(end - handle.offset) else { return Ok(None) };
    Patched::new(source, patches).read_at(handle.offset, len).map(Some)
}

/// Splits a stored block into the bytes under its checksum, and the checksum.
fn split(stored: &[u8]) -> Option<(&[u8], u32)> {
    let (data, crc) = stored.split_last_chunk::<4>()?;
    Some((data, u32::from_le_bytes(*crc)))
}

pub(super) fn is_sound(stored: &[u8]) -> bool {
    split(stored).is_some_and(|(data, crc)| stored_crc(data) == crc)
}

/// Reads the block at `handle`, and returns the result of `accept` for it. If its checksum is wrong, one bit is
/// corrected, provided that `accept` returns `Some` for exactly one such correction.
pub(super) fn accept<R: ReadAt, T>(
    source: &R,
    handle: BlockHandle,
    patches: &mut Vec<Patch>,
    mut accept: impl FnMut(&Bytes) -> Option<T>,
) -> io::Result<Option<T>> {
    let Some(stored) = read(source, handle, patches)? else { return Ok(None) };
    if is_sound(&stored) {
        return Ok(accept(&stored));
    }
    let Some((data, crc)) = split(&stored) else { return Ok(None) };
    let mut found = Vec::new();
    for bit in wrong_bits(data, crc) {
        let (at, mask) = match bit {
            WrongBit::Data { at, mask } => (at, mask),
            WrongBit::Checksum { at, mask } => (data.len().saturating_add(at), mask),
        };
        let mut right = stored.to_vec();
        if let Some(byte) = right.get_mut(at) {
            *byte ^= mask;
        }
        if let Some(accepted) = accept(&right.into()) {
            found.push((accepted, Patch { offset: handle.offset.saturating_add(at as u64), mask }));
        }
    }
    // With two possible corrections, none is certain.
    Ok(match found.pop() {
        Some((accepted, patch)) if found.is_empty() => {
            patches.push(patch);
            Some(accepted)
        }
        _ => None,
    })
}

/// The bounds of the keys of a block.
pub(super) struct Between<'b> {
    pub(super) order: &'b Order,
    /// An internal key or a separator, which all keys follow; `None`: no bound.
    pub(super) after: Option<&'b [u8]>,
    /// A separator or an internal key, which no key follows; `None`: no bound.
    pub(super) up_to: Option<&'b [u8]>,
}

/// Reads all entries of a stored block whose checksum is right. `None`: they are not entries of a database,
/// or not in order.
pub(super) fn facts(stored: &Bytes, between: &Between<'_>) -> Option<Facts> {
    let mut entries = entries(stored)?;
    let order = between.order;
    let mut facts = Facts { block_bytes: entries.size() as u64, ..Facts::default() };
    facts.snappy_blocks = u64::from(entries.codec() == Codec::Snappy);
    let mut last = between.after.map(<[u8]>::to_vec);
    while entries.next().ok()? {
        let key = entries.key();
        let (user_key, tag) = KeyFormat::LevelDb.split(key)?;
        if tag & 0xff > VALUE || last.as_ref().is_some_and(|last| order.compare_internal(last, key).is_ge()) {
            return None;
        }
        facts.entries = facts.entries.saturating_add(1);
        facts.last_sequence = facts.last_sequence.max(tag >> 8);
        facts.has_ambiguous_keys |= !order.can_be_filtered(user_key);
        if facts.smallest.is_none() {
            facts.smallest = Some(key.to_vec());
        }
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
    }
    facts.largest = last.filter(|_| facts.entries > 0);
    let ends = facts.largest.as_deref().zip(between.up_to);
    if ends.is_some_and(|(largest, up_to)| order.compare_internal(largest, up_to).is_gt()) {
        return None;
    }
    Some(facts)
}

/// The entries of a stored block, whose checksum is known to be right.
pub(super) fn entries(stored: &Bytes) -> Option<BlockCursor<'static>> {
    let size = stored.len().checked_sub(TRAILER)?;
    let handle = BlockHandle { offset: 0, size: size as u64 };
    BlockCursor::read(stored.clone(), handle, &options().verify_checksums(false)).ok()
}
