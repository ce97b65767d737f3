//! The footer, which has no checksum of its own.

use std::io;

use bytes::Bytes;
use filterblock::table::{BlockHandle, ReadAt};

use super::stored;
use crate::repair::order::Order;
use crate::repair::patched::Patch;

const FOOTER_LEN: usize = 48;
/// The length of the part before the magic number.
const HANDLES_LEN: usize = 40;
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;

/// The blocks to which a footer leads.
#[derive(Clone, Copy)]
pub(super) struct Footer {
    pub(super) metaindex: BlockHandle,
    pub(super) index: BlockHandle,
}

/// Reads the footer. One bit of it may be corrected, so that it leads to an index and a metaindex. `None`: there is no
/// index that can be read.
pub(super) fn find<R: ReadAt>(
    source: &R,
    order: &Order,
    patches: &mut Vec<Patch>,
) -> io::Result<Option<Footer>> {
    let len = source.len()?;
    let Some(start) = len.checked_sub(FOOTER_LEN as u64) else { return Ok(None) };
    let stored = source.read_at(start, FOOTER_LEN)?;
    let as_it_is = decode(&stored);
    if let Some(footer) = as_it_is.filter(|footer| leads_on(source, *footer)) {
        return Ok(Some(footer));
    }
    let mut found = Vec::new();
    for at in 0..FOOTER_LEN {
        for bit in 0..8 {
            let mut right = stored.to_vec();
            if let Some(byte) = right.get_mut(at) {
                *byte ^= 1 << bit;
            }
            if let Some(footer) = decode(&right).filter(|footer| leads_on(source, *footer)) {
                found.push((footer, Patch { offset: start.saturating_add(at as u64), mask: 1 << bit }));
            }
        }
    }
    if let [(footer, patch)] = *found {
        patches.push(patch);
        return Ok(Some(footer));
    }
    // The footer is right, and a block to which it leads is damaged.
    let Some(footer) = as_it_is else { return Ok(None) };
    let mut index_patches = Vec::new();
    let index = stored::accept(source, footer.index, &mut index_patches, |stored| is_index(stored, order))?;
    if index.is_none() {
        return Ok(None);
    }
    patches.extend(index_patches);
    Ok(Some(footer))
}

fn decode(footer: &[u8]) -> Option<Footer> {
    let (handles, magic) = footer.split_at_checked(HANDLES_LEN)?;
    if u64::from_le_bytes(*magic.first_chunk()?) != MAGIC {
        return None;
    }
    let (metaindex, len) = BlockHandle::decode(handles, 0).ok()?;
    let (index, _) = BlockHandle::decode(handles.get(len..)?, 0).ok()?;
    Some(Footer { metaindex, index })
}

/// Returns true if both blocks are there with correct checksums.
fn leads_on<R: ReadAt>(source: &R, footer: Footer) -> bool {
    let is_sound = |handle| {
        // Even a block without entries has a number of restarts and a trailer.
        matches!(stored::read(source, handle, &[]), Ok(Some(stored)) if stored.len() > 8 && stored::is_sound(&stored))
    };
    is_sound(footer.index) && is_sound(footer.metaindex)
}

/// Returns `Some` if the entries of a block are handles under ascending internal keys.
pub(super) fn is_index(stored: &Bytes, order: &Order) -> Option<()> {
    let mut entries = stored::entries(stored)?;
    let (mut last, mut end): (Option<Vec<u8>>, _) = (None, 0);
    while entries.next().ok()? {
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
