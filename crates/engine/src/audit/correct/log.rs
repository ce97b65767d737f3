//! A log whose wrong bits are corrected as it is read.

use std::io;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use filterblock::database::Manifest;
use filterblock::table::ReadAt;

use super::fragments::{BLOCK_LEN, FIRST, FULL, Fragments, Piece};
use super::patched::Patched;
use crate::walk::Sequential;

/// Returns also the offsets of the corrected bytes. `None`: the MANIFEST still cannot be relied on.
pub(crate) fn manifest(source: &impl ReadAt) -> Option<(Manifest, Vec<u64>)> {
    let (mut fragments, mut patches) = (Fragments::new(source).ok()?, Vec::new());
    while let Some(piece) = fragments.next().ok()? {
        if let Piece::Fragment(fragment) = piece {
            patches.extend(fragment.patch);
        }
    }
    let contents = Sequential::new(Patched { source, patches: &patches });
    let manifest = Manifest::scan(contents, Manifest::DEFAULT_MEMORY_LIMIT).into_result().ok()?;
    Some((manifest, patches.iter().map(|patch| patch.offset).collect()))
}

/// Corrects one wrong bit of each fragment if the checksum reveals it. For a reader that goes from start to end.
pub(crate) struct CorrectedLog<R> {
    source: R,
    state: Mutex<State>,
    /// Called with the offset of a record and of its corrected byte in the log.
    tell: Box<dyn Fn(u64, u64) + Send + Sync>,
}

#[derive(Default)]
struct State {
    /// The block that was read last, corrected, with its offset.
    block: (u64, Bytes),
    /// The offset of the record that is being read.
    record: u64,
}

impl<R: ReadAt> CorrectedLog<R> {
    pub(crate) fn new(source: R, tell: Box<dyn Fn(u64, u64) + Send + Sync>) -> Self {
        Self { source, state: Mutex::default(), tell }
    }

    pub(crate) const fn source(&self) -> &R {
        &self.source
    }

    /// The block at `start`, corrected. No fragment reaches into another one.
    fn block(&self, start: u64, record: &mut u64) -> io::Result<Bytes> {
        let len = self.source.len()?.saturating_sub(start).min(BLOCK_LEN);
        let block = self.source.read_at(start, len as usize)?;
        let mut fragments = Fragments::new(block.clone())?;
        let mut wrong = Vec::new();
        while let Some(piece) = fragments.next()? {
            let Piece::Fragment(fragment) = piece else { continue };
            if matches!(fragment.kind, FULL | FIRST) {
                *record = start.saturating_add(fragment.offset);
            }
            if let Some(patch) = fragment.patch {
                (self.tell)(*record, start.saturating_add(patch.offset));
                wrong.push(patch);
            }
        }
        Patched { source: &block, patches: &wrong }.read_at(0, block.len())
    }
}

impl<R: ReadAt> ReadAt for CorrectedLog<R> {
    fn len(&self) -> io::Result<u64> {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let State { block, record } = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let end = offset.checked_add(len as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        let (mut at, mut bytes) = (offset, Vec::new());
        while at < end {
            let start = at - at % BLOCK_LEN;
            if block.0 != start || block.1.is_empty() {
                *block = (start, self.block(start, record)?);
            }
            let to = usize::try_from(end - start).unwrap_or(usize::MAX).min(block.1.len());
            let part = block.1.get((at - start) as usize..to).filter(|part| !part.is_empty());
            bytes.extend_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
            at = start + to as u64;
        }
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use filterblock::database::LogWriter;

    use std::io::Read as _;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_wrong_bit_in_any_block_is_corrected_and_told_with_its_record() {
        let mut log = LogWriter::new(Vec::new());
        // The third record spans three blocks.
        for len in [100, 200, 80_000, 300] {
            log.add_record(&(0..len).map(|at: u32| (at.wrapping_mul(at) >> 4) as u8).collect::<Vec<_>>())
                .unwrap();
        }
        let log = log.into_writer();
        for (at, record) in [
            (50, 0),
            (4, 0),
            (150, 107),
            (400, 314),
            (40_000, 314),
            (70_000, 314),
            (log.len() - 9, log.len() - 307),
        ] {
            for (mask, expected) in [(4, vec![(record as u64, at as u64)]), (5, vec![])] {
                let mut wrong = log.clone();
                wrong[at] ^= mask;
                let (teller, told) = mpsc::channel();
                let tell = move |record, bit| teller.send((record, bit)).unwrap();
                let mut read = Vec::new();
                let corrected = CorrectedLog::new(&wrong[..], Box::new(tell));
                Sequential::new(corrected).read_to_end(&mut read).unwrap();
                assert_eq!(told.try_iter().collect::<Vec<_>>(), expected, "{at}");
                assert!(read == if expected.is_empty() { wrong } else { log.clone() });
            }
        }
    }
}
