//! The data blocks of a table as they are stored, to be copied.

use bytes::Bytes;

use super::Table;
use super::block_reader::{BlockReader, Span};
use super::open::with_max_index_key;
use crate::table::block::{Block, Position, split_trailer};
use crate::table::format::{BlockHandle, Footer};
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// The greatest number of bytes of adjacent blocks to read at once.
const READ_AHEAD: usize = 128 << 10;

/// The blocks of a table as they are stored, with their trailers. All checksums are verified,
/// whatever the table's options say.
///
/// Data blocks have to be end to end from the start of the file, in the order of the index. Thus
/// no block is copied twice, however often the index names it.
pub(in crate::table) struct StoredBlocks<'t, R> {
    table: &'t Table<R>,
    blocks: BlockReader<&'t R>,
    /// The index, read again to verify its checksum, which may not have been verified when the table
    /// was opened.
    index: Block,
    index_stored: Bytes,
    at: Position,
    /// The data block to go on with, if it could not be read yet.
    pending: Option<BlockHandle>,
    /// The end of the data blocks returned so far.
    end: u64,
    /// Bytes that were read ahead, and their offset.
    window: (u64, Bytes),
    read_ahead: usize,
}

impl<'t, R: ReadAt> StoredBlocks<'t, R> {
    /// Reads the index. No data block is read yet.
    pub(in crate::table) fn new(table: &'t Table<R>) -> Result<Self> {
        let blocks = BlockReader {
            source: &table.blocks.source,
            file_len: table.blocks.file_len,
            verify_checksums: true,
            max_block_size: table.blocks.max_block_size,
            meter: table.blocks.meter.clone(),
        };
        let span = blocks.span(table.index.footer.index, footer_offset(&blocks))?;
        let stored = blocks.read(span.offset, span.len)?;
        let room = blocks.memory_budget(2, table.resident_len());
        let index = blocks.entries(stored.clone(), span.offset, room, &mut Vec::new())?;
        let index = with_max_index_key(index, blocks.file_len);
        Ok(Self {
            table,
            blocks,
            index,
            index_stored: stored,
            at: Position::default(),
            pending: None,
            end: 0,
            window: (0, Bytes::new()),
            read_ahead: READ_AHEAD,
        })
    }

    /// Reads and decodes the metaindex.
    pub(in crate::table) fn metaindex(&self) -> Result<Block> {
        let span = self.blocks.span(self.table.index.footer.metaindex, footer_offset(&self.blocks))?;
        self.entries(self.blocks.read(span.offset, span.len)?, span.offset, &mut Vec::new())
    }

    /// The next data block, with its trailer and its offset. `None` after the last block.
    ///
    /// After [`Error::NeedRange`] the call can be repeated.
    pub(in crate::table) fn next(&mut self) -> Result<Option<(u64, Bytes)>> {
        let handle = match self.pending {
            Some(handle) => handle,
            None if !self.at.next(&self.index)? => return Ok(None),
            None => self.at.handle(&self.index)?,
        };
        if handle.offset != self.end {
            return Err(Error::Unsupported {
                what: Structure::Index,
                offset: self.index.offset(),
                expected: format!("data blocks end to end, the next one at offset {}", self.end).into(),
                found: format!("one at offset {}", handle.offset).into(),
            });
        }
        let span = self.blocks.span(handle, self.index.offset())?;
        self.pending = Some(handle);
        let stored = self.read(span)?;
        split_trailer(&stored, span.offset, true)?;
        self.pending = None;
        self.end = span.end();
        Ok(Some((span.offset, stored)))
    }

    /// Decodes a block of entries, in `buffer` if possible.
    pub(in crate::table) fn entries(
        &self,
        stored: Bytes,
        offset: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Block> {
        let resident = self.table.resident_len().saturating_add(self.index.size());
        self.blocks.entries(stored, offset, self.blocks.memory_budget(2, resident), buffer)
    }

    /// The index with its trailer, as stored.
    pub(in crate::table) fn index(&self) -> &[u8] {
        &self.index_stored
    }

    /// Reads a block and, if it is small, the bytes after it in the same read.
    fn read(&mut self, span: Span) -> Result<Bytes> {
        let (start, bytes) = &self.window;
        let from = usize::try_from(span.offset.saturating_sub(*start)).unwrap_or(usize::MAX);
        if span.offset >= *start
            && let Some(stored) = bytes.get(from..from.saturating_add(span.len))
        {
            return Ok(bytes.slice_ref(stored));
        }
        let left = self.blocks.file_len.saturating_sub(span.offset);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(self.read_ahead);
        // A block that is cut off by the window's end is read again, which costs little if blocks
        // are small.
        if span.len <= len / 4 {
            self.window = (0, Bytes::new());
            match self.blocks.read(span.offset, len) {
                Ok(bytes) => {
                    let stored = bytes.slice(..span.len);
                    self.window = (span.offset, bytes);
                    return Ok(stored);
                }
                // The bytes after the block may be to blame, and may not be needed. From now on,
                // each block is read by itself.
                Err(_) => self.read_ahead = 0,
            }
        }
        self.blocks.read(span.offset, span.len)
    }
}

fn footer_offset<R>(blocks: &BlockReader<R>) -> u64 {
    blocks.file_len.saturating_sub(Footer::LEN as u64)
}
