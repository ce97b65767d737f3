//! Checked little-endian and varint integers (LevelDB's `util/coding.cc`), and masked checksums.

use byteorder::{ByteOrder, LittleEndian};

/// Reads the 32-bit little-endian integer at `offset`, if all four bytes are there.
pub(crate) fn fixed32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let end = offset.checked_add(4)?;
    bytes.get(offset..end).map(LittleEndian::read_u32)
}

#[cfg(feature = "table")]
pub use of_tables::*;

/// The part that only tables need.
#[cfg(feature = "table")]
mod of_tables {
    use std::fmt;

    use byteorder::{ByteOrder, LittleEndian};

    /// The length of the longest 32-bit varint.
    pub(crate) const MAX_VARINT32_LEN: usize = 5;
    /// The length of the longest 64-bit varint.
    pub(crate) const MAX_VARINT64_LEN: usize = 10;

    /// Reads the 64-bit little-endian integer at `offset`, if all eight bytes are there.
    #[inline]
    pub(crate) fn fixed64_at(bytes: &[u8], offset: usize) -> Option<u64> {
        let end = offset.checked_add(8)?;
        bytes.get(offset..end).map(LittleEndian::read_u64)
    }

    #[inline]
    pub(crate) fn put_fixed32(dst: &mut Vec<u8>, value: u32) {
        dst.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    pub(crate) fn put_fixed64(dst: &mut Vec<u8>, value: u64) {
        dst.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    pub(crate) fn put_varint32(dst: &mut Vec<u8>, value: u32) {
        put_varint64(dst, u64::from(value));
    }

    #[inline]
    pub(crate) fn put_varint64(dst: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            dst.push(value as u8 | 0x80);
            value >>= 7;
        }
        dst.push(value as u8);
    }

    /// Returns the length in bytes of the varint of `value`.
    pub(crate) fn varint_len(value: u64) -> usize {
        let bits = 64_u32.saturating_sub(value.leading_zeros()).max(1);
        bits.div_ceil(7) as usize
    }

    /// Why bytes are not a varint.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum VarintError {
        /// The bytes end before the varint does.
        Truncated,
        /// The varint continues past the last byte that a varint of this width may have.
        TooLong,
        /// The value has more bits than the integer. LevelDB drops the surplus bits, and continues
        /// with a different number.
        Overflow,
    }

