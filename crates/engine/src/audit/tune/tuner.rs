//! The steps from tables to a report.

use std::collections::BTreeMap;

use filterblock::LegacyHash;

use super::advice::{Facts, Scope};
use super::bits::{DEFAULT_BASE_LG, FilterShape, WHOLE_TABLE, candidates, in_use};
use super::hash_evidence::hash_in;
use super::input::{Input, TuneRequest};
use super::key_kinds::KeyKind;
use super::lookups::{Asked, Lookup, TableFilters, asked, make_lookups, settle};
use super::new_filters::NewFilters;
use super::sample::choose;
use super::sample_keys::draw;
use super::similar_keys::SimilarKeys;
use super::traffic::{Trials, Tried, traffic};
use super::trial::{self, Plan};
use crate::audit::policies::{Policy, PolicyCounts};
use crate::audit::rates::ProbeBudget;
use crate::audit::stats::LEGACY_POLICY_NAME;
use crate::report::{
    Basis, Candidate, Damage, DamagedPart, ErrorKind, FalseNegatives, Fault, LeftOut, Lookups, SampleSize,
    Tuning,
};
use crate::run::{Progress, map};
use crate::text::some_of;

/// Stored keys to draw, unless each lookup reaches very many tables.
const DRAWN: u64 = 16_384;
const FEWEST_DRAWN: u64 = 256;
/// Visits of lookups to keep in memory, approximately: once for the drawn keys, once for the user's.
const MAX_VISITS: u64 = 4_000_000;
/// Tables to try at a time: their results wait in memory.
const BATCH: usize = 256;

/// Tables that could not be read, by number.
type Faults = BTreeMap<usize, Fault>;

pub(super) fn tune(input: &Input<'_>, request: &TuneRequest, watch: &dyn Progress) -> Tuning {
    let mut faults = Faults::new();
    let most = MAX_VISITS / input.most_visits().max(1);
    let drawn = draw(input, (most / 5).clamp(FEWEST_DRAWN, DRAWN), &mut faults);
    let similar = SimilarKeys::learn(drawn.iter().map(|drawn| (&drawn.key[..], drawn.next.as_deref())));
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut lookups = make_lookups(input, request, &drawn, &similar, most);
    let mut survey = settle(input, &mut lookups, &mut faults);
    let policies = Policies::of(input, request.policy, &survey);
    let (policy, policy_assumed) = (policies.policy, policies.is_assumed);
    let chosen = choose(input, request.all, &faults);
    let in_use = in_use(input, &survey, policy, &chosen);
    let candidates = candidates(&in_use);
    let most_used = in_use.first();
    let base_lg = most_used.map_or(DEFAULT_BASE_LG, |of| of.base_lg);
    let bits_per_key = most_used.map(|of| of.bits_per_key);

    let random_keys = ProbeBudget::for_each_of(input.tables.len()).random_keys;
    let plan = Plan { input, candidates: &candidates, policy, similar: &similar, random_keys };
    let trials = try_all(&plan, &chosen, &asked(input, &lookups), &mut faults, watch);
    for tried in trials.tried.iter().filter(|tried| tried.hidden > 0) {
        survey[tried.table].iter_mut().for_each(|filters| filters.sound = false);
    }
    let facts = facts(input, request, policies, bits_per_key, &survey, &trials, &faults);
    let bytes = trials.tried.iter().map(|tried| input.size(tried.table)).sum();
    let usable = |(table, filters): (usize, &Option<TableFilters>)| {
        Some(filters.as_ref().filter(|_| !faults.contains_key(&table))?.is_usable(policy))
    };
    let usable: Vec<Option<bool>> = survey.iter().enumerate().map(usable).collect();
    let traffic = traffic(input, &survey, &usable, trials, &lookups, &similar);
    let effect_of = |(number, of): (usize, &FilterShape)| Candidate {
        bits_per_key: of.bits_per_key,
        outcome: traffic.effect(number),
    };
    let tried = (1..).zip(&candidates).filter(|_| !traffic.levels.is_empty());
    let mut candidates: Vec<Candidate> = tried.map(effect_of).collect();
    // One filter for each table comes last, unless those in use are such filters.
    let whole_tables = (base_lg != WHOLE_TABLE).then(|| candidates.pop()).flatten();
    Tuning {
        policy,
        policy_assumed,
        base_lg,
        bits_per_key,
        sample: SampleSize {
            tables: traffic.levels.iter().map(|level| level.tried).sum(),
            of_tables: traffic.levels.iter().map(|level| level.tables).sum(),
            bytes,
            entries: traffic.entries(),
        },
        levels: traffic.levels(),
        now: traffic.effect(0),
        candidates,
        whole_tables: whole_tables.map(|of| of.outcome),
        lookups: counts_of(request, &lookups),
        budget: request.budget,
        logs: 0,
        left_out: faults.into_iter().map(|(table, why)| LeftOut { name: input.name(table), why }).collect(),
        facts,
    }
}

struct Policies {
    policy: Policy,
    /// Not given, and no table has sound filters of it.
    is_assumed: bool,
    /// The most frequent one, if tables have filters, but all are of policies that programs do not set.
    unknown: Option<String>,
}

