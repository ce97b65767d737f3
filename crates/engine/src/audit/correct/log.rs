//! A log whose wrong bits are corrected as it is read.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use filterblock::database::Manifest;
use filterblock::table::ReadAt;

use super::fragments::{BLOCK_LEN, FIRST, FULL, Fragments, Piece};
use crate::walk::Sequential;

/// Returns also the offsets of the corrected bytes. `None`: the MANIFEST still cannot be relied on.
pub(crate) fn manifest(source: impl ReadAt) -> Option<(Manifest, Vec<u64>)> {
    let bits = Arc::<Mutex<Vec<u64>>>::default();
    let found = Arc::clone(&bits);
    let tell = Box::new(move |_, bit| found.lock().unwrap_or_else(PoisonError::into_inner).push(bit));
    let contents = CorrectingLog::new(Sequential::new(source), tell);
    let manifest = Manifest::scan(contents, Manifest::DEFAULT_MEMORY_LIMIT).into_result().ok()?;
    let bits = std::mem::take(&mut *bits.lock().unwrap_or_else(PoisonError::into_inner));
    Some((manifest, bits))
}

/// Corrects one wrong bit of each fragment if the checksum reveals it.
pub(crate) struct CorrectingLog<R> {
    source: R,
    /// The unread rest of the current block, corrected.
    block: Bytes,
    /// Of the next block.
    offset: u64,
    /// Of the record that is being read.
    record: u64,
    /// Called with the offset of a record and of its corrected byte in the log. `None`: nothing is corrected.
    tell: Option<Box<dyn Fn(u64, u64) + Send + Sync>>,
}

impl<R: Read> CorrectingLog<R> {
    pub(crate) fn new(source: R, tell: Box<dyn Fn(u64, u64) + Send + Sync>) -> Self {
        Self { source, block: Bytes::new(), offset: 0, record: 0, tell: Some(tell) }
    }

    /// Corrects nothing.
    pub(crate) fn plain(source: R) -> Self {
        Self { source, block: Bytes::new(), offset: 0, record: 0, tell: None }
    }

    fn next_block(&mut self) -> io::Result<()> {
        let mut block = Vec::new();
        (&mut self.source).take(BLOCK_LEN).read_to_end(&mut block)?;
        let start = self.offset;
        self.offset = start.saturating_add(block.len() as u64);
        let mut block = Bytes::from(block);
        let Some(tell) = &self.tell else {
            self.block = block;
            return Ok(());
        };
        // No fragment reaches into another block.
        let mut fragments = Fragments::new(block.clone())?;
        let mut wrong = Vec::new();
        while let Some(piece) = fragments.next()? {
            let Piece::Fragment(fragment) = piece else { continue };
            if matches!(fragment.kind, FULL | FIRST) {
                self.record = start.saturating_add(fragment.offset);
            }
            if let Some(patch) = fragment.patch {
                tell(self.record, start.saturating_add(patch.offset));
                wrong.push(patch);
            }
        }
        if !wrong.is_empty() {
            let mut right = block.to_vec();
            for patch in wrong {
                let byte = usize::try_from(patch.offset).ok().and_then(|at| right.get_mut(at));
                byte.into_iter().for_each(|byte| *byte ^= patch.mask);
            }
            block = right.into();
        }
        self.block = block;
        Ok(())
    }
}

impl<R: Read> Read for CorrectingLog<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.block.is_empty() {
            self.next_block()?;
        }
        let bytes = self.block.split_to(self.block.len().min(buffer.len()));
        if let Some(target) = buffer.get_mut(..bytes.len()) {
            target.copy_from_slice(&bytes);
        }
        Ok(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use filterblock::database::LogWriter;

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
                CorrectingLog::new(&wrong[..], Box::new(tell)).read_to_end(&mut read).unwrap();
                assert_eq!(told.try_iter().collect::<Vec<_>>(), expected, "{at}");
                assert!(read == if expected.is_empty() { wrong } else { log.clone() });
            }
        }
    }
}
