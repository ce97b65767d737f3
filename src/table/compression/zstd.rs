//! Zstandard: one frame.

use std::io::Read;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Codec;
use super::read::{not_data, too_long};
use crate::{Error, Result};

/// A window of this size is allowed whatever the limit: the decoder's own buffers are of that order.
const MIN_WINDOW: u64 = 128 << 10;

/// Decodes into a buffer that grows with the contents, at most to `max_len`.
///
/// The frame's window, from which its data are copied, is memory too: one larger than `max_len` is refused. In all, decoding takes up to
/// twice `max_len` and some 500 KiB.
pub(super) fn decode(stored: &[u8], offset: u64, max_len: u64) -> Result<Vec<u8>> {
    let corrupt = |found: String| not_data(Codec::Zstd, offset, found);
    let mut rest = stored;
    let mut decoder = FrameDecoder::new();
    let max_window = max_len.max(MIN_WINDOW);
    decoder.set_max_window_size(max_window);
    decoder.reset(&mut rest).map_err(|error| match error {
        FrameDecoderError::WindowSizeTooBig { requested, .. } => {
            Error::Limit { what: "Zstandard window", offset, limit: max_window, found: requested }
        }
        error => corrupt(error.to_string()),
    })?;
    // Zero where it is not declared.
    let declared = decoder.content_size();
    if declared > max_len {
        return Err(too_long(offset, max_len, declared));
    }
    let mut contents = Vec::new();
    loop {
        let finished = decoder
            .decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|error| corrupt(error.to_string()))?;
        let ready = decoder.can_collect();
        let len = (contents.len() as u64).saturating_add(ready as u64);
        if len > max_len {
            return Err(too_long(offset, max_len, len));
        }
        let read = decoder.by_ref().take(ready as u64).read_to_end(&mut contents);
        read.map_err(|error| corrupt(error.to_string()))?;
        if finished {
            break;
        }
    }
    if declared != 0 && declared != contents.len() as u64 {
        return Err(corrupt(format!("{} bytes, with a declared length of {declared}", contents.len())));
    }
    if let Some(stored) = decoder.get_checksum_from_data()
        && decoder.get_calculated_checksum() != Some(stored)
    {
        return Err(corrupt("a wrong checksum".to_owned()));
    }
    match rest.len() {
        0 => Ok(contents),
        len => Err(corrupt(format!("{len} bytes behind its end"))),
    }
}
