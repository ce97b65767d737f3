//! Sizes, rates and block reads, made of the sums of trials.

use super::questions::{KINDS, Question};
use super::report::{Estimate, LevelOutcome, Outcome, Rates, Reads};
use super::tally::{LevelTally, SettingTally, Z};
use crate::audit::rates::measured::{MeanRate, MeasuredRate};

/// With fewer questions by lookups that end elsewhere, neighbours stand for their keys.
const FEW: u64 = 500;

/// A level, and the lookups that come to it.
#[derive(Debug)]
pub(super) struct LevelFacts {
    pub(super) number: Option<u8>,
    pub(super) tables: u64,
    pub(super) size: u64,
    /// The bytes of filters that can be asked, and the number of tables without such filters.
    pub(super) filter_size: u64,
    pub(super) unfiltered: u64,
    /// By [`Question`].
    pub(super) visits: [VisitSum; KINDS],
    pub(super) tally: LevelTally,
}

/// The tables of a level that lookups of one kind come to in vain.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct VisitSum {
    pub(super) visits: u64,
    /// The squares of each lookup's number, added up.
    pub(super) squares: u64,
    /// Visits to tables without filters that can be asked.
    pub(super) unfiltered: u64,
}

/// All levels, and the lookups by [`Question`].
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) levels: Vec<LevelFacts>,
    pub(super) lookups: [u64; KINDS],
    /// The share of the user's lookups that find a deletion, of those that find no value.
    pub(super) deleted: f64,
    /// Lookups know their tables.
    pub(super) has_tree: bool,
    pub(super) entries: f64,
}

impl LevelFacts {
    /// The mean number of tables that a lookup comes to.
    pub(super) fn visits(&self, kind: Question, lookups: &[u64; KINDS]) -> f64 {
        let of = lookups.get(kind as usize).copied().unwrap_or_default();
        self.sum(kind).visits as f64 / of.max(1) as f64
    }

    fn sum(&self, kind: Question) -> VisitSum {
        self.visits.get(kind as usize).copied().unwrap_or_default()
    }

    /// The rate of one setting among the keys of one kind.
    pub(super) fn rate(&self, setting: &SettingTally, kind: Question) -> Option<MeasuredRate> {
        let all = self.tally.tried == self.tables;
        let rate = |kind: Question| setting.passed.get(kind as usize)?.rate(all);
        match kind {
            Question::Present => {
                rate(kind).filter(|rate| rate.asked >= FEW).or_else(|| rate(Question::Neighbour))
            }
            _ => rate(kind),
        }
    }

    /// The rate of the filters in use: tables without any let all keys pass.
    fn rate_now(&self, kind: Question) -> Option<MeasuredRate> {
        let VisitSum { visits, unfiltered, .. } = self.sum(kind);
        let share = if visits > 0 {
            unfiltered as f64 / visits as f64
        } else {
            self.unfiltered as f64 / self.tables.max(1) as f64
        };
        let pass = MeasuredRate { rate: 1.0, low: 1.0, high: 1.0, asked: 0 };
        if share >= 1.0 {
            return Some(pass);
        }
        let all = self.tally.tried == self.tables;
        let filtered = |kind: Question| self.tally.now.get(kind as usize)?.rate(all);
        let found = filtered(kind).filter(|rate| kind != Question::Present || rate.asked >= FEW);
        let filtered =
            found.or_else(|| filtered(Question::Neighbour).filter(|_| kind == Question::Present))?;
        let mix = |rate: f64| share + (1.0 - share) * rate;
        Some(MeasuredRate {
            rate: mix(filtered.rate),
            low: mix(filtered.low),
            high: mix(filtered.high),
            asked: filtered.asked,
        })
    }
}

