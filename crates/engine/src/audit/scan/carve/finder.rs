//! Finds blocks by their checksums.
//!
//! A block is `[contents][type: 1][masked CRC-32C of contents and type: 4]`, and blocks follow each other.
//! From a known start, one pass with a running checksum finds the end. If it finds no end, the block is
//! damaged, and the next block may start anywhere. A second, slower pass then keeps at least the starts of
//! the last [`RESYNC`] bytes and, for each possible end, looks for the start of its block among them.

use std::{collections::HashMap, io::Result, ops::Range};

use bytes::Bytes;
use filterblock::table::{BlockHandle, Codec, ReadAt};

use super::crc::{Crc, Offset};

const CHECKSUM: usize = 4;
/// The length of the type and the checksum.
const TRAILER: u64 = 5;
/// The minimum number of bytes of contents: the bytes that hold the number of restarts.
const MIN_CONTENTS: u64 = 4;
/// How far after a known start, rounded up to the end of a read, the end of the block is looked for.
const MAX_BLOCK: u64 = 16 << 20;
/// Stored blocks up to this size are certain to be found after damage, unless the limit on checks is reached.
const RESYNC: usize = 1 << 20;
const CHUNK: usize = 256 << 10;
/// The passes over the file for searches in vain from known starts, and as many for checks of blocks after damage.
const PASSES: u64 = 4;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Region {
    /// A block with a correct checksum.
    Block(BlockHandle),
    /// Bytes that are in no block with a correct checksum.
    Gap(Range<u64>),
}

/// Finds the stretches of a file. Searches or checks at most twelve times the file's bytes, and 1 MiB more.
pub(crate) struct BlockFinder<R> {
    source: R,
    len: u64,
    /// The end of the last stretch that was found.
    at: u64,
    /// The number of bytes searched in vain from known starts.
    vain: u64,
    /// The number of bytes checked after damage.
    tried: u64,
    /// A block that was found after a gap.
    next: Option<BlockHandle>,
    /// The bytes read last, and their offset.
    read: (u64, Bytes),
}

impl<R: ReadAt> BlockFinder<R> {
    pub(crate) fn new(source: R) -> Result<Self> {
        let len = source.len()?;
        Ok(Self { source, len, at: 0, vain: 0, tried: 0, next: None, read: (0, Bytes::new()) })
    }

    pub(crate) const fn source(&self) -> &R {
        &self.source
    }

    /// The next stretch; `None` at the end. `is_block`, called only after damage, rules out checksums right by chance.
    pub(crate) fn next(
        &mut self,
        mut is_block: impl FnMut(&R, BlockHandle) -> bool,
    ) -> Result<Option<Region>> {
        let found = match self.next.take() {
            Some(found) => Some(found),
            None if self.at >= self.len => return Ok(None),
            None => self.next_in_row()?,
        };
        if let Some(found) = found {
            self.at = end(found);
            return Ok(Some(Region::Block(found)));
        }
        let start = self.at;
        self.next = self.behind_damage(&mut is_block)?;
        self.at = self.next.map_or(self.len, |next| next.offset);
        Ok(Some(Region::Gap(start..self.at)))
    }

    /// The block that starts where the last stretch ended; `None`: no end is found, or too much was searched in vain.
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

    /// The first block to end after the damage at `self.at`. `None`: no block was found up to the end of the file.
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

