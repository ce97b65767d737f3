//! Damage to the filter block of a table. The block's length and the rest of the table stay as they are.

use crate::random::Random;

/// A way to damage a filter block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Damage {
    ClearedBits,
    WrongK,
    ShiftedOffsets,
    SwappedFilters,
    WrongBaseLg,
    MovedArray,
    FlippedBits,
}

impl Damage {
    pub(super) const ALL: [Self; 7] = [
        Self::ClearedBits,
        Self::WrongK,
        Self::ShiftedOffsets,
        Self::SwappedFilters,
        Self::WrongBaseLg,
        Self::MovedArray,
        Self::FlippedBits,
    ];

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::ClearedBits => "bits cleared",
            Self::WrongK => "wrong k",
            Self::ShiftedOffsets => "shifted offsets",
            Self::SwappedFilters => "swapped filters",
            Self::WrongBaseLg => "wrong base_lg",
            Self::MovedArray => "moved offset array",
            Self::FlippedBits => "bits flipped anywhere",
        }
    }

    /// Returns the damaged block. `None` if this block offers nothing to damage in this way, or the damage happens to
    /// change nothing.
    pub(super) fn apply(self, random: &mut Random, block: &[u8]) -> Option<Vec<u8>> {
        let parts = Parts::of(block)?;
        let damaged = match self {
            Self::ClearedBits => parts.clear_bits(random)?,
            Self::WrongK => parts.change_k(random)?,
            Self::ShiftedOffsets => parts.shift_offsets(random),
            Self::SwappedFilters => parts.swap(random)?,
            Self::WrongBaseLg => {
                let mut block = block.to_vec();
                *block.last_mut()? = random.below(64) as u8;
                block
            }
            Self::MovedArray => {
                let mut block = block.to_vec();
                let by = [1, 4, 8, random.next_u64() as u32][random.index(4)];
                add(&mut block, parts.array_end, if random.one_in(2) { by } else { by.wrapping_neg() });
                block
            }
            Self::FlippedBits => {
                let mut block = block.to_vec();
                for _ in 0..random.between(1, 8) {
                    // Damage to the last byte is a kind of its own; with a last byte from 64 on,
                    // LevelDB's behaviour is undefined.
                    let bit = random.index((block.len() - 1) * 8);
                    block[bit / 8] ^= 1 << (bit % 8);
                }
                block
            }
        };
        debug_assert_eq!(damaged.len(), block.len());
        (damaged != block).then_some(damaged)
    }
}

/// A sound filter block.
struct Parts<'a> {
    block: &'a [u8],
    filters: Vec<&'a [u8]>,
    array: usize,
    array_end: usize,
}

impl<'a> Parts<'a> {
    /// Takes a block apart. `None` if it has no filters.
    fn of(block: &'a [u8]) -> Option<Self> {
        let array_end = block.len().checked_sub(5)?;
        let word = |at: usize| Some(u32::from_le_bytes(*block.get(at..)?.first_chunk()?) as usize);
        let array = word(array_end)?;
        let filters: Option<Vec<_>> =
            (array..array_end).step_by(4).map(|at| block.get(word(at)?..word(at + 4)?)).collect();
        let filters = filters.filter(|filters| !filters.is_empty())?;
        Some(Self { block, filters, array, array_end })
    }

    /// Chooses a filter with at least one byte of bits. Returns its place in the block.
    fn some_filter(&self, random: &mut Random) -> Option<std::ops::Range<usize>> {
        let used: Vec<_> = self.filters.iter().filter(|filter| filter.len() >= 2).collect();
        let filter = used.get(random.index(used.len().max(1)))?;
        let start = filter.as_ptr() as usize - self.block.as_ptr() as usize;
        Some(start..start + filter.len())
    }

    fn clear_bits(&self, random: &mut Random) -> Option<Vec<u8>> {
        let filter = self.some_filter(random)?;
        let bits = filter.start * 8..(filter.end - 1) * 8;
        let is_set = |bit: &usize| self.block[bit / 8] >> (bit % 8) & 1 == 1;
        let set: Vec<usize> = bits.filter(is_set).collect();
        if set.is_empty() {
            return None;
        }
        let mut block = self.block.to_vec();
        let some = if random.one_in(4) { set.len() } else { random.between(1, 8) as usize };
        for _ in 0..some {
            let bit = set[random.index(set.len())];
            block[bit / 8] &= !(1 << (bit % 8));
        }
        Some(block)
    }

    fn change_k(&self, random: &mut Random) -> Option<Vec<u8>> {
        let filter = self.some_filter(random)?;
        let mut block = self.block.to_vec();
        block[filter.end - 1] = random.below(40) as u8;
        Some(block)
    }

    fn shift_offsets(&self, random: &mut Random) -> Vec<u8> {
        let mut block = self.block.to_vec();
        let entries = self.filters.len();
        let from = random.index(entries);
        let until = if random.one_in(2) { from + 1 } else { entries };
        let by = random.between(1, 20) as u32;
        let by = if random.one_in(2) { by } else { by.wrapping_neg() };
        for entry in from..until {
            add(&mut block, self.array + 4 * entry, by);
        }
        block
    }

    /// Swaps two filters.
    fn swap(&self, random: &mut Random) -> Option<Vec<u8>> {
        let mut filters = self.filters.clone();
        if filters.len() < 2 {
            return None;
        }
        let (a, b) = (random.index(filters.len()), random.index(filters.len()));
        filters.swap(a, b);
        let mut block = filters.concat();
        let mut start = 0;
        for filter in filters {
            block.extend_from_slice(&(start as u32).to_le_bytes());
            start += filter.len();
        }
        block.extend_from_slice(self.block.get(self.array_end..)?);
        Some(block)
    }
}

fn add(block: &mut [u8], at: usize, by: u32) {
    let word = u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
    block[at..at + 4].copy_from_slice(&word.wrapping_add(by).to_le_bytes());
}