impl Policies {
    fn of(input: &Input<'_>, given: Option<Policy>, survey: &[Option<TableFilters>]) -> Self {
        let usual = if input.is_goleveldb { Policy::Builtin(LegacyHash::Unsigned) } else { Policy::Builtin2 };
        let is_set = |name: &str| [Policy::Builtin2.name(), LEGACY_POLICY_NAME].contains(&name);
        let named = survey.iter().flatten().filter_map(|of| Some((of.sound, of.name.as_deref()?)));
        let named: Vec<(bool, &str)> = named.collect();
        let set = named.iter().filter(|(sound, name)| *sound && is_set(name));
        let found = PolicyCounts::of(&mut set.map(|(_, name)| name.as_bytes())).most_frequent();
        let unset = given.map(Policy::name).filter(|name| !is_set(name));
        let known = given.filter(|_| unset.is_none()).or(found);
        let is_unknown = given.is_none() && !named.iter().any(|(_, name)| is_set(name));
        let mut names: Vec<&str> = named.iter().map(|(_, name)| *name).filter(|_| is_unknown).collect();
        names.sort_unstable();
        let most = names.chunk_by(|one, next| one == next).max_by_key(|same| same.len());
        let policy = match known.unwrap_or(usual) {
            Policy::Builtin(_) => Policy::Builtin(hash_in(input, survey).unwrap_or(LegacyHash::Unsigned)),
            policy => policy,
        };
        Self {
            policy,
            is_assumed: known.is_none(),
            unknown: unset.or(most.and_then(|same| same.first().copied())).map(str::to_owned),
        }
    }
}

fn try_all(
    plan: &Plan<'_>,
    chosen: &[usize],
    asked: &[Asked<'_>],
    faults: &mut Faults,
    watch: &dyn Progress,
) -> Trials {
    let input = plan.input;
    watch.expect(chosen.iter().map(|&table| input.size(table)).sum(), true);
    let of_levels = input.by_level(chosen.iter().copied());
    let try_one = |table: usize| {
        let tables = of_levels.get(&input.level(table)).map_or(0, Vec::len) as u64;
        let trial =
            input.open(table).and_then(|opened| trial::run(&opened, plan, table, tables, &asked[table]));
        watch.add(input.size(table));
        (table, trial)
    };
    let mut trials = Trials::default();
    for batch in chosen.chunks(BATCH) {
        for (table, trial) in map(input.jobs, batch.to_vec(), try_one) {
            match trial {
                Ok(trial) => trials.add(input, table, &trial, asked[table].similar),
                Err(error) => _ = faults.entry(table).or_insert(error),
            }
        }
    }
    trials
}

fn facts(
    input: &Input<'_>,
    request: &TuneRequest,
    Policies { policy, unknown, .. }: Policies,
    bits_per_key: Option<u32>,
    survey: &[Option<TableFilters>],
    trials: &Trials,
    faults: &Faults,
) -> Facts {
    let names = survey.iter().flatten().filter_map(|filters| filters.name.as_deref());
    let filters = NewFilters::of(request.policy, policy, &PolicyCounts::of(&mut names.map(str::as_bytes)));
    let bits = bits_per_key.filter(|_| filters.policy.name() == policy.name());
    let is_table = input.tables.iter().any(|table| table.level.is_none());
    Facts {
        scope: if is_table { Scope::Table } else { Scope::Database },
        has_tables: !input.tables.is_empty(),
        damage: damage(input, faults),
        false_negatives: false_negatives(input, &trials.tried),
        unknown: unknown.map(Basis::Policy).or_else(|| unread(input, faults)),
        filters: NewFilters { bits, ..filters.hash(trials.hashes, input.is_goleveldb) },
        ..Facts::default()
    }
}

fn false_negatives(input: &Input<'_>, tried: &[Tried]) -> FalseNegatives {
    let hiding = || tried.iter().filter(|tried| tried.hidden > 0);
    FalseNegatives {
        tables: hiding().map(|tried| input.name(tried.table)).collect(),
        hidden: hiding().map(|tried| tried.hidden).sum(),
        keys: Some(hiding().map(|tried| tried.entries).sum()),
    }
}

const fn is_damage(fault: &Fault) -> bool {
    matches!(fault.kind, ErrorKind::Damaged | ErrorKind::Missing)
}

fn damage(input: &Input<'_>, faults: &Faults) -> Option<Damage> {
    let damaged = || faults.iter().filter(|(_, fault)| is_damage(fault));
    let names: Vec<_> = damaged().map(|(&table, _)| input.name(table)).collect();
    let mut title = some_of(&names, "tables");
    if damaged().all(|(_, fault)| fault.kind == ErrorKind::Missing) {
        title += if names.len() == 1 { " is missing" } else { " are missing" };
    }
    (!names.is_empty()).then(|| Damage::new(title, DamagedPart::Files))
}

fn unread(input: &Input<'_>, faults: &Faults) -> Option<Basis> {
    let (&table, fault) = faults.iter().find(|(_, fault)| !is_damage(fault))?;
    Some(Basis::Unread { what: input.name(table), why: fault.text.clone() })
}

fn counts_of(request: &TuneRequest, lookups: &[Lookup]) -> Option<Lookups> {
    let own = || lookups.iter().filter(|lookup| lookup.kind == KeyKind::Own);
    (!request.lookups.is_empty()).then(|| Lookups {
        given: request.lookups.len() as u64,
        used: own().count() as u64,
        stored: own().filter(|lookup| lookup.is_present()).count() as u64,
    })
}
