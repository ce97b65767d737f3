//! Times all policies, compared with `BloomFilterPolicy`.

use anyhow::{Result, ensure};
use filterblock::{
    BashoBloom2Policy, BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy, LegacyBloomPolicy,
    Murmur3BloomPolicy,
};

use super::data::{Kind, keys, runs, slices};
use super::report::Section;
use super::timing::{Aims, Measure, Turns};

const BITS_PER_KEY: u32 = 10;
/// The number of probes handed over together.
const BATCH: usize = 128;

type Policy = (&'static str, Box<dyn FilterPolicy>, Option<Aims>);

fn policies() -> [Policy; 5] {
    [
        ("`BloomFilterPolicy`", Box::new(BloomFilterPolicy::new(BITS_PER_KEY)), None),
        ("`LegacyBloomPolicy`", Box::new(LegacyBloomPolicy::new(BITS_PER_KEY)), Some([0.9; 3])),
        ("`BashoBloom2Policy`", Box::new(BashoBloom2Policy::new(BITS_PER_KEY)), None),
        ("`CassandraBloomPolicy`", Box::new(CassandraBloomPolicy::new(BITS_PER_KEY)), None),
        ("`Murmur3BloomPolicy`", Box::new(Murmur3BloomPolicy::new(BITS_PER_KEY)), None),
    ]
}

fn build(policy: &dyn FilterPolicy, runs: &[filterblock::KeyBuf], filters: &mut Vec<u8>) {
    filters.clear();
    runs.iter().for_each(|run| policy.create_filter(run.as_keys(), filters).expect("a filter"));
}

fn many(policy: &dyn FilterPolicy, probes: &[(&[u8], &[u8])]) -> usize {
    let mut answers = [false; BATCH];
    let ask = |probes: &[(&[u8], &[u8])]| {
        policy.keys_may_match(probes, &mut answers[..probes.len()]);
        answers[..probes.len()].iter().filter(|answer| **answer).count()
    };
    probes.chunks(BATCH).map(ask).sum()
}

/// Times the building of filters of 40 keys, as many as 2 KiB of small entries have, and of a filter of all keys, and
/// queries to the latter.
pub(crate) fn run(rounds: usize, count: usize) -> Result<Section> {
    let count = count.min(10_000);
    let policies = policies();
    let (present, absent) = (keys(0, count, Some(16), &[]), keys(1, count, Some(16), &[]));
    let present_slices = slices(&present);
    let mut rows = Vec::new();
    for per_filter in [40, count] {
        let runs = runs(&present_slices, per_filter);
        let mut filters = vec![Vec::new(); policies.len()];
        let mut turns = Turns::new(&format!("build, {per_filter} a filter"), count);
        let mut first = None;
        for ((name, policy, aims), filters) in policies.iter().zip(&mut filters) {
            let ours = turns.ours(|| build(&**policy, &runs, filters));
            turns.row(name, ours, Measure::FasterThanOurs(*first.get_or_insert(ours)), *aims);
        }
        rows.extend(turns.run(rounds));
    }
    let all = runs(&present_slices, count);
    let filters = policies.each_ref().map(|(_, policy, _)| {
        let mut filter = Vec::new();
        build(&**policy, &all, &mut filter);
        filter
    });
    for kind in [Kind::Hit, Kind::Miss] {
        let asked = if kind == Kind::Hit { &present } else { &absent };
        let probes = filters.each_ref().map(|filter| -> Vec<(&[u8], &[u8])> {
            asked.iter().map(|key| (&key[..], &filter[..])).collect()
        });
        let mut singles = Turns::new(&format!("{}, single", kind.name()), count);
        let mut together = Turns::new(&format!("{}, many", kind.name()), count);
        let (mut first, mut first_together) = (None, None);
        for ((name, policy, aims), probes) in policies.iter().zip(&probes) {
            let one = || probes.iter().filter(|(key, filter)| policy.key_may_match(key, filter)).count();
            ensure!(one() == many(&**policy, probes), "{name}: answers differ");
            let ours = singles.ours(one);
            singles.row(name, ours, Measure::FasterThanOurs(*first.get_or_insert(ours)), *aims);
            let ours = together.ours(|| many(&**policy, probes));
            together.row(name, ours, Measure::FasterThanOurs(*first_together.get_or_insert(ours)), *aims);
        }
        rows.extend(singles.run(rounds));
        rows.extend(together.run(rounds));
    }
    let title = "The policies: the time of `BloomFilterPolicy` by each one's, 16 bytes";
    Ok(Section::new(title, rows))
}
