//! The way from tables to a report.

use std::collections::{BTreeMap, BTreeSet};

use filterblock::{Error, LegacyHash};
use rayon::prelude::*;

use super::advice::{advise, policy_of};
use super::draw::{self, Drawn, MAX_KEY};
use super::input::{Input, TableFiles};
use super::lookups::{Kind, Lookup, Survey, TableFilters, settle};
use super::outcome::{Facts, LevelFacts, VisitSum, exact};
use super::questions::{KINDS, Question};
use super::report::{
    Budget, BudgetOrigin, Choice, Level, Lookups, Memory, Outcome, SampleSize, Setting, Tried, TuneFailure,
    Tuning, Visits,
};
use super::search::{Item, best_by_level, least};
use super::settings::{USUAL_BASE_LG, USUAL_BITS, formula, grid};
use super::tally::LevelTally;
use super::trial::{self, Plan, Trial};
use crate::audit::policies::Policy;
use crate::audit::rates::neighbours::change;
use crate::audit::rates::split_mix::SplitMix;

/// The number of stored keys to draw, and the fewest if each lookup comes to very many tables.
const DRAWN: u64 = 16_384;
const FEWEST_DRAWN: u64 = 256;
/// The most visits of lookups to tables to keep in memory, of keys drawn and of the user's.
const MAX_VISITS: u64 = 4_000_000;
/// The most of the user's lookups to follow, unless all tables are decoded.
const MAX_LOOKUPS: usize = 100_000;
/// The bytes of tables to decode, unless all are.
const SAMPLE: u64 = 128 << 20;
/// The number of random keys to ask the filters of a level for, and of keys made of stored ones, and
/// the fewest of each for one table.
const RANDOM: u64 = 1 << 17;
const MADE: u64 = 1 << 16;
const FEWEST: u64 = 512;
/// The tables of a level whose bits a key are found out.
const SURVEYED: usize = 2;
/// The tables to try at a time: their results wait in memory.
const BATCH: usize = 256;
/// The number of tables that LevelDB maps into memory.
const MAPPED: u64 = 1000;

/// What is asked for.
#[derive(Default, Debug)]
pub(crate) struct Request {
    /// The user's own lookups.
    pub(crate) lookups: Vec<Vec<u8>>,
    /// The most bytes that filters may take.
    pub(crate) budget: Option<u64>,
    /// Every table is decoded.
    pub(crate) all: bool,
    /// The program's policy; that of the tables if `None`.
    pub(crate) policy: Option<Policy>,
}

/// Finds out what other filters would do for the tables. `progress` is called with the bytes of
/// tables that were tried; `expect` with those to come.
pub(crate) fn tune<F: TableFiles>(
    input: &Input<'_, F>,
    request: &Request,
    expect: &(dyn Fn(u64) + Sync),
    progress: &(dyn Fn(u64) + Sync),
) -> Tuning {
    let mut faults = BTreeMap::new();
    let most = MAX_VISITS / most_visits(input).max(1);
    let (drawn, unread) = draw::draw(input, (most / 2).clamp(FEWEST_DRAWN, DRAWN));
    note_faults(&mut faults, unread);
    let own = own_lookups(request, usize::try_from(most).unwrap_or(usize::MAX));
    let mut lookups = make_lookups(input, &drawn, own);
    let survey = settle(input, &mut lookups);
    for (table, result) in survey.iter().enumerate() {
        if let Err(error) = result {
            faults.entry(table).or_insert_with(|| TuneFailure::of(error));
        }
    }
    let (policy, policy_assumed) = policy_of(request.policy, &survey, || hash_in(input, &survey));
    let chosen = choose(input, request.all, &faults);
    let in_use = in_use(input, &survey, policy, &chosen);
    let settings = grid(policy, &in_use.iter().map(|(&pair, _)| pair).collect::<Vec<_>>());
    let most_used = in_use.iter().max_by_key(|&(_, count)| *count).map(|(&pair, _)| pair);

    let mut tallies: BTreeMap<Option<u8>, LevelTally> = BTreeMap::new();
    let weights = table_weights(input, &lookups);
    let mut bytes = 0;
    expect(chosen.iter().filter_map(|&table| input.tables.get(table)).map(|table| table.size).sum());
    let sought = sought(input, &lookups);
    for batch in chosen.chunks(BATCH) {
        let trials: Vec<_> = batch
            .par_iter()
            .map(|&table| {
                let tables =
                    chosen.iter().filter(|&&other| level(input, other) == level(input, table)).count() as u64;
                let trial = try_table(input, table, tables, policy, &settings, sought.get(table));
                progress(input.tables.get(table).map_or(0, |table| table.size));
                (table, trial)
            })
            .collect();
        for (table, trial) in trials {
            let size = input.tables.get(table).map_or(0, |table| table.size);
            match trial {
                Ok(trial) => {
                    bytes += size;
                    let weight = weights.get(table).copied().unwrap_or_default();
                    let of_level = || LevelTally::new(settings.len());
                    let tally = tallies.entry(level(input, table)).or_insert_with(of_level);
                    tally.add(&trial, size, weight);
                }
                Err(trial::Fault(error)) => {
                    faults.entry(table).or_insert(error);
                }
            }
        }
    }
    let usable = usable(&survey, policy, &faults);
    let mut levels = levels_of(input, &survey, &usable, &mut tallies, settings.len());
    let counted = count_visits(input, &lookups, &usable, &mut levels);
    let facts = counted.facts(levels, input.manifest.is_some());
    let done =
        Done { input, request, facts, settings, policy, policy_assumed, most_used, survey, faults, bytes };
    done.report(lookups_of(request, &lookups))
}

