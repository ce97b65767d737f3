//! Threads that fill one filter: `AtomicBloomFilter`, and a plain filter of the same bits behind a
//! `Mutex`.
//!
//! Everything that is compared runs in turns, so that other load on the machine affects all alike.
//! The medians are printed, with ratios to the filter behind a lock.
//!
//! The threads of a round wait for each other before they start. A round in which the threads
//! waited for processors for a tenth of the time or longer says little about either filter, and is
//! left out if the system reports the waiting (Linux).

#[path = "common/mod.rs"]
mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use filterblock::AtomicBloomFilter;

const BITS_PER_KEY: u32 = 10;

/// A filter for one thread.
struct Plain {
    words: Vec<u64>,
    probes: u8,
}

impl Plain {
    fn like(shared: &AtomicBloomFilter) -> Self {
        Self { words: vec![0; (shared.bits() / 64) as usize], probes: shared.probes() }
    }

    /// Adds a key of 16 bytes. Sets the same bits as `AtomicBloomFilter`.
    fn add(&mut self, key: &[u8]) {
        let mut longer = [1; 17];
        longer[..16].copy_from_slice(key);
        let [first, second] = [key, &longer].map(fastmurmur3::hash);
        let h = [first as u64, (first >> 64) as u64, second as u64, (second >> 64) as u64];
        let mask = self.words.len() * 64 - 1;
        for i in 0..usize::from(self.probes) {
            let step = h[2 + i.div_ceil(2) % 2];
            let position = h[i % 2].wrapping_add(step.wrapping_mul(i as u64)) as usize & mask;
            self.words[position / 64] |= 1 << (position % 64);
        }
    }
}

fn add_locked(filter: &Mutex<Plain>, key: &[u8]) {
    filter.lock().expect("no panic").add(key);
}

fn main() {
    let given = |name: &str| env::args().any(|argument| argument == name);
    // Measures only under `cargo bench` without `--test`. Otherwise it only shows that everything
    // runs.
    let rounds = if given("--bench") && !given("--test") { 400 } else { 2 };
    println!(
        "Threads that fill one filter: keys of 16 bytes, {BITS_PER_KEY} bits a key, ns a key over all threads\n"
    );
    println!("| keys | threads | `lock().add` | `add` | one lock for all | `add_all` | clean rounds |");
    println!("|---|---|---|---|---|---|---|");
    for count in [2_000, 20_000, 200_000] {
        let keys = common::keys(count, Some(16), 0);
        check(&keys);
        for threads in [1, 2] {
            line(&keys, threads, (rounds * 20_000 / count).clamp(rounds.min(50), 2 * rounds));
        }
    }
    println!();
}

fn filter(keys: &[Vec<u8>]) -> AtomicBloomFilter {
    AtomicBloomFilter::with_capacity(keys.len() as u64, BITS_PER_KEY).expect("memory")
}

/// Checks that both filters set the same bits.
fn check(keys: &[Vec<u8>]) {
    let [single, batch] = [filter(keys), filter(keys)];
    let mut plain = Plain::like(&single);
    keys.iter().for_each(|key| single.add(key));
    keys.iter().for_each(|key| plain.add(key));
    batch.add_all(keys);
    let mut expected: Vec<u8> = plain.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    expected.push(plain.probes);
    for filter in [single, batch] {
        let mut written = Vec::new();
        filter.write_filter(&mut written).expect("memory");
        assert!(written == expected, "filters differ");
    }
}

type Fill<'a> = &'a (dyn Fn(&[Vec<u8>]) + Sync);

fn line(keys: &[Vec<u8>], threads: usize, rounds: usize) {
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..rounds {
        let [single, batch] = [filter(keys), filter(keys)];
        let [each, all] = [&single, &batch].map(|filter| Mutex::new(Plain::like(filter)));
        let fills: [Fill<'_>; 4] = [
            &|keys| keys.iter().for_each(|key| add_locked(&each, key)),
            &|keys| keys.iter().for_each(|key| single.add(key)),
            &|keys| {
                let mut filter = all.lock().expect("no panic");
                keys.iter().for_each(|key| filter.add(key));
            },
            &|keys| batch.add_all(keys),
        ];
        for (fill, times) in fills.iter().zip(&mut times) {
            times.extend(round(keys, threads, fill));
        }
    }
    let clean = times.iter().map(Vec::len).min().unwrap_or_default();
    print!("| {} | {threads} | ", keys.len());
    if clean < rounds.min(5) {
        println!("- | - | - | - | {clean} of {rounds}: too few, the machine is busy |");
        return;
    }
    let [each, single, all, batch] = times.map(|times| median(times, keys.len()));
    let (faster, faster_all) = (each / single, all / batch);
    println!(
        "{each:.1} | {single:.1} ({faster:.2}) | {all:.1} | {batch:.1} ({faster_all:.2}) | {clean} of {rounds} |"
    );
}

struct Share {
    start: Instant,
    end: Instant,
    waited: Duration,
}

/// Lets every thread add its share of the keys. `None` if the threads waited for processors for a
/// tenth of the time or longer.
fn round(keys: &[Vec<u8>], threads: usize, fill: Fill<'_>) -> Option<Duration> {
    let ready = AtomicUsize::new(0);
    let work = |part: &[Vec<u8>]| {
        let before = waited();
        ready.fetch_add(1, Ordering::AcqRel);
        while ready.load(Ordering::Acquire) < threads {
            thread::yield_now();
        }
        let start = Instant::now();
        fill(part);
        let end = Instant::now();
        Share { start, end, waited: waited() - before }
    };
    let shares: Vec<Share> = thread::scope(|scope| {
        let work = &work;
        let parts = keys.chunks_exact(keys.len() / threads);
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let start = shares.iter().map(|share| share.start).min()?;
    let time = shares.iter().map(|share| share.end - start).max()?;
    let waited: Duration = shares.iter().map(|share| share.waited).sum();
    (waited * 10 < time).then_some(time)
}

/// Returns the time that this thread has waited for a processor so far.
fn waited() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

/// Returns the median of the times, in nanoseconds per operation.
fn median(mut times: Vec<Duration>, operations: usize) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_nanos() as f64 / operations as f64)
}
