//! Zstandard: one frame.

use std::io::Read;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Codec;
use super::decompress::{Limits, too_long};
use crate::{Error, Result};

/// A window of this size, in bytes, is allowed whatever the limit on the contents, since the
/// decoder's own buffers are of that order.
const MIN_WINDOW: u64 = 128 << 10;

/// The greatest length of the contents of one block of a frame, in bytes.
const BLOCK: u64 = 128 << 10;

/// An upper bound on the memory that the decoder takes in addition to its window, in bytes: a block of
/// 128 KiB, 2^20 literals, some 98,000 sequences of twelve bytes, and tables.
const DECODER: u64 = 5 << 19;

/// Decodes into a buffer that grows with the contents, up to their limit.
///
/// The frame's window, from which data are copied, takes memory too, and grows with the contents. A
/// window larger than both [`MIN_WINDOW`] and the limit on the contents is refused. Contents, window
/// and decoder together stay within the limit on memory. In a frame without a window size, the
/// contents serve as the window, and so take memory twice.
pub(super) fn decode(stored: &[u8], offset: u64, limits: Limits, made: &mut u64) -> Result<Vec<u8>> {
    let max_len = limits.contents;
    let corrupt = |found: String| Codec::Zstd.not_data(offset, found);
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
    // Zero if the frame does not declare its length.
    let declared = decoder.content_size();
    let window = window_buffer_len(declared_window(stored).unwrap_or(declared));
    let max_len = max_len.min(limits.memory.saturating_sub(DECODER).saturating_sub(window));
    if declared > max_len {
        return Err(too_long(offset, max_len, declared));
    }
    let contents = contents(&mut decoder, rest, offset, max_len);
    // In a frame that fails, all blocks count as full, the failing block included.
    let block = declared_window(stored).unwrap_or(declared).clamp(1, BLOCK);
    let failed = || block.saturating_mul((decoder.blocks_decoded() as u64).saturating_add(1));
    *made =
        made.saturating_add(contents.as_ref().map_or_else(|_| failed(), |contents| contents.len() as u64));
    contents
}

/// Decodes the blocks of a frame, which follow its header.
fn contents(decoder: &mut FrameDecoder, mut blocks: &[u8], offset: u64, max_len: u64) -> Result<Vec<u8>> {
    let corrupt = |found: String| Codec::Zstd.not_data(offset, found);
    let declared = decoder.content_size();
    let mut contents = Vec::new();
    loop {
        let finished = decoder
            .decode_blocks(&mut blocks, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|error| corrupt(error.to_string()))?;
        let ready = decoder.can_collect();
        let len = (contents.len() as u64).saturating_add(ready as u64);
        if len > max_len {
            return Err(too_long(offset, max_len, len));
        }
        if declared != 0 && len > declared {
            return Err(corrupt(format!("more than the declared length of {declared}")));
        }
        if len > contents.capacity() as u64 {
            // Doubles the buffer, within the limit.
            let most = if declared == 0 { max_len } else { declared };
            let room = len.saturating_mul(2).min(most) as usize;
            contents.reserve_exact(room.saturating_sub(contents.len()));
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
    match blocks.len() {
        0 => {
            contents.shrink_to_fit();
            Ok(contents)
        }
        len => Err(corrupt(format!("{len} bytes behind its end"))),
    }
}

/// The window size in a frame's header, or `None` if the contents are their own window. `stored`
/// begins with such a header.
fn declared_window(stored: &[u8]) -> Option<u64> {
    let [_, _, _, _, descriptor, window, ..] = *stored else { return None };
    let is_single_segment = descriptor & 0x20 != 0;
    let eighth = 1_u64 << (window >> 3) << 7;
    (!is_single_segment).then_some(eighth.saturating_mul(u64::from(window & 7).saturating_add(8)))
}

/// The length of the decoder's buffer for a window: a power of two, plus two blocks and one byte.
fn window_buffer_len(window: u64) -> u64 {
    window.saturating_sub(BLOCK).next_power_of_two().saturating_add(2 * BLOCK + 1)
}