impl Facts {
    /// The outcome of a setting for each level, by its place in the grid. `formula`: the rate that it
    /// gives, if it is the same for all levels.
    pub(super) fn of_settings(&self, chosen: &[(usize, u32)], formula: Option<f64>) -> Outcome {
        let of_level = |(level, &(setting, bits)): (&LevelFacts, &(usize, u32))| {
            let tally = level.tally.settings.get(setting);
            let size = tally.map_or(Estimate::default(), |tally| tally.size.of_all(level.tables, level.size));
            let rate = |kind| tally.and_then(|tally| level.rate(tally, kind));
            (
                size,
                Some(bits),
                [Question::Random, Question::Neighbour, Question::Present, Question::Own].map(rate),
            )
        };
        self.outcome(self.levels.iter().zip(chosen).map(of_level), formula)
    }

    /// The outcome of the filters in use.
    pub(super) fn now(&self) -> Outcome {
        let of_level = |level: &LevelFacts| {
            let size = exact(level.filter_size as f64);
            let rates = [Question::Random, Question::Neighbour, Question::Present, Question::Own];
            (size, None, rates.map(|kind| level.rate_now(kind)))
        };
        self.outcome(self.levels.iter().map(of_level), None)
    }

    fn outcome(
        &self,
        levels: impl Iterator<Item = (Estimate, Option<u32>, [Option<MeasuredRate>; KINDS])>,
        formula: Option<f64>,
    ) -> Outcome {
        let mut size = Estimate::default();
        let (mut below, mut above) = (0.0, 0.0);
        let mut means = [MeanRate::default(); KINDS];
        let mut reads = [(0.0, 0.0, 0.0); KINDS];
        let mut outcomes = Vec::new();
        for (level, (of_level, bits_per_key, rates)) in self.levels.iter().zip(levels) {
            size.value += of_level.value;
            below += (of_level.value - of_level.low).powi(2);
            above += (of_level.high - of_level.value).powi(2);
            let kinds = [Question::Random, Question::Neighbour, Question::Present, Question::Own];
            for (((kind, rate), mean), reads) in kinds.into_iter().zip(rates).zip(&mut means).zip(&mut reads)
            {
                let Some(rate) = rate else { continue };
                let lookups = self.lookups.get(kind as usize).copied().unwrap_or_default().max(1) as f64;
                let visits = level.visits(kind, &self.lookups);
                let weight = if self.has_tree { visits } else { 1.0 };
                if weight > 0.0 {
                    mean.add(rate, weight);
                }
                let spread = level.sum(kind).squares as f64 / lookups - visits * visits;
                let by_visits = (Z * rate.rate).powi(2) * spread.max(0.0) / lookups;
                reads.0 += visits * rate.rate;
                reads.1 += (visits * (rate.rate - rate.low)).powi(2) + by_visits;
                reads.2 += (visits * (rate.high - rate.rate)).powi(2) + by_visits;
            }
            let [random, neighbours, _, lookups] = rates;
            outcomes.push(LevelOutcome {
                bits_per_key,
                size: of_level,
                rates: Rates { formula, random, neighbours, lookups },
            });
        }
        size.low = (size.value - below.sqrt()).max(0.0);
        size.high = size.value + above.sqrt();
        let [random, neighbours, _, lookups] = means.map(|mean| mean.mean());
        let read = |kind: Question, base: f64| {
            let (value, below, above) = reads.get(kind as usize).copied().unwrap_or_default();
            Estimate {
                value: base + value,
                low: base + (value - below.sqrt()).max(0.0),
                high: base + value + above.sqrt(),
            }
        };
        let has = |kind: Question| self.lookups.get(kind as usize).is_some_and(|lookups| *lookups > 0);
        Outcome {
            size,
            bytes_per_key: if self.entries > 0.0 { size.value / self.entries } else { 0.0 },
            rates: Rates { formula, random, neighbours, lookups },
            reads: self.has_tree.then(|| Reads {
                random: read(Question::Random, 0.0),
                neighbours: read(Question::Neighbour, 0.0),
                lookups: has(Question::Own).then(|| read(Question::Own, self.deleted)),
                present: read(Question::Present, 1.0),
            }),
            levels: outcomes,
        }
    }
}

pub(super) const fn exact(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}
