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
    first: u64,
    /// The number of operations that were read.
    saved: u64,
    /// The number of the last operation that was read; 0: no operation was read.
    last: u64,
    /// The log begins with the batch.
    is_start: bool,
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

/// Lost operations of logs, given by their sequence numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LogLoss {
    /// The log in which, or before which, the lost operations were.
    pub(super) log: String,
    pub(super) offset: Option<u64>,
    /// The last sequence number known before the loss; 0: there is no such number.
    pub(super) after: u64,
    /// The first sequence number read after the loss; `None`: there is no such number.
    pub(super) before: Option<u64>,
    pub(super) why: &'static str,
    /// The first number that may be of a lost operation. `None`: it is not known.
    from: Option<u64>,
    /// A log ends within a record, and nothing else is wrong. If no later log has operations, the record was never
    /// written completely, as far as is known.
    is_torn: bool,
    /// The number of operations that were read of damaged batches, and the last of their sequence numbers, or
    /// `u64::MAX` if these are wrong.
    saved: (u64, u64),
}

impl LogLoss {
    fn new(log: &str, offset: Option<u64>, last: Option<u64>, why: &'static str) -> Self {
        let (after, from) = (last.unwrap_or_default(), last.map(|last| last.saturating_add(1)));
        Self { log: log.to_owned(), offset, after, before: None, why, from, is_torn: false, saved: (0, 0) }
    }

    /// Takes account of a batch within the loss that was read in part.
    fn add(&mut self, part: PartOfBatch) {
        let (saved, end) = self.saved;
        if part.saved > 0 {
            let follows = part.first > end && self.from.is_some_and(|from| from <= part.first);
            // Numbers that do not ascend are wrong, and reveal nothing.
            self.saved = (saved.saturating_add(part.saved), if follows { part.last } else { u64::MAX });
        }
    }

    /// The number of operations that are lost; `None`: it is not known.
    pub(super) fn operations(&self) -> Option<u64> {
        let (saved, end) = self.saved;
        let before = self.before.filter(|&before| end < before)?;
        before.checked_sub(self.from?)?.checked_sub(saved).filter(|&lost| lost > 0)
    }
}