    /// The bytes from `at` on: more than a checksum has, unless the file ends first. One read covers many blocks.
    fn chunk(&mut self, at: u64) -> Result<Bytes> {
        let (start, bytes) = &self.read;
        let skipped = at.checked_sub(*start).and_then(|skipped| usize::try_from(skipped).ok());
        if let Some(skipped) = skipped.filter(|&skipped| bytes.len().saturating_sub(skipped) > CHECKSUM) {
            return Ok(bytes.slice(skipped..));
        }
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let bytes = self.source.read_at(at, left.min(CHUNK + CHECKSUM))?;
        self.read = (at, bytes.clone());
        Ok(bytes)
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

    /// A block of these contents, not compressed.
    fn block(contents: &[u8]) -> Vec<u8> {
        let mut block = contents.to_vec();
        block.push(0);
        let crc = filterblock::table::mask(crc32c::crc32c(&block));
        block.extend(crc.to_le_bytes());
        block
    }

    /// Bytes in which no block ends: none of them is a type.
    fn noise(len: usize) -> Vec<u8> {
        vec![0xff; len]
    }

    /// All stretches, if every candidate for a block is accepted as one.
    fn stretches(file: &[u8]) -> Vec<Region> {
        let mut finder = BlockFinder::new(file).unwrap();
        std::iter::from_fn(|| finder.next(|_, _| true).unwrap()).collect()
    }

    fn block_at(offset: usize, size: usize) -> Region {
        Region::Block(BlockHandle { offset: offset as u64, size: size as u64 })
    }

    #[test]
    fn a_block_that_begins_in_the_last_mebibyte_behind_damage_is_found() {
        // After each mebibyte, the starts kept so far move to `older`. This block starts before such a move
        // and ends after it.
        let start = RESYNC - 20;
        let file = [noise(start), block(&[b'x'; 40]), block(&[b'y'; 50])].concat();
        let expected = [Region::Gap(0..start as u64), block_at(start, 40), block_at(start + 45, 50)];
        assert_eq!(stretches(&file), expected);
    }

    #[test]
    fn blocks_at_the_border_of_two_reads_are_found() {
        for start in (CHUNK - 52..CHUNK + 4).step_by(3) {
            let file = [block(&vec![b'a'; start - 5]), block(&[b'x'; 40]), noise(9)].concat();
            let expected = [block_at(0, start - 5), block_at(start, 40)];
            assert_eq!(stretches(&file)[..2], expected, "{start}");
        }
    }

    /// From each block that is found after damage, the rest of the file could be searched in vain.
    #[test]
    fn searches_in_vain_are_limited() {
        let pair = [noise(7), block(b"contents")].concat();
        let file = pair.repeat(2000);
        let mut finder = BlockFinder::new(&file[..]).unwrap();
        let mut blocks = 0;
        while let Some(stretch) = finder.next(|_, _| true).unwrap() {
            blocks += u64::from(matches!(stretch, Region::Block(_)));
        }
        assert_eq!(blocks, 2000);
        let len = file.len() as u64;
        // The search that exceeds the limit counts as well.
        assert!((len * PASSES..=len * (PASSES + 1)).contains(&finder.vain), "{} of {len}", finder.vain);
    }

    /// Many ends could belong to the same start.
    #[test]
    fn trials_are_limited() {
        let mut nested = b"start".to_vec();
        for _ in 0..1000 {
            nested = block(&nested);
            nested.extend(b"more!");
        }
        let file = [noise(9), nested].concat();
        let (tried, trials) = (Cell::new(0), Cell::new(0));
        let mut finder = BlockFinder::new(&file[..]).unwrap();
        let found = finder.next(|_, handle| {
            tried.set(tried.get() + handle.size);
            trials.set(trials.get() + 1);
            false
        });
        let len = file.len() as u64;
        assert_eq!(found.unwrap(), Some(Region::Gap(0..len)));
        let most = len * PASSES + RESYNC as u64;
        assert!((most - len..=most).contains(&tried.get()), "{} of {most}", tried.get());
        assert!(trials.get() < 1000, "{}", trials.get());
    }

    /// Counts the bytes that are read.
    struct Counting<'a>(&'a [u8], Cell<u64>);

    impl ReadAt for Counting<'_> {
        fn len(&self) -> Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
            self.1.set(self.1.get() + len as u64);
            self.0.read_at(offset, len)
        }
    }

    #[test]
    fn what_holds_many_blocks_is_read_once() {
        // The damage in the middle makes the finder read the bytes after it up to two more times.
        let row = block(&[b'x'; 4000]).repeat(200);
        let file = [&row, &noise(99)[..], &row].concat();
        let source = Counting(&file, Cell::new(0));
        let mut finder = BlockFinder::new(&source).unwrap();
        let mut blocks = 0;
        while let Some(stretch) = finder.next(|_, _| true).unwrap() {
            blocks += u64::from(matches!(stretch, Region::Block(_)));
        }
        let (len, read) = (file.len() as u64, source.1.get());
        assert!(blocks == 400 && read <= 4 * len, "{blocks} blocks, {read} of {len} bytes");
    }

    #[test]
    fn no_block_is_smaller_than_its_number_of_restarts() {
        for len in 0..8 {
            let file = [block(&vec![b'x'; len]), noise(9)].concat();
            let is_found = matches!(stretches(&file)[0], Region::Block(_));
            assert_eq!(is_found, len >= 4, "{len}");
            let file = [noise(9), block(&vec![b'x'; len]), noise(9)].concat();
            assert_eq!(stretches(&file).len() == 3, len >= 4, "{len}: {:?}", stretches(&file));
        }
    }
}
