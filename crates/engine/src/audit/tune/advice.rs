//! Decides whether other filters are worth a rebuild.

use filterblock::LegacyHash;

use super::lookups::Survey;
use super::renewal::Renewal;
use super::settings::{USUAL_BASE_LG, USUAL_BITS};
use crate::audit::policies::{Policy, PolicyCounts};
use crate::report::{Action, Advice, Choice, ErrorKind, LevelBits, Outcome, Setting, TuneFault, Tuning};
use crate::words::{leave_text, rebuild_text, small_text};

/// A rebuild pays if it saves a lookup at least this many reads of blocks, and at least the share
/// `SHARE_WORTH` of the reads for absent keys, and if the reads `lost` are at most `READS_LOST`.
const READS_WORTH: f64 = 0.005;
/// The share of the reads for absent keys that has to be saved for a rebuild to pay by its reads.
const SHARE_WORTH: f64 = 0.1;
/// The second of two choices is taken if a lookup of an absent key then reads fewer blocks by more than this share.
const SHARE_BETTER: f64 = 0.04;
/// A rebuild also pays if filters shrink by at least this share and by at least `BYTES_WORTH`, and if the
/// reads `lost` are at most `READS_LOST`.
const SIZE_WORTH: f64 = 0.25;
/// The number of bytes by which filters have to shrink for a rebuild to pay by their size.
const BYTES_WORTH: f64 = 65_536.0;
/// The maximum of the reads `lost` with which a rebuild can pay.
const READS_LOST: f64 = 0.001;
/// The least number of reads that ten bits a key have to save to be mentioned.
const READS_TELLING: f64 = 0.02;

/// The policy to tune for, and true if it is a guess. `is_goleveldb`: the program that opens the database
/// knows only goleveldb's policy. `hash`: finds the hash of filters under the name that two hashes share.
pub(super) fn policy_of(
    given: Option<Policy>,
    is_goleveldb: bool,
    survey: &Survey,
    hash: impl Fn() -> Option<LegacyHash>,
) -> (Policy, bool) {
    let with_hash = |policy: Policy| match policy {
        Policy::Builtin(_) => Policy::Builtin(hash().unwrap_or(LegacyHash::Unsigned)),
        policy => policy,
    };
    if let Some(policy) = given {
        return (with_hash(policy), false);
    }
    let sound = survey.iter().filter_map(|filters| filters.as_ref().ok()).filter(|filters| filters.sound);
    let mut names = sound.filter_map(|filters| Some(filters.name.as_deref()?.as_bytes()));
    match PolicyCounts::of(&mut names).most_frequent() {
        Some(policy) => (with_hash(policy), false),
        None if is_goleveldb => (Policy::Builtin(LegacyHash::Unsigned), true),
        None => (Policy::Builtin2, true),
    }
}

/// Advises for or against a rebuild. `choices`: the best choices with which lookups of no kind of key read more, the
/// choice with the `base_lg` in use first. `has_tree`: block reads are known. `renewal`: the filters to make if some
/// filters deny stored keys.
pub(super) fn advise(
    tuning: &Tuning,
    choices: impl IntoIterator<Item = Choice>,
    base_lg: u8,
    has_mixed_ranges: bool,
    has_tree: bool,
    least_size: u64,
    renewal: &Renewal,
) -> Advice {
    let none = |why| Advice { text: format!("no advice: {why}"), ..Advice::default() };
    if tuning.levels.iter().all(|level| level.tables == 0) {
        let is_missing = |fault: &TuneFault| fault.kind == Some(ErrorKind::Missing);
        return none(match &tuning.faults[..] {
            [] => "there are no tables yet",
            faults if faults.iter().all(is_missing) => "all tables are missing",
            _ => "no table can be read",
        });
    }
    if tuning.levels.iter().any(|level| level.number.is_none()) {
        return none("a single table has no lookups to weigh; give the database's folder");
    }
    let denied = tuning.denied();
    if denied > 0 {
        return renewal.advice(denied, has_tree);
    }
    if !has_tree {
        return none("the order of keys is not known, so block reads cannot be told");
    }
    let size = tuning.levels.iter().fold(0, |sum, level| level.size.saturating_add(sum));
    if size < least_size {
        return Advice { action: Action::Leave, text: small_text(size, least_size), ..Advice::default() };
    }
    let mut best: Option<Choice> = None;
    for choice in choices {
        let is_better = match &best {
            None => pays(&tuning.now, &choice.outcome),
            // The tables are rewritten anyway, so a smaller advantage is enough.
            Some(best) => {
                pays(&best.outcome, &choice.outcome)
                    || is_smaller(&best.outcome, &choice.outcome)
                    || is_better_still(&best.outcome, &choice.outcome) && pays(&tuning.now, &choice.outcome)
            }
        };
        if is_better {
            best = Some(choice);
        }
    }
    match best {
        Some(choice) => {
            let mut text = rebuild_text(&tuning.now, &choice, tuning.found);
            let arguments = arguments(&choice, base_lg, has_mixed_ranges);
            let arguments = renewal.with_hash(choice.policy, arguments, &mut text);
            Advice { action: Action::Rebuild, text, arguments, choice: Some(choice) }
        }
        None => {
            let mut choices = [&tuning.uniform, &tuning.by_level].into_iter().flatten();
            let is_at_a_price = choices.any(|choice| saves_reads(&tuning.now, &choice.outcome));
            let text = leave_text(tuning.budget, &tuning.now, ten_bits(tuning), is_at_a_price);
            Advice { action: Action::Leave, text, ..Advice::default() }
        }
    }
}

