//! The five bytes after each block: compression type and masked CRC-32C (LevelDB's
//! `table/format.cc`, `util/crc32c.h`), and the parts of a decoded block.
//!
//! The checksum covers the contents as stored, then the type.

use crate::bytes::coding::{fixed32_at, mask};
use crate::table::format::TRAILER_LEN;
use crate::{Error, Result, Structure};

fn masked_crc(contents: &[u8], compression: u8) -> u32 {
    mask(crc32c::crc32c_append(crc32c::crc32c(contents), &[compression]))
}

/// The trailer of a block with these contents.
pub(crate) fn trailer(contents: &[u8], compression: u8) -> [u8; TRAILER_LEN] {
    let [a, b, c, d] = masked_crc(contents, compression).to_le_bytes();
    [compression, a, b, c, d]
}

/// Splits a block and its trailer, read from `offset` of the file, into contents and compression
/// type. Reads the contents only to verify the checksum.
#[inline]
pub(crate) fn split_trailer(block: &[u8], offset: u64, verify: bool) -> Result<(&[u8], u8)> {
    let Some((contents, &[compression, a, b, c, d])) = block.split_last_chunk::<TRAILER_LEN>() else {
        return Err(too_short(block, offset));
    };
    if verify {
        verify_checksum(contents, compression, u32::from_le_bytes([a, b, c, d]), offset)?;
    }
    Ok((contents, compression))
}

#[cold]
fn too_short(block: &[u8], offset: u64) -> Error {
    Error::corrupt(
        Structure::Table,
        offset,
        format!("a block of at least {TRAILER_LEN} bytes"),
        format!("{} bytes", block.len()),
    )
}

#[inline(never)]
fn verify_checksum(contents: &[u8], compression: u8, stored: u32, offset: u64) -> Result<()> {
    let computed = masked_crc(contents, compression);
    if computed == stored {
        return Ok(());
    }
    let len = contents.len();
    Err(Error::corrupt(
        Structure::Checksum,
        offset.saturating_add(len as u64).saturating_add(1),
        format!("{computed:#010x} for the {len} bytes at offset {offset} and their type {compression}"),
        format!("{stored:#010x}"),
    ))
}

/// The end of the entries in a block's contents, where the restarts begin, and the number of
/// restarts.
#[derive(Clone, Copy)]
pub(in crate::table) struct Layout {
    pub(super) entries_end: usize,
    pub(super) num_restarts: usize,
}

impl Layout {
    /// Checks that the restart array fits, and that the first restart, if there is one, is 0, the
    /// offset of the first entry. Entries and the other restarts are checked when they are used.
    #[inline]
    pub(in crate::table) fn of(data: &[u8], offset: u64) -> Result<Self> {
        let bad =
            |expected: String, found: String| Error::corrupt(Structure::Restarts, offset, expected, found);
        let size = data.len();
        let Some((rest, count)) = data.split_last_chunk() else {
            return Err(bad("a block of at least 4 bytes".into(), format!("{size} bytes")));
        };
        let count = u32::from_le_bytes(*count);
        let num_restarts = count as usize;
        let Some(entries_end) = num_restarts.checked_mul(4).and_then(|len| rest.len().checked_sub(len))
        else {
            let expected = format!("at most {} restarts in {size} bytes", rest.len() / 4);
            return Err(bad(expected, format!("a count of {count}")));
        };
        if num_restarts == 0 {
            // Without restarts a block has no entries, whatever its other bytes are.
            return Ok(Self { entries_end: 0, num_restarts });
        }
        match fixed32_at(data, entries_end) {
            Some(first) if first != 0 => {
                Err(bad("the first restart at byte 0".into(), format!("it at byte {first}")))
            }
            _ => Ok(Self { entries_end, num_restarts }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C, for "123456789", is 0xe3069283. Rotated right by 15 bits it is
    /// 0x2507c60d. Adding 0xa282ead8 gives 0xc78ab0e5.
    #[test]
    fn the_checksum_is_castagnolis_and_masked() {
        assert_eq!(trailer(b"12345678", b'9'), [b'9', 0xe5, 0xb0, 0x8a, 0xc7]);
    }

    #[test]
    fn a_changed_bit_is_found_unless_nobody_looks() {
        let mut block = b"contents".to_vec();
        block.extend(trailer(b"contents", 1));
        assert_eq!(split_trailer(&block, 50, true).unwrap(), (&b"contents"[..], 1));
        for bit in 0..block.len() * 8 {
            let mut damaged = block.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = split_trailer(&damaged, 50, true).unwrap_err();
            assert!(error.to_string().starts_with("block checksum at offset 59: expected 0x"), "{error}");
            assert_eq!(split_trailer(&damaged, 50, false).unwrap().0, &damaged[..8]);
        }
    }

    #[test]
    fn a_block_without_a_trailer_is_refused() {
        for len in 0..TRAILER_LEN {
            let error = split_trailer(&[0; TRAILER_LEN][..len], 50, false).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("table at offset 50: expected a block of at least 5 bytes, found {len} bytes")
            );
        }
        assert!(split_trailer(&[7; TRAILER_LEN], 50, false).unwrap().0.is_empty());
    }
}
