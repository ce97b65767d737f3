//! A table's blocks must not overlap, and together they should make up the file.

use filterblock::table::{BlockHandle, Footer};

use crate::report::{Code, Problem, Problems};

#[derive(Default)]
pub(super) struct BlockExtents {
    blocks: Vec<BlockHandle>,
}

impl BlockExtents {
    /// A block whose end overflows is reported elsewhere.
    pub(super) fn add(&mut self, handle: BlockHandle) {
        if handle.end().is_some() {
            self.blocks.push(handle);
        }
    }

    /// Reports overlapping blocks. Returns the bytes before the footer that are in no block.
    pub(super) fn finish(mut self, file_len: u64, problems: &mut Problems) -> u64 {
        // Nearly sorted already if the table is sound.
        self.blocks.sort();
        self.blocks.dedup();
        let (mut end, mut widest) = (0, BlockHandle::default());
        let mut unused = 0u64;
        for &block in &self.blocks {
            if block.offset < end {
                problems.add(Code::OverlappingBlocks, || {
                    let expected = format!("a block that begins at or after {end}, where another ends");
                    let found = format!(
                        "a block of {} bytes here; the other, of {} bytes, begins at {}",
                        block.size, widest.size, widest.offset
                    );
                    Problem::new(Code::OverlappingBlocks, block.offset, expected, found)
                });
            }
            unused = unused.saturating_add(block.offset.saturating_sub(end));
            let block_end = block.end().unwrap_or(u64::MAX);
            if block_end > end {
                (end, widest) = (block_end, block);
            }
        }
        unused.saturating_add(file_len.saturating_sub(Footer::LEN as u64).saturating_sub(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(blocks: &[(u64, u64)], file_len: u64) -> (Vec<String>, u64) {
        let mut extents = BlockExtents::default();
        blocks.iter().for_each(|&(offset, size)| extents.add(BlockHandle { offset, size }));
        let mut problems = Problems::default();
        let unused = extents.finish(file_len, &mut problems);
        (problems.to_list().iter().map(ToString::to_string).collect(), unused)
    }

    #[test]
    fn blocks_one_after_the_other() {
        assert_eq!(finish(&[(0, 10), (15, 5), (25, 0)], 30 + 48), (vec![], 0));
        assert_eq!(finish(&[(25, 0), (0, 10), (15, 5), (15, 5)], 30 + 48), (vec![], 0));
        assert_eq!(finish(&[(10, 10), (30, 5)], 50 + 48), (vec![], 10 + 5 + 10));
        assert_eq!(finish(&[], 48), (vec![], 0));
    }

    #[test]
    fn blocks_in_one_another() {
        let (problems, unused) = finish(&[(0, 100), (10, 10), (30, 10), (104, 10)], 119 + 48);
        assert_eq!(unused, 0);
        assert_eq!(problems.len(), 3);
        assert_eq!(
            problems[2],
            "overlapping-blocks at offset 104: expected a block that begins at or after 105, where another ends, \
             found a block of 10 bytes here; the other, of 100 bytes, begins at 0"
        );
    }
}