fn reads(outcome: &Outcome) -> (f64, f64) {
    outcome.reads.map_or((0.0, 0.0), |reads| (reads.absent().value, reads.present.value))
}

/// Returns true if, as far as is known, lookups of no kind of key read more blocks with `then` than with `now`. An
/// increase by up to `READS_LOST` is allowed.
pub(super) fn has_no_rise(now: &Outcome, then: &Outcome) -> bool {
    lost(now, then) <= READS_LOST
}

/// The increase with `then` in the blocks that a lookup reads, for the kind of keys with the greatest increase. For
/// the individual kinds of absent keys, an increase counts only if it is greater than half the width of its interval
/// of 95 %.
fn lost(now: &Outcome, then: &Outcome) -> f64 {
    let ((absent_now, present_now), (absent_then, present_then)) = (reads(now), reads(then));
    let certain = (absent_then - absent_now).max(present_then - present_now);
    let (Some(now), Some(then)) = (now.reads, then.reads) else { return certain };
    let kinds =
        now.near.all().into_iter().zip(then.near.all()).chain([(Some(now.random), Some(then.random))]);
    let of_kinds = kinds.filter_map(|(now, then)| {
        let (now, then) = (now?, then?);
        let more = then.value - now.value;
        let half = (then.value - then.low).hypot(now.high - now.value);
        (more > half).then_some(more)
    });
    of_kinds.fold(certain, f64::max)
}

/// Returns true if `then` takes much less space than `now`, and lookups read hardly more.
fn is_smaller(now: &Outcome, then: &Outcome) -> bool {
    now.size.value - then.size.value >= SIZE_WORTH * now.size.value && has_no_rise(now, then)
}

/// Returns true if lookups of absent keys read fewer blocks with `then` than with another choice, and lookups of stored
/// keys hardly more. The saving may be too small to rebuild for, but the tables are rewritten anyway. Lookups of
/// individual kinds of absent keys may read more than with the other choice; the caller checks that they do not read
/// more than now.
fn is_better_still(other: &Outcome, then: &Outcome) -> bool {
    let ((absent_other, present_other), (absent_then, present_then)) = (reads(other), reads(then));
    absent_then < absent_other * (1.0 - SHARE_BETTER) && present_then - present_other <= READS_LOST
}

/// Returns true if `then` saves enough reads to be worth a rebuild, for absent or for stored keys.
fn saves_reads(now: &Outcome, then: &Outcome) -> bool {
    let ((absent_now, present_now), (absent_then, present_then)) = (reads(now), reads(then));
    let saved = (absent_now - absent_then).max(present_now - present_then);
    let share = saved / absent_now.max(f64::MIN_POSITIVE);
    saved >= READS_WORTH && share >= SHARE_WORTH
}

/// Returns true if replacing `now` with `then` is worth a rebuild.
fn pays(now: &Outcome, then: &Outcome) -> bool {
    (saves_reads(now, then) && has_no_rise(now, then))
        || (is_smaller(now, then) && now.size.value - then.size.value >= BYTES_WORTH)
}

/// The outcome of ten bits a key. `None`: ten bits were not tried, or would not save much.
fn ten_bits(tuning: &Tuning) -> Option<&Outcome> {
    let setting = Setting { policy: tuning.policy, base_lg: USUAL_BASE_LG, bits_per_key: USUAL_BITS };
    let usual = &tuning.settings.iter().find(|tried| tried.setting == setting)?.outcome;
    let saved = reads(&tuning.now).0 - reads(usual).0;
    (saved >= READS_TELLING).then_some(usual)
}

