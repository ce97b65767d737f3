//! Constants of the format.

use crate::{Error, Result};

/// The base_lg that LevelDB writes: a filter for every 2 KiB of data blocks.
pub const DEFAULT_BASE_LG: u8 = 11;

/// The largest base_lg that divides 64-bit offsets into ranges.
pub(super) const MAX_BASE_LG: u8 = 63;

/// The array's offset and base_lg, behind the array.
pub(super) const TAIL_LEN: usize = 5;

/// Checks that offsets can be divided into ranges of `1 << base_lg` bytes.
pub(crate) fn check_base_lg(base_lg: u8) -> Result<()> {
    if base_lg <= MAX_BASE_LG {
        return Ok(());
    }
    Err(Error::InvalidOption {
        option: "base_lg",
        expected: format!("0 to {MAX_BASE_LG}").into(),
        found: base_lg.to_string().into(),
    })
}
