//! Data blocks, told from index, metaindex and filter blocks.

use std::collections::HashSet;
use std::ops::Range;

use filterblock::table::{BlockCursor, BlockHandle, ReadAt, ReadOptions};

/// The most blocks that are remembered. An index names them from the first on, so these tell it.
const REMEMBERED: usize = 1 << 16;

/// The kind of a block with a right checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockKind {
    Data,
    /// Its entries are the handles of other blocks: an index or a metaindex.
    Handles,
    /// It has no entries of the table: a filter block, RocksDB's properties, or a block in a codec
    /// that is not known.
    Other,
}

/// The blocks found so far.
#[derive(Default)]
pub(super) struct KnownBlocks {
    /// Their sizes. Their offsets tell nothing where the table begins within another file, or lacks
    /// its beginning.
    sizes: HashSet<u64>,
    /// Offsets of stretches without sound blocks, where damaged ones begin.
    gaps: HashSet<u64>,
}

impl KnownBlocks {
    pub(super) fn add(&mut self, handle: BlockHandle) {
        if self.sizes.len() < REMEMBERED {
            self.sizes.insert(handle.size);
        }
    }

    /// Adds a stretch without sound blocks. The first of those in it began where it begins.
    pub(super) fn add_gap(&mut self, gap: &Range<u64>) {
        if self.gaps.len() < REMEMBERED {
            self.gaps.insert(gap.start);
        }
    }

    fn has(&self, handle: BlockHandle) -> bool {
        self.sizes.contains(&handle.size) || self.gaps.contains(&handle.offset)
    }

    /// The kind of the block at `handle`. Reads it.
    pub(super) fn kind<R: ReadAt>(
        &self,
        source: &R,
        handle: BlockHandle,
        options: &ReadOptions,
    ) -> BlockKind {
        let Ok(mut entries) = BlockCursor::read(source, handle, options) else { return BlockKind::Other };
        let mut handles = Handles::default();
        let mut is_foreign = true;
        loop {
            match entries.next() {
                Ok(true) => {
                    is_foreign &= entries.key().starts_with(b"rocksdb.");
                    let is_handle = handles.add(entries.key(), entries.value(), self);
                    if !is_handle && !is_foreign {
                        return BlockKind::Data;
                    }
                }
                Ok(false) => break,
                Err(_) => return BlockKind::Other,
            }
        }
        // An empty block has nothing to show, whatever it is.
        if is_foreign && entries.size() > 8 {
            BlockKind::Other
        } else if handles.are_meant() {
            BlockKind::Handles
        } else {
            BlockKind::Data
        }
    }

    /// Returns true if the block at `handle` can be decoded to its last entry, which bytes with a
    /// right checksum by chance cannot.
    pub(super) fn is_block<R: ReadAt>(source: &R, handle: BlockHandle, options: &ReadOptions) -> bool {
        let Ok(mut entries) = BlockCursor::read(source, handle, options) else { return false };
        loop {
            match entries.next() {
                Ok(true) => {}
                Ok(false) => return entries.size() > 4,
                Err(_) => return false,
            }
        }
    }
}

/// The values of a block, all of which are handles.
#[derive(Default)]
struct Handles {
    count: u64,
    /// Those of a block that was found.
    known: u64,
    /// Those that begin where the one before ends.
    contiguous: u64,
    end: Option<u64>,
}

impl Handles {
    /// Returns false if `value` is no handle.
    fn add(&mut self, key: &[u8], value: &[u8], known: &KnownBlocks) -> bool {
        let Ok((handle, len)) = BlockHandle::decode(value, 0) else { return false };
        let Some(end) = handle.end().filter(|_| len == value.len()) else { return false };
        self.count += 1;
        let is_filter = key.starts_with(b"filter.") || key.starts_with(b"fullfilter.");
        self.known += u64::from(is_filter || known.has(handle));
        self.contiguous += u64::from(self.end == Some(handle.offset));
        self.end = Some(end);
        true
    }

    /// Values that are no handles may look like some. But they do not name blocks that are there,
    /// nor stretches that follow each other.
    const fn are_meant(&self) -> bool {
        self.count > 0
            && (self.known * 2 >= self.count || self.contiguous + 1 == self.count && self.count > 1)
    }
}
