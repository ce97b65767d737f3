//! The steps from tables to a report.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::hash_evidence::HashEvidence;
use super::in_use::{hash_in, in_use};
use super::input::{Input, Request};
use super::level_traffic::{
    count_visits, levels_of, lookups_of, make_lookups, most_visits, neighbours, own_lookups, sought, usable,
};
use super::settings::{grid, readers};
use super::tally::{self, LevelTally};
use super::trial::{self, Plan, Trial};
use super::{
    advice::policy_of, conclusion::TuneResults, lookups::settle, near_keys::NearKeys, questions::Question,
    random_visits::RandomVisits, random_visits::Waiting, sample::choose, sample_keys::draw,
};
use crate::audit::policies::Policy;
use crate::audit::rates::ProbeBudget;
use crate::audit::stats::KeySketch;
use crate::report::{Setting, TuneFailure, Tuning};
use crate::run::Watch;
use crate::run::map;

/// The number of stored keys to draw, unless each lookup reaches very many tables.
const DRAWN: u64 = 16_384;
/// The minimum number of stored keys to draw.
const FEWEST_DRAWN: u64 = 256;
/// The approximate maximum number of visits of lookups to tables to keep in memory, once for the drawn keys and
/// once for the user's keys.
const MAX_VISITS: u64 = 4_000_000;
/// The approximate number of random keys to ask the filters of a level for, unless [`FEWEST`] keys for each table tried
/// are more.
const RANDOM: u64 = 1 << 16;
/// The approximate number of keys of each kind to make from stored ones, to ask the filters of a level for, unless
/// [`FEWEST`] keys for each table tried are more.
const MADE: u64 = 1 << 14;
/// The minimum number of keys, random or of one kind, to ask the filters of one table for.
const FEWEST: u64 = 512;
/// The number of tables to try at a time: their results wait in memory.
const BATCH: usize = 256;

/// Finds the effects that other filters would have on lookups in the tables.
pub(super) fn tune(input: &Input<'_>, request: &Request, watch: &dyn Watch) -> Tuning {
    let mut faults = BTreeMap::new();
    let most = MAX_VISITS / most_visits(input).max(1);
    let (drawn, unread) = draw(input, (most / 5).clamp(FEWEST_DRAWN, DRAWN));
    faults.extend(unread);
    let own = own_lookups(request, usize::try_from(most).unwrap_or(usize::MAX));
    let near = NearKeys::learn(drawn.iter().map(|drawn| (&drawn.key[..], drawn.next.as_deref())));
    let mut lookups = make_lookups(input, &drawn, &near, own);
    let mut survey = settle(input, &mut lookups);
    for (table, result) in survey.iter().enumerate() {
        if let Err(error) = result {
            faults.entry(table).or_insert_with(|| error.clone());
        }
    }
    let (policy, policy_assumed) =
        policy_of(request.policy, input.is_goleveldb, &survey, || hash_in(input, &survey));
    let chosen = choose(input, request.all, &faults);
    let in_use = in_use(input, &survey, policy, &chosen);
    let settings = grid(policy, &in_use.iter().map(|(&pair, _)| pair).collect::<Vec<_>>());
    let most_used = in_use.iter().max_by_key(|&(_, count)| *count).map(|(&pair, _)| pair);

    watch.expect(chosen.iter().map(|&table| input.size(table)).sum(), true);
    let sought = sought(input, &lookups);
    let trials = Trials {
        input,
        settings: &settings,
        readers: &readers(policy),
        policy,
        near: &near,
        sought: &sought,
        random_keys: ProbeBudget::for_each_of(input.tables.len()).random_keys,
        keys: Mutex::default(),
        watch,
    };
    let Tried { mut tallies, bytes, waiting, denied, hashes } =
        trials.run(&chosen, &neighbours(input, &lookups), &mut faults);
    let keys = trials.keys.into_inner().unwrap_or_else(PoisonError::into_inner);
    for &(table, _) in &denied {
        if let Some(Ok(filters)) = survey.get_mut(table) {
            filters.sound = false;
        }
    }
    let usable = usable(&survey, policy, &faults);
    let random_visits = RandomVisits::of(input, &survey, &waiting, &tallies);
    random_visits.weigh(input, &waiting, &mut tallies);
    let mut levels = levels_of(input, &survey, &usable, &mut tallies, settings.len());
    let counted = count_visits(input, &lookups, &usable, &mut levels);
    random_visits.replace(input, &usable, &mut levels, &counted.lookups);
    let facts = counted.facts(levels, &near, input.manifest.is_some());
    let done = TuneResults {
        input,
        request,
        facts,
        settings,
        policy,
        policy_assumed,
        most_used,
        survey,
        faults,
        denied,
        hashes,
        bytes,
        keys,
    };
    done.report(lookups_of(request, &lookups))
}