/// Everything that was found out.
struct Done<'a, 'd, F> {
    input: &'a Input<'d, F>,
    request: &'a Request,
    facts: Facts,
    settings: Vec<Setting>,
    policy: Policy,
    policy_assumed: bool,
    most_used: Option<(u8, u32)>,
    survey: Survey,
    faults: BTreeMap<usize, TuneFailure>,
    bytes: u64,
}

impl<F: TableFiles> Done<'_, '_, F> {
    fn report(self, lookups: Option<Lookups>) -> Tuning {
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
        let own_range = self.uniform(&settings, budget.bytes, Some(base_lg), lookups);
        let uniform = self.uniform(&settings, budget.bytes, None, lookups);
        let by_level = self.by_level(budget.bytes, lookups);
        let mut tuning = Tuning {
            policy: self.policy,
            policy_assumed: self.policy_assumed,
            sample: self.sample(),
            levels: facts.levels.iter().map(|level| self.level(level, lookups.is_some())).collect(),
            now,
            settings,
            budget,
            uniform,
            by_level,
            advice: super::report::Advice::None { why: "" },
            lookups,
            memory: self.memory(),
            notes: Vec::new(),
            faults: self.named_faults(),
            fault_kind: self.faults.values().next().and_then(|fault| fault.kind),
        };
        let has_mixed_ranges = self.base_lgs().len() > 1;
        tuning.advice = advise(&tuning, own_range, base_lg, has_mixed_ranges, self.input.manifest.is_some());
        tuning
    }

    fn named_faults(&self) -> Vec<(String, String)> {
        let name = |table: &usize| {
            self.input.tables.get(*table).map_or_else(String::new, |table| table.name.clone())
        };
        self.faults.iter().map(|(table, error)| (name(table), error.text.clone())).collect()
    }

    fn base_lgs(&self) -> BTreeSet<u8> {
        self.survey.iter().filter_map(|filters| filters.as_ref().ok()?.base_lg).collect()
    }

    fn sample(&self) -> SampleSize {
        let levels = &self.facts.levels;
        let (mut entries, mut below, mut above) = (exact(0.0), 0.0, 0.0);
        for level in levels {
            let of_level = level.tally.entries.of_all(level.tables, level.size);
            entries.value += of_level.value;
            below += (of_level.value - of_level.low).powi(2);
            above += (of_level.high - of_level.value).powi(2);
        }
        entries.low = entries.value - f64::sqrt(below);
        entries.high = entries.value + f64::sqrt(above);
        SampleSize {
            tables: levels.iter().map(|level| level.tally.tried).sum(),
            of_tables: levels.iter().map(|level| level.tables).sum(),
            bytes: self.bytes,
            of_bytes: levels.iter().map(|level| level.size).sum(),
            entries,
        }
    }

