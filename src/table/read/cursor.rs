//! Walking through a table (LevelDB's `table/two_level_iterator.cc`).

mod back;

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Deref;

use bytes::Bytes;

use super::Table;
use crate::table::block::{Back, Block, Position};
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;
use crate::{Error, Result, Structure};

/// Walks through the entries of a table, across the boundaries of its data blocks. A cursor is at an
/// entry, or at no entry.
///
/// A new cursor is before the first entry, so this walks through the whole table:
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
/// One data block is in memory at a time, and each takes one read. Within a block, moving from entry to entry
/// allocates nothing once the buffer for keys has grown. Filters are not checked.
///
/// Keys that share their beginning with the previous key have to be put together. Such keys count against
/// [`ReadOptions::max_output`](crate::table::ReadOptions::max_output), as data blocks do.
///
/// [`prev`](Self::prev) walks backwards, and can be mixed with [`next`](Self::next). It takes 4 bytes of
/// memory for each entry between two restarts, and a copy of the part of the entry's key that the next key
/// does not share. In return, these entries are found once, not anew for each step as in LevelDB.
///
/// Once it has passed the last entry or, backwards, the first, the cursor is at no entry until the next seek.
/// The same holds after an error, but [`skip_block`](Self::skip_block) can make it go on with another block.
/// After [`Error::NeedRange`] it goes on as well: once the range is there, the same call does what it would
/// have done the first time.
pub struct Cursor<'t, R> {
    table: Owner<'t, R>,
    index: Position,
    /// The current data block.
    block: Option<(BlockHandle, Block)>,
    entry: Position,
    /// The data block to go on with forwards, if it could not be read yet.
    pending: Option<BlockHandle>,
    /// The data block to go on with backwards, if it could not be read yet.
    before: Option<BlockHandle>,
    /// The state for going backwards in the index.
    index_back: Back,
    /// The state for going backwards in the current data block.
    entry_back: Back,
    /// The number of bytes counted against the limit on output.
    output: u64,
    /// The limit on output, in bytes.
    max_output: u64,
    /// The end of the block entered last, or 0 before the first block and at the start of a seek. `None` if
    /// blocks may be in any order in the file.
    end: Option<u64>,
    ended: bool,
}

enum Owner<'t, R> {
    Borrowed(&'t Table<R>),
    Owned(Box<Table<R>>),
}

impl<R> Deref for Owner<'_, R> {
    type Target = Table<R>;

    fn deref(&self) -> &Table<R> {
        match self {
            Self::Borrowed(table) => table,
            Self::Owned(table) => table,
        }
    }
}

