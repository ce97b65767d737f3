//! Contents of a MANIFEST that LevelDB accepts silently, though something is lost or wrong.

use std::io::{self, Read};

use bytes::Bytes;
use filterblock::database::FragmentHeader;

use super::correct::fragments::{BLOCK_LEN, Fragment, Fragments, Piece, header_at, reserved};
use crate::report::{Code, ErrorKind, Fault, Problem};

/// A key has no room for a greater sequence number.
pub(crate) const MAX_SEQUENCE: u64 = (1 << 56) - 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skipped {
    /// From this offset to the end of the file.
    Zeros(u64),
    /// At this offset, with other bytes after them. LevelDB skips the rest of the block.
    Hidden(u64),
    /// At this offset, reaching beyond the file. LevelDB takes it for a record cut short, but it has one wrong bit, or
    /// whole fragments follow.
    Length(u64),
    /// More than an entry can have.
    Sequence(u64),
}

impl Skipped {
    /// The first zeros where a record could begin, or else a wrong length at the end. Reads a block only up to damage.
    /// `source` has to stand at the start of the MANIFEST.
    pub(crate) fn zeros(mut source: impl Read) -> io::Result<Option<Self>> {
        let mut finder = ZeroFinder::default();
        loop {
            let mut block = Vec::new();
            (&mut source).take(BLOCK_LEN).read_to_end(&mut block)?;
            if block.is_empty() || finder.is_hidden {
                return Ok(finder.end());
            }
            finder.add(&block);
        }
    }

    /// `None`: an entry can have it.
    pub(crate) fn sequence(last: u64) -> Option<Self> {
        (last > MAX_SEQUENCE).then_some(Self::Sequence(last))
    }

    pub(crate) fn fault(self) -> Fault {
        let (expected, found) = (Some(self.expected().into()), Some(self.found().into()));
        let message = match self {
            Self::Zeros(offset) => format!("zeros from offset {offset} to the end, which LevelDB ignores"),
            Self::Hidden(offset) => {
                format!("records after zeros, from offset {offset} on, which LevelDB ignores")
            }
            Self::Length(offset) => format!("a wrong length, at offset {offset}: LevelDB ignores the rest"),
            Self::Sequence(last) => format!("the last sequence number, {last}, is greater than any can be"),
        };
        Fault { offset: self.offset(), expected, found, ..Fault::new(message, ErrorKind::Damaged) }
    }

    pub(crate) fn problem(self) -> Problem {
        Problem::new(Code::ManifestDamaged, self.offset(), self.expected(), self.found())
    }

    const fn offset(self) -> Option<u64> {
        match self {
            Self::Zeros(offset) | Self::Hidden(offset) | Self::Length(offset) => Some(offset),
            Self::Sequence(_) => None,
        }
    }

    fn expected(self) -> String {
        match self {
            Self::Zeros(_) | Self::Hidden(_) => "a record or the end of the file".to_owned(),
            Self::Length(_) => "a length within the file".to_owned(),
            Self::Sequence(_) => format!("a last sequence of at most {MAX_SEQUENCE}"),
        }
    }

    fn found(self) -> String {
        match self {
            Self::Zeros(_) => "zeros up to the end, which LevelDB ignores".to_owned(),
            Self::Hidden(_) => "zeros with other bytes after them, which LevelDB ignores".to_owned(),
            Self::Length(_) => "one beyond its end, which LevelDB ignores".to_owned(),
            Self::Sequence(last) => last.to_string(),
        }
    }
}

/// Takes the bytes of a log or a MANIFEST part by part.
#[derive(Default)]
pub(crate) struct ZeroFinder {
    block: Vec<u8>,
    /// Of the block in the file.
    start: u64,
    before: Vec<u8>,
    /// Of the first zeros where a record could begin.
    zeros: Option<u64>,
    is_hidden: bool,
}

impl ZeroFinder {
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = (BLOCK_LEN as usize).saturating_sub(self.block.len());
            let (part, rest) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(part);
            bytes = rest;
            if self.block.len() as u64 == BLOCK_LEN {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        let start = self.start;
        self.zeros = self.zeros.or_else(|| Some(start.saturating_add(reserved(&self.block)? as u64)));
        let from = self.zeros.and_then(|zeros| usize::try_from(zeros.saturating_sub(start)).ok());
        let rest = from.and_then(|from| self.block.get(from..));
        self.is_hidden |= rest.is_some_and(|rest| rest.iter().any(|&byte| byte != 0));
        self.start = start.saturating_add(self.block.len() as u64);
        std::mem::swap(&mut self.block, &mut self.before);
        self.block.clear();
    }

    /// The byte with the only wrong bit of the fragment at `offset`, in one of the last two blocks. `None`: no such bit
    /// is found.
    pub(crate) fn wrong_bit(&self, offset: u64) -> Option<u64> {
        let before = self.start.saturating_sub(self.before.len() as u64);
        let (start, block) =
            if offset >= self.start { (self.start, &self.block) } else { (before, &self.before) };
        let fault = BlockFault::of(block)?;
        fault.bit.filter(|_| start.saturating_add(fault.at as u64) == offset)?.checked_add(start)
    }

