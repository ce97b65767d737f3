//! The fragments of a log or a MANIFEST, with wrong bits corrected.
//!
//! No fragment crosses the end of a block, so damage to one never hides the fragments of the next.

use std::cell::Cell;
use std::{io, ops::Range};

use bytes::Bytes;
use filterblock::database::{FragmentHeader, LOG_BLOCK_LEN};
use filterblock::table::ReadAt;

use super::patched::Patch;
use super::{may_end_otherwise, stored_crc, wrong_bits};

pub(crate) const BLOCK_LEN: u64 = LOG_BLOCK_LEN as u64;
/// The offset of the type in the header. The checksum covers it and the data, which follow.
const TYPE: usize = 6;
pub(crate) const FULL: u8 = 1;
pub(crate) const FIRST: u8 = 2;
pub(crate) const MIDDLE: u8 = 3;
pub(crate) const LAST: u8 = 4;
/// Zeros in a row that count as damage: a disk zeroes whole sectors.
pub(crate) const MIN_ZEROS: usize = 64;
/// Bytes whose checksums are tried to find the next fragment of a block.
const MAX_TRIED: usize = 4 << 20;
/// In all attempts together.
const MAX_TRIED_IN_BLOCK: usize = 16 << 20;

#[derive(Debug)]
pub(crate) enum Piece {
    Fragment(Fragment),
    /// In which no fragment is found.
    Lost(Range<u64>),
    /// The file ends within the fragment that begins here.
    Torn(u64),
    /// Zeros to the end of a block.
    Blank,
}

#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) offset: u64,
    pub(crate) kind: u8,
    pub(crate) data: Bytes,
    /// If need be after one bit was corrected.
    pub(crate) is_sound: bool,
    pub(crate) patch: Option<Patch>,
    /// Zeros at the end of a damaged fragment, if they begin a run of [`MIN_ZEROS`]. 0 also if the checksum shows that
    /// other bytes are wrong.
    pub(crate) zeroed_end: usize,
    /// By its checksum alone, after a loss.
    pub(crate) is_found: bool,
}

pub(crate) struct Fragments<R> {
    source: R,
    len: u64,
    block: Bytes,
    /// Of `block`.
    offset: u64,
    /// Of the next piece in `block`.
    at: usize,
    is_found: bool,
    /// Bytes whose checksums were tried in this block.
    tried: Cell<usize>,
}

pub(crate) fn header_at(block: &[u8], at: usize) -> Option<FragmentHeader> {
    FragmentHeader::decode(block.get(at..)?)
}

const fn is_of_known_type(header: FragmentHeader) -> bool {
    matches!(header.kind, FULL..=LAST)
}

