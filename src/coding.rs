//! Checked little-endian and varint integers (LevelDB's `util/coding.cc`).

use byteorder::{ByteOrder, LittleEndian};

/// The 32-bit little-endian integer at `offset`, if all four bytes are there.
pub(crate) fn fixed32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let end = offset.checked_add(4)?;
    bytes.get(offset..end).map(LittleEndian::read_u32)
}
