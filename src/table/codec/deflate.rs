//! Deflate, with or without zlib's header and checksum.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::Codec;
use super::decompress::too_long;
use crate::Result;

/// An upper bound on the expansion of deflate data: at best, two bits stand for 258 bytes.
const MAX_EXPANSION: usize = 1032;

/// The smallest initial length of the buffer, if the limits allow it.
const FIRST_LEN: usize = 4 << 10;

/// Decodes into a buffer that grows with the contents, up to `max_len`. `codec` is [`Codec::Zlib`],
/// whose checksum is verified, or [`Codec::Deflate`].
pub(super) fn decode(
    codec: Codec,
    stored: &[u8],
    offset: u64,
    max_len: u64,
    made: &mut u64,
) -> Result<Vec<u8>> {
    let header = match codec {
        Codec::Zlib => {
            inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_COMPUTE_ADLER32
        }
        _ => 0,
    };
    let flags = header | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let most = usize::try_from(max_len).unwrap_or(usize::MAX);
    let possible = stored.len().saturating_mul(MAX_EXPANSION);
    let mut decoder = DecompressorOxide::new();
    let mut contents = vec![0; most.min(possible).min(FIRST_LEN.max(stored.len().saturating_mul(4)))];
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = stored.get(read..).unwrap_or_default();
        let (status, taken, put_out) = decompress(&mut decoder, rest, &mut contents, written, flags);
        read = read.saturating_add(taken);
        written = written.saturating_add(put_out);
        *made = made.saturating_add(put_out as u64);
        match status {
            TINFLStatus::Done if read < stored.len() => {
                let found = format!("{} bytes behind their end", stored.len().saturating_sub(read));
                return Err(codec.not_data(offset, found));
            }
            TINFLStatus::Done => {
                contents.truncate(written);
                contents.shrink_to_fit();
                return Ok(contents);
            }
            TINFLStatus::HasMoreOutput if contents.len() < most.min(possible) => {
                let len = contents.len().saturating_mul(2).min(most).min(possible);
                contents.reserve_exact(len.saturating_sub(contents.len()));
                contents.resize(len, 0);
            }
            TINFLStatus::HasMoreOutput => {
                return Err(too_long(offset, max_len, max_len.saturating_add(1)));
            }
            TINFLStatus::Adler32Mismatch => return Err(codec.not_data(offset, "a wrong checksum")),
            TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
                return Err(codec.not_data(offset, "an end within them"));
            }
            _ => return Err(codec.not_data(offset, "invalid data")),
        }
    }
}
