//! Changes to the bytes of files, as disks make them.

use arbitrary::Arbitrary;

/// The size of a sector in bytes, the least that a disk writes.
const SECTOR_LEN: usize = 512;
/// The size of a page in bytes, the least that a file system writes.
const PAGE_LEN: usize = 4096;

/// A change of a file's bytes as disks, memory and lost writes make it. No checksum is corrected.
///
/// Positions are taken modulo the file's length, numbers of sectors and pages modulo their count.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Corruption<'a> {
    /// One byte has the bits flipped that are set in the mask.
    Bits(u32, u8),
    /// The bytes from here on are overwritten with these, at most up to the file's end.
    Overwritten(u32, &'a [u8]),
    /// The file is cut off here.
    Cut(u32),
    /// A sector of 512 bytes is zeros.
    ZeroedSector(u16),
    /// One to four pages of 4,096 bytes are zeros.
    ZeroedPages(u16, u8),
}

impl Corruption<'_> {
    /// Changes `bytes`. An empty file stays as it is.
    pub fn apply(self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |at: u32| (at as usize).checked_rem(len).unwrap_or_default();
        let part = |number: u16, len_of_one: usize| {
            usize::from(number).checked_rem(len.div_ceil(len_of_one)).unwrap_or_default() * len_of_one
        };
        match self {
            Self::Bits(at, bits) => bytes.iter_mut().skip(place(at)).take(1).for_each(|byte| *byte ^= bits),
            Self::Overwritten(at, with) => {
                bytes.iter_mut().skip(place(at)).zip(with).for_each(|(byte, &new)| *byte = new);
            }
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::ZeroedSector(number) => {
                bytes.iter_mut().skip(part(number, SECTOR_LEN)).take(SECTOR_LEN).for_each(|byte| *byte = 0);
            }
            Self::ZeroedPages(number, more) => {
                let pages = usize::from(more % 4) + 1;
                let from = part(number, PAGE_LEN);
                bytes.iter_mut().skip(from).take(pages * PAGE_LEN).for_each(|byte| *byte = 0);
            }
        }
    }
}
