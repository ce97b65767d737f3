//! The parts of a decoded block.

use crate::bytes::coding::fixed32_at;
use crate::{Error, Result, Structure};

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
