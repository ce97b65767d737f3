//! Reading, verifying and decompressing a block, given its handle.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::meter::Meter;
use super::options::ReadOptions;
use crate::error::IoAction;
use crate::table::block::split_trailer;
use crate::table::block::{Block, Contents, Layout};
use crate::table::codec::{Codec, Limits, decompress};
use crate::table::format::{BlockHandle, TRAILER_LEN};
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// The compression type of contents that are stored as they are.
const UNCOMPRESSED: u8 = 0;

/// The lowest value of `max_block_size`, in bytes, for the limit on the memory of codecs: a lower
/// setting counts as this value there.
const MIN_MEMORY: u64 = 5 << 20;

/// A source, and the options for reading blocks from it.
pub(in crate::table) struct BlockReader<R> {
    pub(in crate::table) source: R,
    pub(in crate::table) file_len: u64,
    pub(in crate::table) verify_checksums: bool,
    pub(in crate::table) max_block_size: usize,
    pub(in crate::table) meter: Option<Arc<Meter>>,
}

/// The location of a block with its trailer, which is known to end within the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::table) struct Span {
    pub(in crate::table) offset: u64,
    pub(in crate::table) len: usize,
}

impl Span {
    /// The offset after the trailer. The sum cannot wrap, since the span ends within the file.
    pub(in crate::table) fn end(self) -> u64 {
        self.offset.saturating_add(self.len as u64)
    }

    pub(in crate::table) fn overlaps(self, other: Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

/// The contents of a block, in their source's own memory.
///
/// Counting a reference takes a locked instruction, which no later load overtakes. Here, no reference is counted until
/// a value is found, so that the next lookup's loads can start while this lookup waits for memory.
pub(in crate::table) struct InPlace<'s, R> {
    contents: &'s [u8],
    source: &'s R,
    /// The offset of the contents in the file.
    offset: u64,
}

impl<R> Clone for InPlace<'_, R> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<R> AsRef<[u8]> for InPlace<'_, R> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.contents
    }
}

impl<R: ReadAt> Contents for InPlace<'_, R> {
    #[inline]
    fn into_view(self, range: Range<usize>) -> Result<Bytes> {
        let (offset, len) = (self.offset.saturating_add(range.start as u64), range.len());
        read_exactly(self.source, offset, len)
    }
}

/// Reads exactly `len` bytes from `offset`. It is an error if the source returns a different number of bytes.
fn read_exactly(source: &impl ReadAt, offset: u64, len: usize) -> Result<Bytes> {
    let bytes = source.read_at(offset, len).and_then(|bytes| match bytes.len() {
        found if found == len => Ok(bytes),
        found => Err(io::Error::other(format!("the source gave {found} bytes"))),
    });
    bytes.map_err(|error| Error::io(IoAction::Read { len: len as u64 }, offset, error))
}

impl<R: ReadAt> BlockReader<R> {
    pub(in crate::table) fn new(source: R, options: &ReadOptions) -> Result<Self> {
        let file_len = source.len().map_err(|error| Error::io(IoAction::Length, 0, error))?;
        Ok(Self {
            source,
            file_len,
            verify_checksums: options.verify_checksums,
            max_block_size: options.max_block_size,
            meter: options.meter.clone(),
        })
    }

    /// The same reader, whose type does not depend on the source's: what it is for is compiled once.
    pub(in crate::table) fn erased(&self) -> BlockReader<&dyn ReadAt> {
        let Self { file_len, verify_checksums, max_block_size, .. } = *self;
        BlockReader {
            source: &self.source,
            file_len,
            verify_checksums,
            max_block_size,
            meter: self.meter.clone(),
        }
    }

