//! Reading the compression types of all data blocks in few reads.

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;

use bytes::Bytes;

use super::Table;
use super::blocks::DataBlocks;
use crate::Result;
use crate::table::format::{BlockHandle, TRAILER_LEN};
use crate::table::source::ReadAt;

/// The greatest gap between two trailers, in bytes, that is read rather than skipped: a separate read
/// would cost more.
const MAX_GAP: u64 = 16 << 10;
/// The greatest number of bytes to read at once.
const MAX_READ: u64 = 64 << 10;
/// The greatest number of trailers to read at once.
const MAX_TRAILERS: usize = 256;

/// The data blocks of a table with their compression types, in the order of the index, as
/// [`Table::data_block_types`] returns them.
///
/// An entry of the index whose value is not a handle yields an error, and so does a trailer that
/// cannot be read; the other blocks still follow. An entry that is itself damaged yields an error as
/// well, and ends the iterator. After [`Error::NeedRange`](crate::Error::NeedRange), blocks may be left
/// out: fetch the range and begin anew.
pub struct DataBlockTypes<'t, R> {
    table: &'t Table<R>,
    handles: DataBlocks<'t>,
    /// The entry of the index after `group`, if it has been read.
    behind: Option<Result<BlockHandle>>,
    /// Blocks that are still to be returned.
    group: VecDeque<BlockHandle>,
    /// Bytes of the file, and their offset. A trailer that is not among them takes a read of its
    /// own.
    window: Option<(u64, Bytes)>,
    /// The end of the last window. The next window begins no earlier, so that all windows together
    /// read the file at most once, whatever the order of the blocks.
    passed: u64,
}

impl<'t, R> DataBlockTypes<'t, R> {
    pub(super) fn new(table: &'t Table<R>, handles: DataBlocks<'t>) -> Self {
        Self { table, handles, behind: None, group: VecDeque::new(), window: None, passed: 0 }
    }
}

impl<R: ReadAt> DataBlockTypes<'_, R> {
    /// The offset of the block's trailer, or `None` if the block is not within the file.
    fn trailer(&self, handle: BlockHandle) -> Option<u64> {
        let span = self.table.blocks.span(handle, handle.offset).ok()?;
        span.end().checked_sub(TRAILER_LEN as u64)
    }

    /// Begins a group with `first`, and reads the trailers of the group if there are several.
    fn begin_group(&mut self, first: BlockHandle) -> Result<()> {
        self.group.push_back(first);
        let Some(start) = self.trailer(first).filter(|&start| start >= self.passed) else { return Ok(()) };
        let end_of = |trailer: u64| trailer.saturating_add(TRAILER_LEN as u64);
        let mut end = end_of(start);
        while self.group.len() < MAX_TRAILERS {
            let next = self.handles.next();
            let trailer = next.as_ref().and_then(|next| self.trailer(*next.as_ref().ok()?));
            let close = trailer.filter(|&trailer| {
                let is_close = trailer >= start && trailer <= end.saturating_add(MAX_GAP);
                is_close && end_of(trailer).saturating_sub(start) <= MAX_READ
            });
            match (next, close) {
                (Some(Ok(handle)), Some(trailer)) => {
                    self.group.push_back(handle);
                    end = end.max(end_of(trailer));
                }
                (next, _) => {
                    self.behind = next;
                    break;
                }
            }
        }
        if self.group.len() > 1 {
            let len = usize::try_from(end.saturating_sub(start)).unwrap_or_default();
            match self.table.blocks.read(start, len) {
                Ok(bytes) => self.window = Some((start, bytes)),
                Err(error) if error.needs_range() => return Err(self.table.in_file(error)),
                // Each trailer is then read by itself, so that damage to one does not hide the others.
                Err(_) => {}
            }
            self.passed = end;
        }
        Ok(())
    }

    fn type_of(&self, handle: BlockHandle) -> Result<u8> {
        let in_window = || {
            let (start, bytes) = self.window.as_ref()?;
            let at = usize::try_from(self.trailer(handle)?.checked_sub(*start)?).ok()?;
            bytes.get(at).copied()
        };
        in_window().map_or_else(|| self.table.compression_of(handle), Ok)
    }
}

impl<R: ReadAt> Iterator for DataBlockTypes<'_, R> {
    type Item = Result<(BlockHandle, u8)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.group.is_empty() {
            let first = self.behind.take().or_else(|| self.handles.next())?;
            if let Err(error) = first.and_then(|first| self.begin_group(first)) {
                self.group.clear();
                return Some(Err(error));
            }
        }
        let handle = self.group.pop_front()?;
        Some(self.type_of(handle).map(|id| (handle, id)))
    }
}

impl<R: ReadAt> FusedIterator for DataBlockTypes<'_, R> {}

impl<R> fmt::Debug for DataBlockTypes<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataBlockTypes")
            .field("group", &self.group.len())
            .field("passed", &self.passed)
            .finish_non_exhaustive()
    }
}
