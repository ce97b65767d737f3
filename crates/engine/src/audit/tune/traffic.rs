//! The tables that lookups search in vain.

use std::collections::BTreeMap;

use super::effect::Traffic;
use super::hash_evidence::HashEvidence;
use super::input::Input;
use super::key_kinds::{ByKind, KeyKind, SIMILAR};
use super::lookups::{Lookup, TableFilters, has_own};
use super::similar_keys::SimilarKeys;
use super::tally::{LevelTally, VisitSum};
use super::trial::{Answers, Trial};
use crate::audit::rates::{LookupWeights, TableWeight};

/// A table that was tried. Its answers for random keys wait for its weight, which depends on the entries of all tables.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) table: usize,
    pub(super) entries: u64,
    /// Stored keys that its filters hide.
    pub(super) hidden: u64,
    /// (may match, checked), as in `LevelTally::filters`. `None`: as for `Trial::filters`.
    pub(super) random: Vec<Option<[u32; 2]>>,
}

/// The sums of all trials.
#[derive(Default)]
pub(super) struct Trials {
    pub(super) levels: BTreeMap<Option<u8>, LevelTally>,
    pub(super) tried: Vec<Tried>,
    pub(super) hashes: HashEvidence,
}

impl Trials {
    /// `similar`: as for [`LevelTally::add`].
    pub(super) fn add(&mut self, input: &Input<'_>, table: usize, trial: &Trial, similar: [u64; 4]) {
        self.hashes.merge(trial.hashes);
        self.levels.entry(input.level(table)).or_default().add(trial, input.size(table), similar);
        let random = |answers: &Answers| {
            let (passed, checked) = answers.passed[KeyKind::Random];
            [passed, checked].map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        let random = trial.filters.iter().map(|answers| answers.as_ref().map(random)).collect();
        self.tried.push(Tried { table, entries: trial.entries, hidden: trial.hidden, random });
    }
}

/// Returns how often a lookup of a random key reaches each table, on average. All commands share these weights. The
/// entries of tables not tried are estimated from those tried on the same level.
fn random_visits(
    input: &Input<'_>,
    survey: &[Option<TableFilters>],
    Trials { tried, levels, .. }: &Trials,
) -> Vec<f64> {
    let counted = BTreeMap::from_iter(tried.iter().map(|tried| (tried.table, tried.entries)));
    let estimated = |table: usize| {
        let each = levels.get(&input.level(table)).and_then(|level| level.entries.per_byte());
        each.map_or(0, |each| (each * input.size(table) as f64).round() as u64)
    };
    let weight = |(table, filters): (usize, &Option<TableFilters>)| {
        let Some(filters) = filters else { return TableWeight::default() };
        let entries = counted.get(&table).copied().unwrap_or_else(|| estimated(table));
        TableWeight { entries, marks: filters.marks.clone() }
    };
    let weights: Vec<TableWeight> = survey.iter().enumerate().map(weight).collect();
    let sum = weights.iter().map(|of| of.entries as f64).sum::<f64>().max(1.0);
    let Some(manifest) = input.manifest else {
        return weights.iter().map(|of| of.entries as f64 / sum).collect();
    };
    let numbers = || manifest.tables().iter().map(|table| table.number);
    let weights = BTreeMap::from_iter(numbers().zip(weights));
    let weights = LookupWeights::of_tables(manifest.tables(), &weights);
    numbers().map(|number| weights.of(Some(number), 0) / sum).collect()
}

/// `usable`, by table: whether its filters can be checked. `None`: not read completely, and left out of the numbers of
/// its level. Levels of which no table could be read are left out.
pub(super) fn traffic(
    input: &Input<'_>,
    survey: &[Option<TableFilters>],
    usable: &[Option<bool>],
    mut trials: Trials,
    lookups: &[Lookup],
    similar: &SimilarKeys,
) -> Traffic {
    let random_visits = random_visits(input, survey, &trials);
    for Tried { table, random, .. } in &trials.tried {
        let level = trials.levels.entry(input.level(*table)).or_default();
        for (tally, answers) in level.filters.iter_mut().zip(random) {
            if let Some([passed, asked]) = *answers {
                tally.passed[KeyKind::Random].add(passed.into(), asked.into(), random_visits[*table]);
            }
        }
    }
    for (table, (filters, usable)) in survey.iter().zip(usable).enumerate() {
        let (Some(filters), Some(usable)) = (filters, usable) else { continue };
        let level = trials.levels.entry(input.level(table)).or_default();
        level.number = input.level(table);
        level.tables += 1;
        level.size = level.size.saturating_add(input.size(table));
        match usable {
            true => level.filter_size += filters.size,
            false => level.unfiltered += 1,
        }
    }
    let levels = trials.levels.into_values().filter(|level| level.tables > 0).collect();
    let mut traffic = Traffic {
        levels,
        lookups: ByKind::default(),
        deleted: 0.0,
        plausible: SIMILAR.map(|kind| similar.is_plausible(kind)),
        has_own: has_own(lookups),
        has_tree: input.manifest.is_some(),
    };
    traffic.count_visits(input, usable, lookups);
    traffic.replace_random(input, usable, &random_visits);
    traffic
}

impl Traffic {
    fn count_visits(&mut self, input: &Input<'_>, usable: &[Option<bool>], lookups: &[Lookup]) {
        let place_of = |table| self.levels.iter().position(|level| level.number == input.level(table));
        let place = |(table, usable): (usize, &Option<bool>)| Some((place_of(table)?, (*usable)?));
        let places: Vec<Option<(usize, bool)>> = usable.iter().enumerate().map(place).collect();
        let mut deleted = 0_u64;
        // By level: visits, and those to tables without filters that can be checked.
        let mut counts = vec![(0_u64, 0_u64); self.levels.len()];
        for lookup in lookups {
            deleted +=
                u64::from(lookup.kind == KeyKind::Own && lookup.end.is_some_and(|end| end.is_deletion));
            for (kind, tables) in lookup.questions(self.has_own) {
                self.lookups[kind] += 1;
                counts.fill((0, 0));
                for (place, usable) in tables.iter().filter_map(|table| places[*table as usize]) {
                    counts[place].0 += 1;
                    counts[place].1 += u64::from(!usable);
                }
                for (level, &(visits, unfiltered)) in self.levels.iter_mut().zip(&counts) {
                    let sum = &mut level.visits[kind];
                    sum.visits += visits as f64;
                    sum.squares += (visits * visits) as f64;
                    sum.unfiltered += unfiltered as f64;
                }
            }
        }
        self.deleted = deleted as f64 / self.lookups[KeyKind::Own].max(1) as f64;
    }

    /// Replaces the visits counted for random keys, but keeps the differences between lookups.
    fn replace_random(&mut self, input: &Input<'_>, usable: &[Option<bool>], random_visits: &[f64]) {
        let lookups = self.lookups[KeyKind::Random].max(1) as f64;
        for level in &mut self.levels {
            let counted = level.visits[KeyKind::Random];
            let spread = counted.squares - counted.visits * counted.visits / lookups;
            let mut sum = VisitSum::default();
            for (table, (usable, visits)) in usable.iter().zip(random_visits).enumerate() {
                if let Some(usable) = usable.filter(|_| input.level(table) == level.number) {
                    sum.visits += visits * lookups;
                    sum.unfiltered += if usable { 0.0 } else { visits * lookups };
                }
            }
            sum.squares = spread + sum.visits * sum.visits / lookups;
            level.visits[KeyKind::Random] = sum;
        }
    }
}
