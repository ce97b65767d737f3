//! What the policies cost for each key, and what `SharedBloomFilter` saves against a lock.

use std::hint::{self, black_box};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use filterblock::hash::{BLOOM_SEED, hash};
use filterblock::{
    BashoBloom2Policy, BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy, KeyBuf, LegacyBloomPolicy,
    Murmur3BloomPolicy, SharedBloomFilter,
};

const BITS_PER_KEY: u32 = 10;

/// 16 bytes that look random (SplitMix64).
fn key(i: u64) -> [u8; 16] {
    let mix = |seed: u64| {
        let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(2 * i).to_le_bytes());
    key[8..].copy_from_slice(&mix(2 * i + 1).to_le_bytes());
    key
}

fn policies() -> [(&'static str, Box<dyn FilterPolicy>); 5] {
    [
        ("leveldb", Box::new(BloomFilterPolicy::new(BITS_PER_KEY))),
        ("legacy", Box::new(LegacyBloomPolicy::new(BITS_PER_KEY))),
        ("basho", Box::new(BashoBloom2Policy::new(BITS_PER_KEY))),
        ("cassandra", Box::new(CassandraBloomPolicy::new(BITS_PER_KEY))),
        ("murmur3", Box::new(Murmur3BloomPolicy::new(BITS_PER_KEY))),
    ]
}

/// 40 keys are what 2 KiB of small entries hold, 10,000 a whole table of them.
fn build(c: &mut Criterion) {
    for count in [40, 10_000] {
        let keys: KeyBuf = (0..count).map(key).collect();
        let mut group = c.benchmark_group(format!("build/{count}"));
        group.throughput(Throughput::Elements(count));
        for (name, policy) in policies() {
            let mut filter = Vec::new();
            group.bench_function(name, |b| {
                b.iter(|| {
                    filter.clear();
                    policy.create_filter(black_box(keys.as_keys()), &mut filter).expect("a filter");
                })
            });
        }
        group.finish();
    }
}

fn probe(c: &mut Criterion) {
    const KEYS: u64 = 10_000;
    let keys: KeyBuf = (0..KEYS).map(key).collect();
    for (kind, asked) in [("hit", 0..KEYS), ("miss", KEYS..2 * KEYS)] {
        let asked: Vec<_> = asked.map(key).collect();
        let mut group = c.benchmark_group(format!("probe/{kind}"));
        group.throughput(Throughput::Elements(KEYS));
        for (name, policy) in policies() {
            let mut filter = Vec::new();
            policy.create_filter(keys.as_keys(), &mut filter).expect("a filter");
            group.bench_function(name, |b| {
                b.iter(|| asked.iter().filter(|key| policy.key_may_match(*key, &filter)).count())
            });
        }
        group.finish();
    }
}

/// A filter for one thread, with bits and probes as in `SharedBloomFilter` and hashes that cost about as much.
struct Plain {
    words: Vec<u64>,
    probes: u8,
}

impl Plain {
    fn like(shared: &SharedBloomFilter) -> Self {
        Self { words: vec![0; (shared.bits() / 64) as usize], probes: shared.probes() }
    }

    fn add_hashes(&mut self, [mut h, delta]: [u32; 2]) {
        let bits = self.words.len() * 64;
        for _ in 0..self.probes {
            let position = h as usize & (bits - 1);
            self.words[position / 64] |= 1 << (position % 64);
            h = h.wrapping_add(delta);
        }
    }
}

/// From the moment when all threads are running to that when the last one is done.
fn in_threads(keys: &[[u8; 16]], threads: usize, add: impl Fn(&[u8]) + Sync) -> Duration {
    let arrived = AtomicUsize::new(0);
    let work = |part: &[[u8; 16]]| {
        arrived.fetch_add(1, Ordering::AcqRel);
        while arrived.load(Ordering::Acquire) < threads {
            hint::spin_loop();
        }
        let start = Instant::now();
        part.iter().for_each(|key| add(key));
        (start, Instant::now())
    };
    let times: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let parts = keys.chunks_exact(keys.len() / threads);
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let start = times.iter().map(|time| time.0).min().expect("a thread");
    times.iter().map(|time| time.1 - start).max().expect("a thread")
}

/// The lock is held for setting the bits only. On fewer idle cores than threads this says little: threads that
/// take turns never wait for a lock.
fn shared(c: &mut Criterion) {
    for count in [20_000, 200_000, 2_000_000] {
        let keys: Vec<_> = (0..count).map(key).collect();
        let new = || SharedBloomFilter::with_capacity(count, BITS_PER_KEY).expect("memory");
        for threads in [1, 2] {
            let mut group = c.benchmark_group(format!("shared/{count}/{threads}"));
            group.sample_size(20).throughput(Throughput::Elements(count));
            group.bench_function("atomic", |b| {
                b.iter_custom(|rounds| {
                    let round = |_| {
                        let filter = new();
                        in_threads(&keys, threads, |key| filter.add(key))
                    };
                    (0..rounds).map(round).sum()
                })
            });
            group.bench_function("mutex", |b| {
                b.iter_custom(|rounds| {
                    let round = |_| {
                        let filter = Mutex::new(Plain::like(&new()));
                        in_threads(&keys, threads, |key| {
                            let hashes = [hash(key, BLOOM_SEED), hash(key, 1)];
                            filter.lock().expect("no panic").add_hashes(hashes);
                        })
                    };
                    (0..rounds).map(round).sum()
                })
            });
            group.finish();
        }
    }
}

criterion_group!(benches, build, probe, shared);
criterion_main!(benches);
