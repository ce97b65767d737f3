//! Results of `tune`, made up for tests.

use std::path::Path;

use super::advice::{Facts, advise};
use super::new_filters::NewFilters;
use crate::audit::policies::{Policy, PolicyCounts};
use crate::audit::rates::Rate;
use crate::report::{
    Candidate, Effect, Estimate, Fault, LeftOut, Level, LevelEffect, Lookups, Rates, Reads, SampleSize,
    SimilarKind, Tuned, Tuning,
};

const MIB: f64 = 1_048_576.0;

fn about(value: f64) -> Estimate {
    Estimate { value, low: value * 0.98, high: value * 1.03 }
}

/// Filters whose lookups read these numbers of data blocks: of an absent and of a stored key.
pub(crate) fn outcome(mebibytes: f64, absent: f64, stored: f64) -> Effect {
    let rate = absent / 3.0;
    let measured = Rate::of((rate * 1e6) as u64, 1_000_000);
    let rates = Rates { random: measured, similar: [measured; 4], worst: measured, lookups: None };
    let level = |number, share: f64| LevelEffect {
        number: Some(number),
        size: about(mebibytes * MIB * share),
        reads: Some(about(absent * share)),
    };
    Effect {
        size: Estimate::exact(mebibytes * MIB),
        rates,
        reads: Some(Reads {
            absent: about(absent),
            stored: about(stored),
            random: about(absent),
            similar: [Some(about(absent)); 4],
            worst: Some(SimilarKind::Between),
        }),
        levels: vec![level(1, 0.1), level(2, 0.9)],
    }
}

/// The filters of LevelDB with so many bits per key, for a database of 12 million keys on three levels.
fn with_bits(bits_per_key: u32) -> Candidate {
    let rate = 0.6185_f64.powi(bits_per_key as i32);
    let outcome = outcome(f64::from(bits_per_key) * 1.5, 3.0 * rate, 1.0 + rate);
    Candidate { bits_per_key, outcome }
}

/// The facts of a database with filters of 10 bits per key.
pub(crate) fn facts() -> Facts {
    let names = PolicyCounts::of(&mut std::iter::once(Policy::Builtin2.name().as_bytes()));
    let filters = NewFilters { bits: Some(10), ..NewFilters::of(None, Policy::Builtin2, &names) };
    Facts { has_tables: true, filters, ..Facts::default() }
}

/// The results for a database with filters of so many bits per key; `None`: without filters.
pub(crate) fn tuning(bits_per_key: Option<u32>) -> Tuning {
    let level = |number, checked| Level {
        number: Some(number),
        tables: 50,
        without_filters: if bits_per_key.is_some() { 0 } else { 50 },
        size: 1 << 30,
        entries: 6e6,
        filter_size: 7.0 * MIB,
        fpr: Some(0.01),
        checked: Some(checked),
    };
    let mut bits: Vec<u32> = (4..=20).chain(bits_per_key).collect();
    bits.sort_unstable();
    bits.dedup();
    let mut facts = facts();
    if bits_per_key.is_none() {
        facts.filters = NewFilters::default();
    }
    Tuning {
        policy: Policy::Builtin2,
        policy_assumed: bits_per_key.is_none(),
        base_lg: 11,
        bits_per_key,
        sample: SampleSize { tables: 40, of_tables: 100, bytes: 82 << 20, entries: about(12e6) },
        levels: vec![level(1, 0.9), level(2, 1.0)],
        now: bits_per_key.map_or_else(|| outcome(0.0, 3.0, 2.0), |bits| with_bits(bits).outcome),
        candidates: bits.into_iter().map(with_bits).collect(),
        whole_tables: Some(with_bits(10).outcome),
        lookups: None,
        budget: None,
        logs: 1,
        left_out: Vec::new(),
        facts,
    }
}

/// The results of a run with `--lookups` that left a table out.
pub(crate) fn with_lookups() -> Tuning {
    let mut tuning = tuning(Some(10));
    tuning.lookups = Some(Lookups { given: 2000, used: 1000, stored: 100 });
    let why = Fault::new("expected a table", crate::report::ErrorKind::Unsupported);
    tuning.left_out.push(LeftOut { name: "000009.ldb".to_owned(), why });
    tuning
}

/// The line that `tune` prints about `my db`.
pub(crate) fn tuned(result: Result<Tuning, Fault>) -> Tuned {
    let advice = result.as_ref().ok().map(|tuning| advise(&tuning.facts, Some(tuning)));
    Tuned { input: Path::new("my db").into(), path: "my db".into(), advice, result }
}
