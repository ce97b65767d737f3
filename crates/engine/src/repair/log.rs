//! Salvages the readable parts of a log.

use std::io;

use filterblock::table::ReadAt;

use super::batch::{BatchSpan, Operation, Record};
use super::fragments::{FIRST, FULL, Fragment, Fragments, LAST, MIDDLE, Piece};
use super::manifests::End;
use super::patched::Patch;

/// The greatest length of a record in bytes. A longer record counts as damage.
const MAX_RECORD: usize = 64 << 20;
/// The greatest number of places of damage that are listed.
const MAX_DAMAGE: usize = 1000;

/// The parts of a log that can be salvaged.
#[derive(Default, Debug)]
pub(super) struct SavedLog {
    pub(super) patches: Vec<Patch>,
    /// The stretches of the log, in the order of the file.
    pub(super) spans: Vec<Span>,
    pub(super) operations: u64,
    pub(super) records: u64,
    /// The offsets of the first [`MAX_DAMAGE`] places of damage.
    pub(super) damaged: Vec<u64>,
    /// The file ends within the record at this offset.
    pub(super) torn: Option<u64>,
    pub(super) last_sequence: u64,
    pub(super) end: End,
    /// The comparator may treat keys with other bytes as equal to one of the operations' keys.
    pub(super) has_ambiguous_keys: bool,
    /// All keys have the form of Chromium's IndexedDB.
    pub(super) are_chromiums: bool,
}

/// A stretch of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Span {
    /// The operations numbered `first` to `last`, all of which were read.
    Sound { first: u64, last: u64 },
    /// The log is damaged at this offset.
    Damage(u64),
    /// The damage is in a batch whose first number is known.
    Partly(PartOfBatch),
}

/// The part of a damaged batch that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PartOfBatch {
    /// The number of the batch's first operation.
    pub(super) first: u64,
    /// The number of operations that were read.
    pub(super) saved: u64,
    /// The number of the last operation that was read; 0: no operation was read.
    pub(super) last: u64,
    /// The log begins with the batch.
    pub(super) is_start: bool,
}

/// Reads a log. `add` gets each operation, and whether its checksum is correct.
///
/// # Errors
///
/// Those of `add`, and of reading the file.
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
    /// The record that is being put together.
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
                // The start of the fragment's record is lost. The loss is recorded already, unless the start is missing
                // without a trace.
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

    /// Ends the record that is open: what follows does not belong to it.
    fn cut_off(&mut self) {
        if let Some(mut record) = self.record.take() {
            (record.is_damaged, record.is_cut) = (true, true);
            self.finish(&record);
        }
    }

    fn finish(&mut self, record: &Record) {
        let Self { add, log, failed, .. } = self;
        let is_right = !record.is_damaged;
        let (before, mut last_saved) = (log.operations, 0);
        let BatchSpan { sequences, is_whole } = record.operations(|operation| {
            last_saved = operation.sequence;
            log.operations = log.operations.saturating_add(1);
            log.last_sequence = log.last_sequence.max(operation.sequence);
            if let Err(error) = add(operation, is_right) {
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
            // A batch without operations.
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
        let add = |operation: Operation<'_>, is_right| {
            saved.push((operation.sequence, operation.value.unwrap_or_default().to_vec(), is_right));
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