/// The settings and results that the trials of all tables share.
struct Trials<'a> {
    input: &'a Input<'a>,
    settings: &'a [Setting],
    readers: &'a [Policy],
    policy: Policy,
    near: &'a NearKeys,
    /// The keys that lookups seek in vain, by table.
    sought: &'a [Vec<(&'a [u8], Question)>],
    /// The maximum number of random keys to ask the filters in use of one table for.
    random_keys: u64,
    /// The different keys of the tables tried so far. Each trial's keys are merged as soon as it ends, so that they do
    /// not wait in memory with its other results.
    keys: Mutex<KeySketch>,
    watch: &'a dyn Watch,
}

/// The results of trying tables.
struct Tried {
    tallies: BTreeMap<Option<u8>, LevelTally>,
    /// The total size in bytes of the tables that could be tried.
    bytes: u64,
    waiting: Vec<Waiting>,
    /// The numbers of stored keys that filters in use deny, by table.
    denied: Vec<(usize, u64)>,
    hashes: HashEvidence,
}

impl Trials<'_> {
    /// Tries tables and adds up the results by level.
    fn run(
        &self,
        chosen: &[usize],
        neighbours: &[tally::Visits],
        faults: &mut BTreeMap<usize, TuneFailure>,
    ) -> Tried {
        let input = self.input;
        let mut of_levels: BTreeMap<Option<u8>, Vec<usize>> = BTreeMap::new();
        chosen.iter().for_each(|&table| of_levels.entry(input.level(table)).or_default().push(table));
        let count = |table| of_levels.get(&input.level(table)).map_or(0, |tables| tables.len() as u64);
        let mut tallies: BTreeMap<Option<u8>, LevelTally> = BTreeMap::new();
        let (mut bytes, mut waiting) = (0, Vec::with_capacity(chosen.len()));
        let (mut denied, mut hashes) = (Vec::new(), HashEvidence::default());
        for batch in chosen.chunks(BATCH) {
            let trials = map(input.jobs, batch.to_vec(), |table| (table, self.try_one(table, count(table))));
            for (table, trial) in trials {
                let size = input.size(table);
                match trial {
                    Ok(trial) => {
                        bytes += size;
                        hashes.merge(trial.hashes);
                        if trial.denied > 0 {
                            denied.push((table, trial.denied));
                        }
                        let visits = neighbours.get(table).copied().unwrap_or_default();
                        waiting.push(Waiting::new(table, &trial));
                        let tally = tallies.entry(input.level(table));
                        tally
                            .or_insert_with(|| LevelTally::new(trial.settings.len()))
                            .add(&trial, size, visits);
                    }
                    Err(error) => {
                        faults.entry(table).or_insert(error);
                    }
                }
            }
        }
        Tried { tallies, bytes, waiting, denied, hashes }
    }

    /// Tries a table. `tables`: the number of chosen tables on its level.
    fn try_one(&self, table: usize, tables: u64) -> Result<Trial, TuneFailure> {
        let plan = Plan {
            settings: self.settings,
            policies: self.readers,
            policy: self.policy,
            encoding: self.input.encoding,
            order: self.input.order,
            near: self.near,
            random: (RANDOM / tables.max(1)).max(FEWEST),
            made: (MADE / tables.max(1)).max(FEWEST),
            random_keys: self.random_keys,
            seed: table as u64,
        };
        let sought = self.sought.get(table).map_or(&[][..], |sought| sought);
        let mut trial = self.input.open(table).and_then(|opened| trial::run(&opened, &plan, sought));
        if let Ok(trial) = &mut trial {
            let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            keys.merge(&std::mem::take(&mut trial.keys));
        }
        self.watch.add(self.input.size(table));
        trial
    }
}
