//! The entries in the sound blocks of a table, in order.

use std::io;

use filterblock::table::{BlockCursor, BlockHandle, ReadAt};

use super::{Blocks, SavedTable, stored};

pub(in crate::repair) struct TableCursor<'t, R> {
    source: R,
    table: &'t SavedTable,
    index: Option<BlockCursor<'static>>,
    /// Blocks that were entered or skipped.
    next: usize,
    /// With its offset.
    block: Option<(u64, BlockCursor<'static>)>,
}

impl<'t, R: ReadAt> TableCursor<'t, R> {
    /// Starts before the first entry.
    pub(in crate::repair) fn new(source: R, table: &'t SavedTable) -> io::Result<Self> {
        let index = match &table.blocks {
            Blocks::Indexed { index, .. } => {
                let stored = stored::read(&source, *index, &table.patches)?;
                Some(stored.and_then(|stored| stored::entries(&stored, &table.options)).ok_or_else(changed)?)
            }
            Blocks::Found(_) => None,
        };
        Ok(Self { source, table, index, next: 0, block: None })
    }

    /// False at the end. Fails if the file cannot be read, or has changed.
    pub(in crate::repair) fn next(&mut self) -> io::Result<bool> {
        loop {
            if let Some((_, block)) = &mut self.block {
                if block.next().map_err(|_| changed())? {
                    return Ok(true);
                }
                self.block = None;
            }
            let Some(handle) = self.next_handle()? else { return Ok(false) };
            let stored = stored::read(&self.source, handle, &self.table.patches)?;
            let stored = stored.filter(|stored| stored::is_sound(stored)).ok_or_else(changed)?;
            let block = stored::entries(&stored, &self.table.options).ok_or_else(changed)?;
            self.block = Some((handle.offset, block));
        }
    }

    fn next_handle(&mut self) -> io::Result<Option<BlockHandle>> {
        match (&self.table.blocks, &mut self.index) {
            (Blocks::Indexed { lost, count, .. }, Some(index)) => {
                while (self.next as u64) < *count && index.next().map_err(|_| changed())? {
                    let number = self.next;
                    self.next = number.saturating_add(1);
                    if lost.binary_search(&(number as u64)).is_err() {
                        return index.handle().map(Some).map_err(|_| changed());
                    }
                }
                Ok(None)
            }
            (Blocks::Found(blocks), _) => {
                let handle = blocks.get(self.next).copied();
                self.next = self.next.saturating_add(1);
                Ok(handle)
            }
            _ => Ok(None),
        }
    }

    /// The offset of the data block that the entry is in.
    pub(super) fn block(&self) -> u64 {
        self.block.as_ref().map_or(0, |(offset, _)| *offset)
    }

    /// Internal.
    pub(in crate::repair) fn key(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |(_, block)| block.key())
    }

    pub(in crate::repair) fn value(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |(_, block)| block.value())
    }
}

fn changed() -> io::Error {
    io::Error::other("expected the file as it was when it was looked at, found another")
}
