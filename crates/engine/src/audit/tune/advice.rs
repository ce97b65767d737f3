//! Decides what to do about a database, from facts and numbers.

use super::new_filters::NewFilters;
use crate::report::{
    Action, Advice, Basis, Candidate, Condition, DEFAULT_BITS, Damage, Effect, FalseNegatives, HugeManifest,
    Obstacle, Reads, Tuning,
};

/// Data blocks that a lookup must save for a rebuild to pay.
const READS: f64 = 0.1;
/// The share by which filters must shrink for a rebuild to pay, if they also shrink by [`BYTES`].
const SHARE: f64 = 0.25;
/// 16 MiB: less memory than that is not worth a rebuild.
const BYTES: f64 = (16 << 20) as f64;
/// 1 MiB: smaller tables fit into any cache.
const LEAST_SIZE: u64 = 1 << 20;
/// The part of a block that rounding may take from a difference.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Scope {
    /// A database, which can be rebuilt.
    #[default]
    Database,
    /// Tables without a MANIFEST that can be relied on.
    Folder,
    Table,
}

/// What is known of a database besides numbers.
#[derive(Clone, Default, Debug)]
pub(crate) struct Facts {
    pub(crate) scope: Scope,
    pub(crate) has_tables: bool,
    pub(crate) damage: Option<Damage>,
    pub(crate) false_negatives: FalseNegatives,
    /// Names of tables.
    pub(crate) unreadable_filters: Vec<String>,
    pub(crate) malformed_filters: Vec<String>,
    /// Why a part of the state is unknown.
    pub(crate) unknown: Option<Basis>,
    pub(crate) manifest: Option<HugeManifest>,
    pub(crate) filters: NewFilters,
    /// Tables from before an earlier rebuild remain.
    pub(crate) has_undo: bool,
}

/// `tuning`: if candidates were tried.
pub(crate) fn advise(facts: &Facts, tuning: Option<&Tuning>) -> Advice {
    let tuning = tuning.filter(|tuning| tuning.now.reads.is_some());
    let reason = reason(facts, tuning);
    let filters = &facts.filters;
    let action = match &reason {
        Basis::Damage(_) if facts.scope == Scope::Table => Action::Carve,
        Basis::Damage(_) | Basis::HugeManifest(_) => Action::Repair,
        Basis::FalseNegatives(_) => filters.with_bits(Some(filters.bits.unwrap_or(DEFAULT_BITS))),
        Basis::MalformedFilters(_) | Basis::UnreadableFilters(_) => filters.with_bits(filters.bits),
        Basis::Reads => {
            let bits = tuning.and_then(Tuning::target).map(|target| target.bits_per_key);
            filters.with_bits(bits.filter(|bits| !filters.is_assumed || *bits != DEFAULT_BITS))
        }
        Basis::Size => filters.with_bits(tuning.and_then(smaller).map(|of| of.bits_per_key)),
        _ => Action::None,
    };
    let mut advice = Advice {
        verdict: reason.word_and_verdict().1,
        reason,
        action,
        conditions: vec![],
        obstacles: vec![],
    };
    if matches!(action, Action::Rebuild(_)) {
        if facts.scope == Scope::Database {
            condition_rebuild(facts, &mut advice);
        } else {
            advice.action = Action::None;
        }
    }
    advice.conditions.extend(tuning.and_then(|tuning| similar_keys(&advice, tuning)));
    advice
}

fn condition_rebuild(facts: &Facts, advice: &mut Advice) {
    let Facts { filters, .. } = facts;
    if matches!(advice.reason, Basis::Reads | Basis::Size) && filters.is_assumed {
        advice.conditions.push(Condition::ProgramSetsPolicy(filters.policy));
    }
    if filters.is_chosen {
        advice.conditions.push(Condition::SeveralPolicies(filters.policy));
    }
    let is_order_unknown = matches!(facts.unknown, Some(Basis::KeyOrder(_)));
    let obstacles = [
        (filters.is_hash_unknown, Obstacle::HashUnknown),
        (is_order_unknown, Obstacle::KeyOrderUnknown),
        (facts.has_undo, Obstacle::UndoExists),
    ];
    advice.obstacles.extend(obstacles.into_iter().filter_map(|(is_there, of)| is_there.then_some(of)));
}

