//! Walking through a table (LevelDB's `table/two_level_iterator.cc`).

use std::fmt;
use std::iter::FusedIterator;

use bytes::Bytes;

use super::Table;
use crate::table::block::Block;
use crate::table::block::Position;
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// Stands at an entry of a table, or nowhere, and goes from entry to entry over the borders of data blocks.
///
/// A new cursor stands before the first entry, so that this walks through the table:
///
/// ```
/// # use filterblock::table::{ReadAt, Table};
/// # fn walk(table: &Table<Vec<u8>>) -> filterblock::Result<()> {
/// let mut cursor = table.cursor();
/// while cursor.next()? {
///     println!("{} bytes: {} bytes", cursor.key().len(), cursor.value().len());
/// }
/// # Ok(())
/// # }
/// ```
///
/// One data block is in memory at a time. Going from entry to entry allocates nothing, once the buffer for keys has
/// grown; each data block takes one read. Filters are not asked.
///
/// After an error, as after the last entry, the cursor stands nowhere until the next seek. After [`Error::NeedRange`] it goes
/// on: once the range is there, the same call does what it would have done.
pub struct Cursor<'t, R> {
    table: &'t Table<R>,
    index: Position,
    /// The data block the cursor is in.
    block: Option<(BlockHandle, Block)>,
    entry: Position,
    /// The data block to go on with, which was not there yet.
    pending: Option<BlockHandle>,
    /// How many bytes have been decoded so far.
    output: u64,
    ended: bool,
}

impl<R: ReadAt> Table<R> {
    /// A cursor before the first entry.
    pub fn cursor(&self) -> Cursor<'_, R> {
        Cursor::new(self)
    }

    /// All entries in the order of the file: key and value.
    ///
    /// Each key is copied, unless it lies whole in the block, and each value is a view that keeps its data
    /// block in memory. A [`Cursor`] does neither.
    pub fn iter(&self) -> Iter<'_, R> {
        Iter::new(self.cursor())
    }
}

impl<'t, R: ReadAt> IntoIterator for &'t Table<R> {
    type Item = Result<(Bytes, Bytes)>;
    type IntoIter = Iter<'t, R>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'t, R: ReadAt> Cursor<'t, R> {
    pub(in crate::table) fn new(table: &'t Table<R>) -> Self {
        Self {
            table,
            index: Position::default(),
            block: None,
            entry: Position::default(),
            pending: None,
            output: 0,
            ended: false,
        }
    }

