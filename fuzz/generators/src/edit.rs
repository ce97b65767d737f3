//! Changes to runs of bytes.

use arbitrary::Arbitrary;

/// A change to a run of bytes. Positions are taken modulo its length.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Edit<'a> {
    /// These bytes overwrite those from here on.
    Overwrite(u16, &'a [u8]),
    /// One byte has the bits flipped that are set in the mask.
    Flip(u16, u8),
    /// The run is cut off here.
    Cut(u16),
    /// These bytes are inserted here.
    Insert(u16, &'a [u8]),
    /// Another little-endian 32-bit number in place of the word this many words, modulo 32, before the last one. Such
    /// words are counts and offsets.
    Word(u8, u32),
    /// These bytes replace the run.
    Replace(&'a [u8]),
}

impl Edit<'_> {
    /// Changes `bytes`. What does not fit into them has no effect.
    pub fn apply(self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |at: u16| usize::from(at).checked_rem(len).unwrap_or_default();
        match self {
            Self::Overwrite(at, with) => {
                bytes.iter_mut().skip(place(at)).zip(with).for_each(|(byte, &new)| *byte = new);
            }
            Self::Flip(at, bits) => bytes.iter_mut().skip(place(at)).take(1).for_each(|byte| *byte ^= bits),
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Insert(at, with) => drop(bytes.splice(place(at)..place(at), with.iter().copied())),
            Self::Word(back, value) => {
                let start = len.checked_sub(4 * (usize::from(back) % 32 + 1));
                if let Some(word) = start.and_then(|start| bytes.get_mut(start..start + 4)) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
            }
            Self::Replace(with) => *bytes = with.to_vec(),
        }
    }
}
