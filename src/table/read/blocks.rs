//! Walking through individual blocks, entry by entry, to inspect a table.

use std::fmt;
use std::iter::FusedIterator;
use std::path::Path;

use super::block_reader::BlockReader;
use super::{ReadOptions, Table};
use crate::table::block::{Back, Block, Position};
use crate::table::codec::Codec;
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;
use crate::{Error, Result};

/// A cursor over the entries of one block: the index, the metaindex or a data block.
///
/// ```
/// # use filterblock::table::Table;
/// # fn names(table: &Table<Vec<u8>>) -> filterblock::Result<()> {
/// if let Some(mut metaindex) = table.metaindex() {
///     while metaindex.next()? {
///         println!("{}: {:?}", filterblock::escape(metaindex.key()), metaindex.handle()?);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct BlockCursor<'t> {
    block: Block,
    at: Position,
    back: Back,
    path: Option<&'t Path>,
}

impl BlockCursor<'static> {
    /// Reads the block at `handle` of a file from which no table can be opened, for example because
    /// its footer or index is damaged.
    ///
    /// # Errors
    ///
    /// If the block is not within the file, cannot be read or is damaged.
    pub fn read<R: ReadAt>(source: R, handle: BlockHandle, options: &ReadOptions) -> Result<Self> {
        let blocks = BlockReader::new(source, options)?;
        let span = blocks.span(handle, handle.offset)?;
        Ok(Self::new(blocks.block(span, blocks.memory_budget(2, 0), Block::default())?, None))
    }
}

impl<'t> BlockCursor<'t> {
    pub(in crate::table) fn new(block: Block, path: Option<&'t Path>) -> Self {
        Self { block, at: Position::default(), back: Back::default(), path }
    }

    /// A cursor for which a key of more than `max_key` bytes is an error, unless the block stores
    /// it in one piece.
    pub(in crate::table) fn with_max_key(block: Block, path: Option<&'t Path>, max_key: usize) -> Self {
        Self { block, at: Position::with_max_key(max_key), back: Back::default(), path }
    }

    /// Moves on to the block at `handle`, before its first entry. The memory of the previous block
    /// is reused if possible, so for many blocks this is faster than a new cursor for each.
    ///
    /// # Errors
    ///
    /// Those of [`Table::block_cursor`]. The cursor then has no block and no entry.
    pub fn enter<R: ReadAt>(&mut self, table: &'t Table<R>, handle: BlockHandle) -> Result<()> {
        self.at.reset();
        self.back.clear();
        self.path = table.path.as_deref();
        self.block = table.block(handle, std::mem::take(&mut self.block))?;
        Ok(())
    }

    /// The codec that the block turned out to be compressed with.
    pub fn codec(&self) -> Codec {
        self.block.codec()
    }

    /// Moves to the next entry, which is the first one on a new cursor or in a new block. Returns
    /// false if there is none; the cursor is then at no entry.
    ///
    /// This allocates nothing once the buffer for keys has grown.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the entry is damaged, or [`Error::Limit`] if its key has to be put
    /// together and is too long. Later calls return false.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its entries")]
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        match self.at.next(&self.block) {
            Ok(found) => Ok(found),
            Err(error) => Err(self.in_file(error)),
        }
    }

    /// Moves to the previous entry. Returns false if there is none, or if the cursor was at no
    /// entry; the cursor is then at no entry.
    ///
    /// The entries between two restarts are decoded once. This takes 4 bytes for each entry, and a copy
    /// of the part of its key that the next key does not share.
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next).
    pub fn prev(&mut self) -> Result<bool> {
        let moved = self.at.prev(&self.block, &mut self.back);
        moved.map_err(|error| self.in_file(error))
    }

    /// Moves to the block's last entry. Returns false if the block has no entries.
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next).
    pub fn seek_to_last(&mut self) -> Result<bool> {
        let moved = self.at.seek_to_last(&self.block, &mut self.back);
        moved.map_err(|error| self.in_file(error))
    }

    /// The current entry's key, or an empty slice if there is no current entry.
    #[inline]
    pub fn key(&self) -> &[u8] {
        self.at.key(&self.block)
    }

    /// The current entry's value, or an empty slice if there is no current entry.
    #[inline]
    pub fn value(&self) -> &[u8] {
        self.at.value(&self.block)
    }

    /// Decodes the current entry's value as the handle of another block. Values are handles in the
    /// index and the metaindex.
    ///
    /// The handle is not checked against the file: the other block may be outside the file.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the value is not a handle.
    pub fn handle(&self) -> Result<BlockHandle> {
        self.at.handle(&self.block).map_err(|error| self.in_file(error))
    }

    /// The size of the block once decompressed, in bytes.
    pub fn size(&self) -> usize {
        self.block.size()
    }

    #[cold]
    fn in_file(&self, error: Error) -> Error {
        match self.path {
            Some(path) => error.with_path(path),
            None => error,
        }
    }
}

impl fmt::Debug for BlockCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCursor")
            .field("size", &self.size())
            .field("valid", &self.at.valid())
            .field("key_len", &self.key().len())
            .field("value_len", &self.value().len())
            .finish()
    }
}

/// The handles of a table's data blocks, in the order of the index, as
/// [`Table::data_blocks`](crate::table::Table::data_blocks) returns them.
///
/// An entry whose value is not a handle yields an error, and the other handles follow. An entry that
/// is itself damaged yields an error as well, and ends the iterator.
#[derive(Debug)]
pub struct DataBlocks<'t> {
    index: BlockCursor<'t>,
}

impl<'t> DataBlocks<'t> {
    pub(in crate::table) fn new(index: BlockCursor<'t>) -> Self {
        Self { index }
    }
}

impl Iterator for DataBlocks<'_> {
    type Item = Result<BlockHandle>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.index.next() {
            Ok(true) => Some(self.index.handle()),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl FusedIterator for DataBlocks<'_> {}
