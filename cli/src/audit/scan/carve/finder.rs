//! Finding blocks by their checksums.
//!
//! A block is `[contents][type: 1][masked CRC-32C of contents and type: 4]`, and blocks follow each
//! other. From a known start, one pass with a running checksum finds the end. Where it finds none,
//! the block is damaged, and the next one may start anywhere: a second, slower pass keeps the
//! starts of the last [`RESYNC`] bytes and finds each end's start among them.

use std::collections::HashMap;
use std::io::Result;
use std::ops::Range;

use bytes::Bytes;
use filterblock::table::{BlockHandle, Codec, ReadAt};

use super::crc::{Crc, Offset};

/// Checksum behind the type.
const CHECKSUM: usize = 4;
/// The type and the checksum.
const TRAILER: u64 = 5;
/// The fewest bytes of contents: the number of restarts.
const MIN_CONTENTS: u64 = 4;
/// The greatest size of a stored block that is found from its start.
const MAX_BLOCK: u64 = 16 << 20;
/// The greatest size of a stored block that is surely found behind damage.
const RESYNC: usize = 1 << 20;
/// The number of bytes read at once.
const CHUNK: usize = 256 << 10;
/// The most passes over the file that searches from known starts may take in vain, and that trials
/// of blocks behind damage may take.
const PASSES: u64 = 4;

/// A stretch of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stretch {
    /// A block with a right checksum.
    Block(BlockHandle),
    /// Bytes that are in no such block.
    Gap(Range<u64>),
}

/// Goes through a file. In all it passes over each byte at most twelve times.
pub(super) struct Finder<R> {
    source: R,
    len: u64,
    /// The end of what was found.
    at: u64,
    /// The bytes that were searched in vain from known starts, and those of trials.
    vain: u64,
    tried: u64,
    /// A block that was found behind a gap.
    next: Option<BlockHandle>,
    /// The bytes read last, and their offset: many blocks may lie in them.
    chunk: (u64, Bytes),
}

impl<R: ReadAt> Finder<R> {
    pub(super) fn new(source: R) -> Result<Self> {
        let len = source.len()?;
        Ok(Self { source, len, at: 0, vain: 0, tried: 0, next: None, chunk: (0, Bytes::new()) })
    }

    pub(super) const fn source(&self) -> &R {
        &self.source
    }

    /// The next stretch, or `None` at the end. `is_block` tells whether what has the right checksum
    /// by chance may be a block. It is asked only behind damage, where that is likely to happen.
    pub(super) fn next(
        &mut self,
        mut is_block: impl FnMut(&R, BlockHandle) -> bool,
    ) -> Result<Option<Stretch>> {
        let found = match self.next.take() {
            Some(found) => Some(found),
            None if self.at >= self.len => return Ok(None),
            None => self.next_in_row()?,
        };
        if let Some(found) = found {
            self.at = end(found);
            return Ok(Some(Stretch::Block(found)));
        }
        let start = self.at;
        self.next = self.behind_damage(&mut is_block)?;
        self.at = self.next.map_or(self.len, |next| next.offset);
        Ok(Some(Stretch::Gap(start..self.at)))
    }

    /// The block that starts where the last one ended.
    fn next_in_row(&mut self) -> Result<Option<BlockHandle>> {
        if self.vain > self.len.saturating_mul(PASSES) {
            return Ok(None);
        }
        let (start, mut crc) = (self.at, Crc::new());
        let limit = start.saturating_add(MAX_BLOCK).min(self.len);
        let mut at = start;
        while at < limit {
            let chunk = self.chunk(at)?;
            let before = at;
            for window in chunk.windows(1 + CHECKSUM) {
                let Some(&[kind, a, b, c, d]) = window.first_chunk() else { break };
                let stored = [a, b, c, d];
                crc.add(kind);
                if is_type(kind) && crc.is_stored_as(stored) && at - start >= MIN_CONTENTS {
                    return Ok(Some(handle(start, at)));
                }
                at += 1;
            }
            if at == before {
                break;
            }
        }
        self.vain = self.vain.saturating_add(at - start);
        Ok(None)
    }

