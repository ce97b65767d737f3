//! The report, made from all results.

use std::collections::{BTreeMap, BTreeSet};

use super::hash_evidence::HashEvidence;
use super::input::{Input, Request};
use super::outcome::{LevelFacts, TuneModel};
use super::renewal::Renewal;
use super::search::{Item, best_by_level, least};
use super::settings::{USUAL_BASE_LG, USUAL_BITS, formula};
use super::{advice::advise, advice::has_no_rise, lookups::Survey, questions::Question};
use crate::audit::policies::Policy;
use crate::audit::stats::KeySketch;
use crate::report::{
    Advice, Budget, BudgetOrigin, Choice, ErrorKind, FoundFilters, Level, LevelBits, Lookups, Memory,
    NearKind, Outcome, SampleSize, Setting, Tried, TuneFailure, TuneFault, Tuning, Visits,
};
use crate::words::denied_text;

/// The maximum number of tables that LevelDB maps into memory.
const MAPPED: u64 = 1000;

/// The results from which the report is made.
pub(super) struct TuneResults<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) request: &'a Request,
    pub(super) facts: TuneModel,
    pub(super) settings: Vec<Setting>,
    pub(super) policy: Policy,
    pub(super) policy_assumed: bool,
    pub(super) most_used: Option<(u8, u32)>,
    pub(super) survey: Survey,
    pub(super) faults: BTreeMap<usize, TuneFailure>,
    /// The numbers of stored keys that filters in use deny, by table.
    pub(super) denied: Vec<(usize, u64)>,
    /// The facts about the hash that the filters and keys of the tables tried reveal.
    pub(super) hashes: HashEvidence,
    pub(super) bytes: u64,
    /// The different keys of the tables tried.
    pub(super) keys: KeySketch,
}

