//! The writes of one batch in a log, even if a part of it is damaged.

use std::ops::Range;

use filterblock::database::BatchHeader;
use filterblock::table::{VarintError, get_varint32};

use super::fragments::MIN_ZEROS;
use crate::audit::skipped::MAX_SEQUENCE;

/// Zeros in a row that count as damage at either end of a fragment: the run may continue beyond it.
const MIN_ZEROS_AT_END: usize = 8;

#[derive(Default)]
pub(super) struct Record {
    pub(super) offset: u64,
    pub(super) data: Vec<u8>,
    /// Wrong, or possibly wrong.
    pub(super) bad: Vec<Range<usize>>,
    /// A fragment has a wrong checksum, or is missing.
    pub(super) is_damaged: bool,
    /// Fragments are missing at its end.
    pub(super) is_cut: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Operation<'a> {
    pub(super) sequence: u64,
    pub(super) key: &'a [u8],
    /// `None`: a deletion.
    pub(super) value: Option<&'a [u8]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct BatchSpan {
    /// `None`: there are no writes, or the header is missing, damaged or invalid.
    pub(super) sequences: Option<(u64, u64)>,
    /// With correct checksums.
    pub(super) is_whole: bool,
}

impl Record {
    /// Takes a fragment with a wrong checksum: its long runs of zeros and last `zeroed_end` bytes are damage, or else
    /// all.
    pub(super) fn add_damaged(&mut self, data: &[u8], zeroed_end: usize) {
        self.is_damaged = true;
        let start = self.data.len();
        self.data.extend_from_slice(data);
        let mut zeros: Vec<_> = runs_of_zeros(data).collect();
        if zeroed_end > 0 {
            zeros.push(data.len().saturating_sub(zeroed_end)..data.len());
        }
        match zeros.is_empty() {
            true => self.bad.push(start..self.data.len()),
            false => self.bad.extend(zeros.into_iter().map(|run| run.start + start..run.end + start)),
        }
    }

    fn is_bad(&self, range: &Range<usize>) -> bool {
        self.bad.iter().any(|bad| bad.start < range.end && range.start < bad.end)
    }

