//! Keys of any lengths, for the kernels that hash several side by side.

use crate::kernel;

/// The length up to which a key is copied beside others. Longer ones, should they end near the end
/// of the bytes, are hashed alone.
pub(crate) const SLOT: usize = 64;

/// The number of bytes that kernels read at a time.
const STEP: usize = 16;

/// N keys of any lengths in one run of bytes.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a, const N: usize> {
    /// Goes on for `longest` bytes from the start of each key. Code without bounds checks relies on
    /// it.
    bytes: &'a [u8],
    starts: [usize; N],
    lens: [u32; N],
    /// The length of the longest key, rounded up to whole steps.
    longest: usize,
}

impl<'a, const N: usize> Places<'a, N> {
    /// Returns the keys of these lengths at these places of `bytes`. `None` if a key is too near to
    /// the end to read from there as much as from the others, or very long.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], starts: [usize; N], lens: [usize; N]) -> Option<Self> {
        let longest = lens.iter().fold(0, |longest, len| *len | longest);
        let last = starts.iter().fold(0, |last, start| last.max(*start));
        if longest >= 1 << 30 || last > bytes.len() {
            return None;
        }
        let longest = lens.iter().fold(0, |longest, len| longest.max(*len)).next_multiple_of(STEP);
        (longest <= bytes.len() - last).then(|| Self {
            bytes,
            starts,
            lens: lens.map(|len| len as u32),
            longest,
        })
    }

    /// Copies the keys into `slots`. `None` if one is longer than its slot.
    #[inline(always)]
    pub(crate) fn copied(keys: [&[u8]; N], slots: &'a mut [[u8; SLOT]; N]) -> Option<Self> {
        for (key, slot) in keys.iter().zip(slots.iter_mut()) {
            if key.len() > SLOT {
                return None;
            }
            kernel::copy_short(key, slot);
        }
        Self::new(slots.as_flattened(), std::array::from_fn(|index| index * SLOT), keys.map(<[u8]>::len))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn starts(&self) -> &[usize; N] {
        &self.starts
    }

    #[inline]
    pub(crate) fn lens(&self) -> &[u32; N] {
        &self.lens
    }

    /// Returns the number of bytes to read from the start of each key, in whole sixteens.
    #[inline]
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}
