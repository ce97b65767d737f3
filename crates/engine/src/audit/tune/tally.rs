//! Sums of trials, for each level.

use super::key_kinds::{KINDS, KeyKind, QUESTIONS};
use super::trial::{Answers, Trial};
use crate::{audit::rates::RateGroups, audit::rates::student, report::Estimate};

/// The quantile of the normal distribution for an interval of 95 %.
pub(super) const Z: f64 = 1.96;

/// Counts, by kind, of lookups of keys made from the table's keys that reach the table.
pub(super) type Visits = [f64; 4];

#[derive(Debug)]
pub(super) struct LevelTally {
    pub(super) tried: u64,
    /// Bytes of their files.
    pub(super) tried_size: u64,
    pub(super) entries: Sum,
    pub(super) candidates: Vec<CandidateTally>,
    /// False-positive rates of the filters in use, by [`KeyKind`].
    pub(super) now: [RateGroups; KINDS],
}

#[derive(Clone, Default, Debug)]
pub(super) struct CandidateTally {
    pub(super) size: Sum,
    pub(super) passed: [RateGroups; KINDS],
}

/// A sum over tables of a number that grows with the size of the file.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sum {
    count: f64,
    sum: f64,
    size: f64,
    squares: [f64; 3],
}

impl Sum {
    pub(super) fn add(&mut self, value: u64, file_size: u64) {
        let (value, size) = (value as f64, file_size as f64);
        self.count += 1.0;
        self.sum += value;
        self.size += size;
        for (sum, square) in self.squares.iter_mut().zip([value * value, value * size, size * size]) {
            *sum += square;
        }
    }

    /// `None` if nothing was added.
    pub(super) fn per_byte(&self) -> Option<f64> {
        (self.size > 0.0).then(|| self.sum / self.size)
    }

    /// A ratio estimate for a level of `tables` tables, with files of `total` bytes.
    pub(super) fn of_all(&self, tables: u64, total: u64) -> Estimate {
        let all = tables as f64;
        if self.size <= 0.0 || self.count <= 0.0 {
            return Estimate::default();
        }
        if self.count >= all {
            return Estimate::exact(self.sum);
        }
        let ratio = self.sum / self.size;
        let [values, both, sizes] = self.squares;
        let spread = (values - 2.0 * ratio * both + ratio * ratio * sizes).max(0.0);
        let variance = if self.count > 1.0 {
            (1.0 - self.count / all) * all * all / (self.count * (self.count - 1.0)) * spread
        } else {
            // A single table says nothing about the others.
            (self.sum / self.count * all).powi(2)
        };
        let value = ratio * total as f64;
        // A few tables say little about how much tables differ.
        let half = student((self.count - 1.0).max(1.0)) * variance.sqrt();
        Estimate { value, low: (value - half).max(0.0), high: value + half }
    }
}

impl LevelTally {
    pub(super) fn new(candidates: usize) -> Self {
        Self {
            tried: 0,
            tried_size: 0,
            entries: Sum::default(),
            candidates: vec![CandidateTally::default(); candidates],
            now: [RateGroups::default(); KINDS],
        }
    }

    /// Adds a trial without its answers for random keys. `visits`: lookups of keys made from the table's that reach it.
    pub(super) fn add(&mut self, trial: &Trial, file_size: u64, visits: Visits) {
        self.tried += 1;
        self.tried_size += file_size;
        self.entries.add(trial.entries, file_size);
        let count = |clusters: &mut [RateGroups; KINDS], answers: &Answers| {
            for (question, &(passed, asked)) in QUESTIONS.into_iter().zip(&answers.passed) {
                // Keys of lookups are checked once for each lookup: their number is their weight.
                let (of, weight) = match question {
                    KeyKind::Random => continue,
                    KeyKind::Similar(kind) => {
                        (question, visits.get(kind as usize).copied().unwrap_or_default())
                    }
                    KeyKind::Present | KeyKind::Own => (question, asked as f64),
                    KeyKind::Stranger(kind) => (KeyKind::Similar(kind), asked as f64),
                };
                if let Some(clusters) = clusters.get_mut(of.place()) {
                    clusters.add(passed, asked, weight);
                }
            }
        };
        for (tally, answers) in self.candidates.iter_mut().zip(&trial.candidates) {
            tally.size.add(answers.size, file_size);
            count(&mut tally.passed, answers);
        }
        if let Some(answers) = &trial.now {
            count(&mut self.now, answers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables whose filters take about a fiftieth of their size, some more and some less.
    fn tables() -> Vec<(u64, u64)> {
        let size = |number: u64| 1_000_000 + number * 7919 % 500_000;
        (0..200).map(|number| (size(number) / (45 + number * 31 % 11), size(number))).collect()
    }

    #[test]
    fn some_tables_stand_for_all() {
        let tables = tables();
        let all: u64 = tables.iter().map(|(value, _)| value).sum();
        let total: u64 = tables.iter().map(|(_, size)| size).sum();
        let of = |chosen: &mut dyn Iterator<Item = &(u64, u64)>| {
            let mut sum = Sum::default();
            chosen.for_each(|&(value, size)| sum.add(value, size));
            sum.of_all(tables.len() as u64, total)
        };
        // Of 20 samples of about 20 tables, at least 18 have the sum in their interval, and all estimates are near it.
        let mut within = 0;
        for start in 0..20 {
            let estimate = of(&mut tables.iter().skip(start % 10).step_by(10 - start % 2));
            assert!((estimate.value / all as f64 - 1.0).abs() < 0.05, "{estimate:?} {all}");
            assert!(estimate.high - estimate.low < 0.1 * all as f64, "{estimate:?}");
            within += u64::from(estimate.low <= all as f64 && all as f64 <= estimate.high);
        }
        assert!(within >= 18, "{within}");
        let exact = of(&mut tables.iter());
        assert_eq!((exact.value, exact.low, exact.high), (all as f64, all as f64, all as f64));
        let one = of(&mut tables.iter().take(1));
        assert!(one.low < 0.2 * one.value && one.high > 1.8 * one.value, "{one:?}");
        assert_eq!(Sum::default().of_all(3, 100), Estimate::default());
    }
}
