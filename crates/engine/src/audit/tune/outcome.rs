//! Sizes, rates and block reads, computed from the sums of trials.

use super::questions::{KINDS, LOOKUPS, Question};
use super::tally::{LevelTally, SettingTally, Z};
use crate::audit::rates::{Clusters, MeanRate, MeasuredRate};
use crate::report::{Estimate, LevelOutcome, NearKind, NearRates, NearReads, Outcome, Rates, Reads};

/// If fewer than this number of keys that lookups find in later tables were asked for, the rate of changed
/// keys is used instead.
const FEW: u64 = 500;

/// A level, and the lookups that reach it.
#[derive(Debug)]
pub(super) struct LevelFacts {
    pub(super) number: Option<u8>,
    pub(super) tables: u64,
    pub(super) size: u64,
    /// The size in bytes of the filters that can be asked.
    pub(super) filter_size: u64,
    /// The number of tables without filters that can be asked.
    pub(super) unfiltered: u64,
    /// The visits of lookups, by [`Question`].
    pub(super) visits: [VisitSum; KINDS],
    pub(super) tally: LevelTally,
}

/// The visits in vain of lookups of one kind to the tables of a level.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct VisitSum {
    pub(super) visits: f64,
    /// The sum over the lookups of the squared numbers of visits.
    pub(super) squares: f64,
    /// The number of visits to tables without filters that can be asked.
    pub(super) unfiltered: f64,
}

/// All levels, and the numbers of lookups by [`Question`].
#[derive(Debug)]
pub(super) struct TuneModel {
    pub(super) levels: Vec<LevelFacts>,
    pub(super) lookups: [u64; KINDS],
    /// The share that finds a deletion among those of the user's lookups that find no value.
    pub(super) deleted: f64,
    /// For each kind of keys near stored ones, true if a program is likely to ask for it.
    pub(super) plausible: [bool; 4],
    /// The tables that each lookup reaches are known.
    pub(super) has_tree: bool,
    /// The number of entries in all tables.
    pub(super) entries: Estimate,
}

/// A sum of independent estimates, for which the squares of the distances from the values to the ends add up.
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

    /// The sum plus `base`, which is exact.
    pub(super) fn plus(self, base: f64) -> Estimate {
        let Self { value, below, above } = self;
        let low = base + (value - below.sqrt()).max(0.0);
        Estimate { value: base + value, low, high: base + value + above.sqrt() }
    }
}

/// The filters of one level: bits a key, size, and the rate for each [`Question`].
type OnLevel = (Option<u32>, Estimate, [Option<MeasuredRate>; KINDS]);

impl LevelFacts {
    /// The number of entries in the level's tables.
    pub(super) fn entries(&self) -> Estimate {
        self.tally.entries.of_all(self.tables, self.size)
    }

    /// The size of the filters of one setting.
    pub(super) fn filter_size_of(&self, setting: &SettingTally) -> Estimate {
        setting.size.of_all(self.tables, self.size)
    }

    /// The mean number of tables that a lookup of this kind visits in vain.
    pub(super) fn visits(&self, kind: Question, lookups: &[u64; KINDS]) -> f64 {
        kind.of(&self.visits).visits / kind.of(lookups).max(1) as f64
    }

    /// The rate of one setting among the keys of one kind. `None`: no such keys were asked for.
    pub(super) fn rate(&self, setting: &SettingTally, kind: Question) -> Option<MeasuredRate> {
        self.measured(&setting.passed, kind)
    }

    fn measured(&self, passed: &[Clusters; KINDS], kind: Question) -> Option<MeasuredRate> {
        let all = self.tally.tried == self.tables;
        let rate = |kind: Question| kind.of(passed).rate(all);
        match kind {
            Question::Present => rate(kind)
                .filter(|rate| rate.asked >= FEW)
                .or_else(|| rate(Question::Near(NearKind::Changed))),
            _ => rate(kind),
        }
    }

    /// The rate of the filters in use. Tables without filters let all keys pass. `None`: no keys were asked
    /// for.
    fn rate_now(&self, kind: Question) -> Option<MeasuredRate> {
        let VisitSum { visits, unfiltered, .. } = kind.of(&self.visits);
        let share = if visits > 0.0 {
            unfiltered / visits
        } else {
            self.unfiltered as f64 / self.tables.max(1) as f64
        };
        if share >= 1.0 {
            return Some(MeasuredRate::ALL);
        }
        let MeasuredRate { rate, low, high, asked } = self.measured(&self.tally.now, kind)?;
        let [rate, low, high] = [rate, low, high].map(|rate| share + (1.0 - share) * rate);
        Some(MeasuredRate { rate, low, high, asked })
    }
}

