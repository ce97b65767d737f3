//! The best filters within the budget, found by trying every combination of bits by level and range.
//!
//! Sizes and rates are those that `tune` tells for each setting and level; beside those LevelDB's counts are compared.
//! What is found here is the choice among them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::predicted::NEAR;

/// What is chosen may read so many times the blocks of the best, and so many more: `tune` takes the smaller one of nearly
/// equal filters, and no program can measure less.
const FACTOR: f64 = 1.05;
const NO_GAIN: f64 = 0.001;
/// The bits a key of the tables that the program writes, if none in use tell.
const USUAL_BITS: u64 = 10;

/// The reads in vain of an absent key: with the filters in use, those advised, and the best.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) now: f64,
    /// `None`: the advice is to leave the filters as they are.
    pub(super) advised: Option<f64>,
    /// The best of the two choices that `tune` tells: the same bits on all levels, and bits by level.
    pub(super) chosen: f64,
    pub(super) best: f64,
    /// The number of combinations within the budget.
    pub(super) tried: u64,
    pub(super) filters: String,
}

impl Best {
    pub(super) fn fault(&self) -> Option<String> {
        let most = FACTOR * self.best + NO_GAIN;
        if self.chosen > most {
            return Some(format!(
                "chosen {:.4} instead of {:.4} with {}",
                self.chosen, self.best, self.filters
            ));
        }
        let advised = self.advised.filter(|advised| *advised > most)?;
        Some(format!("advised {advised:.4} instead of {:.4} with {}", self.best, self.filters))
    }
}

/// The filters of one level with one setting: their size, and the reads for each kind of key.
#[derive(Debug, Clone)]
struct OnLevel {
    bits: u64,
    size: f64,
    reads: [f64; 4],
}

/// Levels, the kinds of keys that count, and for each range the settings of each level.
struct Model {
    levels: Vec<u64>,
    counts: [bool; 4],
    ranges: BTreeMap<u64, Vec<Vec<OnLevel>>>,
    program_bits: u64,
}

fn number(json: &Value, what: &str) -> Result<f64> {
    json.as_f64().with_context(|| format!("expected {what}, found {json}"))
}

impl Model {
    fn of(settings: &[Value], tuning: &Value) -> Result<Self> {
        let policy = &tuning["policy"];
        let of_levels = tuning["levels"].as_array().context("levels")?;
        let levels = of_levels.iter().map(|level| level["level"].as_u64()).collect::<Option<Vec<_>>>();
        let visits: Vec<f64> = of_levels
            .iter()
            .map(|level| number(&level["visits"]["absent"], "visits"))
            .collect::<Result<_>>()?;
        let own: Vec<&Value> = settings.iter().filter(|line| line["policy"] == *policy).collect();
        let in_use = own.iter().find(|line| line["in_use"] == true);
        let program_bits = in_use.and_then(|line| line["bits_per_key"].as_u64()).unwrap_or(USUAL_BITS);
        let mut ranges: BTreeMap<u64, Vec<Vec<OnLevel>>> = BTreeMap::new();
        let mut counts = [true; 4];
        for line in own {
            let reads = &line["outcome"]["reads"];
            let worst = number(&reads["neighbours"]["value"], "reads")?;
            for (counts, kind) in counts.iter_mut().zip(NEAR) {
                // A kind that is worse than the worst likely one is not likely.
                *counts &= reads["near"][kind]["value"].as_f64().is_none_or(|reads| reads <= worst + 1e-12);
            }
            let of_range = ranges.entry(line["base_lg"].as_u64().context("base_lg")?).or_default();
            of_range.resize(visits.len(), Vec::new());
            let on_levels = line["outcome"]["levels"].as_array().context("levels of an outcome")?;
            ensure!(on_levels.len() == visits.len(), "{} levels of {}", on_levels.len(), visits.len());
            for ((level, visits), settings) in on_levels.iter().zip(&visits).zip(of_range) {
                let rate = |kind: &str| {
                    let rate = &level["rates"]["near"][kind];
                    let (rate, asked) = (rate["rate"].as_f64()?, rate["asked"].as_f64()?);
                    // None of few that passed does not mean that none ever does.
                    Some((rate * asked + 0.5) / (asked + 1.0))
                };
                settings.push(OnLevel {
                    bits: level["bits_per_key"].as_u64().context("bits_per_key")?,
                    size: number(&level["size"]["value"], "a size")?,
                    reads: NEAR.map(|kind| visits * rate(kind).unwrap_or_default()),
                });
            }
        }
        Ok(Self { levels: levels.context("a level")?, counts, ranges, program_bits })
    }

    /// The reads of the worst kind.
    fn worst(&self, reads: [f64; 4]) -> f64 {
        reads
            .into_iter()
            .zip(self.counts)
            .filter(|(_, counts)| *counts)
            .fold(0.0, |most, (of, _)| most.max(of))
    }

