//! The steps from tables to a report.

use std::collections::BTreeMap;

use filterblock::LegacyHash;

use super::candidates::{Candidate, DEFAULT_BASE_LG, candidates};
use super::hash_evidence::HashEvidence;
use super::in_use::{hash_in, in_use};
use super::input::{Input, Request};
use super::level_traffic::{
    count_visits, levels_of, lookups_of, make_lookups, most_visits, neighbours, own_lookups, sought, usable,
};
use super::tally::{self, LevelTally};
use super::trial::{self, Plan, Trial};
use super::{
    conclusion::TuneResults, key_kinds::KeyKind, lookups::Survey, lookups::settle,
    random_visits::RandomVisits, random_visits::Waiting, sample::choose, sample_keys::draw,
    similar_keys::SimilarKeys,
};
use crate::audit::policies::{Policy, PolicyCounts};
use crate::audit::rates::ProbeBudget;
use crate::audit::stats::LEGACY_POLICY_NAME;
use crate::report::{TuneFailure, Tuning};
use crate::run::Watch;
use crate::run::map;

/// Stored keys to draw, unless each lookup reaches very many tables.
const DRAWN: u64 = 16_384;
const FEWEST_DRAWN: u64 = 256;
/// Visits of lookups to keep in memory, approximately: once for the drawn keys, once for the user's.
const MAX_VISITS: u64 = 4_000_000;
/// Random keys to check on a level, approximately, unless [`FEWEST`] for each table tried are more.
const RANDOM: u64 = 1 << 16;
/// Keys of each kind to make for a level, approximately, unless [`FEWEST`] for each table tried are more.
const MADE: u64 = 1 << 14;
/// Keys, random or of one kind, to check in one table at least.
const FEWEST: u64 = 512;
/// Tables to try at a time: their results wait in memory.
const BATCH: usize = 256;

pub(super) fn tune(input: &Input<'_>, request: &Request, watch: &dyn Watch) -> Tuning {
    let mut faults = BTreeMap::new();
    let most = MAX_VISITS / most_visits(input).max(1);
    let (drawn, unread) = draw(input, (most / 5).clamp(FEWEST_DRAWN, DRAWN));
    faults.extend(unread);
    let own = own_lookups(request, usize::try_from(most).unwrap_or(usize::MAX));
    let similar = SimilarKeys::learn(drawn.iter().map(|drawn| (&drawn.key[..], drawn.next.as_deref())));
    let mut lookups = make_lookups(input, &drawn, &similar, own);
    let mut survey = settle(input, &mut lookups);
    for (table, result) in survey.iter().enumerate() {
        if let Err(error) = result {
            faults.entry(table).or_insert_with(|| error.clone());
        }
    }
    let Policies { policy, is_assumed, unknown } = policies_of(request.policy, input.is_goleveldb, &survey);
    let policy = match policy {
        Policy::Builtin(_) => Policy::Builtin(hash_in(input, &survey).unwrap_or(LegacyHash::Unsigned)),
        policy => policy,
    };
    let chosen = choose(input, request.all, &faults);
    let in_use = in_use(input, &survey, policy, &chosen);
    let most_used = in_use.iter().max_by_key(|&(_, count)| *count).map(|(&pair, _)| pair);
    let base_lg = most_used.map_or(DEFAULT_BASE_LG, |(base_lg, _)| base_lg);
    let most_used = most_used.map(|(_, bits)| bits);
    let bits: Vec<u32> = most_used.into_iter().chain(in_use.keys().map(|(_, bits)| *bits)).collect();
    let candidates = candidates(base_lg, &bits);

    watch.expect(chosen.iter().map(|&table| input.size(table)).sum(), true);
    let sought = sought(input, &lookups);
    let trials = Trials {
        input,
        candidates: &candidates,
        policy,
        similar: &similar,
        sought: &sought,
        random_keys: ProbeBudget::for_each_of(input.tables.len()).random_keys,
        watch,
    };
    let Tried { mut tallies, bytes, waiting, hiding, hashes } =
        trials.run(&chosen, &neighbours(input, &lookups), &mut faults);
    for &(table, ..) in &hiding {
        if let Some(Ok(filters)) = survey.get_mut(table) {
            filters.sound = false;
        }
    }
    let usable = usable(&survey, policy, &faults);
    let random_visits = RandomVisits::of(input, &survey, &waiting, &tallies);
    random_visits.weigh(input, &waiting, &mut tallies);
    let mut levels = levels_of(input, &survey, &usable, &mut tallies, candidates.len());
    let counted = count_visits(input, &lookups, &usable, &mut levels);
    random_visits.replace(input, &usable, &mut levels, &counted.lookups);
    let model = counted.model(levels, &similar, input.manifest.is_some());
    let done = TuneResults {
        input,
        request,
        model,
        candidates,
        base_lg,
        policy,
        is_assumed,
        unknown,
        most_used,
        survey,
        faults,
        hiding,
        hashes,
        bytes,
    };
    done.report(lookups_of(request, &lookups))
}