    /// A wrong length at the end of all bytes.
    pub(crate) fn length(&self) -> Option<Skipped> {
        let wrong = BlockFault::of(&self.block).filter(|fault| fault.is_beyond)?;
        Some(Skipped::Length(self.start.saturating_add(wrong.at as u64)))
    }

    /// The zeros found in all bytes, or that length.
    pub(crate) fn end(mut self) -> Option<Skipped> {
        let length = self.length();
        self.end_block();
        if let (None, Some(_)) = (self.zeros, length) {
            return length;
        }
        self.zeros.map(if self.is_hidden { Skipped::Hidden } else { Skipped::Zeros })
    }
}

/// The first fragment of a block that is not sound.
struct BlockFault {
    /// In the block.
    at: usize,
    /// Its length reaches beyond the block.
    is_beyond: bool,
    /// The byte with the only wrong bit, if that is all the damage.
    bit: Option<u64>,
}

impl BlockFault {
    /// `None`: all fragments are sound, or the first that is not may be cut short by the end of a file.
    fn of(block: &[u8]) -> Option<Self> {
        let block = Bytes::copy_from_slice(block);
        let mut fragments = Fragments::new(block.clone()).ok()?;
        let (at, bit) = loop {
            match fragments.next().ok()?? {
                Piece::Fragment(Fragment { is_sound: true, patch: None, .. }) => {}
                Piece::Fragment(Fragment { offset, patch, .. }) => {
                    break (offset, patch.map(|patch| patch.offset));
                }
                Piece::Lost(range) => break (range.start, None),
                Piece::Torn(_) | Piece::Blank => return None,
            }
        };
        let at = usize::try_from(at).ok()?;
        let header = header_at(&block, at)?;
        let after = at.saturating_add(FragmentHeader::LEN).saturating_add(header.len.into());
        Some(Self { at, is_beyond: after > block.len(), bit })
    }
}

#[cfg(test)]
mod tests {
    use filterblock::database::LogWriter;

    use super::*;

    fn log(records: &[usize]) -> Vec<u8> {
        let mut log = LogWriter::new(Vec::new());
        records.iter().for_each(|&len| log.add_record(&vec![0; len]).unwrap());
        log.into_writer()
    }

    fn space(file: &[u8]) -> Option<Skipped> {
        Skipped::zeros(file).unwrap()
    }

    /// In the last block, a length beyond the end is that of a record that was not finished, unless records follow.
    #[test]
    fn a_wrong_length_hides_records() {
        let file = log(&[100, 200, 300]);
        for cut in [1, 6, 7, 8, 100, 306] {
            assert_eq!(space(&file[..file.len() - cut]), None, "{cut}");
        }
        for (at, offset) in [(5, 0), (107 + 5, 107)] {
            let mut wrong = file.clone();
            wrong[at] = 0x70;
            assert_eq!(space(&wrong), Some(Skipped::Length(offset)));
        }
        // Nothing comes after it: one bit, or a record that was not finished.
        let mut last = file.clone();
        last[107 + 207 + 5] ^= 0x40;
        assert_eq!(space(&last), Some(Skipped::Length(314)));
        last[107 + 207 + 5] = 0x70;
        assert_eq!(space(&last), None);
    }

    #[test]
    fn a_sequence_number_has_56_bits() {
        for (last, is_told) in [(0, false), ((1 << 56) - 1, false), (1 << 56, true), (u64::MAX, true)] {
            assert_eq!(Skipped::sequence(last), is_told.then_some(Skipped::Sequence(last)));
        }
    }

    #[test]
    fn zeros_are_told_where_a_record_could_begin() {
        // Records of zeros, those that fill a block to its last bytes, and padding are no space.
        for records in [&[][..], &[100, 200], &[32_768 - 7 - 3, 50], &[100_000, 3]] {
            let file = log(records);
            assert_eq!(space(&file), None, "{records:?}");
            let len = file.len() as u64;
            assert_eq!(space(&[&file[..], &[0; 7]].concat()), Some(Skipped::Zeros(len)));
            assert_eq!(space(&[&file[..], &[0; 70_000]].concat()), Some(Skipped::Zeros(len)));
            let hidden = [&file[..], &[0; 20], &b"record"[..]].concat();
            assert_eq!(space(&hidden), Some(Skipped::Hidden(len)));
            // A record in a later block is read, but not what was here.
            let mut later = file.clone();
            later.resize(file.len().next_multiple_of(32_768).max(32_768), 0);
            if later.len() - file.len() >= 7 {
                later.extend(log(&[9]));
                assert_eq!(space(&later), Some(Skipped::Hidden(len)));
            }
        }
        // Damage ends a block, and LevelDB reports it.
        let mut damaged = [&log(&[100, 200])[..], &[0; 30]].concat();
        damaged[50] = 1;
        assert_eq!(space(&damaged), None);
    }
}
