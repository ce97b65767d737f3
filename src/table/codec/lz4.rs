//! LZ4 as Basho's LevelDB stores it: `[length of the contents: fixed32][LZ4 block]`.

use super::Codec;
use super::decompress::too_long;
use crate::Result;
use crate::bytes::coding::fixed32_at;

/// An upper bound on the expansion of an LZ4 block: at best, one byte stands for 255.
const MAX_EXPANSION: u64 = 255;

const PREFIX_LEN: usize = 4;

/// Decodes into a buffer that is allocated once, after checking that the declared length is within
/// `max_len` and within what the data can hold.
pub(super) fn decode(stored: &[u8], offset: u64, max_len: u64, made: &mut u64) -> Result<Vec<u8>> {
    let corrupt = |found: String| Codec::Lz4.not_data(offset, found);
    let (Some(len), Some(block)) = (fixed32_at(stored, 0), stored.get(PREFIX_LEN..)) else {
        return Err(corrupt(format!("{} bytes", stored.len())));
    };
    let possible = (block.len() as u64).saturating_mul(MAX_EXPANSION);
    if u64::from(len) > possible {
        return Err(corrupt(format!("a declared length of {len} for {} bytes", block.len())));
    }
    if u64::from(len) > max_len {
        return Err(too_long(offset, max_len, u64::from(len)));
    }
    *made = made.saturating_add(u64::from(len));
    let mut contents = vec![0; len as usize];
    match lz4_flex::block::decompress_into(block, &mut contents) {
        Ok(written) if written == contents.len() => Ok(contents),
        Ok(written) => Err(corrupt(format!("{written} bytes, with a declared length of {len}"))),
        Err(error) => Err(corrupt(error.to_string())),
    }
}
