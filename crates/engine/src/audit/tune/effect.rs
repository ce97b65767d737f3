//! Sizes, rates and block reads, computed from the sums of trials.

use super::key_kinds::{KINDS, KeyKind, LOOKUPS};
use super::tally::{CandidateTally, LevelTally, Z};
use crate::audit::rates::{MeanRate, Rate, RateGroups};
use crate::report::{Effect, Estimate, LevelEffect, Rates, Reads, SimilarKind};

pub(super) const SIMILAR: [SimilarKind; 4] =
    [SimilarKind::Changed, SimilarKind::Between, SimilarKind::CutShort, SimilarKind::Lengthened];
/// If fewer keys were checked that lookups find in later tables, the rate of changed keys is used.
const FEW: u64 = 500;

#[derive(Debug)]
pub(super) struct LevelFacts {
    pub(super) number: Option<u8>,
    pub(super) tables: u64,
    pub(super) size: u64,
    /// In bytes, of the filters that can be checked.
    pub(super) filter_size: u64,
    /// Tables without filters that can be checked.
    pub(super) unfiltered: u64,
    /// By [`KeyKind`].
    pub(super) visits: [VisitSum; KINDS],
    pub(super) tally: LevelTally,
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

#[derive(Debug)]
pub(super) struct TuneModel {
    pub(super) levels: Vec<LevelFacts>,
    pub(super) lookups: [u64; KINDS],
    /// The share of deletions among the user's lookups that find no value.
    pub(super) deleted: f64,
    /// By kind of similar keys: a program is likely to look them up.
    pub(super) plausible: [bool; 4],
    pub(super) has_own: bool,
    /// The tables that each lookup reaches are known.
    pub(super) has_tree: bool,
    pub(super) entries: Estimate,
}

/// A sum of independent estimates: the squares of the distances from the values to the ends add up.
#[derive(Clone, Copy, Default)]
pub(super) struct EstimateSum {
    value: f64,
    below: f64,
    above: f64,
}

impl EstimateSum {
    pub(super) fn add(&mut self, of: Estimate) {
        self.add_squares(of.value, (of.value - of.low).powi(2), (of.high - of.value).powi(2));
    }

    fn add_sum(&mut self, of: Self) {
        self.add_squares(of.value, of.below, of.above);
    }

    fn add_squares(&mut self, value: f64, below: f64, above: f64) {
        self.value += value;
        self.below += below;
        self.above += above;
    }

    /// `base` is exact.
    pub(super) fn plus(self, base: f64) -> Estimate {
        let Self { value, below, above } = self;
        let low = base + (value - below.sqrt()).max(0.0);
        Estimate { value: base + value, low, high: base + value + above.sqrt() }
    }
}

/// The size of a level's filters, and their rate by [`KeyKind`].
type OnLevel = (Estimate, [Option<Rate>; KINDS]);

impl LevelFacts {
    pub(super) fn entries(&self) -> Estimate {
        self.tally.entries.of_all(self.tables, self.size)
    }

    /// Tables that a lookup of this kind searches in vain, on average.
    pub(super) fn visits(&self, kind: KeyKind, lookups: &[u64; KINDS]) -> f64 {
        kind.of(&self.visits).visits / kind.of(lookups).max(1) as f64
    }

    fn measured(&self, passed: &[RateGroups; KINDS], kind: KeyKind) -> Option<Rate> {
        let all = self.tally.tried == self.tables;
        let rate = |kind: KeyKind| kind.of(passed).rate(all);
        match kind {
            KeyKind::Present => rate(kind)
                .filter(|rate| rate.asked >= FEW)
                .or_else(|| rate(KeyKind::Similar(SimilarKind::Changed))),
            _ => rate(kind),
        }
    }

    /// Tables without filters rule no key out. `None`: no keys were checked.
    fn rate_now(&self, kind: KeyKind) -> Option<Rate> {
        let VisitSum { visits, unfiltered, .. } = kind.of(&self.visits);
        let share = if visits > 0.0 {
            unfiltered / visits
        } else {
            self.unfiltered as f64 / self.tables.max(1) as f64
        };
        if share >= 1.0 {
            return Some(Rate::ALL);
        }
        let Rate { rate, low, high, asked } = self.measured(&self.tally.now, kind)?;
        let [rate, low, high] = [rate, low, high].map(|rate| share + (1.0 - share) * rate);
        Some(Rate { rate, low, high, asked })
    }
}

impl TuneModel {
    pub(super) fn of_candidate(&self, candidate: usize) -> Effect {
        let none = CandidateTally::default();
        self.outcome(self.levels.iter().map(|level| {
            let tally = level.tally.candidates.get(candidate).unwrap_or(&none);
            let size = tally.size.of_all(level.tables, level.size);
            (size, LOOKUPS.map(|kind| level.measured(&tally.passed, kind)))
        }))
    }

