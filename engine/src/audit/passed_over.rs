//! Contents of a MANIFEST that LevelDB accepts without a word, though something is lost or wrong.

use std::io::{self, Read};

use super::correct::fragments::{BLOCK_LEN, reserved};
use crate::report::{Code, ErrorKind, Fault, Finding};

/// The greatest sequence number that a key has room for.
pub(crate) const MAX_SEQUENCE: u64 = (1 << 56) - 1;

/// A part of a MANIFEST that LevelDB passes over, or a number that it takes as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PassedOver {
    /// Zeros from this offset to the end of the file.
    Zeros(u64),
    /// Zeros at this offset, with other bytes after them. LevelDB reads none of the block from this offset on.
    Hidden(u64),
    /// A last sequence number that no entry can have.
    Sequence(u64),
}

impl PassedOver {
    /// Finds the first zeros at which a record could begin. In a block with damage, only the bytes before the damage
    /// are looked at. `None`: there are no such zeros.
    ///
    /// # Errors
    ///
    /// Those of reading `source`, which has to stand at the start of the MANIFEST.
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

    /// Returns the last sequence number `last` if no entry can have it.
    pub(crate) fn sequence(last: u64) -> Option<Self> {
        (last > MAX_SEQUENCE).then_some(Self::Sequence(last))
    }

    /// The fault for `manifest`.
    pub(crate) fn fault(self) -> Fault {
        let (expected, found) = (self.expected(), self.found());
        match self.offset() {
            Some(offset) => Fault::damage(&format!("MANIFEST at offset {offset}"), offset, expected, found),
            None => {
                let message = format!("MANIFEST: expected {expected}, found {found}");
                let (expected, found) = (Some(expected), Some(found));
                Fault { expected, found, ..Fault::new(message, ErrorKind::Damaged) }
            }
        }
    }

    /// The finding for `verify`.
    pub(crate) fn finding(self) -> Finding {
        Finding::new(Code::Manifest, self.offset(), self.expected(), self.found())
    }

    const fn offset(self) -> Option<u64> {
        match self {
            Self::Zeros(offset) | Self::Hidden(offset) => Some(offset),
            Self::Sequence(_) => None,
        }
    }

    fn expected(self) -> String {
        match self {
            Self::Zeros(_) | Self::Hidden(_) => "a record or the end of the file".to_owned(),
            Self::Sequence(_) => format!("a last sequence of at most {MAX_SEQUENCE}"),
        }
    }

    fn found(self) -> String {
        match self {
            Self::Zeros(_) => "zeros up to the end, which LevelDB passes over".to_owned(),
            Self::Hidden(_) => "zeros with other bytes behind them, which LevelDB passes over".to_owned(),
            Self::Sequence(last) => last.to_string(),
        }
    }
}

/// Finds zeros in a log or a MANIFEST whose bytes come part by part.
#[derive(Default)]
pub(crate) struct ZeroFinder {
    /// The bytes of the current block so far.
    block: Vec<u8>,
    /// The offset of the block in the file.
    start: u64,
    /// The offset of the first zeros at which a record could begin.
    zeros: Option<u64>,
    /// Other bytes follow the zeros.
    is_hidden: bool,
}

impl ZeroFinder {
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_hidden {
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
        self.block.clear();
    }

    /// The zeros found in all bytes.
    pub(crate) fn end(mut self) -> Option<PassedOver> {
        self.end_block();
        self.zeros.map(if self.is_hidden { PassedOver::Hidden } else { PassedOver::Zeros })
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

    fn space(file: &[u8]) -> Option<PassedOver> {
        PassedOver::zeros(file).unwrap()
    }

    #[test]
    fn a_sequence_number_has_56_bits() {
        for (last, is_told) in [(0, false), ((1 << 56) - 1, false), (1 << 56, true), (u64::MAX, true)] {
            assert_eq!(PassedOver::sequence(last), is_told.then_some(PassedOver::Sequence(last)));
        }
    }

    #[test]
    fn zeros_are_told_where_a_record_could_begin() {
        // Records of zeros, those that fill a block to its last bytes, and padding are no space.
        for records in [&[][..], &[100, 200], &[32_768 - 7 - 3, 50], &[100_000, 3]] {
            let file = log(records);
            assert_eq!(space(&file), None, "{records:?}");
            let len = file.len() as u64;
            assert_eq!(space(&[&file[..], &[0; 7]].concat()), Some(PassedOver::Zeros(len)));
            assert_eq!(space(&[&file[..], &[0; 70_000]].concat()), Some(PassedOver::Zeros(len)));
            let hidden = [&file[..], &[0; 20], &b"record"[..]].concat();
            assert_eq!(space(&hidden), Some(PassedOver::Hidden(len)));
            // A record in a later block is read, but not what was here.
            let mut later = file.clone();
            later.resize(file.len().next_multiple_of(32_768).max(32_768), 0);
            if later.len() - file.len() >= 7 {
                later.extend(log(&[9]));
                assert_eq!(space(&later), Some(PassedOver::Hidden(len)));
            }
        }
        // Damage ends a block, and LevelDB reports it.
        let mut damaged = [&log(&[100, 200])[..], &[0; 30]].concat();
        damaged[50] = 1;
        assert_eq!(space(&damaged), None);
    }
}
