//! CRC-32C as LevelDB stores it (`util/crc32c.h`).

const MASK_DELTA: u32 = 0xa282_ead8;

/// Masks `crc` for storage. A CRC would be weak if computed over bytes that contain unmasked CRCs.
pub(crate) fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}