/// The worst reason that holds.
fn reason(facts: &Facts, tuning: Option<&Tuning>) -> Basis {
    let Facts { damage, false_negatives, unknown, manifest, .. } = facts;
    let of_filters = |names: &Vec<String>| Some(names.clone()).filter(|names| !names.is_empty());
    let hidden = (false_negatives.hidden > 0).then(|| Basis::FalseNegatives(false_negatives.clone()));
    damage
        .clone()
        .map(Basis::Damage)
        .or_else(|| of_filters(&facts.unreadable_filters).map(Basis::UnreadableFilters))
        .or(hidden)
        .or_else(|| unknown.clone())
        .or_else(|| manifest.clone().map(Basis::HugeManifest))
        .or_else(|| of_filters(&facts.malformed_filters).map(Basis::MalformedFilters))
        .unwrap_or_else(|| match tuning {
            _ if !facts.has_tables => Basis::NoTables,
            None => Basis::Nothing,
            Some(tuning) if tuning.size() < LEAST_SIZE => Basis::TooSmall,
            Some(tuning) if tuning.target().is_some_and(|of| saves(&tuning.now, &of.outcome)) => Basis::Reads,
            Some(tuning) if smaller(tuning).is_some() => Basis::Size,
            Some(_) => Basis::Enough,
        })
}

fn saves(now: &Effect, then: &Effect) -> bool {
    now.saved(then) >= READS - ROUNDING
}

/// The candidate whose filters are so much smaller that they pay.
fn smaller(tuning: &Tuning) -> Option<&Candidate> {
    let usual = tuning.candidate(DEFAULT_BITS).filter(|_| tuning.budget.is_none());
    let then = usual.or_else(|| tuning.target())?;
    let less = tuning.now.size.value - then.outcome.size.value;
    let pays = less >= BYTES && less >= SHARE * tuning.now.size.value && !saves(&then.outcome, &tuning.now);
    pays.then_some(then)
}