    fn level(&self, level: &LevelFacts, has_own: bool) -> Level {
        let lookups = &self.facts.lookups;
        let absent = if has_own { Question::Own } else { Question::Neighbour };
        Level {
            number: level.number,
            tables: level.tables,
            unfiltered: level.unfiltered,
            size: level.size,
            entries: level.tally.entries.of_all(level.tables, level.size),
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
        let usual = settings.iter().find(|tried| {
            let Setting { policy, base_lg: of, bits_per_key } = tried.setting;
            policy == self.policy && of == base_lg && bits_per_key == USUAL_BITS
        });
        let bytes = usual.map_or(0.0, |tried| tried.outcome.size.value).ceil() as u64;
        Budget { bytes, origin: BudgetOrigin::TenBits }
    }

    /// What the search goes by: the blocks that a lookup reads in vain on this level.
    fn reads(&self, level: &LevelFacts, setting: usize, lookups: Option<Lookups>) -> f64 {
        let Some(tally) = level.tally.settings.get(setting) else { return 0.0 };
        let of_kind = |kind: Question| {
            // One more question that passed by half: without it, few questions look like none passing.
            // In an unknown order of keys, no others are made but random ones.
            let rate = level.rate(tally, kind).or_else(|| level.rate(tally, Question::Random));
            let smoothed =
                rate.map_or(0.0, |rate| (rate.rate * rate.asked as f64 + 0.5) / (rate.asked as f64 + 1.0));
            let visits = if self.facts.has_tree { level.visits(kind, &self.facts.lookups) } else { 1.0 };
            visits * smoothed
        };
        match lookups {
            Some(Lookups { used, present, .. }) if used > 0 => {
                let share = present as f64 / used as f64;
                (1.0 - share) * of_kind(Question::Own) + share * of_kind(Question::Present)
            }
            _ => of_kind(Question::Neighbour),
        }
    }

    /// The settings of the policy, by their place in the grid; of one range if it is given.
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
    ) -> Option<Choice> {
        let levels = &self.facts.levels;
        let sized = self.candidates(base_lg).filter_map(|(at, _)| {
            let size = settings.get(at)?.outcome.size.value;
            let reads = levels.iter().map(|level| self.reads(level, at, lookups)).sum();
            (size <= budget as f64).then_some((size, reads, at))
        });
        let at = least(sized)?;
        let setting = *self.settings.get(at)?;
        let chosen = vec![(at, setting.bits_per_key); levels.len()];
        Some(self.choice(setting.base_lg, &chosen, formula(setting)))
    }

    fn by_level(&self, budget: u64, lookups: Option<Lookups>) -> Option<Choice> {
        let levels = &self.facts.levels;
        if levels.len() < 2 || !self.facts.has_tree {
            return None;
        }
        let ranges: BTreeSet<u8> = self.candidates(None).map(|(_, setting)| setting.base_lg).collect();
        let best = ranges.into_iter().filter_map(|base_lg| {
            let items = |level: &LevelFacts| -> Vec<Item> {
                let mut fewest = f64::INFINITY;
                self.candidates(Some(base_lg))
                    .filter_map(|(at, setting)| {
                        let tally = level.tally.settings.get(at)?;
                        // More bits never do worse: what looks like it is chance.
                        fewest = fewest.min(self.reads(level, at, lookups));
                        Some(Item {
                            setting: at,
                            bits_per_key: setting.bits_per_key,
                            size: tally.size.of_all(level.tables, level.size).value,
                            reads: fewest,
                        })
                    })
                    .collect()
            };
            let items: Vec<_> = levels.iter().map(items).collect();
            let chosen = best_by_level(&items, budget as f64)?;
            let size = chosen.iter().map(|item| item.size).sum();
            let reads = chosen.iter().map(|item| item.reads).sum();
            Some((size, reads, (base_lg, chosen)))
        });
        let (base_lg, chosen) = least(best)?;
        let chosen: Vec<_> = chosen.iter().map(|item| (item.setting, item.bits_per_key)).collect();
        Some(self.choice(base_lg, &chosen, None))
    }

    fn choice(&self, base_lg: u8, chosen: &[(usize, u32)], formula: Option<f64>) -> Choice {
        let levels = self.facts.levels.iter().map(|level| level.number);
        Choice {
            policy: self.policy,
            base_lg,
            bits: levels.zip(chosen.iter().map(|(_, bits)| *bits)).collect(),
            outcome: self.facts.of_settings(chosen, formula),
        }
    }

    fn memory(&self) -> Memory {
        let tables = self.survey.len() as u64;
        let last = self.survey.iter().skip(MAPPED as usize);
        Memory {
            mapped_tables: tables.min(MAPPED),
            heap_tables: tables.saturating_sub(MAPPED),
            heap_bytes: last.filter_map(|filters| filters.as_ref().ok()).map(|filters| filters.size).sum(),
        }
    }
}

