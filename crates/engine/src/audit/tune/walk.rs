//! A walk through all entries of a table, up to the limit on what is decoded.

use std::iter::Peekable;

use filterblock::table::{BlockCursor, DataBlocks, ReadAt, Table};

use crate::audit::reading::decode_limit_of;
use crate::report::{ErrorKind, Fault};

pub(super) struct EntryWalk<'t, R> {
    table: &'t Table<R>,
    blocks: Peekable<DataBlocks<'t>>,
    block: BlockCursor<'t>,
    /// Of the current data block.
    pub(super) end: u64,
    /// Bytes of blocks and keys that may still be decoded: many long keys may be stored in few bytes.
    left: u64,
}

impl<'t, R: ReadAt> EntryWalk<'t, R> {
    pub(super) fn new(table: &'t Table<R>) -> Self {
        let blocks = table.data_blocks().peekable();
        Self { table, blocks, block: table.index(), end: 0, left: decode_limit_of(table) }
    }

    /// Returns the offset of the next data block. Fails if it comes before another: LevelDB writes blocks one after the
    /// other, and no filters can be made for blocks in another order.
    pub(super) fn next_block(&mut self) -> Result<Option<u64>, Fault> {
        let Some(handle) = self.blocks.next().transpose()? else { return Ok(None) };
        self.check_decoded()?;
        let (offset, end) = (handle.offset, self.end);
        if offset < end {
            let text = format!(
                "expected data blocks one behind the other, found one at offset {offset} before {end}"
            );
            return Err(Fault::new(text, ErrorKind::Damaged));
        }
        self.end = handle.end().unwrap_or(u64::MAX);
        self.block.enter(self.table, handle)?;
        self.left = self.left.saturating_sub(self.block.size() as u64);
        Ok(Some(offset))
    }

    /// Returns the next stored key of the data block.
    pub(super) fn next_key(&mut self) -> Result<Option<&[u8]>, Fault> {
        if !self.block.next()? {
            return Ok(None);
        }
        self.check_decoded()?;
        let key = self.block.key();
        self.left = self.left.saturating_sub(key.len() as u64);
        Ok(Some(key))
    }

    pub(super) fn is_at_last_block(&mut self) -> bool {
        self.blocks.peek().is_none()
    }

    fn check_decoded(&self) -> Result<(), Fault> {
        let text = "its blocks and keys are larger than the limit on what is decoded";
        if self.left == 0 { Err(Fault::new(text, ErrorKind::Unsupported)) } else { Ok(()) }
    }
}