impl TuneModel {
    /// The outcome of one setting for each level, given by its index in the grid and its bits a key.
    /// `formula`: the rate by the formula, if the setting is the same for all levels.
    pub(super) fn of_settings(&self, chosen: &[(usize, u32)], formula: Option<f64>) -> Outcome {
        let of_level = |(level, &(setting, bits)): (&LevelFacts, &(usize, u32))| {
            let tally = level.tally.settings.get(setting);
            let size = tally.map_or(Estimate::default(), |tally| level.filter_size_of(tally));
            (Some(bits), size, LOOKUPS.map(|kind| tally.and_then(|tally| level.rate(tally, kind))))
        };
        self.outcome(self.levels.iter().zip(chosen).map(of_level), formula)
    }

    /// The outcome of the filters in use.
    pub(super) fn now(&self) -> Outcome {
        let of_level = |level: &LevelFacts| {
            (None, Estimate::exact(level.filter_size as f64), LOOKUPS.map(|kind| level.rate_now(kind)))
        };
        self.outcome(self.levels.iter().map(of_level), None)
    }

    fn outcome(&self, on_levels: impl Iterator<Item = OnLevel>, formula: Option<f64>) -> Outcome {
        let mut size = EstimateSum::default();
        let mut means = [MeanRate::default(); KINDS];
        let mut reads = [EstimateSum::default(); KINDS];
        let (mut levels, mut by_level) = (Vec::new(), Vec::new());
        for (level, (bits_per_key, of_level, rates)) in self.levels.iter().zip(on_levels) {
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
            by_level.push(reads_of_level);
            let (number, rates) = (level.number, self.rates(rates, formula));
            levels.push(LevelOutcome { number, bits_per_key, size: of_level, rates, reads: None });
        }
        let size = size.plus(0.0);
        let told = self.has_tree.then(|| self.reads(&reads));
        let kind = told.map(|told| match told.lookups {
            Some(_) => Question::Own,
            None => told.worst.map_or(Question::Random, Question::Near),
        });
        for (level, reads) in levels.iter_mut().zip(&by_level) {
            level.reads = kind.map(|kind| kind.of(reads).plus(0.0));
        }
        Outcome {
            size,
            bytes_per_entry: if self.entries.value > 0.0 { size.value / self.entries.value } else { 0.0 },
            rates: self.rates(means.map(|mean| mean.mean()), formula),
            reads: told,
            levels,
        }
    }

    /// The plausible kinds of keys near stored ones that have a value in `of`, each with that value.
    pub(super) fn likely<T>(&self, of: [Option<T>; 4]) -> impl Iterator<Item = (NearKind, T)> {
        let plausible = self.plausible.into_iter();
        let all = NearKind::ALL.into_iter().zip(of).zip(plausible);
        all.filter(|(_, is_plausible)| *is_plausible).filter_map(|((kind, of), _)| Some((kind, of?)))
    }

    fn rates(&self, rates: [Option<MeasuredRate>; KINDS], formula: Option<f64>) -> Rates {
        let [random, changed, between, cut, longer, _, lookups] = rates;
        let likely = self.likely([changed, between, cut, longer]);
        let neighbours = likely.map(|(_, rate)| rate).max_by(|one, other| one.rate.total_cmp(&other.rate));
        Rates { formula, random, neighbours, near: NearRates { changed, between, cut, longer }, lookups }
    }

    fn reads(&self, reads: &[EstimateSum; KINDS]) -> Reads {
        let read =
            |kind: Question, base: f64| (kind.of(&self.lookups) > 0).then(|| kind.of(reads).plus(base));
        let near = NearKind::ALL.map(|kind| read(Question::Near(kind), 0.0));
        let [changed, between, cut, longer] = near;
        let worst = self.likely(near).max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let random = read(Question::Random, 0.0).unwrap_or_default();
        // Most keys near stored ones may lie outside of the tables' ranges of keys.
        let is_worse = |(_, near): &(NearKind, Estimate)| near.value >= random.value;
        Reads {
            random,
            neighbours: worst.map(|(_, reads)| reads).unwrap_or_default(),
            worst: worst.filter(is_worse).map(|(kind, _)| kind),
            near: NearReads { changed, between, cut, longer },
            lookups: read(Question::Own, self.deleted),
            present: read(Question::Present, 1.0).unwrap_or(Estimate::exact(1.0)),
        }
    }

    /// Adds the reads in vain of lookups of one kind on a level whose filters have this rate.
    fn add_reads(
        &self,
        level: &LevelFacts,
        kind: Question,
        rate: MeasuredRate,
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
