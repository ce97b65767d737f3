//! Filter blocks, sound and damaged.

use arbitrary::{Arbitrary, Unstructured};

use crate::damage::Edit;
use crate::model;

/// Largest distance from one data block to the next. It keeps the empty filters of a gap few.
const MAX_STEP: u64 = 10_000;

/// The keys of data blocks, and how their filters are made.
#[derive(Clone, Debug)]
pub struct FilterBlock<'a> {
    /// Logarithm of the bytes of data blocks that a filter is for, from 4 to 63. LevelDB's is 11.
    pub base_lg: u8,
    /// Bits a key, at most 50.
    pub bits_per_key: u32,
    /// The offset of each data block, and its keys. The offsets ascend.
    pub blocks: Vec<(u64, Vec<&'a [u8]>)>,
}

impl FilterBlock<'_> {
    /// Returns the bytes that LevelDB writes if its builder is called with the start of each data block and its keys.
    pub fn to_bytes(&self) -> Vec<u8> {
        let keys = self.blocks.iter().flat_map(|(offset, keys)| keys.iter().map(|key| (*offset, *key)));
        let last = self.blocks.last().map_or(0, |(offset, _)| *offset);
        model::filter_block(&keys.collect::<Vec<_>>(), last, self.base_lg, self.bits_per_key)
    }

    /// Returns the same bytes, damaged.
    pub fn damaged(&self, edit: Edit<'_>) -> Vec<u8> {
        let mut bytes = self.to_bytes();
        edit.apply(&mut bytes);
        bytes
    }
}

impl<'a> Arbitrary<'a> for FilterBlock<'a> {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let base_lg = if input.ratio(3_u8, 4)? { 11 } else { input.int_in_range(4..=63)? };
        let bits_per_key = input.int_in_range(0..=50)?;
        let (mut blocks, mut offset) = (Vec::new(), 0);
        for block in input.arbitrary_iter()? {
            let (step, keys): (u16, _) = block?;
            blocks.push((offset, keys));
            offset += 1 + u64::from(step) % MAX_STEP;
        }
        Ok(Self { base_lg, bits_per_key, blocks })
    }
}