/// The arguments of `rebuild` that make this choice, without the hash.
fn arguments(choice: &Choice, base_lg: u8, has_mixed_ranges: bool) -> Vec<String> {
    let bits = match choice.same_bits() {
        Some(bits) => bits.to_string(),
        None => {
            let of_level = |of: &LevelBits| Some(format!("{}={}", of.level?, of.bits_per_key));
            choice.bits.iter().filter_map(of_level).collect::<Vec<_>>().join(",")
        }
    };
    let mut arguments = vec!["--bits-per-key".to_owned(), bits];
    if choice.base_lg != base_lg || has_mixed_ranges {
        arguments.extend(["--base-lg".to_owned(), choice.base_lg.to_string()]);
    }
    arguments.extend(["--policy".to_owned(), choice.policy.name().to_owned()]);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Estimate, NearReads, Reads};

    fn outcome(kibibytes: f64, absent: f64, present: f64) -> Outcome {
        let exact = Estimate::exact;
        let reads = Reads { neighbours: exact(absent), present: exact(present), ..Reads::default() };
        Outcome { size: exact(kibibytes * 1024.0), reads: Some(reads), ..Outcome::default() }
    }

    #[test]
    fn no_kind_of_key_is_worse_off() {
        let exact = Estimate::exact;
        let with = |outcome: Outcome, cut: f64| {
            let near = NearReads { cut: Some(exact(cut)), ..NearReads::default() };
            Outcome { reads: outcome.reads.map(|reads| Reads { near, ..reads }), ..outcome }
        };
        let now = with(outcome(1000.0, 0.03, 1.02), 0.01);
        assert!(pays(&now, &with(outcome(1000.0, 0.02, 1.02), 0.0109)));
        assert!(!pays(&now, &with(outcome(1000.0, 0.02, 1.02), 0.0122)), "cut keys read more");
        // However much lookups of other keys save.
        let now = with(outcome(1000.0, 0.9, 1.02), 0.01);
        assert!(!pays(&now, &with(outcome(1000.0, 0.02, 1.02), 0.0122)));
        assert!(saves_reads(&now, &with(outcome(1000.0, 0.02, 1.02), 0.0122)));
        // The increase may be chance.
        let vague = |low| {
            let near =
                NearReads { cut: Some(Estimate { value: 0.013, low, high: 0.02 }), ..NearReads::default() };
            let then = with(outcome(1000.0, 0.02, 1.02), 0.0);
            Outcome { reads: then.reads.map(|reads| Reads { near, ..reads }), ..then }
        };
        let now = with(outcome(1000.0, 0.03, 1.02), 0.01);
        assert!(pays(&now, &vague(0.009)) && !pays(&now, &vague(0.011)));
    }

    #[test]
    fn of_two_choices_the_better_one_is_taken() {
        let one = outcome(1000.0, 0.010, 1.02);
        assert!(is_better_still(&one, &outcome(1000.0, 0.009, 1.02)));
        assert!(!is_better_still(&one, &outcome(900.0, 0.0098, 1.02)), "nearly the same");
        assert!(!is_better_still(&one, &outcome(1000.0, 0.008, 1.03)), "stored keys read more");
        // Lookups of cut keys read more than with the other choice.
        let with = |absent: f64, cut: f64| {
            let near = NearReads { cut: Some(Estimate::exact(cut)), ..NearReads::default() };
            let of = outcome(1000.0, absent, 1.02);
            Outcome { reads: of.reads.map(|reads| Reads { near, ..reads }), ..of }
        };
        assert!(is_better_still(&with(0.05, 0.03), &with(0.03, 0.04)));
        // The saving is too small for a rebuild by itself.
        assert!(!pays(&one, &outcome(1000.0, 0.009, 1.02)));
    }

    #[test]
    fn a_rebuild_pays_by_reads_or_by_space() {
        let now = outcome(1000.0, 0.03, 1.02);
        for (then, expected) in [
            (outcome(1000.0, 0.02, 1.02), true),
            (outcome(1000.0, 0.026, 1.02), false),
            (outcome(1000.0, 0.03, 1.01), true),
            // Lookups of absent keys read fewer blocks, but those of stored keys read more.
            (outcome(1000.0, 0.01, 1.03), false),
            (outcome(700.0, 0.0305, 1.02), true),
            (outcome(800.0, 0.03, 1.02), false),
            (outcome(700.0, 0.032, 1.02), false),
        ] {
            assert_eq!(pays(&now, &then), expected, "{then:?}");
        }
        // If there are many reads, at least a tenth of them has to be saved.
        assert!(!pays(&outcome(9.0, 1.0, 2.0), &outcome(9.0, 0.95, 1.95)));
        // A quarter of a small size is too little.
        let small = outcome(100.0, 0.03, 1.02);
        assert!(!pays(&small, &outcome(60.0, 0.03, 1.02)));
        assert!(is_smaller(&small, &outcome(60.0, 0.03, 1.02)));
        assert!(
            !is_smaller(&small, &outcome(60.0, 0.04, 1.02)) && !is_smaller(&small, &outcome(80.0, 0.0, 1.0))
        );
    }
}