fn note_faults(faults: &mut BTreeMap<usize, TuneFailure>, unread: Vec<(usize, Error)>) {
    for (table, error) in unread {
        faults.entry(table).or_insert_with(|| TuneFailure::of(&error));
    }
}

/// The most tables that a lookup can come to: all of level 0, and one of each level below.
fn most_visits<F>(input: &Input<'_, F>) -> u64 {
    let top = input.tables.iter().filter(|table| table.level == Some(0)).count() as u64;
    top + u64::from(filterblock::database::NUM_LEVELS)
}

/// The user's lookups to follow: all, or some of them evenly.
fn own_lookups(request: &Request, most: usize) -> Vec<&[u8]> {
    let given = &request.lookups;
    let most = if request.all { most } else { most.min(MAX_LOOKUPS) };
    let step = given.len().div_ceil(most.max(1)).max(1);
    given.iter().step_by(step).map(Vec::as_slice).collect()
}

fn make_lookups<F: TableFiles>(input: &Input<'_, F>, drawn: &[Drawn], own: Vec<&[u8]>) -> Vec<Lookup> {
    let mut random = SplitMix(3);
    let mut lookups = Vec::with_capacity(2 * drawn.len() + own.len());
    let mut add = |key: Vec<u8>, kind: Kind| {
        let visits = input.visits(&key);
        lookups.push(Lookup { key, kind, visits, end: None });
    };
    for Drawn { key, table, is_newest_value } in drawn {
        add(key.clone(), Kind::Stored { table: *table, is_newest_value: *is_newest_value });
        let mut neighbour = Vec::new();
        change(key, &mut random, &mut neighbour);
        add(neighbour, Kind::Neighbour);
    }
    own.into_iter().filter(|key| key.len() <= MAX_KEY).for_each(|key| add(key.to_vec(), Kind::Own));
    lookups
}

fn lookups_of(request: &Request, lookups: &[Lookup]) -> Option<Lookups> {
    let own = || lookups.iter().filter(|lookup| lookup.kind == Kind::Own);
    (!request.lookups.is_empty()).then(|| Lookups {
        given: request.lookups.len() as u64,
        used: own().count() as u64,
        present: own().filter(|lookup| lookup.is_present()).count() as u64,
    })
}

fn level<F>(input: &Input<'_, F>, table: usize) -> Option<u8> {
    input.tables.get(table).and_then(|table| table.level)
}

