//! Walking backwards through a table.

use super::{Cursor, no_block};
use crate::Result;
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;

impl<R: ReadAt> Cursor<'_, R> {
    /// Moves to the last entry. Returns false if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`seek`](Self::seek).
    pub fn seek_to_last(&mut self) -> Result<bool> {
        (self.block, self.pending, self.before, self.ended) = (None, None, None, false);
        let result = self.try_seek_to_last();
        self.settle(result)
    }

    /// Moves to the previous entry. Returns false if there is none; the cursor is then at no entry
    /// until the next seek. The same holds for a new cursor, which is before the first entry.
    ///
    /// A damaged block is an error here, while LevelDB skips it and goes on with the previous
    /// block. To do as LevelDB does, call [`skip_block`](Self::skip_block) after the error.
    ///
    /// # Errors
    ///
    /// Those of [`seek`](Self::seek). Later calls return false until the next seek or
    /// [`skip_block`](Self::skip_block). After [`Error::NeedRange`](crate::Error::NeedRange), they
    /// go on with the previous entry instead.
    pub fn prev(&mut self) -> Result<bool> {
        let result = self.try_prev();
        self.settle(result)
    }

    fn try_prev(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if let Some((_, block)) = &self.block
            && self.entry.prev(block, &mut self.entry_back)?
        {
            return self.count_key();
        }
        self.go_back()
    }

    fn try_seek_to_last(&mut self) -> Result<bool> {
        if !self.index.seek_to_last(&self.table.index.block, &mut self.index_back)? {
            return Ok(false);
        }
        self.before = Some(self.index.handle(&self.table.index.block)?);
        self.go_back()
    }

    /// Moves to the last entry of the block `self.before` or, if that is `None`, of the block before the one
    /// that the index is at. Skips blocks without entries.
    fn go_back(&mut self) -> Result<bool> {
        loop {
            let handle = match self.before {
                Some(handle) => handle,
                None => {
                    let behind = self.index.handle(&self.table.index.block).ok();
                    if !self.index.prev(&self.table.index.block, &mut self.index_back)? {
                        return Ok(false);
                    }
                    let handle = self.index.handle(&self.table.index.block)?;
                    if let (Some(_), Some(behind)) = (self.end, behind)
                        && handle.end().is_none_or(|end| end > behind.offset)
                    {
                        let expected = format!(
                            "a data block that ends by offset {}, before the one behind",
                            behind.offset
                        );
                        return Err(self.misplaced(handle, expected));
                    }
                    handle
                }
            };
            self.enter_back(handle)?;
            let Some((_, block)) = &self.block else { return Err(no_block(handle)) };
            if self.entry.seek_to_last(block, &mut self.entry_back)? {
                return self.count_key();
            }
        }
    }

    /// Reads a data block, to walk through it backwards.
    fn enter_back(&mut self, handle: BlockHandle) -> Result<()> {
        (self.pending, self.before) = (None, Some(handle));
        let leaving = self.leave();
        let block = self.table.block(handle, leaving)?;
        self.before = None;
        self.end = self.end.and(handle.end());
        self.spend(block.size(), handle)?;
        self.block = Some((handle, block));
        Ok(())
    }
}