    /// Goes to the first entry whose key is `key` or after it, in whichever data block that is. False if there is none.
    ///
    /// # Errors
    ///
    /// If a block on the way is damaged or cannot be read, or [`ReadOptions::max_output`](crate::table::ReadOptions::max_output) is exceeded.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        let result = self.try_seek(key);
        // Whoever goes on without seeking again has no place to go on from.
        self.settle(result).inspect_err(|_| self.ended = true)
    }

    /// Goes to the first entry. False if there is none.
    ///
    /// # Errors
    ///
    /// As [`seek`](Self::seek).
    pub fn seek_to_first(&mut self) -> Result<bool> {
        self.index.reset();
        self.block = None;
        self.pending = None;
        self.ended = false;
        self.next()
    }

    /// Goes to the next entry; on a new cursor, to the first. False, and nowhere, if there is none.
    ///
    /// # Errors
    ///
    /// As [`seek`](Self::seek). Calls after that return false, but after [`Error::NeedRange`] go on with the next entry.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its entries")]
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        let result = self.try_next();
        self.settle(result)
    }

    #[inline]
    fn try_next(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        loop {
            if let Some((_, block)) = &self.block
                && self.entry.next(block)?
            {
                return Ok(true);
            }
            let handle = match self.pending {
                Some(handle) => handle,
                None if !self.index.next(&self.table.index.block)? => return Ok(false),
                None => self.index.handle(&self.table.index.block)?,
            };
            self.enter(handle)?;
        }
    }

    fn try_seek(&mut self, key: &[u8]) -> Result<bool> {
        self.ended = false;
        self.pending = None;
        if !self.index.seek(&self.table.index.block, key, &*self.table.order)? {
            return Ok(false);
        }
        let handle = self.index.handle(&self.table.index.block)?;
        if self.block_handle() == Some(handle) {
            self.entry.reset();
        } else {
            self.enter(handle)?;
        }
        let Some((_, block)) = &self.block else { return Err(no_block(handle)) };
        if self.entry.seek(block, key, &*self.table.order)? {
            return Ok(true);
        }
        self.try_next()
    }

    /// Reads a data block, and goes before its first entry.
    fn enter(&mut self, handle: BlockHandle) -> Result<()> {
        self.entry.reset();
        self.pending = Some(handle);
        // The old block goes before the new one comes.
        let before = self.block.take().map(|(_, block)| block);
        let block = self.table.block(handle, before.unwrap_or_default())?;
        self.pending = None;
        self.spend(block.size(), handle)?;
        self.block = Some((handle, block));
        Ok(())
    }

    /// Counts `bytes` of output against the limit.
    fn spend(&mut self, bytes: usize, handle: BlockHandle) -> Result<()> {
        self.output = self.output.saturating_add(bytes as u64);
        let (limit, found) = (self.table.index.options.max_output, self.output);
        if found > limit {
            return Err(Error::Limit { what: "output of one cursor", offset: handle.offset, limit, found });
        }
        Ok(())
    }

    #[inline]
    fn settle(&mut self, result: Result<bool>) -> Result<bool> {
        if !matches!(result, Ok(true)) {
            self.ended = !result.as_ref().is_err_and(Error::needs_range);
            self.block = None;
        }
        result.map_err(|error| self.table.in_file(error))
    }

    /// What [`Iter`] gives for the current entry.
    fn entry(&mut self) -> Result<(Bytes, Bytes)> {
        let Some((handle, block)) = &self.block else { return Err(no_block(BlockHandle::default())) };
        let (handle, copied) = (*handle, self.entry.key_is_copied());
        let entry = (self.entry.key_bytes(block), self.entry.value_bytes(block));
        if copied && let Err(error) = self.spend(entry.0.len(), handle) {
            self.settle(Err(error))?;
        }
        Ok(entry)
    }
}

/// For what cannot happen: without an error, entries would be lost without a word.
#[cold]
fn no_block(handle: BlockHandle) -> Error {
    debug_assert!(false, "a cursor at an entry is in a block");
    Error::corrupt(Structure::Table, handle.offset, "a cursor in a data block", "one in none")
}

impl<R> Cursor<'_, R> {
    /// Whether the cursor stands at an entry.
    pub fn valid(&self) -> bool {
        self.block.is_some() && self.entry.valid()
    }

    /// The current entry's key; empty where the cursor stands at none.
    #[inline]
    pub fn key(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |(_, block)| self.entry.key(block))
    }

    /// The current entry's value; empty where the cursor stands at none.
    #[inline]
    pub fn value(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |(_, block)| self.entry.value(block))
    }

    /// The current entry's value as a view that keeps its data block in memory.
    pub fn value_bytes(&self) -> Bytes {
        self.block.as_ref().map_or_else(Bytes::new, |(_, block)| self.entry.value_bytes(block))
    }

    /// Where the data block is that the cursor is in.
    pub fn block_handle(&self) -> Option<BlockHandle> {
        self.block.as_ref().map(|&(handle, _)| handle)
    }
}

impl<R> fmt::Debug for Cursor<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor")
            .field("valid", &self.valid())
            .field("block", &self.block_handle())
            .field("key_len", &self.key().len())
            .field("value_len", &self.value().len())
            .finish()
    }
}

/// All entries of a table: what [`Table::iter`] returns. After an error there are no more, but after
/// [`Error::NeedRange`] it goes on.
pub struct Iter<'t, R> {
    cursor: Cursor<'t, R>,
}

impl<'t, R: ReadAt> Iter<'t, R> {
    pub(in crate::table) fn new(cursor: Cursor<'t, R>) -> Self {
        Self { cursor }
    }
}

impl<R: ReadAt> Iterator for Iter<'_, R> {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.cursor.next() {
            Ok(true) => Some(self.cursor.entry()),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<R: ReadAt> FusedIterator for Iter<'_, R> {}

impl<R> fmt::Debug for Iter<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(&self.cursor).finish()
    }
}
