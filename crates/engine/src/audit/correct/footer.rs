//! The footer, which has no checksum of its own.

use std::io;

use bytes::Bytes;
use filterblock::table::{BlockHandle, Footer, ReadAt};

use super::patched;
use super::patched::Patch;

/// Bytes whose checksums are tried, as a multiple of the file's length: usually enough for every handle with one bit of
/// the size changed.
const MAX_PASSES: u64 = 8;

pub(crate) fn is_there<R: ReadAt>(source: &R) -> io::Result<bool> {
    let magic = Footer::MAGIC.to_le_bytes();
    let Some(start) = source.len()?.checked_sub(magic.len() as u64) else { return Ok(false) };
    Ok(*source.read_at(start, magic.len())? == magic)
}

/// Corrects one bit of a footer that does not lead to an index and a metaindex with correct checksums. If no bit, or
/// more than one, would do, corrects instead the one bit of the index that makes `is_index` return `Some`. `None`: no
/// index is found.
pub(crate) fn find<R: ReadAt>(
    source: &R,
    is_index: impl FnMut(&Bytes) -> Option<()>,
    patches: &mut Vec<Patch>,
) -> io::Result<Option<Footer>> {
    let len = source.len()?;
    let Some(start) = len.checked_sub(Footer::LEN as u64) else { return Ok(None) };
    let stored = source.read_at(start, Footer::LEN)?;
    let as_it_is = Footer::decode(&stored, start).ok();
    let mut trials = Trials { source, left: len.saturating_mul(MAX_PASSES), known: Vec::new() };
    if let Some(footer) = as_it_is.filter(|footer| trials.leads_on(*footer)) {
        return Ok(Some(footer));
    }
    let mut found = Vec::new();
    for at in 0..Footer::LEN {
        for bit in 0..8 {
            let mut right = stored.to_vec();
            if let Some(byte) = right.get_mut(at) {
                *byte ^= 1 << bit;
            }
            if let Some(footer) = Footer::decode(&right, start).ok().filter(|footer| trials.leads_on(*footer))
            {
                found.push((footer, Patch { offset: start.saturating_add(at as u64), mask: 1 << bit }));
            }
        }
    }
    if let [(footer, patch)] = *found {
        patches.push(patch);
        return Ok(Some(footer));
    }
    // The footer counts as right, so a block that it points to must be damaged.
    let Some(footer) = as_it_is else { return Ok(None) };
    Ok(patched::accept(source, footer.index, patches, is_index)?.map(|()| footer))
}

/// Checks the blocks that changed footers lead to. Most differ in one handle only, so each verdict is remembered.
struct Trials<'s, R> {
    source: &'s R,
    /// Bytes whose checksums may still be tried.
    left: u64,
    known: Vec<(BlockHandle, bool)>,
}

impl<R: ReadAt> Trials<'_, R> {
    fn leads_on(&mut self, footer: Footer) -> bool {
        self.is_sound(footer.index) && self.is_sound(footer.metaindex)
    }

    fn is_sound(&mut self, handle: BlockHandle) -> bool {
        if let Some((_, is_sound)) = self.known.iter().find(|(known, _)| *known == handle) {
            return *is_sound;
        }
        let Some(left) = self.left.checked_sub(handle.size) else { return false };
        let stored = patched::read(self.source, handle, &[]);
        // Even a block without entries has a number of restarts and a trailer.
        let is_sound = matches!(&stored, Ok(Some(stored)) if stored.len() > 8 && patched::is_sound(stored));
        if matches!(stored, Ok(Some(_))) {
            self.left = left;
        }
        self.known.push((handle, is_sound));
        is_sound
    }
}
