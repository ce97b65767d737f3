//! Finds the best filters within the budget by trying combinations of bits by level, for each range. All combinations
//! are tried, except that level 0 has the bits of the database's program, or those of all other levels. The search
//! finds the best filters of all, and the best of those with which no kind of key reads more than with the filters in
//! use.
//!
//! Sizes and rates are those that `tune` shows for each setting and level. Other modules compare them with LevelDB's
//! counts. Here only the choice among the settings is compared.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::least_squares::solve;
use super::predicted::NEAR;

/// The choice of `tune` may read this many times the blocks that the best filters read, plus [`NO_GAIN`]. `tune` takes
/// the smaller one of nearly equal filters, and no program can measure a smaller difference.
const FACTOR: f64 = 1.05;
const NO_GAIN: f64 = 0.001;
/// The reads that filters save, and their share of all reads, from which on `tune` must not miss these filters. Both
/// are twice what a rebuild must save.
const MUST_SAVE: f64 = 0.01;
const MUST_SAVE_SHARE: f64 = 0.2;
/// The bits a key of the tables that the database's program writes, if the filters in use do not reveal them.
const USUAL_BITS: u64 = 10;

/// The reads in vain of an absent key: with the filters in use, those advised, and the best.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) now: f64,
    /// `None`: the advice is to leave the filters as they are.
    pub(super) advised: Option<f64>,
    /// The better of the two choices that `tune` shows: the same bits on all levels, and bits by level.
    pub(super) chosen: f64,
    pub(super) best: Found,
    /// The best filters with which no kind of key reads more. `None`: there are no such filters.
    pub(super) without_rise: Option<Found>,
    /// The number of combinations within the budget.
    pub(super) tried: u64,
}

/// Filters, and the reads in vain of an absent key.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) reads: f64,
    bits: Vec<u64>,
    base_lg: u64,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4}: {:?}; {}", self.reads, self.bits, self.base_lg)
    }
}

impl Best {
    pub(super) fn fault(&self) -> Option<String> {
        let most = |best: &Found| FACTOR * best.reads + NO_GAIN;
        if self.chosen > most(&self.best) {
            return Some(format!("chosen {:.4} instead of {}", self.chosen, self.best));
        }
        let best = self.without_rise.as_ref()?;
        let advised = self.advised.filter(|advised| *advised > most(best))?;
        Some(format!("advised {advised:.4} instead of {best}"))
    }

    /// The fault of the advice to leave the filters as they are, if it has one.
    pub(super) fn missed(&self) -> Option<String> {
        let best = self.without_rise.as_ref()?;
        let saved = self.now - best.reads;
        let is_missed = saved > MUST_SAVE.max(MUST_SAVE_SHARE * self.now);
        is_missed.then(|| format!("left with {:.4} in spite of {best}", self.now))
    }
}

/// The number of kinds of keys whose lookups may read more: those near stored ones, and random ones.
const KINDS: usize = NEAR.len() + 1;

/// The mean number of tables of a level that a lookup of each kind reaches.
type Visits = [f64; KINDS];

/// Returns what `of` has for each kind: rates or reads.
fn by_kind(of: &Value) -> [&Value; KINDS] {
    let [changed, between, cut, longer] = NEAR.map(|kind| &of["near"][kind]);
    [changed, between, cut, longer, &of["random"]]
}

/// Returns the mean number of tables of each level that lookups of each kind reach. `tune` shows this number for one
/// kind only. It also shows the reads of each kind for each setting, which are a sum over the levels: this number times
/// the rate on the level.
fn visits_of(settings: &[&Value], levels: usize) -> Result<Vec<Visits>> {
    let mut visits = vec![Visits::default(); levels];
    for kind in 0..KINDS {
        let equation = |line: &&Value| {
            let outcome = &line["outcome"];
            let rate = |level: &Value| by_kind(&level["rates"])[kind]["rate"].as_f64();
            let rates = outcome["levels"].as_array()?.iter().map(|level| rate(level).unwrap_or_default());
            Some((rates.collect(), by_kind(&outcome["reads"])[kind]["value"].as_f64()?))
        };
        let equations: Vec<(Vec<f64>, f64)> = settings.iter().filter_map(equation).collect();
        for (visits, found) in visits.iter_mut().zip(solve(&equations, levels)) {
            visits[kind] = found;
        }
        for (rates, reads) in &equations {
            let found: f64 = rates.iter().zip(&visits).map(|(rate, visits)| rate * visits[kind]).sum();
            ensure!((found - reads).abs() < 1e-4, "{reads} reads of kind {kind}, found {found}");
        }
    }
    Ok(visits)
}

/// The reads for each kind of key, and the squares of half the width of their intervals.
#[derive(Debug, Clone, Copy, Default)]
struct Reads([(f64, f64); KINDS]);