impl<R: ReadAt> Fragments<R> {
    pub(crate) fn new(source: R) -> io::Result<Self> {
        let len = source.len()?;
        Ok(Self { source, len, block: Bytes::new(), offset: 0, at: 0, is_found: false, tried: Cell::new(0) })
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if self.at >= self.block.len() && !self.next_block()? {
                return Ok(None);
            }
            if let Some(piece) = self.piece() {
                return Ok(Some(piece));
            }
        }
    }

    fn next_block(&mut self) -> io::Result<bool> {
        self.offset = self.offset.saturating_add(self.block.len() as u64);
        let left = self.len.saturating_sub(self.offset).min(BLOCK_LEN);
        self.block = self.source.read_at(self.offset, left as usize)?;
        self.at = 0;
        self.is_found = false;
        self.tried.set(0);
        Ok(!self.block.is_empty())
    }

    fn is_last(&self) -> bool {
        self.offset.saturating_add(self.block.len() as u64) >= self.len
    }

    /// `None`: the rest of the block is too short for a fragment, and is skipped.
    fn piece(&mut self) -> Option<Piece> {
        let (start, end) = (self.at, self.block.len());
        let offset = self.offset_of(start);
        let rest = self.block.get(start..).unwrap_or_default();
        let Some(header) = header_at(&self.block, start) else {
            self.at = end;
            let is_cut = self.is_last() && (end as u64) < BLOCK_LEN && rest.iter().any(|&byte| byte != 0);
            return is_cut.then_some(Piece::Torn(offset));
        };
        if header.is_blank() && rest.iter().all(|&byte| byte == 0) {
            self.at = end;
            return Some(Piece::Blank);
        }
        if is_sound(&self.block, start) {
            return Some(self.take(header, true, None));
        }
        if let Some((header, patch)) = self.corrected(start, header) {
            return Some(self.take(header, true, Some(patch)));
        }
        let next = start.saturating_add(FragmentHeader::LEN).saturating_add(header.len.into());
        if is_of_known_type(header) && self.is_boundary(next) {
            return Some(self.take(header, false, None));
        }
        let (found, is_searched) = self.resynchronise(start);
        self.at = found.unwrap_or(end);
        self.is_found = found.is_some();
        if found.is_none() && is_searched && self.is_last() && next > end && is_of_known_type(header) {
            return Some(Piece::Torn(offset));
        }
        Some(Piece::Lost(offset..self.offset_of(self.at)))
    }

    fn offset_of(&self, at: usize) -> u64 {
        self.offset.saturating_add(at as u64)
    }

    fn take(&mut self, header: FragmentHeader, is_sound: bool, patch: Option<Patch>) -> Piece {
        let start = self.at;
        let from = start.saturating_add(FragmentHeader::LEN);
        self.at = from.saturating_add(header.len.into()).min(self.block.len());
        let zeroed_end = if is_sound { 0 } else { self.zeroed_end(start, header) };
        let mut data = self.block.slice(from.min(self.at)..self.at);
        let patched = patch.and_then(|patch| patch.offset.checked_sub(self.offset_of(from)));
        if let Some((at, patch)) = patched.and_then(|at| usize::try_from(at).ok()).zip(patch) {
            let mut right = data.to_vec();
            right.get_mut(at).into_iter().for_each(|byte| *byte ^= patch.mask);
            data = right.into();
        }
        Piece::Fragment(Fragment {
            offset: self.offset_of(start),
            kind: header.kind,
            data,
            is_sound,
            patch,
            zeroed_end,
            is_found: std::mem::take(&mut self.is_found),
        })
    }

    /// True if a sound fragment follows, or only zeros, or too few bytes for a fragment.
    fn is_boundary(&self, at: usize) -> bool {
        let Some(rest) = self.block.get(at..) else { return false };
        rest.len() < FragmentHeader::LEN || rest.iter().all(|&byte| byte == 0) || is_sound(&self.block, at)
    }

    fn zeroed_end(&self, start: usize, header: FragmentHeader) -> usize {
        let is_zero = |byte: &&u8| **byte == 0;
        let behind = self.block.get(self.at..).unwrap_or_default().iter().take_while(is_zero).count();
        // The type before the data is not zero.
        let data = checked(&self.block, start, header.len).unwrap_or_default();
        let zeros = data.iter().rev().take_while(is_zero).count();
        let is_run = zeros.saturating_add(behind) >= MIN_ZEROS;
        if is_run && may_end_otherwise(data, zeros, header.checksum) { zeros } else { 0 }
    }

    /// Corrects the one bit, possibly of the length, that makes the fragment sound. `None`: no bit does, several do, or
    /// no more bytes may be tried.
    fn corrected(&self, start: usize, header: FragmentHeader) -> Option<(FragmentHeader, Patch)> {
        let mut found = Vec::new();
        if !self.may_try(0) {
            return None;
        }
        let patch = |at: usize, mask: u8| Patch { offset: self.offset_of(start.saturating_add(at)), mask };
        if let Some(data) = checked(&self.block, start, header.len) {
            // The search for a wrong bit goes byte by byte, so it costs more than a checksum.
            self.may_try(data.len().saturating_mul(8));
            found.extend(wrong_bits(data, header.checksum).into_iter().map(|(at, mask)| {
                let kind = if at == 0 { header.kind ^ mask } else { header.kind };
                // The checksum comes before the data.
                let at = at.checked_sub(data.len()).unwrap_or(at.saturating_add(TYPE));
                (FragmentHeader { kind, ..header }, patch(at, mask))
            }));
        }
        for bit in 0..u16::BITS {
            let len = header.len ^ 1 << bit;
            let data = checked(&self.block, start, len);
            self.may_try(data.map_or(0, <[u8]>::len));
            if data.is_some_and(|data| stored_crc(data) == header.checksum) {
                found.push((FragmentHeader { len, ..header }, patch(4 + (bit / 8) as usize, 1 << (bit % 8))));
            }
        }
        found.retain(|(header, _)| is_of_known_type(*header));
        match *found {
            [(header, patch)] => Some((header, patch)),
            _ => None,
        }
    }

    /// Counts bytes whose checksums are tried. False: no more may be.
    fn may_try(&self, bytes: usize) -> bool {
        self.tried.set(self.tried.get().saturating_add(bytes));
        self.tried.get() <= MAX_TRIED_IN_BLOCK
    }

    /// The next sound fragment with data in the block, and whether the whole block was searched: not if no more bytes
    /// may be tried.
    fn resynchronise(&self, start: usize) -> (Option<usize>, bool) {
        let mut tried = 0_usize;
        let end = self.block.len();
        for at in start.saturating_add(1)..end {
            let Some(header) = header_at(&self.block, at) else { break };
            // Databases write no fragments without data in the middle of a block.
            if !is_of_known_type(header) || header.len == 0 {
                continue;
            }
            let Some(data) = checked(&self.block, at, header.len) else { continue };
            if tried > MAX_TRIED || !self.may_try(data.len()) {
                return (None, false);
            }
            tried = tried.saturating_add(data.len());
            if stored_crc(data) == header.checksum {
                return (Some(at), true);
            }
        }
        (None, true)
    }
}

