//! Salvages the readable parts of a log.

use std::io;

use filterblock::table::ReadAt;

use super::batch::{BatchSpan, Operation, Record};
use super::fragments::{FIRST, FULL, Fragment, Fragments, LAST, MIDDLE, Piece};
use super::manifests::End;
use super::patched::Patch;

/// In bytes. A longer record counts as damage.
const MAX_RECORD: usize = 64 << 20;
/// Damaged places to list.
const MAX_DAMAGE: usize = 1000;

#[derive(Default, Debug)]
pub(super) struct SavedLog {
    pub(super) patches: Vec<Patch>,
    /// In the order of the file.
    pub(super) spans: Vec<Span>,
    pub(super) operations: u64,
    pub(super) records: u64,
    /// The first [`MAX_DAMAGE`] offsets.
    pub(super) damaged: Vec<u64>,
    /// The file ends within the record at this offset.
    pub(super) torn: Option<u64>,
    pub(super) last_sequence: u64,
    pub(super) end: End,
    /// The comparator may treat keys with other bytes as equal to one of the keys.
    pub(super) has_ambiguous_keys: bool,
    /// All keys have the form of Chromium's IndexedDB.
    pub(super) are_chromiums: bool,
}

/// A stretch of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Span {
    /// Sequence numbers, all of which were read.
    Sound { first: u64, last: u64 },
    /// At this offset.
    Damage(u64),
    /// In a batch whose first sequence number is known.
    Partly(PartOfBatch),
}

/// What was read of a damaged batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PartOfBatch {
    /// Of the batch.
    pub(super) first: u64,
    /// Writes that were read.
    pub(super) saved: u64,
    /// Of the last write that was read; 0: none was.
    pub(super) last: u64,
    /// The log begins with the batch.
    pub(super) is_start: bool,
}

/// `add` gets each write, and whether its checksum is correct. Fails if `add` does, or if the file cannot be read.
pub(super) fn read<R: ReadAt>(
    source: R,
    mut add: impl FnMut(Operation<'_>, bool) -> io::Result<()>,
) -> io::Result<SavedLog> {
    let mut reader = Reader { add: &mut add, log: SavedLog::default(), record: None, failed: None };
    let mut fragments = Fragments::new(source)?;
    while let Some(piece) = fragments.next()? {
        reader.log.end = reader.log.end.add(&piece);
        match piece {
            Piece::Fragment(fragment) => reader.fragment(&fragment),
            Piece::Lost(range) => {
                reader.cut_off();
                reader.damage(range.start);
            }
            Piece::Torn(offset) => {
                let start = reader.record.take().map_or(offset, |record| record.offset);
                reader.log.torn = Some(start);
                reader.damage(start);
            }
            Piece::Blank => {}
        }
        if let Some(error) = reader.failed.take() {
            return Err(error);
        }
    }
    if let Some(record) = reader.record.take() {
        if reader.log.end == End::Whole {
            (reader.log.end, reader.log.torn) = (End::Cut, Some(record.offset));
        }
        reader.damage(record.offset);
    }
    Ok(reader.log)
}

struct Reader<'a> {
    add: &'a mut dyn FnMut(Operation<'_>, bool) -> io::Result<()>,
    log: SavedLog,
    record: Option<Record>,
    failed: Option<io::Error>,
}

