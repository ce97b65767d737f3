//! All checks of one log: the framing of its records, their checksums, and the batches of writes in them.

use std::cell::RefCell;
use std::io::{self, Read};

use filterblock::Error;
use filterblock::database::{LogWrite, LogWrites, Manifest};

use super::stretches::Stretch;
use crate::audit::order::KeyOrder;
use crate::audit::skipped::{Skipped, ZeroFinder};
use crate::report::{CheckNote, Checked, Code, Problem};
use crate::text::counted;

/// `order`: `None` if unknown.
pub(crate) fn log(source: &mut dyn Read, order: Option<KeyOrder>) -> Checked {
    let zeros = RefCell::new(ZeroFinder::default());
    let mut writes = LogWrites::new(Watched { source, zeros: &zeros });
    let mut found = Found { order, ..Found::default() };
    loop {
        match writes.next() {
            Ok(true) => {
                let Some(write) = writes.write() else { break };
                found.write(write);
            }
            Ok(false) => break,
            Err(error) => {
                let is_end = matches!(error, Error::Io { .. });
                found.error(&error, &zeros.borrow());
                if is_end {
                    break;
                }
            }
        }
    }
    let is_cut = writes.incomplete_tail().is_some();
    drop(writes);
    found.end(is_cut, zeros.into_inner())
}

/// Reads no other files. `misses_tables`: the database has tables that the end of the MANIFEST listed.
pub(crate) fn manifest(source: &mut dyn Read, misses_tables: bool) -> Checked {
    let zeros = RefCell::new(ZeroFinder::default());
    let scan = Manifest::scan(Watched { source, zeros: &zeros }, Manifest::DEFAULT_MEMORY_LIMIT);
    let mut verdict = Checked::default();
    if let Some(damage) = &scan.damage {
        verdict.problems.push(Problem::of(damage));
        return verdict;
    }
    let sequence = Skipped::sequence(scan.manifest.last_sequence());
    let (cut, left_out) = (scan.manifest.incomplete_tail(), sequence.or(zeros.into_inner().end()));
    match cut.filter(|_| misses_tables) {
        Some(offset) => {
            let expected = "a MANIFEST that lists all tables of its database";
            let found = "its end missing, and tables that it does not list";
            verdict.problems.push(Problem::new(Code::ManifestCut, offset, expected, found));
        }
        None => verdict.take_end(cut, left_out),
    }
    verdict
}

impl Checked {
    /// What follows the last whole record of a MANIFEST that misses no table: a record cut short at `cut`, or bytes
    /// that LevelDB ignores.
    pub(super) fn take_end(&mut self, cut: Option<u64>, left_out: Option<Skipped>) {
        match (cut, left_out) {
            (_, Some(Skipped::Zeros(offset))) => self.notes.push(CheckNote::Preallocated(offset)),
            (_, Some(left_out)) => self.problems.push(left_out.problem()),
            (Some(_), None) => self.notes.push(CheckNote::CutWrite),
            (None, None) => {}
        }
    }
}

/// Damaged places to search for one wrong bit.
const MAX_TRIED_BITS: u32 = 4;
/// Gaps in the sequence numbers to remember.
const MAX_GAPS: usize = 16;

#[derive(Default)]
struct Found {
    verdict: Checked,
    order: Option<KeyOrder>,
    writes: u64,
    batches: u64,
    /// The offset of the last batch, and the sequence number of its last write so far.
    last: Option<(u64, u64)>,
    /// After the last write.
    damage: Option<Problem>,
    /// Writes with a sequence number of an earlier write.
    repeated: u64,
    /// Damaged places searched for a wrong bit.
    tried: u32,
    /// The first ones: the offset of the batch after each, and the numbers before and after it.
    gaps: Vec<(u64, u64, u64)>,
    stretch: Option<Stretch>,
}