struct Policies {
    policy: Policy,
    /// Not given, and no table has sound filters of it.
    is_assumed: bool,
    /// The most frequent one, if tables have filters, but all are of policies that programs do not set.
    unknown: Option<String>,
}

fn policies_of(given: Option<Policy>, is_goleveldb: bool, survey: &Survey) -> Policies {
    let usual = if is_goleveldb { Policy::Builtin(LegacyHash::Unsigned) } else { Policy::Builtin2 };
    let filters = || survey.iter().filter_map(|filters| filters.as_ref().ok());
    let is_set = |name: &str| [Policy::Builtin2.name(), LEGACY_POLICY_NAME].contains(&name);
    let sound = filters().filter(|filters| filters.sound).filter_map(|filters| filters.name.as_deref());
    let found = PolicyCounts::of(&mut sound.filter(|name| is_set(name)).map(str::as_bytes)).most_frequent();
    let mut names: Vec<&str> = filters().filter_map(|filters| filters.name.as_deref()).collect();
    names.sort_unstable();
    let most = names.chunk_by(|one, next| one == next).max_by_key(|same| same.len());
    let unset = given.map(Policy::name).filter(|name| !is_set(name));
    let known = given.filter(|_| unset.is_none()).or(found);
    let has_none_set = given.is_none() && !names.iter().any(|name| is_set(name));
    let most = most.filter(|_| has_none_set).and_then(|same| same.first().copied());
    Policies {
        policy: known.unwrap_or(usual),
        is_assumed: known.is_none(),
        unknown: unset.or(most).map(str::to_owned),
    }
}

struct Trials<'a> {
    input: &'a Input<'a>,
    candidates: &'a [Candidate],
    policy: Policy,
    similar: &'a SimilarKeys,
    /// By table, the keys that lookups do not find.
    sought: &'a [Vec<(&'a [u8], KeyKind)>],
    /// Random keys to check in the filters in use of one table.
    random_keys: u64,
    watch: &'a dyn Watch,
}

struct Tried {
    tallies: BTreeMap<Option<u8>, LevelTally>,
    /// Of the tables that could be tried.
    bytes: u64,
    waiting: Vec<Waiting>,
    /// (table, stored keys that its filters hide, its keys)
    hiding: Vec<(usize, u64, u64)>,
    hashes: HashEvidence,
}

impl Trials<'_> {
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
        let (mut hiding, mut hashes) = (Vec::new(), HashEvidence::default());
        for batch in chosen.chunks(BATCH) {
            let trials = map(input.jobs, batch.to_vec(), |table| (table, self.try_one(table, count(table))));
            for (table, trial) in trials {
                let size = input.size(table);
                match trial {
                    Ok(trial) => {
                        bytes += size;
                        hashes.merge(trial.hashes);
                        if trial.hidden > 0 {
                            hiding.push((table, trial.hidden, trial.entries));
                        }
                        let visits = neighbours.get(table).copied().unwrap_or_default();
                        waiting.push(Waiting::new(table, &trial));
                        let tally = tallies.entry(input.level(table));
                        tally
                            .or_insert_with(|| LevelTally::new(trial.candidates.len()))
                            .add(&trial, size, visits);
                    }
                    Err(error) => {
                        faults.entry(table).or_insert(error);
                    }
                }
            }
        }
        Tried { tallies, bytes, waiting, hiding, hashes }
    }

    /// `tables`: the number of chosen tables on its level.
    fn try_one(&self, table: usize, tables: u64) -> Result<Trial, TuneFailure> {
        let plan = Plan {
            candidates: self.candidates,
            policy: self.policy,
            encoding: self.input.encoding,
            order: self.input.order,
            similar: self.similar,
            random: (RANDOM / tables.max(1)).max(FEWEST),
            made: (MADE / tables.max(1)).max(FEWEST),
            random_keys: self.random_keys,
            seed: table as u64,
        };
        let sought = self.sought.get(table).map_or(&[][..], |sought| sought);
        let trial = self.input.open(table).and_then(|opened| trial::run(&opened, &plan, sought));
        self.watch.add(self.input.size(table));
        trial
    }
}
