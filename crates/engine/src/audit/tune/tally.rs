//! Sums of trials, for each level.

use super::key_kinds::{ByKind, KeyKind};
use super::trial::Trial;
use crate::audit::rates::{Rate, RateGroups, student};
use crate::report::{Estimate, SimilarKind};

/// If fewer keys were checked that lookups find in later tables, the rate of changed keys is used.
const FEW: u64 = 500;

/// A level, or a table that was given by itself.
#[derive(Default, Debug)]
pub(super) struct LevelTally {
    pub(super) number: Option<u8>,
    /// That could be read completely.
    pub(super) tables: u64,
    /// Bytes of their files.
    pub(super) size: u64,
    /// In bytes, of the filters that can be checked.
    pub(super) filter_size: u64,
    /// Tables without filters that can be checked.
    pub(super) unfiltered: u64,
    pub(super) visits: ByKind<VisitSum>,
    /// Tables that were tried.
    pub(super) tried: u64,
    pub(super) entries: Sum,
    /// The filters in use, then those of each candidate.
    pub(super) filters: Vec<FilterTally>,
}

/// Visits in vain of lookups of one kind to a level.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct VisitSum {
    pub(super) visits: f64,
    /// Over the lookups, of the number of visits.
    pub(super) squares: f64,
    /// Visits to tables without filters that can be checked.
    pub(super) unfiltered: f64,
}

#[derive(Clone, Default, Debug)]
pub(super) struct FilterTally {
    size: Sum,
    pub(super) passed: ByKind<RateGroups>,
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
    /// Adds a trial without its answers for random keys. `similar`: by kind, the lookups of keys made from the table's
    /// own that reach it.
    pub(super) fn add(&mut self, trial: &Trial, file_size: u64, similar: [u64; 4]) {
        self.tried += 1;
        self.entries.add(trial.entries, file_size);
        self.filters.resize_with(trial.filters.len(), FilterTally::default);
        for (tally, answers) in self.filters.iter_mut().zip(&trial.filters) {
            let Some(answers) = answers else { continue };
            tally.size.add(answers.size, file_size);
            for kind in KeyKind::all() {
                let (passed, asked) = answers.passed[kind];
                // Keys of lookups are checked once for each lookup: their number is their weight.
                let (of, weight) = match kind {
                    KeyKind::Random => continue,
                    KeyKind::Similar(of) => (kind, similar[of as usize]),
                    KeyKind::Present | KeyKind::Own => (kind, asked),
                    KeyKind::Stranger(of) => (KeyKind::Similar(of), asked),
                };
                tally.passed[of].add(passed, asked, weight as f64);
            }
        }
    }

    pub(super) fn entries(&self) -> Estimate {
        self.entries.of_all(self.tables, self.size)
    }

    /// The bytes of these filters. `filters`: a place in `filters`.
    pub(super) fn size_of(&self, filters: usize) -> Estimate {
        match self.filters.get(filters) {
            _ if filters == 0 => Estimate::exact(self.filter_size as f64),
            Some(tally) => tally.size.of_all(self.tables, self.size),
            None => Estimate::default(),
        }
    }

    /// The rate of these filters. Tables without filters in use rule no key out. `None`: no keys were checked.
    pub(super) fn rate_of(&self, filters: usize, kind: KeyKind) -> Option<Rate> {
        let VisitSum { visits, unfiltered, .. } = self.visits[kind];
        let share = match filters {
            0 if visits > 0.0 => unfiltered / visits,
            0 => self.unfiltered as f64 / self.tables.max(1) as f64,
            _ => 0.0,
        };
        if share >= 1.0 {
            return Some(Rate::ALL);
        }
        let passed = &self.filters.get(filters)?.passed;
        let measured = |kind: KeyKind| passed[kind].rate(self.tried == self.tables);
        let rate = match kind {
            KeyKind::Present => {
                let enough = measured(kind).filter(|rate| rate.asked >= FEW);
                enough.or_else(|| measured(KeyKind::Similar(SimilarKind::Changed)))
            }
            _ => measured(kind),
        };
        let Rate { rate, low, high, asked } = rate?;
        let [rate, low, high] = [rate, low, high].map(|rate| share + (1.0 - share) * rate);
        Some(Rate { rate, low, high, asked })
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