    /// Passes complete writes to `add`, in order. Of a damaged record, these are the writes outside the damage, up to
    /// the first whose end is unknown. None, if for another reason they do not end exactly at its end.
    pub(super) fn operations(&self, mut add: impl FnMut(Operation<'_>)) -> BatchSpan {
        let batch = BatchHeader::decode(&self.data).filter(|_| !self.is_bad(&(0..BatchHeader::LEN)));
        let Some(BatchHeader { sequence: first, count, .. }) = batch else { return BatchSpan::default() };
        let Some(last) = first.checked_add(u64::from(count)).map(|end| end.saturating_sub(1)) else {
            return BatchSpan::default();
        };
        if last > MAX_SEQUENCE || first == 0 || u64::from(count) > self.data.len() as u64 {
            return BatchSpan::default();
        }
        let sequences = (count > 0).then_some((first, last));
        let parsed = self.parse(count);
        let is_even = parsed.is_even;
        let may_use = is_even || !self.is_damaged || parsed.ends_in_damage;
        let is_whole = is_even && !self.is_damaged;
        for (sequence, (key, value)) in (first..).zip(parsed.operations).filter(|_| may_use) {
            let whole = key.start..value.as_ref().map_or(key.end, |value| value.end);
            if self.is_damaged && self.is_bad(&whole) {
                continue;
            }
            let part = |range: Range<usize>| self.data.get(range).unwrap_or_default();
            add(Operation { sequence, key: part(key), value: value.map(part) });
        }
        BatchSpan { sequences, is_whole }
    }

    fn parse(&self, count: u32) -> Parsed {
        let mut parsed = Parsed::default();
        let mut at = BatchHeader::LEN;
        while (parsed.operations.len() as u64) < u64::from(count) {
            match self.operation(at) {
                Step::Operation { key, value, end } => {
                    parsed.operations.push((key, value));
                    at = end;
                }
                Step::Damaged => {
                    parsed.ends_in_damage = true;
                    return parsed;
                }
                Step::Invalid => return parsed,
            }
        }
        parsed.is_even = at == self.data.len();
        parsed
    }

    fn operation(&self, at: usize) -> Step {
        let Some(&kind) = self.data.get(at) else { return self.end_of_data() };
        if self.is_bad(&(at..at.saturating_add(1))) {
            return Step::Damaged;
        }
        let key = match self.string(at.saturating_add(1)) {
            Ok(key) => key,
            Err(step) => return step,
        };
        match kind {
            0 => Step::Operation { end: key.end, key, value: None },
            1 => match self.string(key.end) {
                Ok(value) => Step::Operation { end: value.end, key, value: Some(value) },
                Err(step) => step,
            },
            _ => Step::Invalid,
        }
    }

    const fn end_of_data(&self) -> Step {
        if self.is_cut { Step::Damaged } else { Step::Invalid }
    }

    fn string(&self, at: usize) -> Result<Range<usize>, Step> {
        // A length with a damaged byte is unknown.
        let damage = self.bad.iter().filter(|bad| bad.end > at).map(|bad| bad.start.max(at)).min();
        let (len, width) =
            match get_varint32(self.data.get(at..damage.unwrap_or(self.data.len())).unwrap_or_default()) {
                Ok(length) => length,
                Err(VarintError::Truncated) if damage.is_some() => return Err(Step::Damaged),
                Err(VarintError::Truncated) => return Err(self.end_of_data()),
                Err(_) => return Err(Step::Invalid),
            };
        let start = at.saturating_add(width);
        let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
        match end.filter(|&end| end <= self.data.len()) {
            Some(end) => Ok(start..end),
            None => Err(self.end_of_data()),
        }
    }
}

/// Writes as ranges of the record's bytes.
#[derive(Default)]
struct Parsed {
    operations: Vec<(Range<usize>, Option<Range<usize>>)>,
    /// Writes end where the record ends, and are as many as the header says.
    is_even: bool,
    /// The next write is damaged or missing.
    ends_in_damage: bool,
}

enum Step {
    Operation {
        key: Range<usize>,
        value: Option<Range<usize>>,
        end: usize,
    },
    /// The end of the write cannot be known.
    Damaged,
    Invalid,
}

/// Runs that are long enough to count as damage.
fn runs_of_zeros(data: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    data.chunk_by(|a, b| (*a == 0) == (*b == 0)).filter_map(move |run| {
        let range = at..at + run.len();
        at = range.end;
        let is_at_end = range.start == 0 || range.end == data.len();
        let least = if is_at_end { MIN_ZEROS_AT_END } else { MIN_ZEROS };
        (run.first() == Some(&0) && run.len() >= least).then_some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(operations: &[(&str, Option<&[u8]>)]) -> Vec<u8> {
        let mut batch = 7_u64.to_le_bytes().to_vec();
        batch.extend((operations.len() as u32).to_le_bytes());
        for (key, value) in operations {
            batch.extend([u8::from(value.is_some()), key.len() as u8]);
            batch.extend(key.as_bytes());
            if let Some(value) = value {
                batch.push(value.len() as u8);
                batch.extend(*value);
            }
        }
        batch
    }

    fn keys(record: &Record) -> (Vec<(u64, String)>, BatchSpan) {
        let mut found = Vec::new();
        let span = record.operations(|operation| {
            found.push((operation.sequence, String::from_utf8(operation.key.to_vec()).unwrap()));
        });
        (found, span)
    }

    const VALUE: &[u8] = &[b'v'; 100];
    const OPERATIONS: &[(&str, Option<&[u8]>)] =
        &[("one", Some(VALUE)), ("two", None), ("three", Some(VALUE)), ("four", Some(b"4"))];

    fn damaged(range: Range<usize>) -> Record {
        let mut data = batch(OPERATIONS);
        data[range].fill(0);
        let mut record = Record::default();
        record.add_damaged(&data, 0);
        record
    }

    fn numbered(keys: &[(u64, &str)]) -> Vec<(u64, String)> {
        keys.iter().map(|(number, key)| (*number, (*key).to_owned())).collect()
    }

    #[test]
    fn a_sound_batch_is_read_whole() {
        let record = Record { data: batch(OPERATIONS), ..Record::default() };
        let (found, span) = keys(&record);
        assert_eq!(found, numbered(&[(7, "one"), (8, "two"), (9, "three"), (10, "four")]));
        assert_eq!(span, BatchSpan { sequences: Some((7, 10)), is_whole: true });
    }

    #[test]
    fn zeros_within_a_value_cost_that_operation_alone() {
        let (found, span) = keys(&damaged(30..100));
        assert_eq!(found, numbered(&[(8, "two"), (9, "three"), (10, "four")]));
        assert_eq!(span, BatchSpan { sequences: Some((7, 10)), is_whole: false });
    }

    #[test]
    fn zeros_over_lengths_cost_what_is_behind() {
        // The value of the third operation begins at 12 + 106 + 5 + 8.
        assert_eq!(keys(&damaged(60..125)).0, []);
        assert_eq!(keys(&damaged(120..190)).0, numbered(&[(7, "one")]));
        assert_eq!(keys(&damaged(0..70)), (vec![], BatchSpan::default()));
    }

    #[test]
    fn without_zeros_nothing_is_believed() {
        let mut data = batch(OPERATIONS);
        data[40] ^= 3;
        let mut record = Record::default();
        record.add_damaged(&data, 0);
        assert_eq!(keys(&record).0, []);
    }

    #[test]
    fn what_does_not_come_out_even_is_believed_nowhere() {
        // The zeros are meant to be there, and a length is wrong.
        let zeros = [0; 90];
        let mut data = batch(&[("one", Some(&zeros[..])), ("two", Some(VALUE)), ("three", None)]);
        let len = data.len();
        data[len - 6] = 200;
        let mut record = Record::default();
        record.add_damaged(&data, 0);
        assert_eq!(keys(&record).0, []);
    }
}