    /// The first block to end behind the damage at `self.at`.
    fn behind_damage(
        &mut self,
        is_block: &mut impl FnMut(&R, BlockHandle) -> bool,
    ) -> Result<Option<BlockHandle>> {
        let mut offset = Offset::new();
        let (mut starts, mut older) = (HashMap::new(), HashMap::new());
        let mut at = self.at;
        loop {
            let chunk = self.chunk(at)?;
            if chunk.len() <= CHECKSUM {
                return Ok(None);
            }
            for window in chunk.windows(1 + CHECKSUM) {
                let Some(&[kind, a, b, c, d]) = window.first_chunk() else { break };
                let stored = [a, b, c, d];
                if starts.len() >= RESYNC {
                    older = std::mem::take(&mut starts);
                }
                starts.insert(offset.start(), at);
                offset.add(kind);
                if is_type(kind) {
                    let end = offset.end(stored);
                    for start in [starts.get(&end), older.get(&end)].into_iter().flatten() {
                        let found = handle(*start, at);
                        self.tried = self.tried.saturating_add(found.size);
                        let may_try =
                            self.tried <= self.len.saturating_mul(PASSES).saturating_add(RESYNC as u64);
                        if found.size >= MIN_CONTENTS && may_try && is_block(&self.source, found) {
                            return Ok(Some(found));
                        }
                    }
                }
                at += 1;
            }
        }
    }

    /// The bytes from `at` on, with those of a checksum behind them.
    fn chunk(&mut self, at: u64) -> Result<Bytes> {
        let (offset, held) = &self.chunk;
        let skipped = at.checked_sub(*offset).and_then(|skipped| usize::try_from(skipped).ok());
        let skipped = skipped.filter(|skipped| held.len().saturating_sub(*skipped) > CHECKSUM);
        if let Some(skipped) = skipped {
            return Ok(held.slice(skipped..));
        }
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        self.chunk = (at, self.source.read_at(at, left.min(CHUNK + CHECKSUM))?);
        Ok(self.chunk.1.clone())
    }
}

const fn handle(start: u64, end: u64) -> BlockHandle {
    BlockHandle { offset: start, size: end - start }
}

/// The end of a block that was found, trailer included.
const fn end(handle: BlockHandle) -> u64 {
    handle.offset.saturating_add(handle.size).saturating_add(TRAILER)
}

fn is_type(kind: u8) -> bool {
    !Codec::of_type(kind).is_empty()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Counts the bytes that it is asked for.
    struct Counting(Bytes, Cell<usize>);

    impl ReadAt for Counting {
        fn len(&self) -> Result<u64> {
            ReadAt::len(&self.0)
        }
        fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
            self.1.set(self.1.get() + len);
            self.0.read_at(offset, len)
        }
    }

    #[test]
    fn small_blocks_end_to_end_are_read_once() {
        // Longer than a chunk.
        let mut file = Vec::new();
        while file.len() < CHUNK + CHUNK / 2 {
            let block = [b"block", &[0][..]].concat();
            let crc = crc32c::crc32c(&block).rotate_right(15).wrapping_add(0xa282_ead8);
            file.extend([&block[..], &crc.to_le_bytes()].concat());
        }
        let (len, blocks) = (file.len(), file.len() / 10);
        let mut finder = Finder::new(Counting(file.into(), Cell::new(0))).unwrap();
        for at in 0..blocks as u64 {
            let found = finder.next(|_, _| false).unwrap();
            assert_eq!(found, Some(Stretch::Block(BlockHandle { offset: 10 * at, size: 5 })));
        }
        assert_eq!(finder.next(|_, _| false).unwrap(), None);
        let read = finder.source().1.get();
        assert!(read < len + len / 100, "{read} bytes of {len}");
    }
}