/// Words for the loss between the writes with the sequence numbers `before` and `after`.
fn loss(before: Option<u64>, after: u64) -> String {
    let Some(before) = before else { return format!("the writes before sequence number {after} are lost") };
    match after.checked_sub(before).and_then(|step| step.checked_sub(1)) {
        None => format!("writes after sequence number {before} may be lost"),
        Some(0) => format!("damage after sequence number {before}; no write is lost there"),
        Some(1) => format!("1 write is lost, after sequence number {before}"),
        Some(lost) => format!("{} are lost, after sequence number {before}", counted(lost, "write")),
    }
}

/// `last`: of the last write that can be read, the offset of its batch and its number.
fn lost_after(last: Option<(u64, u64)>) -> String {
    match last {
        None => "no write can be read".to_owned(),
        Some((_, last)) => format!("the writes after sequence number {last} are lost"),
    }
}

impl Found {
    fn write(&mut self, write: LogWrite<'_>) {
        let (before, number) = (self.last.map(|(_, number)| number), write.sequence);
        if let Some(damage) = self.damage.take() {
            self.verdict.problems.push(damage.meaning(&loss(before, number)));
        } else if let Some(before) = before.filter(|before| number.saturating_sub(*before) > 1)
            && self.gaps.len() < MAX_GAPS
        {
            self.gaps.push((write.offset, before, number));
        }
        self.writes = self.writes.saturating_add(1);
        self.batches += u64::from(self.last.is_none_or(|(offset, _)| offset != write.offset));
        self.repeated += u64::from(before.is_some_and(|before| number <= before));
        self.last = Some((write.offset, before.unwrap_or(0).max(number)));
        if let Some(order) = self.order {
            match &mut self.stretch {
                Some(stretch) => stretch.add_unsorted(write.key, number, order),
                none => *none = Some(Stretch::new(write.key, number)),
            }
        }
    }

    fn error(&mut self, error: &Error, contents: &ZeroFinder) {
        let problem = self.with_wrong_bit(Problem::of(error), contents);
        if problem.code.hides() {
            self.verdict.problems.push(problem);
        } else {
            self.damage.get_or_insert(Problem { code: Code::LogDamaged, ..problem });
        }
    }

    fn with_wrong_bit(&mut self, problem: Problem, contents: &ZeroFinder) -> Problem {
        let offset = problem.offset.filter(|_| self.tried < MAX_TRIED_BITS && self.damage.is_none());
        self.tried += u32::from(offset.is_some());
        problem.with_wrong_bit(offset.and_then(|offset| contents.wrong_bit(offset)))
    }

    fn end(mut self, is_cut: bool, contents: ZeroFinder) -> Checked {
        if let Some(damage) = self.damage.take() {
            self.verdict.problems.push(damage.meaning(&lost_after(self.last)));
        }
        let length = contents.length().map(|wrong| self.with_wrong_bit(wrong.problem(), &contents));
        let mut verdict = self.verdict;
        (verdict.writes, verdict.batches) = (Some(self.writes), Some(self.batches));
        match length {
            Some(problem) => {
                let problem = Problem { code: Code::LogDamaged, ..problem };
                verdict.problems.push(problem.meaning(&lost_after(self.last)));
            }
            None if is_cut => verdict.notes.push(CheckNote::CutWrite),
            None => {}
        }
        match contents.end() {
            Some(Skipped::Zeros(offset)) => verdict.notes.push(CheckNote::Preallocated(offset)),
            Some(hidden @ Skipped::Hidden(offset)) => {
                let gap = self.gaps.iter().find(|(after, ..)| *after > offset);
                let text = gap.map(|(_, before, after)| loss(Some(*before), *after));
                let text = text.unwrap_or_else(|| "writes may be lost where there are zeros".to_owned());
                let problem = Problem { code: Code::LogDamaged, ..hidden.problem() };
                verdict.problems.push(problem.meaning(&text));
            }
            _ => {}
        }
        if self.repeated > 0 {
            verdict.notes.push(CheckNote::RepeatedNumbers(self.repeated));
        }
        verdict.stretches.extend(self.stretch);
        verdict
    }
}

struct Watched<'a> {
    source: &'a mut dyn Read,
    zeros: &'a RefCell<ZeroFinder>,
}

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.zeros.borrow_mut().add(into.get(..read).unwrap_or_default());
        Ok(read)
    }
}