/// Finds where LevelDB sees space that was reserved and not written, after a block's sound fragments. `None`: nowhere,
/// or there is no room for a header.
pub(crate) fn reserved(block: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    loop {
        let header = header_at(block, at)?;
        if (header.kind, header.len) == (0, 0) {
            return Some(at);
        }
        if !is_sound(block, at) {
            return None;
        }
        at = at.saturating_add(FragmentHeader::LEN).saturating_add(header.len.into());
    }
}

/// The type and data, which the checksum covers. `None`: they reach beyond the block.
fn checked(block: &[u8], start: usize, len: u16) -> Option<&[u8]> {
    let from = start.checked_add(TYPE)?;
    block.get(from..from.checked_add(len.into())?.checked_add(1)?)
}

fn is_sound(block: &[u8], at: usize) -> bool {
    header_at(block, at).is_some_and(|header| {
        is_of_known_type(header)
            && checked(block, at, header.len).is_some_and(|data| stored_crc(data) == header.checksum)
    })
}

#[cfg(test)]
mod tests {
    use filterblock::database::LogWriter;

    use super::*;

    fn log(records: &[Vec<u8>]) -> Vec<u8> {
        let mut log = LogWriter::new(Vec::new());
        records.iter().for_each(|record| log.add_record(record).unwrap());
        log.into_writer()
    }

    fn records() -> Vec<Vec<u8>> {
        (1..60_u8)
            .map(|at| (0..u32::from(at) * 40).map(|i| (i * 7 + u32::from(at)) as u8).collect())
            .collect()
    }

    /// Returns the complete records of a file, and all pieces other than sound fragments.
    fn read(file: &[u8]) -> (Vec<Vec<u8>>, Vec<Piece>) {
        let (mut whole, mut others, mut record) = (Vec::new(), Vec::new(), Vec::new());
        let mut fragments = Fragments::new(file).unwrap();
        while let Some(piece) = fragments.next().unwrap() {
            match piece {
                Piece::Fragment(fragment) if fragment.is_sound => {
                    if matches!(fragment.kind, FULL | FIRST) {
                        record.clear();
                    }
                    record.extend_from_slice(&fragment.data);
                    if matches!(fragment.kind, FULL | LAST) {
                        whole.push(record.clone());
                    }
                }
                other => others.push(other),
            }
        }
        (whole, others)
    }

    #[test]
    fn a_wrong_bit_anywhere_is_corrected() {
        let records = records();
        let file = log(&records);
        assert_eq!(read(&file).0, records);
        for at in (0..file.len()).step_by(97).chain(0..20) {
            for bit in [0, 3, 7] {
                let mut wrong = file.clone();
                wrong[at] ^= 1 << bit;
                let (found, others) = read(&wrong);
                assert!(found == records && others.is_empty(), "{at} {bit}: {others:?}");
            }
        }
    }

    #[test]
    fn what_is_behind_damage_in_a_block_is_found() {
        let records = records();
        let mut file = log(&records);
        // The header and some data of the second record are lost. The records after it are
        // complete.
        let second = 7 + 40;
        file[second..second + 60].fill(0);
        let (found, others) = read(&file);
        assert!(found[0] == records[0] && found[1..] == records[2..], "{others:?}");
        assert!(matches!(&others[..], [Piece::Lost(range)] if *range == (47..134)), "{others:?}");
    }

    #[test]
    fn a_length_is_believed_where_something_sound_stands_behind_it() {
        let records = records();
        let mut file = log(&records);
        file[7 + 40 + 7 + 5..][..9].fill(0xee);
        let (found, others) = read(&file);
        assert_eq!(found.len(), records.len() - 1);
        assert!(matches!(&others[..], [Piece::Fragment(one)] if one.data.len() == 80), "{others:?}");
    }

    #[test]
    fn a_file_that_is_cut_ends_in_a_torn_fragment() {
        let file = log(&records());
        for len in [50, 1000, 33_000, file.len() - 1] {
            let (found, others) = read(&file[..len]);
            assert!(matches!(&others[..], [Piece::Torn(_)]) && !found.is_empty(), "{len}: {others:?}");
        }
        let blank = [&file[..7 + 40], &[0; 100]].concat();
        assert!(matches!(&read(&blank).1[..], [Piece::Blank]));
    }
}
