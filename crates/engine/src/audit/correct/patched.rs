//! A file whose wrong bits are corrected as it is read, and blocks as stored, with their checksums.

use std::io;

use bytes::Bytes;
use filterblock::table::{BlockCursor, BlockHandle, ReadAt, ReadOptions};

use super::{corrected, stored_crc};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Patch {
    /// Of the byte.
    pub(crate) offset: u64,
    pub(crate) mask: u8,
}

/// Reads with the bits of `patches` flipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patched<'p, R> {
    pub(crate) source: R,
    pub(crate) patches: &'p [Patch],
}

impl<R: ReadAt> ReadAt for Patched<'_, R> {
    fn len(&self) -> io::Result<u64> {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let bytes = self.source.read_at(offset, len)?;
        let end = offset.saturating_add(len as u64);
        let mut within = self.patches.iter().filter(|patch| (offset..end).contains(&patch.offset)).peekable();
        if within.peek().is_none() {
            return Ok(bytes);
        }
        let mut bytes = bytes.to_vec();
        for patch in within {
            let at = usize::try_from(patch.offset - offset).unwrap_or(usize::MAX);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= patch.mask;
            }
        }
        Ok(bytes.into())
    }
}

/// The type and the checksum after a block.
pub(crate) const TRAILER: usize = 5;

/// Reads a block with its trailer. `None`: it reaches beyond the file or memory, or the file's length is unknown.
pub(crate) fn read<R: ReadAt>(
    source: &R,
    handle: BlockHandle,
    patches: &[Patch],
) -> io::Result<Option<Bytes>> {
    let Some(end) = handle.end().filter(|&end| source.len().is_ok_and(|len| end <= len)) else {
        return Ok(None);
    };
    let Ok(len) = usize::try_from(end - handle.offset) else { return Ok(None) };
    Patched { source, patches }.read_at(handle.offset, len).map(Some)
}

pub(crate) fn is_sound(stored: &[u8]) -> bool {
    let parts = stored.split_last_chunk::<4>();
    parts.is_some_and(|(data, crc)| stored_crc(data) == u32::from_le_bytes(*crc))
}

/// Returns the result of `accept`. If the checksum is wrong, corrects the one bit that explains it and that `accept`
/// accepts, and adds it to `patches`. `None`: no such bit, or as of [`read`] and `accept`.
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

/// `stored`: with a correct checksum. `None`: it cannot be decoded.
pub(crate) fn entries(stored: &Bytes, options: &ReadOptions) -> Option<BlockCursor<'static>> {
    let size = stored.len().checked_sub(TRAILER)?;
    let handle = BlockHandle { offset: 0, size: size as u64 };
    BlockCursor::read(stored.clone(), handle, &options.clone().verify_checksums(false)).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn bits_are_turned_wherever_reading_begins() {
        let file: Vec<u8> = (0..200).collect();
        let patches =
            [Patch { offset: 0, mask: 1 }, Patch { offset: 77, mask: 0x80 }, Patch { offset: 199, mask: 4 }];
        let mut expected = file.clone();
        expected[0] ^= 1;
        expected[77] ^= 0x80;
        expected[199] ^= 4;
        let patched = Patched { source: &file[..], patches: &patches };
        for start in 0..200 {
            for len in [0, 1, 2, 50, 200 - start] {
                if start + len <= 200 {
                    assert_eq!(patched.read_at(start as u64, len).unwrap(), expected[start..start + len]);
                }
            }
        }
        let mut read = Vec::new();
        crate::walk::Sequential::new(patched).read_to_end(&mut read).unwrap();
        assert_eq!(read, expected);
    }
}