/// The losses in consecutive logs. `after`: the last sequence number in the trusted MANIFEST, after which the first log
/// must leave no gap; `None`: no MANIFEST is trusted, or the number is greater than any can be.
pub(super) fn losses(logs: &[(&str, &SavedLog)], after: Option<u64>) -> Vec<LogLoss> {
    // Tables may also have operations of the first log, so damage at its beginning is reported in any case.
    let (mut losses, mut last, mut is_of_log) = (Vec::new(), after, false);
    let mut open: Option<LogLoss> = None;
    for (name, log) in logs {
        for span in &log.spans {
            match *span {
                Span::Damage(offset) => {
                    let is_torn = log.torn == Some(offset);
                    let why = if is_torn { "the log ends within a record" } else { "damage" };
                    let open = open.get_or_insert_with(|| {
                        let loss = LogLoss::new(name, Some(offset), last, why);
                        // The first log may begin with operations that tables have, of any lower numbers.
                        LogLoss { from: loss.from.filter(|_| is_of_log), is_torn, ..loss }
                    });
                    open.is_torn &= is_torn;
                }
                Span::Partly(part) => {
                    let Some(loss) = &mut open else { continue };
                    if part.is_start && !is_of_log && loss.log == **name {
                        loss.from =
                            Some(last.map_or(part.first, |last| part.first.min(last.saturating_add(1))));
                    }
                    loss.add(part);
                }
                Span::Sound { first, last: end } => {
                    let is_next = last.is_none_or(|last| first <= last.saturating_add(1));
                    match open.take() {
                        Some(loss) if !is_next => losses.push(LogLoss { before: Some(first), ..loss }),
                        // Without a sequence number from a log before the damage, it is not known whether anything is
                        // missing, so the damage counts as a loss.
                        Some(loss) if !is_of_log => losses.push(LogLoss { before: Some(first), ..loss }),
                        None if !is_next => {
                            let why = "sequence numbers are missing before this log or in it";
                            losses
                                .push(LogLoss { before: Some(first), ..LogLoss::new(name, None, last, why) });
                        }
                        _ => {}
                    }
                    last = Some(last.filter(|_| is_of_log).map_or(end, |last| last.max(end)));
                    is_of_log = true;
                }
            }
        }
    }
    let is_short = is_of_log && last < after;
    losses.extend(open.filter(|loss| !loss.is_torn).or_else(|| {
        let (log, _) = logs.last().filter(|_| is_short)?;
        let why = "the MANIFEST knows later sequence numbers";
        Some(LogLoss::new(log, None, last, why))
    }));
    losses
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

    fn log(spans: &[Span]) -> SavedLog {
        SavedLog { spans: spans.to_vec(), ..SavedLog::default() }
    }

    const fn sound(first: u64, last: u64) -> Span {
        Span::Sound { first, last }
    }

    /// The sequence numbers between which each loss lies.
    fn gaps(logs: &[SavedLog], after: Option<u64>) -> Vec<(u64, Option<u64>)> {
        let logs: Vec<_> = logs.iter().map(|log| ("log", log)).collect();
        losses(&logs, after).iter().map(|loss| (loss.after, loss.before)).collect()
    }

    #[test]
    fn numbers_tell_what_is_lost() {
        assert_eq!(gaps(&[log(&[sound(5, 9)]), log(&[sound(10, 12)])], Some(4)), []);
        // A table may have what the first log begins with.
        assert_eq!(gaps(&[log(&[sound(5, 9)])], Some(7)), []);
        assert_eq!(gaps(&[log(&[sound(5, 9)])], Some(10)), [(9, None)]);
        assert_eq!(gaps(&[log(&[sound(5, 9)]), log(&[sound(11, 20)])], Some(15)), [(9, Some(11))]);
        assert_eq!(gaps(&[log(&[sound(5, 9)])], None), []);
        assert_eq!(gaps(&[log(&[sound(5, 9)])], Some(3)), [(3, Some(5))]);
        assert_eq!(gaps(&[log(&[sound(5, 9)]), log(&[sound(12, 15)])], None), [(9, Some(12))]);
    }

    /// A part of a damaged batch whose operations begin with the number `first`.
    const fn part(first: u64, saved: u64, last: u64, is_start: bool) -> Span {
        Span::Partly(PartOfBatch { first, saved, last, is_start })
    }

    #[test]
    fn operations_that_were_read_of_damaged_batches_are_not_lost() {
        let lost = |spans: &[Span], after| losses(&[("log", &log(spans))], after)[0].operations();
        let behind = |parts: &[Span]| {
            lost(&[&[sound(5, 9), Span::Damage(70)], parts, &[sound(30, 31)]].concat(), Some(4))
        };
        assert_eq!(behind(&[]), Some(20));
        assert_eq!(behind(&[part(10, 8, 19, false)]), Some(12));
        assert_eq!(behind(&[part(12, 3, 19, false), part(20, 9, 29, false)]), Some(8));
        // Numbers that do not ascend are wrong.
        for parts in [&[part(8, 1, 8, false)][..], &[part(10, 1, 30, false)], &[part(20, 2, 25, false); 2]] {
            assert_eq!(behind(parts), None, "{parts:?}");
        }
        let at_start =
            |parts: &[Span], after| lost(&[&[Span::Damage(0)], parts, &[sound(30, 31)]].concat(), after);
        assert_eq!(at_start(&[part(21, 5, 28, true)], Some(20)), Some(4));
        assert_eq!(at_start(&[part(21, 5, 28, true)], Some(18)), Some(6));
        assert_eq!(at_start(&[part(21, 5, 28, true)], Some(25)), Some(4));
        assert_eq!(at_start(&[part(21, 0, 0, true)], None), Some(9));
        // It is not known with which number the log began.
        assert_eq!(at_start(&[part(21, 5, 28, false)], Some(20)), None);
        assert_eq!(at_start(&[], Some(20)), None);
    }

    #[test]
    fn damage_between_numbers_that_follow_each_other_lost_nothing() {
        let torn = [log(&[sound(5, 9), Span::Damage(70)]), log(&[sound(10, 12)])];
        assert_eq!(gaps(&torn, None), []);
        let lost = [log(&[sound(5, 9), Span::Damage(70)]), log(&[sound(11, 12), Span::Damage(9)])];
        assert_eq!(gaps(&lost, None), [(9, Some(11)), (12, None)]);
        assert_eq!(gaps(&[log(&[Span::Damage(0), sound(3, 4)])], None), [(0, Some(3))]);
        assert_eq!(gaps(&[log(&[Span::Damage(0), sound(3, 4)])], Some(2)), [(2, Some(3))]);
    }
}
