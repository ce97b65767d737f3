//! The visits of lookups of random keys, computed from the weights that all commands share.

use std::collections::BTreeMap;

use super::effect::{LevelFacts, VisitSum};
use super::input::Input;
use super::key_kinds::{KINDS, KeyKind};
use super::lookups::{Survey, TableFilters};
use super::tally::LevelTally;
use super::trial::{Answers, Trial};
use crate::audit::rates::{LookupWeights, RateGroups, TableWeight};
use crate::report::TuneFailure;

/// A table's answers for random keys. They wait for its weight, which depends on the entries of all tables.
#[derive(Debug)]
pub(super) struct Waiting {
    table: usize,
    entries: u64,
    /// (may match, checked), by candidate.
    candidates: Vec<[u32; 2]>,
    /// The same for the filters in use. `None`: as for [`Trial::now`].
    now: Option<[u32; 2]>,
}

impl Waiting {
    pub(super) fn new(table: usize, trial: &Trial) -> Self {
        let random = |answers: &Answers| {
            let (passed, asked) = KeyKind::Random.of(&answers.passed);
            [passed, asked].map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        let candidates = trial.candidates.iter().map(random).collect();
        Self { table, entries: trial.entries, candidates, now: trial.now.as_ref().map(random) }
    }
}

/// How often a lookup of a random key reaches each table, on average.
#[derive(Debug)]
pub(super) struct RandomVisits(Vec<f64>);

impl RandomVisits {
    /// Estimates the entries of tables not tried from those tried on the same level.
    pub(super) fn of(
        input: &Input<'_>,
        survey: &Survey,
        tried: &[Waiting],
        tallies: &BTreeMap<Option<u8>, LevelTally>,
    ) -> Self {
        let counted = BTreeMap::from_iter(tried.iter().map(|tried| (tried.table, tried.entries)));
        let estimated = |table: usize| {
            let each = tallies.get(&input.level(table)).and_then(|tally| tally.entries.per_byte());
            each.map_or(0, |each| (each * input.size(table) as f64).round() as u64)
        };
        let entries = |(table, filters): (usize, &Result<TableFilters, TuneFailure>)| {
            let Ok(filters) = filters else { return TableWeight::default() };
            let entries = counted.get(&table).copied().unwrap_or_else(|| estimated(table));
            TableWeight { entries, marks: filters.marks.clone() }
        };
        let entries: Vec<TableWeight> = survey.iter().enumerate().map(entries).collect();
        let sum = entries.iter().map(|of| of.entries as f64).sum::<f64>().max(1.0);
        let Some(manifest) = input.manifest else {
            return Self(entries.iter().map(|of| of.entries as f64 / sum).collect());
        };
        let numbers = || manifest.tables().iter().map(|table| table.number);
        let weights =
            LookupWeights::of_tables(manifest.tables(), &BTreeMap::from_iter(numbers().zip(entries)));
        Self(numbers().map(|number| weights.of(Some(number), 0) / sum).collect())
    }

    fn of_table(&self, table: usize) -> f64 {
        self.0.get(table).copied().unwrap_or_default()
    }

    pub(super) fn weigh(
        &self,
        input: &Input<'_>,
        waiting: &[Waiting],
        tallies: &mut BTreeMap<Option<u8>, LevelTally>,
    ) {
        for Waiting { table, candidates, now, .. } in waiting {
            let Some(tally) = tallies.get_mut(&input.level(*table)) else { continue };
            let weight = self.of_table(*table);
            let add = |kinds: &mut [RateGroups; KINDS], &[passed, asked]: &[u32; 2]| {
                if let Some(clusters) = kinds.get_mut(KeyKind::Random.place()) {
                    clusters.add(passed.into(), asked.into(), weight);
                }
            };
            for (tally, answers) in tally.candidates.iter_mut().zip(candidates) {
                add(&mut tally.passed, answers);
            }
            now.iter().for_each(|answers| add(&mut tally.now, answers));
        }
    }

    /// Replaces the visits counted for random keys, but keeps the differences between lookups.
    pub(super) fn replace(
        &self,
        input: &Input<'_>,
        usable: &[Option<bool>],
        levels: &mut [LevelFacts],
        lookups: &[u64; KINDS],
    ) {
        let lookups = KeyKind::Random.of(lookups).max(1) as f64;
        for level in levels {
            let Some(sum) = level.visits.get_mut(KeyKind::Random.place()) else { continue };
            let spread = sum.squares - sum.visits * sum.visits / lookups;
            let (mut visits, mut unfiltered) = (0.0, 0.0);
            for (table, usable) in usable.iter().enumerate() {
                if let Some(usable) = usable.filter(|_| input.level(table) == level.number) {
                    let of_table = self.of_table(table) * lookups;
                    visits += of_table;
                    unfiltered += if usable { 0.0 } else { of_table };
                }
            }
            *sum = VisitSum { visits, squares: spread + visits * visits / lookups, unfiltered };
        }
    }
}