impl TuneResults<'_> {
    pub(super) fn report(self, lookups: Option<Lookups>) -> Tuning {
        let facts = &self.facts;
        let now = facts.now();
        let all = |(at, &setting): (usize, &Setting)| {
            let chosen = vec![(at, setting.bits_per_key); facts.levels.len()];
            Tried {
                setting,
                in_use: self.most_used == Some((setting.base_lg, setting.bits_per_key))
                    && setting.policy == self.policy,
                outcome: facts.of_settings(&chosen, formula(setting)),
            }
        };
        let settings: Vec<Tried> = self.settings.iter().enumerate().map(all).collect();
        let budget = self.budget(&now, &settings);
        let base_lg = self.most_used.map_or(USUAL_BASE_LG, |(base_lg, _)| base_lg);
        let no_rise = |then: &Outcome| has_no_rise(&now, then);
        let same_bits = |base_lg, is_allowed: &dyn Fn(&Outcome) -> bool| {
            self.uniform(&settings, budget.bytes, base_lg, lookups, is_allowed)
        };
        let uniform = same_bits(None, &|_| true);
        let by_level = self.by_level(budget.bytes, lookups, &|_| true);
        let choices = [
            same_bits(Some(base_lg), &no_rise),
            same_bits(None, &no_rise),
            self.by_level(budget.bytes, lookups, &no_rise),
        ];
        let worst = now.reads.map_or(Some(NearKind::Changed), |reads| reads.worst);
        let absent = match lookups {
            Some(_) => Question::Own,
            None => worst.map_or(Question::Random, Question::Near),
        };
        let mut tuning = Tuning {
            policy: self.policy,
            policy_assumed: self.policy_assumed,
            sample: self.sample(),
            levels: facts.levels.iter().map(|level| self.level(level, absent)).collect(),
            now,
            budget,
            uniform,
            by_level,
            advice: Advice::default(),
            lookups,
            memory: memory_of(&self.survey),
            settings,
            faults: self.named_faults(),
            found: self.found(),
            notes: Vec::new(),
            is_damaged: false,
        };
        let has_mixed_ranges = self.base_lgs().len() > 1;
        let has_tree = self.input.manifest.is_some();
        let least_size = self.request.least_size;
        let choices = choices.into_iter().flatten();
        let bits = self.most_used.map(|(_, bits)| bits);
        let hashes = (self.hashes, tuning.sample.all && self.faults.is_empty());
        let renewal = Renewal::new(
            self.request.policy,
            self.policy,
            &self.survey,
            bits,
            hashes,
            self.input.is_goleveldb,
        );
        tuning.advice = advise(&tuning, choices, base_lg, has_mixed_ranges, has_tree, least_size, &renewal);
        tuning
    }

    fn named_faults(&self) -> Vec<TuneFault> {
        let fault = |table: usize, error: String, kind, denied| {
            let path = self.input.tables.get(table)?.path.clone();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some(TuneFault { path, error, name, kind, denied })
        };
        let left_out = self.faults.iter().map(|(&table, of)| fault(table, of.text.clone(), of.kind, 0));
        let denying = self
            .denied
            .iter()
            .map(|&(table, denied)| fault(table, denied_text(denied), Some(ErrorKind::Damaged), denied));
        left_out.chain(denying).flatten().collect()
    }

    fn found(&self) -> FoundFilters {
        let names = || self.survey.iter().filter_map(|filters| filters.as_ref().ok()?.name.as_deref());
        match names().any(|name| name == self.policy.name()) {
            true => FoundFilters::OfPolicy,
            false if names().next().is_some() => FoundFilters::OfOthers,
            false => FoundFilters::None,
        }
    }

    fn base_lgs(&self) -> BTreeSet<u8> {
        BTreeSet::from_iter(self.survey.iter().filter_map(|filters| filters.as_ref().ok()?.base_lg))
    }

    fn sample(&self) -> SampleSize {
        let sum = |of: fn(&LevelFacts) -> u64| self.facts.levels.iter().map(of).sum();
        let (tables, of_tables) = (sum(|level| level.tally.tried), sum(|level| level.tables));
        let all = tables == of_tables;
        SampleSize {
            tables,
            of_tables,
            bytes: self.bytes,
            of_bytes: sum(|level| level.size),
            entries: self.facts.entries,
            distinct_keys: all.then(|| (&self.keys).into()),
            all,
        }
    }

    /// `absent`: the kind of lookups of absent keys whose visits are reported.
    fn level(&self, level: &LevelFacts, absent: Question) -> Level {
        let lookups = &self.facts.lookups;
        Level {
            number: level.number,
            tables: level.tables,
            unfiltered: level.unfiltered,
            size: level.size,
            entries: level.entries(),
            visits: self.facts.has_tree.then(|| Visits {
                absent: level.visits(absent, lookups),
                present: level.visits(Question::Present, lookups),
            }),
        }
    }

    fn budget(&self, now: &Outcome, settings: &[Tried]) -> Budget {
        if let Some(bytes) = self.request.budget {
            return Budget { bytes, origin: BudgetOrigin::Given };
        }
        if self.facts.levels.iter().all(|level| level.unfiltered == 0) {
            return Budget { bytes: now.size.value as u64, origin: BudgetOrigin::InUse };
        }
        let base_lg = self.most_used.map_or(USUAL_BASE_LG, |(base_lg, _)| base_lg);
        let usual = Setting { policy: self.policy, base_lg, bits_per_key: USUAL_BITS };
        let usual = settings.iter().find(|tried| tried.setting == usual);
        let bytes = usual.map_or(0.0, |tried| tried.outcome.size.value).ceil() as u64;
        Budget { bytes, origin: BudgetOrigin::TenBits }
    }

    /// The measure of the search: the number of blocks that a lookup reads in vain on this level.
    fn reads(&self, level: &LevelFacts, setting: usize, lookups: Option<Lookups>) -> f64 {
        let Some(tally) = level.tally.settings.get(setting) else { return 0.0 };
        let of_kind = |kind: Question| {
            // One more question counts as half passed: otherwise, few questions would look like a rate of 0.
            // If the order of keys is unknown, there may be a rate of random keys only.
            let rate = level.rate(tally, kind).or_else(|| level.rate(tally, Question::Random));
            let smoothed =
                rate.map_or(0.0, |rate| (rate.rate * rate.asked as f64 + 0.5) / (rate.asked as f64 + 1.0));
            let visits = if self.facts.has_tree { level.visits(kind, &self.facts.lookups) } else { 1.0 };
            visits * smoothed
        };
        match lookups {
            Some(lookups) if lookups.used > 0 => {
                of_lookups(lookups, of_kind(Question::Own), of_kind(Question::Present))
            }
            _ => {
                // On each level, the worst of random keys and the likely kinds bounds the reads of them all.
                let near = NearKind::ALL.map(|kind| Some(of_kind(Question::Near(kind))));
                let near = self.facts.likely(near).map(|(_, reads)| reads);
                near.fold(of_kind(Question::Random), f64::max)
            }
        }
    }

    /// The settings of the policy with their indices, only those of one `base_lg` if it is given.
    fn candidates(&self, base_lg: Option<u8>) -> impl Iterator<Item = (usize, Setting)> {
        let settings = self.settings.iter().copied().enumerate();
        settings.filter(move |(_, setting)| {
            setting.policy == self.policy && base_lg.is_none_or(|base_lg| setting.base_lg == base_lg)
        })
    }

    fn uniform(
        &self,
        settings: &[Tried],
        budget: u64,
        base_lg: Option<u8>,
        lookups: Option<Lookups>,
        is_allowed: &dyn Fn(&Outcome) -> bool,
    ) -> Option<Choice> {
        let levels = &self.facts.levels;
        let sized = self.candidates(base_lg).filter_map(|(at, _)| {
            let outcome =
                settings.get(at).map(|tried| &tried.outcome).filter(|outcome| is_allowed(outcome))?;
            let size = outcome.size.value;
            let reads = levels.iter().map(|level| self.reads(level, at, lookups)).sum();
            (size <= budget as f64).then_some((size, reads, at))
        });
        let at = least(sized)?;
        let setting = *self.settings.get(at)?;
        let chosen = vec![(at, setting.bits_per_key); levels.len()];
        Some(self.choice(setting.base_lg, &chosen, formula(setting)))
    }

    fn by_level(
        &self,
        budget: u64,
        lookups: Option<Lookups>,
        is_allowed: &dyn Fn(&Outcome) -> bool,
    ) -> Option<Choice> {
        let levels = &self.facts.levels;
        if levels.len() < 2 || !self.facts.has_tree {
            return None;
        }
        // Tables of level 0 are replaced soonest, by tables with the program's own bits.
        let bits_of_program = self.most_used.map_or(USUAL_BITS, |(_, bits)| bits);
        let ranges = BTreeSet::from_iter(self.candidates(None).map(|(_, setting)| setting.base_lg));
        let best = ranges.into_iter().filter_map(|base_lg| {
            let items = |level: &LevelFacts| -> Vec<Item> {
                let mut fewest = f64::INFINITY;
                let is_top = level.number == Some(0);
                self.candidates(Some(base_lg))
                    .filter(|(_, setting)| !is_top || setting.bits_per_key == bits_of_program)
                    .filter_map(|(at, setting)| {
                        let tally = level.tally.settings.get(at)?;
                        // More bits are assumed to do no worse: an increase in reads is considered chance.
                        fewest = fewest.min(self.reads(level, at, lookups));
                        Some(Item {
                            setting: at,
                            bits_per_key: setting.bits_per_key,
                            size: level.filter_size_of(tally).value,
                            reads: fewest,
                        })
                    })
                    .collect()
            };
            let items: Vec<_> = levels.iter().map(items).collect();
            let is_allowed =
                |chosen: &[Item]| is_allowed(&self.facts.of_settings(&settings_of(chosen), None));
            let chosen = best_by_level(&items, budget as f64, is_allowed)?;
            let size = chosen.iter().map(|item| item.size).sum();
            let reads = chosen.iter().map(|item| item.reads).sum();
            Some((size, reads, (base_lg, chosen)))
        });
        let (base_lg, chosen) = least(best)?;
        Some(self.choice(base_lg, &settings_of(&chosen), None))
    }

    fn choice(&self, base_lg: u8, chosen: &[(usize, u32)], formula: Option<f64>) -> Choice {
        let levels = self.facts.levels.iter().map(|level| level.number).zip(chosen);
        let bits = levels.map(|(level, &(_, bits_per_key))| LevelBits { level, bits_per_key });
        Choice {
            policy: self.policy,
            base_lg,
            bits: bits.collect(),
            outcome: self.facts.of_settings(chosen, formula),
        }
    }
}

