//! Constants of the format.

/// The base_lg that LevelDB writes: a filter for every 2 KiB of data blocks.
pub const DEFAULT_BASE_LG: u8 = 11;

/// The largest base_lg that divides 64-bit offsets into ranges.
pub(super) const MAX_BASE_LG: u8 = 63;

/// The array's offset and base_lg, behind the array.
pub(super) const TAIL_LEN: usize = 5;
