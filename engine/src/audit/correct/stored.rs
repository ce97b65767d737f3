//! Blocks as they are stored, with their checksums; one wrong bit of each can be corrected.

use std::io;

use bytes::Bytes;
use filterblock::table::{BlockCursor, BlockHandle, ReadAt, ReadOptions};

use super::patched::{Patch, Patched};
use super::{corrected, stored_crc};

/// The length of the type and the checksum after a block.
pub(crate) const TRAILER: usize = 5;

/// Reads the block at `handle` with its trailer. `None`: the block reaches beyond the file, or is too large for memory,
/// or the file's length cannot be found.
pub(crate) fn read<R: ReadAt>(
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

pub(crate) fn is_sound(stored: &[u8]) -> bool {
    let parts = stored.split_last_chunk::<4>();
    parts.is_some_and(|(data, crc)| stored_crc(data) == u32::from_le_bytes(*crc))
}

/// Reads the block at `handle`, and returns the result of `accept` for it. If the block's checksum is wrong, the one
/// bit that alone explains that, and whose correction makes `accept` return `Some`, is corrected, and added to
/// `patches`. `None` if [`read`] or `accept` returns `None`, or no such bit is found.
pub(crate) fn accept<R: ReadAt, T>(
    source: &R,
    handle: BlockHandle,
    patches: &mut Vec<Patch>,
    mut accept: impl FnMut(&Bytes) -> Option<T>,
) -> io::Result<Option<T>> {
    let Some(stored) = read(source, handle, patches)? else { return Ok(None) };
    if is_sound(&stored) {
        return Ok(accept(&stored));
    }
    let found = corrected(&stored, |right| accept(&right));
    Ok(found.map(|(accepted, at, mask)| {
        patches.push(Patch { offset: handle.offset.saturating_add(at as u64), mask });
        accepted
    }))
}

/// The entries of a stored block, whose checksum is known to be correct. `None`: the block cannot be decoded.
pub(crate) fn entries(stored: &Bytes, options: &ReadOptions) -> Option<BlockCursor<'static>> {
    let size = stored.len().checked_sub(TRAILER)?;
    let handle = BlockHandle { offset: 0, size: size as u64 };
    BlockCursor::read(stored.clone(), handle, &options.clone().verify_checksums(false)).ok()
}
