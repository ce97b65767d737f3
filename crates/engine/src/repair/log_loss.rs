//! The losses in logs: gaps of sequence numbers.

use super::log::{PartOfBatch, SavedLog, Span};

/// Lost writes, by sequence number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LogLoss {
    /// In which, or before which, they were.
    pub(super) log: String,
    pub(super) offset: Option<u64>,
    /// The last sequence number before the loss; 0: none is known.
    pub(super) after: u64,
    /// The first one read after the loss.
    pub(super) before: Option<u64>,
    pub(super) why: &'static str,
    /// The first that may be lost. `None`: unknown.
    from: Option<u64>,
    /// A log is cut short, and nothing else is wrong. Without writes in later logs, the record was never completed, as
    /// far as is known.
    is_torn: bool,
    /// The writes that were read of damaged batches, and their last sequence number; `u64::MAX` if these are wrong.
    saved: (u64, u64),
}

impl LogLoss {
    fn new(log: &str, offset: Option<u64>, last: Option<u64>, why: &'static str) -> Self {
        let (after, from) = (last.unwrap_or_default(), last.map(|last| last.saturating_add(1)));
        Self { log: log.to_owned(), offset, after, before: None, why, from, is_torn: false, saved: (0, 0) }
    }

    /// Takes account of a batch within the loss.
    fn add(&mut self, part: PartOfBatch) {
        let (saved, end) = self.saved;
        if part.saved > 0 {
            let follows = part.first > end && self.from.is_some_and(|from| from <= part.first);
            // Numbers that do not ascend are wrong, and reveal nothing.
            self.saved = (saved.saturating_add(part.saved), if follows { part.last } else { u64::MAX });
        }
    }

    /// `None`: unknown.
    pub(super) fn operations(&self) -> Option<u64> {
        let (saved, end) = self.saved;
        let before = self.before.filter(|&before| end < before)?;
        before.checked_sub(self.from?)?.checked_sub(saved).filter(|&lost| lost > 0)
    }
}

/// Finds the losses in consecutive logs. `after`: the last sequence number of the chosen MANIFEST, after which the
/// first log must leave no gap. `None`: no MANIFEST is chosen, or the number is greater than any can be.
pub(super) fn losses(logs: &[(&str, &SavedLog)], after: Option<u64>) -> Vec<LogLoss> {
    // Tables may have writes of the first log, too, so damage at its beginning is always reported.
    let (mut losses, mut last, mut is_of_log) = (Vec::new(), after, false);
    let mut open: Option<LogLoss> = None;
    for (name, log) in logs {
        for span in &log.spans {
            match *span {
                Span::Damage(offset) => {
                    let is_torn = log.torn == Some(offset);
                    let why = if is_torn { "the log ends within a record" } else { "a record is damaged" };
                    let open = open.get_or_insert_with(|| {
                        let loss = LogLoss::new(name, Some(offset), last, why);
                        // The first log may begin with writes that tables have, of any lower sequence numbers.
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
                        // Without a sequence number from before the damage, something may be missing, so it counts as a
                        // loss.
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
    use super::*;

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
