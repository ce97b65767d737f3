//! Time that each policy takes to make a filter and to answer.

use std::hint::black_box;
use std::time::Instant;

use filterblock::{
    BashoBloom2Policy, BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy, KeyBuf, LegacyBloomPolicy,
    Murmur3BloomPolicy,
};

use crate::common::keys;
use crate::median;

const BITS_PER_KEY: u32 = 10;

/// Keys in a round.
const KEYS: usize = 10_000;

fn policies() -> [(&'static str, Box<dyn FilterPolicy>); 5] {
    [
        ("BloomFilterPolicy", Box::new(BloomFilterPolicy::new(BITS_PER_KEY))),
        ("LegacyBloomPolicy", Box::new(LegacyBloomPolicy::new(BITS_PER_KEY))),
        ("BashoBloom2Policy", Box::new(BashoBloom2Policy::new(BITS_PER_KEY))),
        ("CassandraBloomPolicy", Box::new(CassandraBloomPolicy::new(BITS_PER_KEY))),
        ("Murmur3BloomPolicy", Box::new(Murmur3BloomPolicy::new(BITS_PER_KEY))),
    ]
}

pub(crate) fn run(rounds: usize) {
    println!(
        "Keys of 16 bytes, {BITS_PER_KEY} bits a key, ns a key, and the first line's time by this one's\n"
    );
    println!("| policy | build, 40 keys a filter | build, {KEYS} | hit | miss |\n|---|---|---|---|---|");
    let columns = [build(40, rounds), build(KEYS, rounds), ask(0, rounds), ask(1, rounds)];
    for (index, (name, _)) in policies().iter().enumerate() {
        print!("| `{name}` |");
        for medians in &columns {
            print!(" {:.1} ({:.2}) |", medians[index], medians[0] / medians[index]);
        }
        println!();
    }
    println!();
}

/// Prints the medians of the policies, measured in turns.
fn in_turns(rounds: usize, mut work: impl FnMut(usize, &dyn FilterPolicy)) -> Vec<f64> {
    let policies = policies();
    let mut times = policies.each_ref().map(|_| Vec::new());
    for _ in 0..rounds {
        for (index, (_, policy)) in policies.iter().enumerate() {
            let start = Instant::now();
            work(index, policy);
            times[index].push(start.elapsed());
        }
    }
    times.into_iter().map(|times| median(times, KEYS)).collect()
}

/// Builds filters of `per_filter` keys. 2 KiB of small entries hold 40, a whole table 10,000.
fn build(per_filter: usize, rounds: usize) -> Vec<f64> {
    let keys = keys(KEYS, Some(16), 0);
    let runs: Vec<KeyBuf> = keys.chunks(per_filter).map(|keys| keys.iter().collect()).collect();
    let mut filters = Vec::new();
    in_turns(rounds, |_, policy| {
        filters.clear();
        for keys in &runs {
            policy.create_filter(black_box(keys.as_keys()), &mut filters).expect("a filter");
        }
        black_box(&filters);
    })
}

/// Asks for keys made from `seed`. With 0 they are the keys in the filter.
fn ask(seed: u64, rounds: usize) -> Vec<f64> {
    let present: KeyBuf = keys(KEYS, Some(16), 0).into_iter().collect();
    let filters = policies().map(|(_, policy)| {
        let mut filter = Vec::new();
        policy.create_filter(present.as_keys(), &mut filter).expect("a filter");
        filter
    });
    let asked = keys(KEYS, Some(16), seed);
    in_turns(rounds, |index, policy| {
        let filter = black_box(&filters[index][..]);
        black_box(asked.iter().filter(|key| policy.key_may_match(key, filter)).count());
    })
}
