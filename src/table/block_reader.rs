//! From a handle to a block's contents: read, verified, decompressed.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::block::Block;
use super::checksum::split_trailer;
use super::compression::{Codec, Limits, decompress};
use super::format::{BlockHandle, TRAILER_LEN};
use super::meter::Meter;
use super::read_at::ReadAt;
use crate::{Error, Result, Structure};

/// Working memory that a codec always gets, even if `max_block_size` is lower.
const MIN_MEMORY: u64 = 5 << 20;

/// A source and what has to be known to read blocks from it.
pub(super) struct BlockReader<R> {
    pub(super) source: R,
    pub(super) file_len: u64,
    pub(super) verify_checksums: bool,
    pub(super) max_block_size: usize,
    pub(super) meter: Option<Arc<Meter>>,
}

/// Where a block and its trailer lie. They are known to end within the file.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) len: usize,
}

impl Span {
    /// Cannot wrap, as the span ends within the file.
    pub(super) fn end(self) -> u64 {
        self.offset.saturating_add(self.len as u64)
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

impl<R: ReadAt> BlockReader<R> {
    /// Exactly `len` bytes from `offset`, or an error; also where the source does not keep to that.
    pub(super) fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        if let Some(meter) = &self.meter {
            meter.count_read(len);
        }
        let bytes = self.source.read_at(offset, len);
        let bytes = bytes.and_then(|bytes| match bytes.len() {
            found if found == len => Ok(bytes),
            found => Err(io::Error::other(format!("the source gave {found} bytes"))),
        });
        bytes.map_err(|error| Error::io(format!("reading {len} bytes"), offset, error))
    }

    /// Where the block of `handle` lies. `at` is where the handle itself is in the file, for messages.
    pub(super) fn span(&self, handle: BlockHandle, at: u64) -> Result<Span> {
        let BlockHandle { offset, size } = handle;
        let len = handle.end().filter(|&end| end <= self.file_len).and(size.checked_add(TRAILER_LEN as u64));
        match len.and_then(|len| usize::try_from(len).ok()) {
            Some(len) => Ok(Span { offset, len }),
            None => Err(Error::corrupt(
                Structure::BlockHandle,
                at,
                format!("a block and {TRAILER_LEN} bytes behind it that end by {}", self.file_len),
                format!("offset {offset} and size {size}"),
            )),
        }
    }

    /// What is left to a block, stored and decompressed, of a limit on memory: `files` times the file and one block
    /// at its limit, less the `held` bytes of other blocks.
    ///
    /// Opening counts on one file and leaves the other to the data block that is read later. As sound blocks do not overlap, only a
    /// small file that decompresses out of all proportion can meet this limit.
    pub(super) fn room(&self, files: u64, held: usize) -> u64 {
        let all = self.file_len.saturating_mul(files).saturating_add(self.max_block_size as u64);
        all.saturating_sub(held as u64)
    }

    /// The contents of a block that was read with its trailer, and what they were compressed with. `buffer` may be taken to hold them.
    pub(super) fn decode(
        &self,
        stored: Bytes,
        offset: u64,
        room: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(Bytes, Codec)> {
        let found = stored.len() as u64;
        let Some(left) = room.checked_sub(found) else {
            return Err(Error::Limit { what: "block", offset, limit: room, found });
        };
        let (stored, compression) = split_trailer(stored, offset, self.verify_checksums)?;
        let limit = self.max_block_size as u64;
        let memory = left.saturating_add(MIN_MEMORY.saturating_sub(limit));
        let limits = Limits { contents: left.min(limit), memory };
        let mut made = 0;
        let result = decompress(compression, stored, offset, limits, buffer, &mut made);
        if let Some(meter) = &self.meter {
            meter.count_decoded(made);
        }
        result
    }

    /// Decodes a block of entries that was read with its trailer. Keys that are put together have what is left of `room`.
    pub(super) fn entries(
        &self,
        stored: Bytes,
        offset: u64,
        room: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Block> {
        let stored_len = stored.len();
        let (contents, codec) = self.decode(stored, offset, room, buffer)?;
        let left = room.saturating_sub(stored_len as u64).saturating_sub(contents.len() as u64);
        let max_key = usize::try_from(left).unwrap_or(usize::MAX);
        Ok(Block::new(contents, offset)?.with_codec(codec).with_max_key(max_key))
    }

    /// Reads and decodes a data block, in the buffer of `before` if possible. `held`: bytes that other
    /// blocks take.
    pub(super) fn block(&self, span: Span, held: usize, before: Block) -> Result<Block> {
        let mut buffer = before.into_memory();
        let stored = self.read(span.offset, span.len)?;
        self.entries(stored, span.offset, self.room(2, held), &mut buffer)
    }

    /// The compression type of a block, from its trailer alone.
    pub(super) fn compression(&self, span: Span) -> Result<u8> {
        let trailer = self.read(span.end().saturating_sub(TRAILER_LEN as u64), TRAILER_LEN)?;
        split_trailer(trailer, span.offset, false).map(|(_, compression)| compression)
    }
}