impl Reader<'_> {
    fn fragment(&mut self, fragment: &Fragment) {
        self.log.patches.extend(fragment.patch);
        if fragment.is_found {
            self.cut_off();
        }
        match fragment.kind {
            FULL | FIRST => {
                self.cut_off();
                self.record = Some(Record { offset: fragment.offset, ..Record::default() });
            }
            MIDDLE | LAST if self.record.is_none() => {
                // The start of its record is lost. That is recorded already, unless the start is missing without a
                // trace.
                if !matches!(self.log.spans.last(), Some(Span::Damage(_) | Span::Partly(_))) {
                    self.damage(fragment.offset);
                }
                return;
            }
            _ => {}
        }
        let Some(record) = &mut self.record else { return };
        if record.data.len().saturating_add(fragment.data.len()) > MAX_RECORD {
            self.record = None;
            return self.damage(fragment.offset);
        }
        match fragment.is_sound {
            true => record.data.extend_from_slice(&fragment.data),
            false => record.add_damaged(&fragment.data, fragment.zeroed_end),
        }
        if matches!(fragment.kind, FULL | LAST)
            && let Some(record) = self.record.take()
        {
            self.finish(&record);
        }
    }

    /// What follows does not belong to the open record.
    fn cut_off(&mut self) {
        if let Some(mut record) = self.record.take() {
            (record.is_damaged, record.is_cut) = (true, true);
            self.finish(&record);
        }
    }

    fn finish(&mut self, record: &Record) {
        let Self { add, log, failed, .. } = self;
        let is_checksummed = !record.is_damaged;
        let (before, mut last_saved) = (log.operations, 0);
        let BatchSpan { sequences, is_whole } = record.operations(|operation| {
            last_saved = operation.sequence;
            log.operations = log.operations.saturating_add(1);
            log.last_sequence = log.last_sequence.max(operation.sequence);
            if let Err(error) = add(operation, is_checksummed) {
                failed.get_or_insert(error);
            }
        });
        log.records = log.records.saturating_add(1);
        match sequences {
            Some((first, last)) if is_whole => {
                log.last_sequence = log.last_sequence.max(last);
                match log.spans.last_mut() {
                    Some(Span::Sound { last: before, .. }) if before.checked_add(1) == Some(first) => {
                        *before = last
                    }
                    _ => log.spans.push(Span::Sound { first, last }),
                }
            }
            // A batch without writes.
            None if is_whole => {}
            _ => {
                let saved = log.operations.saturating_sub(before);
                let is_start = record.offset == 0;
                let part =
                    sequences.map(|(first, _)| PartOfBatch { first, saved, last: last_saved, is_start });
                self.damage(record.offset);
                self.log.spans.extend(part.map(Span::Partly));
            }
        }
    }

    fn damage(&mut self, offset: u64) {
        if !matches!(self.log.spans.last(), Some(Span::Damage(_) | Span::Partly(_))) {
            self.log.spans.push(Span::Damage(offset));
        }
        if self.log.damaged.len() < MAX_DAMAGE {
            self.log.damaged.push(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use filterblock::database::LogWriter;

    use super::*;

    /// Returns what is saved of a batch whose last `zeros` bytes are zero, with `behind` more zeros after it.
    fn saved(zeros: usize, behind: usize, change: impl FnOnce(&mut [u8])) -> Vec<(u64, Vec<u8>, bool)> {
        let mut log = LogWriter::new(Vec::new());
        let batch = b"\x05\0\0\0\0\0\0\0\x02\0\0\0\x01\x03one\x05first\x01\x03two\x0clast of both";
        log.add_record(batch).unwrap();
        let mut file = log.into_writer();
        change(&mut file);
        let from = file.len() - zeros;
        file[from..].fill(0);
        file.resize(file.len() + behind, 0);
        let mut saved = Vec::new();
        let add = |operation: Operation<'_>, is_checksummed| {
            saved.push((operation.sequence, operation.value.unwrap_or_default().to_vec(), is_checksummed));
            Ok(())
        };
        assert_eq!(read(&file[..], add).unwrap().end == End::Zeros, behind > 0);
        saved
    }

    #[test]
    fn zeros_up_to_the_end_may_begin_with_the_last_bytes_of_a_record() {
        assert_eq!(saved(0, 500, |_| ()).len(), 2);
        for zeros in 1..12 {
            assert_eq!(saved(zeros, 500, |_| ()), [(5, b"first".to_vec(), false)], "{zeros}");
        }
        // Without more zeros after them, these zeros may be meant to be there.
        for (zeros, behind) in [(1, 50), (7, 50), (7, 0)] {
            assert_eq!(saved(zeros, behind, |_| ()), [], "{zeros} {behind}");
        }
        // The checksum shows that there is other damage, too.
        for zeros in 1..4 {
            assert_eq!(saved(zeros, 500, |file| file[26] ^= 0x22), [], "{zeros}");
        }
    }
}
