//! The lookups to follow, and the tables that they reach.

use std::collections::BTreeMap;

use super::effect::{EstimateSum, LevelFacts, SIMILAR, TuneModel, VisitSum};
use super::in_use::is_usable;
use super::input::{Input, Request};
use super::key_kinds::{KINDS, KeyKind};
use super::lookups::{Lookup, LookupKey, Survey, TableFilters};
use super::sample_keys::{DrawnKey, MAX_KEY};
use super::similar_keys::SimilarKeys;
use super::tally::{self, LevelTally};
use crate::audit::policies::Policy;
use crate::audit::rates::SplitMix;
use crate::report::{Lookups, TuneFailure};

/// The user's lookups to follow, unless all tables are decoded.
const MAX_LOOKUPS: usize = 100_000;

/// Bytes of stored keys to make keys of each kind from, approximately.
const MAX_SIMILAR_BYTES: usize = 16 << 20;

/// A bound: all tables of level 0 and one of each other level; all tables if the key order is unknown.
pub(super) fn most_visits(input: &Input<'_>) -> u64 {
    if input.manifest.is_none() {
        return input.tables.len() as u64;
    }
    let top = input.tables.iter().filter(|table| table.level == Some(0)).count() as u64;
    top + u64::from(filterblock::database::NUM_LEVELS)
}

/// All of the user's lookups, or an evenly spaced part.
pub(super) fn own_lookups(request: &Request, most: usize) -> Vec<&[u8]> {
    let given = &request.lookups;
    let most = if request.all { most } else { most.min(MAX_LOOKUPS) };
    let step = given.len().div_ceil(most.max(1)).max(1);
    given.iter().step_by(step).map(Vec::as_slice).collect()
}

pub(super) fn make_lookups(
    input: &Input<'_>,
    drawn: &[DrawnKey],
    similar: &SimilarKeys,
    own: Vec<&[u8]>,
) -> Vec<Lookup> {
    let mut random = SplitMix(3);
    let bytes: usize = drawn.iter().map(|drawn| drawn.key.len()).sum();
    let step = bytes.div_ceil(MAX_SIMILAR_BYTES).max(1);
    let mut lookups = Vec::new();
    let mut add = |key: Vec<u8>, kind: LookupKey| {
        let visits = input.visits(&key);
        lookups.push(Lookup { key, kind, visits, end: None });
    };
    for (at, DrawnKey { key, next, table }) in drawn.iter().enumerate() {
        add(key.clone(), LookupKey::Stored { table: *table });
        for kind in SIMILAR.into_iter().filter(|_| at % step == 0) {
            let mut made = Vec::new();
            let is_made = similar.make(kind, key, next.as_deref(), &mut random, &mut made);
            if is_made && input.order.can_be_filtered(&made) {
                add(made, LookupKey::Similar { table: *table, kind });
            }
        }
    }
    own.into_iter().filter(|key| key.len() <= MAX_KEY).for_each(|key| add(key.to_vec(), LookupKey::Own));
    lookups
}

pub(super) fn lookups_of(request: &Request, lookups: &[Lookup]) -> Option<Lookups> {
    let own = || lookups.iter().filter(|lookup| lookup.kind == LookupKey::Own);
    (!request.lookups.is_empty()).then(|| Lookups {
        given: request.lookups.len() as u64,
        used: own().count() as u64,
        stored: own().filter(|lookup| lookup.is_present()).count() as u64,
    })
}

/// True: its filters can be checked. `None`: not read completely, and left out of the numbers of its level.
pub(super) fn usable(
    survey: &Survey,
    policy: Policy,
    faults: &BTreeMap<usize, TuneFailure>,
) -> Vec<Option<bool>> {
    let of = |(table, filters): (usize, &Result<TableFilters, TuneFailure>)| {
        let filters = filters.as_ref().ok().filter(|_| !faults.contains_key(&table))?;
        Some(is_usable(filters, policy))
    };
    survey.iter().enumerate().map(of).collect()
}

