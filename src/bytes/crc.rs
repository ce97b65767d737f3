//! CRC-32C as LevelDB stores it (`util/crc32c.h`).

const MASK_DELTA: u32 = 0xa282_ead8;

/// Returns the form of `crc` that is stored: a CRC over bytes that hold their own CRC is weak.
pub(crate) fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}