impl Reads {
    /// The reads with filters of these rates on one level. `visits`: the number of tables that lookups of each kind
    /// reach.
    fn of(rates: &Value, visits: &Visits) -> Self {
        let mut reads = Self::default();
        for ((reads, rate), visits) in reads.0.iter_mut().zip(by_kind(rates)).zip(visits) {
            let number = |name: &str| rate[name].as_f64();
            if let (Some(rate), Some(low), Some(high)) = (number("rate"), number("low"), number("high")) {
                *reads = (visits * rate, (visits * (high - low) / 2.0).powi(2));
            }
        }
        reads
    }

    fn add(&mut self, of: &Self) {
        for (sum, of) in self.0.iter_mut().zip(of.0) {
            *sum = (sum.0 + of.0, sum.1 + of.1);
        }
    }

    /// Returns true if no kind reads more than in `now`, as far as the intervals show.
    fn has_no_rise(&self, now: &Self) -> bool {
        self.0.iter().zip(now.0).all(|(then, now)| then.0 - now.0 <= NO_GAIN.max((then.1 + now.1).sqrt()))
    }
}

/// The filters of one level with one setting: their size, and the reads for each kind of key.
#[derive(Debug, Clone)]
struct OnLevel {
    bits: u64,
    size: f64,
    /// The reads for each kind of key, smoothed.
    reads: [f64; KINDS],
    told: Reads,
}

/// Levels, the kinds of keys that count, for each range the settings of each level, the bits of the database's program,
/// and the reads with the filters in use.
struct Model {
    levels: Vec<u64>,
    counts: [bool; KINDS],
    ranges: BTreeMap<u64, Vec<Vec<OnLevel>>>,
    program_bits: u64,
    now: Reads,
}

fn number(json: &Value, what: &str) -> Result<f64> {
    json.as_f64().with_context(|| format!("expected {what}, found {json}"))
}

impl Model {
    fn of(settings: &[Value], tuning: &Value) -> Result<Self> {
        let policy = &tuning["policy"];
        let of_levels = tuning["levels"].as_array().context("levels")?;
        let levels = of_levels.iter().map(|level| level["level"].as_u64()).collect::<Option<Vec<_>>>();
        let own: Vec<&Value> = settings.iter().filter(|line| line["policy"] == *policy).collect();
        let visits = visits_of(&own, of_levels.len())?;
        let in_use = own.iter().find(|line| line["in_use"] == true);
        let program_bits = in_use.and_then(|line| line["bits_per_key"].as_u64()).unwrap_or(USUAL_BITS);
        let mut ranges: BTreeMap<u64, Vec<Vec<OnLevel>>> = BTreeMap::new();
        let mut counts = [true; KINDS];
        for line in own {
            let reads = &line["outcome"]["reads"];
            let worst = number(&reads["neighbours"]["value"], "reads")?;
            // The last kind, random keys, always counts.
            for (counts, kind) in counts.iter_mut().zip(NEAR) {
                // A kind that is worse than the worst likely one is not likely.
                *counts &= reads["near"][kind]["value"].as_f64().is_none_or(|reads| reads <= worst + 1e-12);
            }
            let of_range = ranges.entry(line["base_lg"].as_u64().context("base_lg")?).or_default();
            of_range.resize(visits.len(), Vec::new());
            let on_levels = line["outcome"]["levels"].as_array().context("levels of an outcome")?;
            ensure!(on_levels.len() == visits.len(), "{} levels of {}", on_levels.len(), visits.len());
            for ((level, visits), settings) in on_levels.iter().zip(&visits).zip(of_range) {
                let rate = |kind: usize| {
                    let rate = by_kind(&level["rates"])[kind];
                    let (rate, asked) = (rate["rate"].as_f64()?, rate["asked"].as_f64()?);
                    // If none of a few keys passed, that does not mean that none ever does.
                    Some((rate * asked + 0.5) / (asked + 1.0))
                };
                let reads = |kind: usize| visits[kind] * rate(kind).unwrap_or_default();
                settings.push(OnLevel {
                    bits: level["bits_per_key"].as_u64().context("bits_per_key")?,
                    size: number(&level["size"]["value"], "a size")?,
                    reads: std::array::from_fn(reads),
                    told: Reads::of(&level["rates"], visits),
                });
            }
        }
        let mut now = Reads::default();
        let on_levels = tuning["now"]["levels"].as_array().context("levels now")?;
        on_levels
            .iter()
            .zip(&visits)
            .for_each(|(level, visits)| now.add(&Reads::of(&level["rates"], visits)));
        Ok(Self { levels: levels.context("a level")?, counts, ranges, program_bits, now })
    }

    /// Returns the reads of the worst of the kinds that count.
    fn worst(&self, reads: [f64; KINDS]) -> f64 {
        reads
            .into_iter()
            .zip(self.counts)
            .filter(|(_, counts)| *counts)
            .fold(0.0, |most, (of, _)| most.max(of))
    }