impl<R: ReadAt> Table<R> {
    /// Returns a cursor before the first entry.
    pub fn cursor(&self) -> Cursor<'_, R> {
        Cursor::new(Owner::Borrowed(self), None)
    }

    /// Turns the table into a cursor that owns it, before the first entry. Such a cursor is for
    /// walks through files that are not trusted: data blocks that are not in the file in the order
    /// of the index are an error, in either direction. Each byte of the file is thus decoded at most
    /// once until the next seek or change of direction.
    /// [`skip_block`](Cursor::skip_block) goes on after damage.
    pub fn into_cursor<'t>(self) -> Cursor<'t, R>
    where
        R: 't,
    {
        Cursor::new(Owner::Owned(Box::new(self)), Some(0))
    }

    /// Iterates over all entries (key and value) in the order of the table.
    ///
    /// Each key is copied, unless its block stores it in one piece. Each value is a view that keeps
    /// its data block in memory. A [`Cursor`] lends keys and values instead.
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
    fn new(table: Owner<'t, R>, end: Option<u64>) -> Self {
        Self {
            max_output: table.max_output(),
            table,
            index: Position::default(),
            block: None,
            entry: Position::default(),
            pending: None,
            before: None,
            index_back: Back::default(),
            entry_back: Back::default(),
            output: 0,
            end,
            ended: false,
        }
    }

    /// Moves to the first entry whose key is at or after `key`, in whichever data block it is.
    /// Returns false if there is none.
    ///
    /// # Errors
    ///
    /// If a block on the way is damaged or cannot be read, or
    /// [`ReadOptions::max_output`](crate::table::ReadOptions::max_output) is exceeded.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        let result = self.try_seek(key);
        // After a failed seek, even one that needs a range, `next` has no entry to go on from.
        self.settle(result).inspect_err(|_| self.ended = true)
    }

    /// Moves to the first entry. Returns false if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`seek`](Self::seek).
    pub fn seek_to_first(&mut self) -> Result<bool> {
        self.index.reset();
        (self.block, self.pending, self.before) = (None, None, None);
        self.end = self.end.and(Some(0));
        self.ended = false;
        self.next()
    }

    /// After an error, leaves the data block that the error was about: the following call of
    /// [`next`](Self::next) moves to the first entry after that block, and a call of [`prev`](Self::prev) to
    /// the last entry before it. Neither moves anywhere if the index is damaged, or if the limit on output is
    /// exceeded.
    pub fn skip_block(&mut self) {
        (self.pending, self.before) = (None, None);
        self.block = None;
        self.ended = self.output > self.max_output;
    }

    /// Moves to the next entry or, on a new cursor, to the first. Returns false if there is none;
    /// the cursor is then at no entry.
    ///
    /// # Errors
    ///
    /// Those of [`seek`](Self::seek). Later calls return false until the next seek or
    /// [`skip_block`](Self::skip_block). After [`Error::NeedRange`], they go on with the next entry
    /// instead.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its entries")]
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        match self.try_next() {
            // Results have room for an error, and are slow to move.
            Ok(true) => Ok(true),
            ended => self.settle(ended),
        }
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
                return self.count_key();
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
        (self.pending, self.before) = (None, None);
        self.end = self.end.and(Some(0));
        if !self.table.order.seek(&mut self.index, &self.table.index.block, key)? {
            return Ok(false);
        }
        let handle = self.index.handle(&self.table.index.block)?;
        if self.block_handle() == Some(handle) {
            self.entry.reset();
        } else {
            self.enter(handle)?;
        }
        let Some((_, block)) = &self.block else { return Err(no_block(handle)) };
        if self.table.order.seek(&mut self.entry, block, key)? {
            return self.count_key();
        }
        self.try_next()
    }

    /// Leaves the current data block and returns it, so that its memory is reused or released before
    /// another block is read: only one block at a time is in memory.
    fn leave(&mut self) -> Block {
        self.entry.reset();
        self.entry_back.clear();
        self.block.take().map(|(_, block)| block).unwrap_or_default()
    }

    #[cold]
    fn misplaced(&self, handle: BlockHandle, expected: String) -> Error {
        let index = self.table.index.footer.index.offset;
        let found = format!("one at offset {}", handle.offset);
        Error::corrupt(Structure::Index, index, expected, found)
    }

    /// Reads a data block and moves to just before its first entry.
    fn enter(&mut self, handle: BlockHandle) -> Result<()> {
        (self.pending, self.before) = (Some(handle), None);
        let before = self.leave();
        if let Some(end) = self.end
            && handle.offset < end
        {
            let expected = format!("a data block from offset {end} on, behind the one before");
            return Err(self.misplaced(handle, expected));
        }
        let block = self.table.block(handle, before);
        // A handle that reaches beyond the file says nothing about the blocks after it, so it does not count here.
        let end = handle.end().filter(|end| *end <= self.table.file_size());
        if let (Some(end), false) = (end, block.as_ref().is_err_and(Error::needs_range)) {
            self.end = self.end.and(Some(end));
        }
        let block = block?;
        self.pending = None;
        self.spend(block.size(), handle)?;
        self.block = Some((handle, block));
        Ok(())
    }

    /// Counts the key of the entry just reached, if it was put together: keys that share a long
    /// beginning can together be many times the size of their block, and code that reads these
    /// keys reads all of their bytes. Returns true.
    #[inline]
    fn count_key(&mut self) -> Result<bool> {
        if let Some(len) = self.entry.copied_key_len() {
            let handle = self.block_handle().unwrap_or_default();
            self.spend(len, handle)?;
        }
        Ok(true)
    }

    /// Counts `bytes` against the limit on output.
    #[inline]
    fn spend(&mut self, bytes: usize, handle: BlockHandle) -> Result<()> {
        self.output = self.output.saturating_add(bytes as u64);
        let (limit, found) = (self.max_output, self.output);
        if found > limit {
            return Err(over_limit(handle, limit, found));
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

    /// The current entry as [`Iter`] returns it.
    fn entry(&self) -> Result<(Bytes, Bytes)> {
        let Some((_, block)) = &self.block else { return Err(no_block(BlockHandle::default())) };
        Ok((self.entry.key_bytes(block), self.entry.value_bytes(block)))
    }
}

#[cold]
fn over_limit(handle: BlockHandle, limit: u64, found: u64) -> Error {
    Error::Limit { what: "output of one cursor", offset: handle.offset, limit, found }
}

/// The error for a state that cannot occur. Without it, entries would be lost silently.
#[cold]
fn no_block(handle: BlockHandle) -> Error {
    debug_assert!(false, "a cursor at an entry is in a block");
    Error::corrupt(Structure::Table, handle.offset, "a cursor in a data block", "one in none")
}

impl<R> Cursor<'_, R> {
    /// The table.
    pub fn table(&self) -> &Table<R> {
        &self.table
    }

    /// Returns true if the cursor is at an entry.
    pub fn valid(&self) -> bool {
        self.block.is_some() && self.entry.valid()
    }

    /// The current entry's key, or an empty slice if there is no current entry.
    #[inline]
    pub fn key(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |(_, block)| self.entry.key(block))
    }

    /// The current entry's value, or an empty slice if there is no current entry.
    #[inline]
    pub fn value(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |(_, block)| self.entry.value(block))
    }

    /// The current entry's value as a view that keeps its data block in memory.
    pub fn value_bytes(&self) -> Bytes {
        self.block.as_ref().map_or_else(Bytes::new, |(_, block)| self.entry.value_bytes(block))
    }

    /// The handle of the data block that holds the current entry, or `None` if there is no current
    /// entry.
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

/// An iterator over the entries of a table, as [`Table::iter`] returns it. It ends after an error,
/// unless that is [`Error::NeedRange`]: then it goes on with the next entry.
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