/// The tables to decode: all, or for each level about the same share of a budget of bytes, evenly
/// over the keys.
fn choose<F: TableFiles>(
    input: &Input<'_, F>,
    all: bool,
    faults: &BTreeMap<usize, TuneFailure>,
) -> Vec<usize> {
    let mut of_levels: BTreeMap<Option<u8>, Vec<usize>> = BTreeMap::new();
    for (table, info) in input.tables.iter().enumerate().filter(|(table, _)| !faults.contains_key(table)) {
        of_levels.entry(info.level).or_default().push(table);
    }
    let size = |table: &usize| input.tables.get(*table).map_or(0, |table| table.size);
    let mut of_levels: Vec<(u64, Vec<usize>)> =
        of_levels.into_values().map(|tables| (tables.iter().map(size).sum(), tables)).collect();
    of_levels.sort_by_key(|(size, _)| *size);
    let mut left = if all { u64::MAX } else { SAMPLE };
    let mut chosen = Vec::new();
    let mut levels_left = of_levels.len() as u64;
    let mut random = SplitMix(4);
    for (total, tables) in of_levels {
        let share = left / levels_left.max(1);
        levels_left = levels_left.saturating_sub(1);
        let count = tables.len() as u64;
        let wanted = (u128::from(count) * u128::from(share) / u128::from(total.max(1)))
            .clamp(2, u128::from(count.max(2))) as u64;
        if wanted >= count {
            left = left.saturating_sub(total);
            chosen.extend(tables);
            continue;
        }
        // One of each of as many equal parts.
        for part in 0..wanted {
            let (start, end) = (part * count / wanted, (part + 1) * count / wanted);
            let at = start + random.next() % (end - start).max(1);
            if let Some(table) = tables.get(at as usize) {
                left = left.saturating_sub(size(table));
                chosen.push(*table);
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Returns true if the filters can be asked by the policy.
fn is_usable(filters: &TableFilters, policy: Policy) -> bool {
    filters.sound && filters.name.as_deref() == Some(&*policy.name())
}

/// How many of the tables looked at have filters of each `base_lg` and bits a key.
fn in_use<F: TableFiles>(
    input: &Input<'_, F>,
    survey: &Survey,
    policy: Policy,
    chosen: &[usize],
) -> BTreeMap<(u8, u32), u64> {
    let mut of_levels: BTreeMap<Option<u8>, Vec<usize>> = BTreeMap::new();
    for &table in chosen {
        let filters = survey.get(table).and_then(|filters| filters.as_ref().ok());
        if filters.is_some_and(|filters| is_usable(filters, policy)) {
            of_levels.entry(level(input, table)).or_default().push(table);
        }
    }
    let spread = |tables: Vec<usize>| {
        let step = tables.len().div_ceil(SURVEYED).max(1);
        let weight = tables.len() as u64;
        tables.into_iter().step_by(step).map(move |table| (table, weight))
    };
    let looked_at: Vec<_> = of_levels.into_values().flat_map(spread).collect();
    let found: Vec<_> = looked_at
        .into_par_iter()
        .filter_map(|(table, weight)| {
            let opened = input.files.open(table).ok()?;
            let bits = trial::bits_in_use(&opened, policy, input.encoding).ok()??;
            Some(((opened.filter()?.base_lg(), bits), weight))
        })
        .collect();
    let mut counts = BTreeMap::new();
    found.into_iter().for_each(|(pair, weight)| *counts.entry(pair).or_default() += weight);
    counts
}

/// The hash of filters under the name that stands for two; `None` if no key tells.
fn hash_in<F: TableFiles>(input: &Input<'_, F>, survey: &Survey) -> Option<LegacyHash> {
    let named = survey.iter().enumerate().filter(|(_, filters)| {
        filters
            .as_ref()
            .is_ok_and(|filters| filters.sound && filters.name.as_deref() == Some(super::advice::OLD_NAME))
    });
    named
        .take(16)
        .find_map(|(table, _)| trial::hash_in_use(&input.files.open(table).ok()?, input.encoding).ok()?)
}

/// For each table whether its filters can be asked; `None` for those that could not be read, which are
/// no part of any number.
fn usable(survey: &Survey, policy: Policy, faults: &BTreeMap<usize, TuneFailure>) -> Vec<Option<bool>> {
    let of = |(table, filters): (usize, &filterblock::Result<TableFilters>)| {
        let filters = filters.as_ref().ok().filter(|_| !faults.contains_key(&table))?;
        Some(is_usable(filters, policy))
    };
    survey.iter().enumerate().map(of).collect()
}

/// The levels that have tables which could be read, with their tallies. `settings`: how many were tried.
fn levels_of<F: TableFiles>(
    input: &Input<'_, F>,
    survey: &Survey,
    usable: &[Option<bool>],
    tallies: &mut BTreeMap<Option<u8>, LevelTally>,
    settings: usize,
) -> Vec<LevelFacts> {
    let mut levels: BTreeMap<Option<u8>, LevelFacts> = BTreeMap::new();
    for ((table, filters), usable) in input.tables.iter().zip(survey).zip(usable) {
        let (Some(usable), Ok(filters)) = (usable, filters) else { continue };
        let facts = levels.entry(table.level).or_insert_with(|| LevelFacts {
            number: table.level,
            tables: 0,
            size: 0,
            filter_size: 0,
            unfiltered: 0,
            visits: [VisitSum::default(); KINDS],
            tally: tallies.remove(&table.level).unwrap_or_else(|| LevelTally::new(settings)),
        });
        facts.tables += 1;
        facts.size = facts.size.saturating_add(table.size);
        match usable {
            true => facts.filter_size += filters.size,
            false => facts.unfiltered += 1,
        }
    }
    levels.into_values().collect()
}

/// The lookups of each kind.
struct Counted {
    lookups: [u64; KINDS],
    deleted: f64,
}

impl Counted {
    fn facts(self, levels: Vec<LevelFacts>, has_tree: bool) -> Facts {
        let entries: f64 =
            levels.iter().map(|level| level.tally.entries.of_all(level.tables, level.size).value).sum();
        Facts { levels, lookups: self.lookups, deleted: self.deleted, has_tree, entries }
    }
}

/// The kind of question that a lookup puts to tables it comes to in vain. Stored keys stand for
/// random ones, too, which lie between them: these come to all tables.
fn questions(lookup: &Lookup, has_own: bool) -> Vec<(Question, &[u32])> {
    match lookup.kind {
        Kind::Neighbour if lookup.is_absent() => vec![(Question::Neighbour, &lookup.visits)],
        Kind::Neighbour => vec![],
        Kind::Own if lookup.is_present() => vec![(Question::Present, lookup.in_vain())],
        Kind::Own => vec![(Question::Own, lookup.in_vain())],
        Kind::Stored { .. } if lookup.is_present() && !has_own => {
            vec![(Question::Random, &lookup.visits), (Question::Present, lookup.in_vain())]
        }
        Kind::Stored { .. } => vec![(Question::Random, &lookup.visits)],
    }
}

fn has_own(lookups: &[Lookup]) -> bool {
    lookups.iter().any(|lookup| lookup.kind == Kind::Own)
}

fn count_visits<F: TableFiles>(
    input: &Input<'_, F>,
    lookups: &[Lookup],
    usable: &[Option<bool>],
    levels: &mut [LevelFacts],
) -> Counted {
    let places: BTreeMap<Option<u8>, usize> =
        levels.iter().enumerate().map(|(place, facts)| (facts.number, place)).collect();
    let of_tables: Vec<Option<(usize, bool)>> = input
        .tables
        .iter()
        .zip(usable)
        .map(|(table, usable)| Some((places.get(&table.level).copied()?, (*usable)?)))
        .collect();
    let mut counted = Counted { lookups: [0; KINDS], deleted: 0.0 };
    let mut deleted = 0_u64;
    let has_own = has_own(lookups);
    let mut numbers = vec![(0_u64, 0_u64); levels.len()];
    for lookup in lookups {
        deleted += u64::from(lookup.kind == Kind::Own && lookup.end.is_some_and(|end| end.is_deletion));
        for (kind, visits) in questions(lookup, has_own) {
            if let Some(count) = counted.lookups.get_mut(kind as usize) {
                *count += 1;
            }
            numbers.fill((0, 0));
            for table in visits {
                let Some(&Some((place, usable))) = of_tables.get(*table as usize) else { continue };
                if let Some((visits, unfiltered)) = numbers.get_mut(place) {
                    *visits += 1;
                    *unfiltered += u64::from(!usable);
                }
            }
            for (facts, &(visits, unfiltered)) in levels.iter_mut().zip(&numbers) {
                if let Some(sum) = facts.visits.get_mut(kind as usize) {
                    sum.visits += visits;
                    sum.squares += visits * visits;
                    sum.unfiltered += unfiltered;
                }
            }
        }
    }
    let own = counted.lookups.get(Question::Own as usize).copied().unwrap_or_default();
    counted.deleted = deleted as f64 / own.max(1) as f64;
    counted
}

/// For each table the number of lookups of absent keys that come to it.
fn table_weights<F: TableFiles>(input: &Input<'_, F>, lookups: &[Lookup]) -> Vec<f64> {
    let mut weights = vec![0.0; input.tables.len()];
    let of_kind = lookups.iter().filter(|lookup| lookup.kind == Kind::Neighbour && lookup.is_absent());
    for table in of_kind.flat_map(|lookup| &lookup.visits) {
        if let Some(weight) = weights.get_mut(*table as usize) {
            *weight += 1.0;
        }
    }
    weights
}

/// For each table the keys that lookups come with in vain, in bytewise order.
fn sought<'l, F: TableFiles>(input: &Input<'_, F>, lookups: &'l [Lookup]) -> Vec<Vec<(&'l [u8], Question)>> {
    let mut sought = vec![Vec::new(); input.tables.len()];
    let has_own = has_own(lookups);
    for lookup in lookups {
        for (kind, visits) in questions(lookup, has_own) {
            if matches!(kind, Question::Random | Question::Neighbour) {
                continue;
            }
            for table in visits {
                if let Some(of_table) = sought.get_mut(*table as usize) {
                    of_table.push((&lookup.key[..], kind));
                }
            }
        }
    }
    sought
}

/// `tables`: the number of tables of the level that are tried.
fn try_table<F: TableFiles>(
    input: &Input<'_, F>,
    table: usize,
    tables: u64,
    policy: Policy,
    settings: &[Setting],
    sought: Option<&Vec<(&[u8], Question)>>,
) -> Result<Trial, trial::Fault> {
    let opened = input.files.open(table)?;
    let plan = Plan {
        settings,
        policies: &super::settings::readers(policy),
        policy,
        encoding: input.encoding,
        random: (RANDOM / tables.max(1)).max(FEWEST),
        made: (MADE / tables.max(1)).max(FEWEST),
        seed: table as u64,
    };
    trial::run(&opened, &plan, sought.map_or(&[][..], |sought| sought))
}