    impl fmt::Display for VarintError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                Self::Truncated => "an end within a varint",
                Self::TooLong => "a varint with too many bytes",
                Self::Overflow => "a varint with too many bits",
            })
        }
    }

    /// Reads the 32-bit varint at the start of `bytes` (`GetVarint32Ptr` in LevelDB's `util/coding.cc`). Returns its
    /// value and its length, 1 to 5 bytes. An encoding longer than necessary is accepted.
    ///
    /// ```
    /// use filterblock::table::{VarintError, get_varint32};
    /// assert_eq!(get_varint32(b"\xac\x02 and more"), Ok((300, 2)));
    /// assert_eq!(get_varint32(b"\xac"), Err(VarintError::Truncated));
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no such varint. [`VarintError::Truncated`]: more bytes could make one.
    #[inline]
    pub fn get_varint32(bytes: &[u8]) -> Result<(u32, usize), VarintError> {
        match *bytes {
            [byte, ..] if byte < 0x80 => Ok((u32::from(byte), 1)),
            _ => {
                let (value, len) = get_long(bytes, MAX_VARINT32_LEN)?;
                Ok((u32::try_from(value).map_err(|_| VarintError::Overflow)?, len))
            }
        }
    }

    /// Reads the 64-bit varint at the start of `bytes`. Returns its value and its length, 1 to 10
    /// bytes. An encoding longer than necessary is accepted.
    #[inline]
    pub(crate) fn get_varint64(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
        match *bytes {
            [byte, ..] if byte < 0x80 => Ok((u64::from(byte), 1)),
            _ => get_short(bytes).map_or_else(|| get_long(bytes, MAX_VARINT64_LEN), Ok),
        }
    }

    /// Reads a varint of up to eight bytes without a branch on its length. Returns `None` if the varint
    /// is longer, or if `bytes` has fewer than eight bytes, even if the varint ends within them.
    #[inline(always)]
    pub(crate) fn get_short(bytes: &[u8]) -> Option<(u64, usize)> {
        let word = u64::from_le_bytes(*bytes.first_chunk()?);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return None;
        }
        // The varint's last byte is the first byte whose highest bit is not set. All bytes after it are cleared.
        let word = word & (ends ^ ends.wrapping_sub(1)) & 0x7f7f_7f7f_7f7f_7f7f;
        // The groups of seven bits are joined: first those of two bytes, then of four, then of all eight.
        let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
        let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
        let word = word & 0x0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4;
        Some((word, (ends.trailing_zeros() as usize / 8).wrapping_add(1)))
    }

    #[inline(never)]
    fn get_long(bytes: &[u8], max_len: usize) -> Result<(u64, usize), VarintError> {
        let mut value = 0;
        for ((len, shift), &byte) in (1..=max_len).zip((0..u64::BITS).step_by(7)).zip(bytes) {
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << shift;
            if shifted >> shift != bits {
                return Err(VarintError::Overflow);
            }
            value |= shifted;
            if byte < 0x80 {
                return Ok((value, len));
            }
        }
        Err(if bytes.len() < max_len { VarintError::Truncated } else { VarintError::TooLong })
    }

    const MASK_DELTA: u32 = 0xa282_ead8;

    /// Masks a CRC-32C for storage (`Mask` in LevelDB's `util/crc32c.h`). A CRC would be weak if computed over bytes that
    /// contain unmasked CRCs. Blocks and fragments of logs store masked ones.
    #[inline]
    pub const fn mask(crc: u32) -> u32 {
        crc.rotate_right(15).wrapping_add(MASK_DELTA)
    }

    /// The CRC-32C that was masked as `masked` (`Unmask` in LevelDB's `util/crc32c.h`).
    #[inline]
    pub const fn unmask(masked: u32) -> u32 {
        masked.wrapping_sub(MASK_DELTA).rotate_left(15)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn varints_of_every_length_come_back() {
            for bits in 0..=64 {
                for value in [(1u128 << bits) - 1, 1u128 << bits, (1u128 << bits) + 1] {
                    let Ok(value) = u64::try_from(value) else { continue };
                    let mut bytes = Vec::new();
                    put_varint64(&mut bytes, value);
                    let needed = (64 - value.leading_zeros()).max(1).div_ceil(7) as usize;
                    assert_eq!((bytes.len(), varint_len(value)), (needed, needed), "{value}");
                    assert_eq!(get_varint64(&bytes), Ok((value, needed)));
                    let narrow = match u32::try_from(value) {
                        Ok(value) => Ok((value, needed)),
                        Err(_) if needed > MAX_VARINT32_LEN => Err(VarintError::TooLong),
                        Err(_) => Err(VarintError::Overflow),
                    };
                    assert_eq!(get_varint32(&bytes), narrow, "{value}");
                    for len in 0..needed {
                        assert_eq!(get_varint64(&bytes[..len]), Err(VarintError::Truncated), "{value}");
                    }
                    for byte in [0, 0x7f, 0x80, 0xff] {
                        bytes.truncate(needed);
                        bytes.extend([byte; 9]);
                        for len in needed..bytes.len() {
                            let read = get_varint64(&bytes[..len]);
                            assert_eq!(read, Ok((value, needed)), "trailing bytes are not looked at");
                        }
                        assert_eq!(get_short(&bytes), (needed <= 8).then_some((value, needed)));
                    }
                }
            }
        }

        #[test]
        fn overlong_varints_are_read_while_the_value_fits() {
            assert_eq!(get_varint64(b"\x81\x80\x00"), Ok((1, 3)));
            assert_eq!(get_varint32(b"\x81\x80\x80\x80\x00"), Ok((1, 5)));
            assert_eq!(get_varint64(&[[0x80; 9].as_slice(), &[0]].concat()), Ok((0, 10)));
            assert_eq!(get_varint64(&[[0xff; 9].as_slice(), &[1]].concat()), Ok((u64::MAX, 10)));
            assert_eq!(get_varint64(&[[0xff; 9].as_slice(), &[2]].concat()), Err(VarintError::Overflow));
            assert_eq!(get_varint32(b"\xff\xff\xff\xff\x0f"), Ok((u32::MAX, 5)));
            assert_eq!(get_varint32(b"\xff\xff\xff\xff\x10"), Err(VarintError::Overflow));
        }

        #[test]
        fn varints_that_do_not_end_in_time_are_refused() {
            assert_eq!(get_varint64(&[0x80; 10]), Err(VarintError::TooLong));
            assert_eq!(get_varint64(&[[0x80; 10].as_slice(), &[0]].concat()), Err(VarintError::TooLong));
            assert_eq!(get_varint32(&[0x80; 5]), Err(VarintError::TooLong));
            assert_eq!(get_varint32(&[0x80; 4]), Err(VarintError::Truncated));
        }

        #[test]
        fn masks_are_undone() {
            for crc in [0, 1, 0x8000_0000, 0x1234_5678, u32::MAX] {
                assert_eq!(unmask(mask(crc)), crc);
                assert_ne!(mask(crc), crc);
            }
        }

        #[test]
        fn fixed_integers_are_little_endian_and_checked() {
            let mut bytes = vec![9];
            put_fixed32(&mut bytes, 0x0403_0201);
            put_fixed64(&mut bytes, 0x0807_0605_0403_0201);
            assert_eq!(bytes, [9, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(fixed64_at(&bytes, 5), Some(0x0807_0605_0403_0201));
            for offset in [6, 13, usize::MAX] {
                assert_eq!(fixed64_at(&bytes, offset), None);
            }
        }
    }
}