/// The settings of the levels, each with its bits a key.
fn settings_of(chosen: &[Item]) -> Vec<(usize, u32)> {
    chosen.iter().map(|item| (item.setting, item.bits_per_key)).collect()
}

/// The mean number of reads in vain of the user's lookups, some of which find a value.
fn of_lookups(lookups: Lookups, absent: f64, present: f64) -> f64 {
    let share = lookups.present as f64 / lookups.used as f64;
    (1.0 - share) * absent + share * present
}

/// The memory that filters take in LevelDB. Of the tables that can be read, LevelDB maps the first 1,000 into memory,
/// and holds the filters of the other tables on the heap.
fn memory_of(survey: &Survey) -> Memory {
    let sizes = || survey.iter().filter_map(|filters| filters.as_ref().ok()).map(|filters| filters.size);
    let tables = sizes().count() as u64;
    Memory {
        mapped_tables: tables.min(MAPPED),
        heap_tables: tables.saturating_sub(MAPPED),
        heap_bytes: sizes().skip(MAPPED as usize).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lookups::TableFilters;
    use super::*;

    #[test]
    fn the_first_thousand_tables_are_mapped() {
        let survey =
            |tables: u64| (0..tables).map(|size| Ok(TableFilters { size, ..TableFilters::default() }));
        let memory = |tables| memory_of(&survey(tables).collect());
        assert_eq!(memory(3), Memory { mapped_tables: 3, heap_tables: 0, heap_bytes: 0 });
        assert_eq!(memory(1000), Memory { mapped_tables: 1000, heap_tables: 0, heap_bytes: 0 });
        assert_eq!(
            memory(1003),
            Memory { mapped_tables: 1000, heap_tables: 3, heap_bytes: 1000 + 1001 + 1002 }
        );
        // A table that cannot be read is none of the first thousand.
        let mut some: Survey = survey(1003).collect();
        some[7] = Err(TuneFailure::default());
        assert_eq!(memory_of(&some).heap_tables, 2);
        assert_eq!(memory_of(&some).heap_bytes, 1001 + 1002);
    }

    #[test]
    fn lookups_count_by_what_they_find() {
        let lookups = |present| Lookups { given: 2000, used: 1000, present };
        assert_eq!(of_lookups(lookups(0), 0.8, 0.4), 0.8);
        assert_eq!(of_lookups(lookups(1000), 0.8, 0.4), 0.4);
        assert!((of_lookups(lookups(250), 0.8, 0.4) - 0.7).abs() < 1e-9);
    }
}