/// Leaves out levels of which no table could be read. `candidates`: their number.
pub(super) fn levels_of(
    input: &Input<'_>,
    survey: &Survey,
    usable: &[Option<bool>],
    tallies: &mut BTreeMap<Option<u8>, LevelTally>,
    candidates: usize,
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
            tally: tallies.remove(&table.level).unwrap_or_else(|| LevelTally::new(candidates)),
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

/// Lookups by kind; `deleted`: the share that finds a deletion among the user's lookups that find no value.
pub(super) struct Counted {
    pub(super) lookups: [u64; KINDS],
    deleted: f64,
    has_own: bool,
}

impl Counted {
    pub(super) fn model(self, levels: Vec<LevelFacts>, similar: &SimilarKeys, has_tree: bool) -> TuneModel {
        let mut entries = EstimateSum::default();
        levels.iter().for_each(|level| entries.add(level.entries()));
        let entries = entries.plus(0.0);
        let plausible = SIMILAR.map(|kind| similar.is_plausible(kind));
        let Self { lookups, deleted, has_own } = self;
        TuneModel { levels, lookups, deleted, plausible, has_own, has_tree, entries }
    }
}

/// Returns each question with the tables searched in vain; stored keys stand for random ones, too, checked everywhere.
fn questions(lookup: &Lookup, has_own: bool) -> Vec<(KeyKind, &[u32])> {
    match lookup.kind {
        LookupKey::Similar { kind, .. } if lookup.is_absent() => {
            vec![(KeyKind::Similar(kind), &lookup.visits)]
        }
        LookupKey::Similar { .. } => vec![],
        LookupKey::Own if lookup.is_present() => vec![(KeyKind::Present, lookup.in_vain())],
        LookupKey::Own => vec![(KeyKind::Own, lookup.in_vain())],
        LookupKey::Stored { .. } if lookup.is_present() && !has_own => {
            vec![(KeyKind::Random, &lookup.visits), (KeyKind::Present, lookup.in_vain())]
        }
        LookupKey::Stored { .. } => vec![(KeyKind::Random, &lookup.visits)],
    }
}

fn has_own(lookups: &[Lookup]) -> bool {
    lookups.iter().any(|lookup| lookup.kind == LookupKey::Own)
}

pub(super) fn count_visits(
    input: &Input<'_>,
    lookups: &[Lookup],
    usable: &[Option<bool>],
    levels: &mut [LevelFacts],
) -> Counted {
    let place_of = |level| levels.iter().position(|facts| facts.number == level);
    let of_tables: Vec<Option<(usize, bool)>> = input
        .tables
        .iter()
        .zip(usable)
        .map(|(table, usable)| Some((place_of(table.level)?, (*usable)?)))
        .collect();
    let mut counted = Counted { lookups: [0; KINDS], deleted: 0.0, has_own: has_own(lookups) };
    let mut deleted = 0_u64;
    let mut numbers = vec![(0_u64, 0_u64); levels.len()];
    for lookup in lookups {
        deleted += u64::from(lookup.kind == LookupKey::Own && lookup.end.is_some_and(|end| end.is_deletion));
        for (kind, visits) in questions(lookup, counted.has_own) {
            if let Some(count) = counted.lookups.get_mut(kind.place()) {
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
                if let Some(sum) = facts.visits.get_mut(kind.place()) {
                    sum.visits += visits as f64;
                    sum.squares += (visits * visits) as f64;
                    sum.unfiltered += unfiltered as f64;
                }
            }
        }
    }
    let own = KeyKind::Own.of(&counted.lookups);
    counted.deleted = deleted as f64 / own.max(1) as f64;
    counted
}

/// Counts, by table and kind, the lookups of absent keys made from the table's own keys that reach it.
pub(super) fn neighbours(input: &Input<'_>, lookups: &[Lookup]) -> Vec<tally::Visits> {
    let mut visits = vec![tally::Visits::default(); input.tables.len()];
    for lookup in lookups.iter().filter(|lookup| lookup.is_absent()) {
        let LookupKey::Similar { table: home, kind } = lookup.kind else { continue };
        let of_home = visits.get_mut(home as usize).and_then(|visits| visits.get_mut(kind as usize));
        if let Some(of_home) = of_home.filter(|_| lookup.visits.contains(&home)) {
            *of_home += 1.0;
        }
    }
    visits
}

/// Returns, by table, the keys of lookups that check it in vain, in key order.
pub(super) fn sought<'l>(input: &Input<'_>, lookups: &'l [Lookup]) -> Vec<Vec<(&'l [u8], KeyKind)>> {
    let mut sought = vec![Vec::new(); input.tables.len()];
    let has_own = has_own(lookups);
    for lookup in lookups {
        for (kind, visits) in questions(lookup, has_own) {
            for &table in visits {
                let kind = match (kind, lookup.kind) {
                    // Random keys, and keys similar to a table's own, are made when its filters are tried.
                    (KeyKind::Similar(kind), LookupKey::Similar { table: home, .. }) if table != home => {
                        KeyKind::Stranger(kind)
                    }
                    (KeyKind::Random | KeyKind::Similar(_), _) => continue,
                    (kind, _) => kind,
                };
                if let Some(of_table) = sought.get_mut(table as usize) {
                    of_table.push((&lookup.key[..], kind));
                }
            }
        }
    }
    sought
}