    pub(super) fn now(&self) -> Effect {
        let of_level = |level: &LevelFacts| {
            (Estimate::exact(level.filter_size as f64), LOOKUPS.map(|kind| level.rate_now(kind)))
        };
        self.outcome(self.levels.iter().map(of_level))
    }

    /// The absent keys that advice rests on.
    pub(super) const fn absent(&self) -> KeyKind {
        if self.has_own { KeyKind::Own } else { KeyKind::Random }
    }

    fn outcome(&self, on_levels: impl Iterator<Item = OnLevel>) -> Effect {
        let mut size = EstimateSum::default();
        let mut means = [MeanRate::default(); KINDS];
        let mut reads = [EstimateSum::default(); KINDS];
        let mut levels = Vec::new();
        for (level, (of_level, rates)) in self.levels.iter().zip(on_levels) {
            size.add(of_level);
            let mut reads_of_level = [EstimateSum::default(); KINDS];
            for (((kind, rate), mean), reads) in
                LOOKUPS.into_iter().zip(rates).zip(&mut means).zip(&mut reads_of_level)
            {
                if let Some(rate) = rate {
                    self.add_reads(level, kind, rate, mean, reads);
                }
            }
            reads.iter_mut().zip(reads_of_level).for_each(|(sum, of_level)| sum.add_sum(of_level));
            let reads = self.has_tree.then(|| self.absent().of(&reads_of_level).plus(0.0));
            levels.push(LevelEffect {
                number: level.number,
                size: of_level,
                rates: self.rates(rates),
                reads,
            });
        }
        Effect {
            size: size.plus(0.0),
            rates: self.rates(means.map(|mean| mean.mean())),
            reads: self.has_tree.then(|| self.reads(&reads)),
            levels,
        }
    }

    /// The plausible kinds of similar keys that have a value in `of`.
    fn likely<T>(&self, of: [Option<T>; 4]) -> impl Iterator<Item = (SimilarKind, T)> {
        let all = SIMILAR.into_iter().zip(of).zip(self.plausible);
        all.filter(|(_, is_plausible)| *is_plausible).filter_map(|((kind, of), _)| Some((kind, of?)))
    }

    fn rates(&self, rates: [Option<Rate>; KINDS]) -> Rates {
        let [random, changed, between, cut, longer, _, lookups] = rates;
        let similar = [changed, between, cut, longer];
        let likely = self.likely(similar).map(|(_, rate)| rate);
        let worst = likely.max_by(|one, other| one.rate.total_cmp(&other.rate));
        Rates { random, similar, worst, lookups }
    }

    fn reads(&self, reads: &[EstimateSum; KINDS]) -> Reads {
        let read = |kind: KeyKind, base: f64| (kind.of(&self.lookups) > 0).then(|| kind.of(reads).plus(base));
        let similar = SIMILAR.map(|kind| read(KeyKind::Similar(kind), 0.0));
        let worst = self.likely(similar).max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let random = read(KeyKind::Random, 0.0).unwrap_or_default();
        Reads {
            absent: match self.has_own {
                true => read(KeyKind::Own, self.deleted).unwrap_or_default(),
                false => random,
            },
            stored: read(KeyKind::Present, 1.0).unwrap_or(Estimate::exact(1.0)),
            random,
            similar,
            worst: worst.map(|(kind, _)| kind),
        }
    }

    fn add_reads(
        &self,
        level: &LevelFacts,
        kind: KeyKind,
        rate: Rate,
        mean: &mut MeanRate,
        reads: &mut EstimateSum,
    ) {
        let lookups = kind.of(&self.lookups).max(1) as f64;
        let visits = level.visits(kind, &self.lookups);
        let weight = if self.has_tree { visits } else { level.entries().value };
        if weight > 0.0 {
            mean.add(rate, weight);
        }
        let spread = kind.of(&level.visits).squares / lookups - visits * visits;
        let by_visits = (Z * rate.rate).powi(2) * spread.max(0.0) / lookups;
        reads.add_squares(
            visits * rate.rate,
            (visits * (rate.rate - rate.low)).powi(2) + by_visits,
            (visits * (rate.high - rate.rate)).powi(2) + by_visits,
        );
    }
}