    /// The reads of a choice, as `tune` tells it.
    fn of_choice(&self, choice: &Value) -> Result<f64> {
        let base_lg = choice["base_lg"].as_u64().context("base_lg")?;
        let levels = self.ranges.get(&base_lg).context("a range that was not tried")?;
        let chosen = choice["bits_per_key"].as_array().context("bits by level")?;
        ensure!(chosen.len() == levels.len(), "{} levels of {}", chosen.len(), levels.len());
        let mut sum = [0.0; 4];
        for (settings, bits) in levels.iter().zip(chosen) {
            let found = settings.iter().find(|setting| bits["bits_per_key"] == setting.bits);
            add(&mut sum, found.context("bits that were not tried")?.reads);
        }
        Ok(self.worst(sum))
    }

    fn best(&self, budget: f64) -> Option<Search<'_>> {
        let mut best: Option<Search<'_>> = None;
        let mut tried = 0;
        for (base_lg, levels) in &self.ranges {
            let mut search = Search { model: self, levels, base_lg: *base_lg, best: None, tried: 0 };
            search.level(0, budget, [0.0; 4], &mut Vec::new());
            search.same_on_all(budget);
            tried += search.tried;
            let reads = |of: &Search<'_>| of.best.as_ref().map_or(f64::INFINITY, |(reads, _)| *reads);
            if best.as_ref().is_none_or(|best| reads(&search) < reads(best)) {
                best = Some(search);
            }
        }
        best.filter(|best| best.best.is_some()).map(|best| Search { tried, ..best })
    }
}

fn add(sum: &mut [f64; 4], of: [f64; 4]) {
    sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
}

/// Every combination of one range.
struct Search<'a> {
    model: &'a Model,
    levels: &'a [Vec<OnLevel>],
    base_lg: u64,
    best: Option<(f64, Vec<u64>)>,
    tried: u64,
}

impl Search<'_> {
    /// The same bits on all levels.
    fn same_on_all(&mut self, budget: f64) {
        let bits: Vec<u64> = self.levels.iter().flatten().map(|setting| setting.bits).collect();
        for bits in bits {
            let settings =
                self.levels.iter().filter_map(|level| level.iter().find(|setting| setting.bits == bits));
            let (mut size, mut sum) = (0.0, [0.0; 4]);
            settings.for_each(|setting| {
                size += setting.size;
                add(&mut sum, setting.reads);
            });
            let reads = self.model.worst(sum);
            if size <= budget && self.best.as_ref().is_none_or(|(best, _)| reads < *best) {
                self.best = Some((reads, vec![bits; self.levels.len()]));
            }
        }
    }

    fn level(&mut self, at: usize, left: f64, sum: [f64; 4], bits: &mut Vec<u64>) {
        let Some(settings) = self.levels.get(at) else {
            self.tried += 1;
            let reads = self.model.worst(sum);
            if self.best.as_ref().is_none_or(|(best, _)| reads < *best) {
                self.best = Some((reads, bits.clone()));
            }
            return;
        };
        // Tables of level 0 are replaced soonest, by some with the program's own bits; unless all levels have the same.
        let is_top = self.model.levels.get(at) == Some(&0);
        for setting in settings.iter().filter(|setting| setting.size <= left) {
            if is_top && setting.bits != self.model.program_bits {
                continue;
            }
            let mut sum = sum;
            add(&mut sum, setting.reads);
            bits.push(setting.bits);
            self.level(at + 1, left - setting.size, sum, bits);
            bits.pop();
        }
    }
}

/// Compares what `tune` chose and advised with the best. `None`: nothing fits into the budget.
pub(super) fn compare(settings: &[Value], tuning: &Value) -> Result<Option<Best>> {
    let model = Model::of(settings, tuning)?;
    let budget = number(&tuning["budget"]["bytes"], "a budget")?;
    let Some(search) = model.best(budget) else { return Ok(None) };
    let (best, bits) = search.best.clone().context("a best combination")?;
    let choice = |json: &Value| (!json.is_null()).then(|| model.of_choice(json)).transpose();
    let chosen = [&tuning["uniform"], &tuning["by_level"]].map(choice);
    let chosen = chosen.into_iter().collect::<Result<Vec<_>>>()?;
    let chosen = chosen.into_iter().flatten().min_by(f64::total_cmp).context("a choice within the budget")?;
    Ok(Some(Best {
        now: number(&tuning["now"]["reads"]["neighbours"]["value"], "reads now")?,
        advised: choice(&tuning["advice"]["choice"])?,
        chosen,
        best,
        tried: search.tried,
        filters: format!("{bits:?}; {}", search.base_lg),
    }))
}