/// Set if similar keys of the worst kind read [`READS`] more blocks than random ones. No reason for a rebuild: it is no
/// function of the bits per key.
fn similar_keys(advice: &Advice, tuning: &Tuning) -> Option<Condition> {
    let is_about_filters = matches!(advice.reason, Basis::Enough | Basis::Reads | Basis::Size);
    if !is_about_filters || tuning.lookups.is_some() {
        return None;
    }
    let outcome = tuning.advised(Some(advice)).map_or(&tuning.now, |of| &of.outcome);
    let of_worst = |reads: Reads, kind| reads.of_kind(kind).map(|reads| reads.value);
    let kind = outcome.reads?.worst?;
    let reads = of_worst(outcome.reads?, kind)?;
    let whole = tuning.whole_tables.as_ref().and_then(|of| of_worst(of.reads?, kind));
    let is_worse = |other: f64| reads - other >= READS - ROUNDING;
    is_worse(outcome.reads?.random.value).then_some(Condition::SimilarKeys {
        kind,
        reads,
        larger_range_helps: whole.is_some_and(is_worse),
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{facts, outcome, tuning, with_lookups};
    use super::*;
    use crate::report::{Estimate, SimilarKind, Verdict};

    /// Results whose filters in use have this outcome, and those of 10 bits per key another one.
    fn results(now: Effect, then: Effect) -> Tuning {
        let mut tuning = tuning(Some(8));
        tuning.now = now;
        tuning.candidates.retain(|of| of.bits_per_key == DEFAULT_BITS);
        tuning.candidates[0].outcome = then;
        tuning
    }

    fn basis(tuning: &Tuning) -> Basis {
        advise(&tuning.facts, Some(tuning)).reason
    }

    #[test]
    fn a_rebuild_pays_from_a_tenth_of_a_block() {
        for (absent, stored, expected) in [
            (0.5, 1.2, Basis::Enough),
            (0.401, 1.2, Basis::Enough),
            (0.4, 1.2, Basis::Reads),
            (0.5, 1.101, Basis::Enough),
            (0.5, 1.1, Basis::Reads),
            // One kind of key that saves is enough.
            (0.4, 1.3, Basis::Reads),
        ] {
            let tuning = results(outcome(1.0, 0.5, 1.2), outcome(1.2, absent, stored));
            assert_eq!(basis(&tuning), expected, "{absent} {stored}");
        }
    }

    #[test]
    fn a_rebuild_pays_from_a_quarter_and_16_mib() {
        for (now, then, absent, expected) in [
            (64.0, 48.0, 0.04, Basis::Size),
            (64.0, 48.1, 0.04, Basis::Enough),
            (62.0, 46.5, 0.04, Basis::Enough),
            (100.0, 76.0, 0.04, Basis::Enough),
            (100.0, 75.0, 0.04, Basis::Size),
            // Lookups must not read a tenth of a block more.
            (100.0, 10.0, 0.099, Basis::Size),
            (100.0, 10.0, 0.1, Basis::Enough),
        ] {
            let tuning = results(outcome(now, 0.0, 1.0), outcome(then, absent, 1.0));
            assert_eq!(basis(&tuning), expected, "{now} {then} {absent}");
        }
    }

    #[test]
    fn tables_of_less_than_1_mib_are_fine() {
        let mut tuning = tuning(None);
        tuning.levels.truncate(1);
        for (size, expected) in [((1 << 20) - 1, Basis::TooSmall), (1 << 20, Basis::Reads)] {
            tuning.levels[0].size = size;
            assert_eq!(basis(&tuning), expected);
        }
    }

    #[test]
    fn the_target_is_10_bits_or_those_in_use_if_they_are_more_or_the_best_in_the_budget() {
        let target = |tuning: &Tuning| tuning.target().map(|of| of.bits_per_key);
        for (in_use, expected) in
            [(None, 10), (Some(4), 10), (Some(10), 10), (Some(14), 14), (Some(100), 100)]
        {
            assert_eq!(target(&tuning(in_use)), Some(expected));
        }
        let with_budget = |mebibytes: u64| Tuning { budget: Some(mebibytes << 20), ..tuning(None) };
        // Each bit per key takes 1.5 MiB.
        assert_eq!(
            [target(&with_budget(5)), target(&with_budget(12)), target(&with_budget(1000))],
            [None, Some(8), Some(20)]
        );
        let advice = advise(&facts(), Some(&with_budget(12)));
        assert!(
            matches!(advice.action, Action::Rebuild(rebuild) if rebuild.bits_per_key == Some(8)),
            "{advice:?}"
        );
        assert_eq!(basis(&with_budget(5)), Basis::Enough);
    }

    /// How many similar keys may match is no function of the bits per key.
    #[test]
    fn similar_keys_are_a_condition_and_no_reason() {
        let with = |similar: f64, whole: f64, random: f64| {
            let mut tuning = tuning(Some(10));
            tuning.now.reads.as_mut().unwrap().random = Estimate::exact(random);
            let reads = |outcome: &mut Effect, reads| {
                outcome.reads.as_mut().unwrap().similar[SimilarKind::Between as usize] =
                    Some(Estimate::exact(reads));
            };
            reads(&mut tuning.now, similar);
            tuning.candidates.iter_mut().for_each(|of| reads(&mut of.outcome, 0.0));
            reads(tuning.whole_tables.as_mut().unwrap(), whole);
            tuning
        };
        for (similar, whole, expected) in
            [(0.119, 0.0, None), (0.12, 0.05, Some(false)), (0.87, 0.03, Some(true))]
        {
            let advice = advise(&facts(), Some(&with(similar, whole, 0.02)));
            assert_eq!((advice.verdict, advice.action), (Verdict::Fine, Action::None));
            let expected = expected.map(|larger_range_helps| Condition::SimilarKeys {
                kind: SimilarKind::Between,
                reads: similar,
                larger_range_helps,
            });
            assert_eq!(advice.conditions, expected.into_iter().collect::<Vec<_>>(), "{similar}");
        }
        // The user's own lookups are known.
        let tuning = Tuning { lookups: with_lookups().lookups, ..with(0.87, 0.03, 0.02) };
        assert!(advise(&facts(), Some(&tuning)).conditions.is_empty());
    }

    #[test]
    fn without_filters_the_policy_is_named_and_is_a_condition() {
        let tuning = tuning(None);
        let advice = advise(&tuning.facts, Some(&tuning));
        assert!(advice.is_conditional() && advice.verdict == Verdict::CouldBeBetter);
        assert_eq!(advice.rebuild().unwrap().arguments(), ["--policy", "leveldb.BuiltinBloomFilter2"]);
        // The user knows that the program sets it.
        let given = NewFilters { is_assumed: false, ..tuning.facts.filters };
        let advice = advise(&Facts { filters: given, ..tuning.facts.clone() }, Some(&tuning));
        let expected = ["--bits-per-key", "10", "--policy", "leveldb.BuiltinBloomFilter2"];
        assert!(!advice.is_conditional() && advice.rebuild().unwrap().arguments() == expected, "{advice:?}");
    }

    #[test]
    fn what_comes_before_a_rebuild_is_an_obstacle() {
        let hidden = FalseNegatives { tables: vec!["1".to_owned()], hidden: 3, keys: None };
        let facts = Facts { false_negatives: hidden, ..facts() };
        let obstacles = |facts: &Facts| {
            let advice = advise(facts, None);
            (advice.rebuild().is_some(), advice.obstacles)
        };
        assert_eq!(obstacles(&facts), (true, vec![]));
        let undo = Facts { has_undo: true, ..facts.clone() };
        assert_eq!(obstacles(&undo), (true, vec![Obstacle::UndoExists]));
        let order = Facts { unknown: Some(Basis::KeyOrder("x".to_owned())), ..facts.clone() };
        assert_eq!(obstacles(&order), (false, vec![Obstacle::KeyOrderUnknown]));
        let hash = NewFilters { is_hash_unknown: true, ..facts.filters };
        let hash = Facts { filters: hash, ..facts };
        assert_eq!(obstacles(&hash), (false, vec![Obstacle::HashUnknown]));
    }
}
