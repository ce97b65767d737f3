//! From a handle to a block's contents: read, verified, decompressed.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::meter::Meter;
use crate::error::IoAction;
use crate::table::block::Block;
use crate::table::block::split_trailer;
use crate::table::codec::{Codec, Limits, decompress};
use crate::table::format::{BlockHandle, TRAILER_LEN};
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// Working memory that a codec always gets, even if `max_block_size` is lower.
const MIN_MEMORY: u64 = 5 << 20;

/// A source and what has to be known to read blocks from it.
pub(in crate::table) struct BlockReader<R> {
    pub(in crate::table) source: R,
    pub(in crate::table) file_len: u64,
    pub(in crate::table) verify_checksums: bool,
    pub(in crate::table) max_block_size: usize,
    pub(in crate::table) meter: Option<Arc<Meter>>,
}

/// Where a block and its trailer lie. They are known to end within the file.
#[derive(Clone, Copy)]
pub(in crate::table) struct Span {
    pub(in crate::table) offset: u64,
    pub(in crate::table) len: usize,
}

impl Span {
    /// Cannot wrap, as the span ends within the file.
    pub(in crate::table) fn end(self) -> u64 {
        self.offset.saturating_add(self.len as u64)
    }

    pub(in crate::table) fn overlaps(self, other: Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

impl<R: ReadAt> BlockReader<R> {
    /// Exactly `len` bytes from `offset`, or an error; also where the source does not keep to that.
    pub(in crate::table) fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        if let Some(meter) = &self.meter {
            meter.count_read(len);
        }
        let bytes = self.source.read_at(offset, len);
        let bytes = bytes.and_then(|bytes| match bytes.len() {
            found if found == len => Ok(bytes),
            found => Err(io::Error::other(format!("the source gave {found} bytes"))),
        });
        bytes.map_err(|error| Error::io(IoAction::Read { len: len as u64 }, offset, error))
    }

    /// Where the block of `handle` lies. `at` is where the handle itself is in the file, for messages.
    pub(in crate::table) fn span(&self, handle: BlockHandle, at: u64) -> Result<Span> {
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
    /// at its limit, less the `resident` bytes of other blocks.
    ///
    /// Opening counts on one file and leaves the other to the data block that is read later. As sound blocks do not overlap, only a
    /// small file that decompresses out of all proportion can meet this limit.
    pub(in crate::table) fn memory_budget(&self, files: u64, resident: usize) -> u64 {
        let all = self.file_len.saturating_mul(files).saturating_add(self.max_block_size as u64);
        all.saturating_sub(resident as u64)
    }

    /// The contents of a block that was read with its trailer, and what they were compressed with. `buffer` may be taken to hold them.
    pub(in crate::table) fn decode(
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
    pub(in crate::table) fn entries(
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

    /// Reads and decodes a data block, in the buffer of `before` if possible. `resident`: bytes that other
    /// blocks take.
    pub(in crate::table) fn block(&self, span: Span, resident: usize, before: Block) -> Result<Block> {
        let mut buffer = before.into_buffer();
        let stored = self.read(span.offset, span.len)?;
        self.entries(stored, span.offset, self.memory_budget(2, resident), &mut buffer)
    }

    /// The compression type of a block, from its trailer alone.
    pub(in crate::table) fn compression(&self, span: Span) -> Result<u8> {
        let trailer = self.read(span.end().saturating_sub(TRAILER_LEN as u64), TRAILER_LEN)?;
        split_trailer(trailer, span.offset, false).map(|(_, compression)| compression)
    }
}