    /// Reads exactly `len` bytes from `offset`. It is an error if the source returns a different
    /// number of bytes.
    pub(in crate::table) fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        if let Some(meter) = &self.meter {
            meter.count_read(len);
        }
        read_exactly(&self.source, offset, len)
    }

    /// The span of the block at `handle`, or an error if it reaches beyond the file. `at` is the
    /// offset of the handle itself, for messages.
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

    /// The memory left for a block, stored and decompressed together, in bytes. The limit is
    /// `files` times the file's size plus one block of `max_block_size`, less the `resident` bytes
    /// of other blocks.
    ///
    /// Opening counts the file's size once, and leaves the same amount again to the data block that
    /// is read later. Sound blocks do not overlap, so only a file that decompresses to far more
    /// than its size can exceed this limit.
    pub(in crate::table) fn memory_budget(&self, files: u64, resident: usize) -> u64 {
        let all = self.file_len.saturating_mul(files).saturating_add(self.max_block_size as u64);
        all.saturating_sub(resident as u64)
    }

    /// Verifies and decompresses a block that was read with its trailer. Returns its contents and
    /// their codec. The stored block and the contents together take at most `room` bytes. The memory
    /// of `buffer` may be used for the contents.
    #[inline]
    pub(in crate::table) fn decode(
        &self,
        mut stored: Bytes,
        offset: u64,
        room: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(Bytes, Codec)> {
        let (contents, compression) = self.verify(&stored, offset, room)?;
        stored.truncate(contents.len());
        if compression != UNCOMPRESSED {
            return self.decompress(stored, compression, offset, room, buffer);
        }
        self.count_decoded(stored.len() as u64);
        // If `buffer` were kept as well, the block could take more than `room`.
        *buffer = Vec::new();
        Ok((stored, Codec::None))
    }

    /// Verifies a block that was read with its trailer. Returns its contents as stored, and the compression type.
    #[inline]
    fn verify<'s>(&self, stored: &'s [u8], offset: u64, room: u64) -> Result<(&'s [u8], u8)> {
        let found = stored.len() as u64;
        if found > room {
            return Err(Error::Limit { what: "block", offset, limit: room, found });
        }
        split_trailer(stored, offset, self.verify_checksums)
    }

    /// Verifies an uncompressed block that was read with its trailer, and returns its contents. Returns `None`, and
    /// verifies nothing, if the block is compressed.
    #[inline]
    pub(in crate::table) fn plain<'s>(
        &self,
        stored: &'s [u8],
        offset: u64,
        room: u64,
    ) -> Result<Option<&'s [u8]>> {
        if !is_plain(stored) {
            return Ok(None);
        }
        let (contents, _) = self.verify(stored, offset, room)?;
        self.count_decoded(contents.len() as u64);
        Ok(Some(contents))
    }

    #[inline]
    fn count_decoded(&self, bytes: u64) {
        if let Some(meter) = &self.meter {
            meter.count_decoded(bytes);
        }
    }

    #[inline(never)]
    fn decompress(
        &self,
        stored: Bytes,
        compression: u8,
        offset: u64,
        room: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(Bytes, Codec)> {
        let limit = self.max_block_size as u64;
        // The stored block counts with its trailer.
        let left = room.saturating_sub(stored.len() as u64).saturating_sub(TRAILER_LEN as u64);
        let memory = left.saturating_add(MIN_MEMORY.saturating_sub(limit));
        let limits = Limits { contents: left.min(limit), memory };
        let mut made = 0;
        let result = decompress(compression, stored, offset, limits, buffer, &mut made);
        self.count_decoded(made);
        result
    }

    /// Decodes a block of entries that was read with its trailer. A key that has to be put together
    /// may take the rest of `room`.
    pub(in crate::table) fn entries(
        &self,
        stored: Bytes,
        offset: u64,
        room: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Block> {
        let stored_len = stored.len();
        let (contents, codec) = self.decode(stored, offset, room, buffer)?;
        let max_key = max_key(room, stored_len, contents.len());
        Ok(Block::new(contents, offset)?.with_codec(codec).with_max_key(max_key))
    }

    /// Returns true if the source has the block in memory and the block is not compressed.
    #[inline]
    pub(in crate::table) fn shows(&self, span: Span) -> bool {
        self.shown(span).is_some()
    }

    #[inline(always)]
    fn shown(&self, span: Span) -> Option<&[u8]> {
        let stored = self.source.slice_at(span.offset, span.len)?;
        (<[u8]>::len(stored) == span.len && is_plain(stored)).then_some(stored)
    }

    /// The block at `span`, in place. `None` if the source does not have the block in memory, or if the block is
    /// compressed. The block may take up to `room` bytes.
    #[inline]
    pub(in crate::table) fn in_place(&self, span: Span, room: u64) -> Result<Option<Block<InPlace<'_, R>>>> {
        let Some(stored) = self.shown(span) else { return Ok(None) };
        if let Some(meter) = &self.meter {
            meter.count_read(span.len);
        }
        let Some(contents) = self.plain(stored, span.offset, room)? else { return Ok(None) };
        let layout = Layout::of(contents, span.offset)?;
        let max_key = max_key(room, span.len, contents.len());
        let contents = InPlace { contents, source: &self.source, offset: span.offset };
        Ok(Some(Block::with_layout(contents, span.offset, layout).with_max_key(max_key)))
    }

    /// Reads and decodes a data block, in the buffer of `before` if possible. Stored and
    /// decompressed together, the block may take up to `room` bytes.
    pub(in crate::table) fn block(&self, span: Span, room: u64, before: Block) -> Result<Block> {
        let mut buffer = before.into_buffer();
        let stored = self.read(span.offset, span.len)?;
        self.entries(stored, span.offset, room, &mut buffer)
    }

    /// Reads the compression type of a block, from its trailer alone.
    pub(in crate::table) fn compression(&self, span: Span) -> Result<u8> {
        let trailer = self.read(span.end().saturating_sub(TRAILER_LEN as u64), TRAILER_LEN)?;
        split_trailer(&trailer, span.offset, false).map(|(_, compression)| compression)
    }
}

/// The greatest length of a key that is put together: what a block, stored and decompressed, leaves of `room`.
#[inline]
pub(in crate::table) fn max_key(room: u64, stored_len: usize, contents_len: usize) -> usize {
    let left = room.saturating_sub(stored_len as u64).saturating_sub(contents_len as u64);
    usize::try_from(left).unwrap_or(usize::MAX)
}

/// True if a block that was read with its trailer is not compressed.
#[inline]
fn is_plain(stored: &[u8]) -> bool {
    stored.iter().nth_back(TRAILER_LEN - 1) == Some(&UNCOMPRESSED)
}
