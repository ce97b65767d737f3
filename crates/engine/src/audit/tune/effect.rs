//! Sizes, rates and block reads, computed from the sums of trials.

use super::key_kinds::{ByKind, KeyKind, SIMILAR};
use super::tally::LevelTally;
use crate::audit::rates::{MeanRate, Rate};
use crate::report::{Effect, Estimate, Level, LevelEffect, Rates, Reads, SimilarKind};

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.96;

#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) levels: Vec<LevelTally>,
    /// The lookups.
    pub(super) lookups: ByKind<u64>,
    /// The share of deletions among the user's lookups that find no value.
    pub(super) deleted: f64,
    /// By kind of similar keys: a program is likely to look them up.
    pub(super) plausible: [bool; 4],
    pub(super) has_own: bool,
    /// The tables that each lookup reaches are known.
    pub(super) has_tree: bool,
}

/// A sum of independent estimates: the squares of the distances from the values to the ends add up.
#[derive(Clone, Copy, Default)]
struct EstimateSum {
    value: f64,
    below: f64,
    above: f64,
}

impl EstimateSum {
    fn of(Estimate { value, low, high }: Estimate) -> Self {
        Self { value, below: (value - low).powi(2), above: (high - value).powi(2) }
    }

    fn add(&mut self, of: Self) {
        self.value += of.value;
        self.below += of.below;
        self.above += of.above;
    }

    /// `base` is exact.
    fn plus(self, base: f64) -> Estimate {
        let Self { value, below, above } = self;
        let low = base + (value - below.sqrt()).max(0.0);
        Estimate { value: base + value, low, high: base + value + above.sqrt() }
    }
}

impl Traffic {
    /// The effect of the filters in use (0), or of a candidate (numbered from 1).
    pub(super) fn effect(&self, filters: usize) -> Effect {
        let mut size = EstimateSum::default();
        let mut means: ByKind<MeanRate> = ByKind::default();
        let mut reads: ByKind<EstimateSum> = ByKind::default();
        let mut levels = Vec::new();
        for level in &self.levels {
            let of_level = level.size_of(filters);
            size.add(EstimateSum::of(of_level));
            let mut absent = EstimateSum::default();
            for kind in KeyKind::all() {
                let Some(rate) = level.rate_of(filters, kind) else { continue };
                let of_kind = self.reads_from(level, kind, rate);
                reads[kind].add(of_kind);
                if kind == self.absent() {
                    absent = of_kind;
                }
                let weight = if self.has_tree { self.visits(level, kind) } else { level.entries().value };
                if weight > 0.0 {
                    means[kind].add(Some(rate), weight);
                }
            }
            let reads = self.has_tree.then(|| absent.plus(0.0));
            levels.push(LevelEffect { number: level.number, size: of_level, reads });
        }
        let rate = |kind: KeyKind| means[kind].mean();
        let similar = SIMILAR.map(|kind| rate(KeyKind::Similar(kind)));
        let likely = self.likely(similar).map(|(_, rate)| rate);
        let worst = likely.max_by(|one, other| one.rate.total_cmp(&other.rate));
        Effect {
            size: size.plus(0.0),
            rates: Rates { random: rate(KeyKind::Random), similar, worst, lookups: rate(KeyKind::Own) },
            reads: self.has_tree.then(|| self.reads(&reads)),
            levels,
        }
    }

    /// Entries of all levels.
    pub(super) fn entries(&self) -> Estimate {
        let mut entries = EstimateSum::default();
        self.levels.iter().for_each(|level| entries.add(EstimateSum::of(level.entries())));
        entries.plus(0.0)
    }

    /// What `tune` says of each level.
    pub(super) fn levels(&self) -> Vec<Level> {
        let of_level = |level: &LevelTally| {
            let rate = level.rate_of(0, KeyKind::Own).or_else(|| level.rate_of(0, KeyKind::Random));
            Level {
                number: level.number,
                tables: level.tables,
                without_filters: level.unfiltered,
                size: level.size,
                entries: level.entries().value,
                filter_size: level.filter_size as f64,
                fpr: rate.map(|rate| rate.rate),
                checked: self.has_tree.then(|| self.visits(level, self.absent())),
            }
        };
        self.levels.iter().map(of_level).collect()
    }

    /// The absent keys that advice rests on.
    const fn absent(&self) -> KeyKind {
        if self.has_own { KeyKind::Own } else { KeyKind::Random }
    }

    /// Tables of the level that a lookup of this kind searches in vain, on average.
    fn visits(&self, level: &LevelTally, kind: KeyKind) -> f64 {
        level.visits[kind].visits / self.lookups[kind].max(1) as f64
    }

    /// Data blocks of the level that a lookup of this kind reads.
    fn reads_from(&self, level: &LevelTally, kind: KeyKind, rate: Rate) -> EstimateSum {
        let lookups = self.lookups[kind].max(1) as f64;
        let visits = self.visits(level, kind);
        let spread = level.visits[kind].squares / lookups - visits * visits;
        let by_visits = (Z * rate.rate).powi(2) * spread.max(0.0) / lookups;
        EstimateSum {
            value: visits * rate.rate,
            below: (visits * (rate.rate - rate.low)).powi(2) + by_visits,
            above: (visits * (rate.high - rate.rate)).powi(2) + by_visits,
        }
    }

    /// The plausible kinds of similar keys that have a value in `of`.
    fn likely<T>(&self, of: [Option<T>; 4]) -> impl Iterator<Item = (SimilarKind, T)> {
        let all = SIMILAR.into_iter().zip(of).zip(self.plausible);
        all.filter(|(_, is_plausible)| *is_plausible).filter_map(|((kind, of), _)| Some((kind, of?)))
    }

    fn reads(&self, reads: &ByKind<EstimateSum>) -> Reads {
        let read = |kind: KeyKind, base: f64| (self.lookups[kind] > 0).then(|| reads[kind].plus(base));
        let similar = SIMILAR.map(|kind| read(KeyKind::Similar(kind), 0.0));
        let worst = self.likely(similar).max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let random = read(KeyKind::Random, 0.0).unwrap_or_default();
        let own = || read(KeyKind::Own, self.deleted).unwrap_or_default();
        Reads {
            absent: if self.has_own { own() } else { random },
            stored: read(KeyKind::Present, 1.0).unwrap_or(Estimate::exact(1.0)),
            random,
            similar,
            worst: worst.map(|(kind, _)| kind),
        }
    }
}