    /// Returns the reads of a choice of `tune`.
    fn of_choice(&self, choice: &Value) -> Result<f64> {
        let base_lg = choice["base_lg"].as_u64().context("base_lg")?;
        let levels = self.ranges.get(&base_lg).context("a range that was not tried")?;
        let chosen = choice["bits_per_key"].as_array().context("bits by level")?;
        ensure!(chosen.len() == levels.len(), "{} levels of {}", chosen.len(), levels.len());
        let mut sum = [0.0; KINDS];
        for (settings, bits) in levels.iter().zip(chosen) {
            let found = settings.iter().find(|setting| bits["bits_per_key"] == setting.bits);
            add(&mut sum, found.context("bits that were not tried")?.reads);
        }
        Ok(self.worst(sum))
    }

    fn search(&self, budget: f64) -> Search<'_> {
        let mut search = Search { model: self, best: None, without_rise: None, tried: 0 };
        for (base_lg, levels) in &self.ranges {
            let range = Range { base_lg: *base_lg, levels };
            search.level(&range, budget, &Sum::default());
            search.same_on_all(&range, budget);
        }
        search
    }
}

/// The settings of one range, by level.
struct Range<'a> {
    base_lg: u64,
    levels: &'a [Vec<OnLevel>],
}

/// The filters of some levels together.
#[derive(Debug, Clone, Default)]
struct Sum {
    bits: Vec<u64>,
    size: f64,
    reads: [f64; KINDS],
    told: Reads,
}

impl Sum {
    fn and(&self, of: &OnLevel) -> Self {
        let mut sum = self.clone();
        sum.bits.push(of.bits);
        sum.size += of.size;
        add(&mut sum.reads, of.reads);
        sum.told.add(&of.told);
        sum
    }
}

fn add(sum: &mut [f64; KINDS], of: [f64; KINDS]) {
    sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
}

/// The best of the combinations tried so far.
struct Search<'a> {
    model: &'a Model,
    best: Option<Found>,
    without_rise: Option<Found>,
    tried: u64,
}

impl Search<'_> {
    /// Tries the same bits on all levels.
    fn same_on_all(&mut self, range: &Range<'_>, budget: f64) {
        for bits in range.levels.iter().flatten().map(|setting| setting.bits) {
            let of_level = |level: &'_ Vec<OnLevel>| level.iter().position(|setting| setting.bits == bits);
            let settings = range.levels.iter().filter_map(|level| level.get(of_level(level)?));
            let sum = settings.fold(Sum::default(), |sum, setting| sum.and(setting));
            if sum.size <= budget {
                self.take(&sum, range.base_lg);
            }
        }
    }

    /// Tries all bits on the levels that `sum` does not have yet.
    fn level(&mut self, range: &Range<'_>, budget: f64, sum: &Sum) {
        let at = sum.bits.len();
        let Some(settings) = range.levels.get(at) else {
            self.tried += 1;
            return self.take(sum, range.base_lg);
        };
        // Tables of level 0 are soonest replaced, by tables with the bits of the database's program. So only those bits
        // are tried there.
        let is_top = self.model.levels.get(at) == Some(&0);
        for setting in settings.iter().filter(|setting| sum.size + setting.size <= budget) {
            if !is_top || setting.bits == self.model.program_bits {
                self.level(range, budget, &sum.and(setting));
            }
        }
    }

    fn take(&mut self, sum: &Sum, base_lg: u64) {
        let reads = self.model.worst(sum.reads);
        let has_no_rise = sum.told.has_no_rise(&self.model.now);
        let better = [Some(&mut self.best), has_no_rise.then_some(&mut self.without_rise)];
        for best in better.into_iter().flatten() {
            if best.as_ref().is_none_or(|best| reads < best.reads) {
                *best = Some(Found { reads, bits: sum.bits.clone(), base_lg });
            }
        }
    }
}

fn reads_now(reads: &Value) -> Result<f64> {
    let [near, random] = ["neighbours", "random"].map(|kind| number(&reads[kind]["value"], "reads now"));
    Ok(near?.max(random?))
}

/// Compares what `tune` chose and advised with the best. `None`: nothing fits into the budget.
pub(super) fn compare(settings: &[Value], tuning: &Value) -> Result<Option<Best>> {
    let model = Model::of(settings, tuning)?;
    let budget = number(&tuning["budget"]["bytes"], "a budget")?;
    let Search { best, without_rise, tried, .. } = model.search(budget);
    let Some(best) = best else { return Ok(None) };
    let choice = |json: &Value| (!json.is_null()).then(|| model.of_choice(json)).transpose();
    let chosen = [&tuning["uniform"], &tuning["by_level"]].map(choice);
    let chosen = chosen.into_iter().collect::<Result<Vec<_>>>()?;
    let chosen = chosen.into_iter().flatten().min_by(f64::total_cmp).context("a choice within the budget")?;
    Ok(Some(Best {
        now: reads_now(&tuning["now"]["reads"])?,
        advised: choice(&tuning["advice"]["choice"])?,
        chosen,
        best,
        without_rise,
        tried,
    }))
}
