//! The five bytes after each block: compression type and masked CRC-32C (LevelDB's
//! `table/format.cc`, `util/crc32c.h`).
//!
//! The checksum covers the contents as stored, then the type.

use bytes::Bytes;

use crate::bytes::crc::mask;
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
/// type. Copies nothing, and reads the contents only to verify the checksum.
pub(crate) fn split_trailer(mut block: Bytes, offset: u64, verify: bool) -> Result<(Bytes, u8)> {
    let Some((contents, &[compression, a, b, c, d])) = block.split_last_chunk::<TRAILER_LEN>() else {
        return Err(Error::corrupt(
            Structure::Table,
            offset,
            format!("a block of at least {TRAILER_LEN} bytes"),
            format!("{} bytes", block.len()),
        ));
    };
    let len = contents.len();
    if verify {
        let stored = u32::from_le_bytes([a, b, c, d]);
        let computed = masked_crc(contents, compression);
        if computed != stored {
            return Err(Error::corrupt(
                Structure::Checksum,
                offset.saturating_add(len as u64).saturating_add(1),
                format!(
                    "{computed:#010x} for the {len} bytes at offset {offset} and their type {compression}"
                ),
                format!("{stored:#010x}"),
            ));
        }
    }
    block.truncate(len);
    Ok((block, compression))
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
        let (contents, compression) = split_trailer(block.clone().into(), 50, true).unwrap();
        assert_eq!((&contents[..], compression), (&b"contents"[..], 1));
        for bit in 0..block.len() * 8 {
            let mut damaged = block.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let damaged = Bytes::from(damaged);
            let error = split_trailer(damaged.clone(), 50, true).unwrap_err();
            assert!(error.to_string().starts_with("block checksum at offset 59: expected 0x"), "{error}");
            assert_eq!(split_trailer(damaged.clone(), 50, false).unwrap().0, damaged[..8]);
        }
    }

    #[test]
    fn a_block_without_a_trailer_is_refused() {
        for len in 0..TRAILER_LEN {
            let error = split_trailer(Bytes::from(vec![0; len]), 50, false).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("table at offset 50: expected a block of at least 5 bytes, found {len} bytes")
            );
        }
        assert!(split_trailer(Bytes::from_static(&[7; TRAILER_LEN]), 50, false).unwrap().0.is_empty());
    }
}
