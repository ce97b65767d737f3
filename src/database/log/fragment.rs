//! The framing of records in logs and MANIFESTs (LevelDB's `db/log_format.h`).
//!
//! ```text
//! file       [block: 32 KiB]* [block: shorter]
//! block      [fragment]* [fewer than 7 bytes that mean nothing]
//! fragment   [masked CRC-32C of type and data: fixed32][length of data: fixed16][type: 1][data]
//! ```
//!
//! A record is one FULL fragment (type 1), or one FIRST (2), any number of MIDDLE (3) and one LAST
//! (4). No fragment crosses the end of a block. Type 0 with length 0 fills space that was reserved
//! and not written.

use crate::bytes::coding::mask;

/// The length of a log's blocks in bytes: 32 KiB. No fragment crosses the end of a block.
pub const LOG_BLOCK_LEN: usize = 32 * 1024;

pub(super) const FULL: u8 = 1;
pub(super) const FIRST: u8 = 2;
pub(super) const MIDDLE: u8 = 3;
pub(super) const LAST: u8 = 4;

/// The first seven bytes of a fragment in a log or a MANIFEST (LevelDB's `db/log_format.h`), whose data follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentHeader {
    /// The masked CRC-32C of the type and the data.
    pub checksum: u32,
    /// The length of the data in bytes.
    pub len: u16,
    /// The type: 1 for a whole record (FULL), 2 for the first part of one (FIRST), 3 for a middle part (MIDDLE), 4 for
    /// the last (LAST). 0 fills space that was reserved and not written.
    pub kind: u8,
}

impl FragmentHeader {
    /// The length of a header in bytes.
    pub const LEN: usize = 7;

    /// Reads the header at the start of `bytes`, or `None` if there are fewer than seven. It may be of any type.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c, d, low, high, kind] = bytes.first_chunk()?;
        let checksum = u32::from_le_bytes([a, b, c, d]);
        Some(Self { checksum, len: u16::from_le_bytes([low, high]), kind })
    }

    /// Returns the bytes of the header.
    #[inline]
    pub const fn encode(self) -> [u8; Self::LEN] {
        let ([a, b, c, d], [low, high]) = (self.checksum.to_le_bytes(), self.len.to_le_bytes());
        [a, b, c, d, low, high, self.kind]
    }

    /// The masked checksum of a fragment of this type with these data, to be compared with `checksum`.
    #[inline]
    pub fn checksum_of(kind: u8, data: &[u8]) -> u32 {
        mask(crc32c::crc32c_append(crc32c::crc32c(&[kind]), data))
    }

    /// Returns `true` for type 0 and length 0: the rest of the block holds no fragments.
    #[inline]
    pub const fn is_blank(self) -> bool {
        self.kind == 0 && self.len == 0
    }
}
