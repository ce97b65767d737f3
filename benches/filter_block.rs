//! Benchmarks of filter blocks: building them, asking for one key or hash at a time, and asking for
//! many keys.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy};
use filterblock::{InternalFilterPolicy, SharedPolicy};

mod common;
use common::{Random, keys};

const BITS_PER_KEY: u32 = 10;
const RANGE: u64 = 2048;

/// Number of keys: they and their filters fit into the cache, and the branch predictor cannot learn
/// the answers.
const KEYS: usize = 40_000;

/// The suffix that a database appends to a user key: sequence number and type.
const SUFFIX: [u8; 8] = [1, 7, 0, 0, 0, 0, 0, 0];

/// Lengths of the keys. `None`: mixed, 1 to 64 bytes.
const LENGTHS: [Option<usize>; 5] = [Some(8), Some(16), Some(24), Some(64), None];

fn name(len: Option<usize>) -> String {
    len.map_or_else(|| "mixed".to_owned(), |len| len.to_string())
}

fn build<P: FilterPolicy>(
    builder: &mut FilterBlockBuilder<P>,
    keys: &[Vec<u8>],
    per_filter: usize,
    block: &mut Vec<u8>,
) {
    block.clear();
    for (index, keys) in (0..).zip(keys.chunks(per_filter)) {
        builder.start_block(index * RANGE).expect("ascending offsets");
        keys.iter().for_each(|key| builder.add_key(key));
    }
    builder.finish_into(block).expect("a small block");
}

fn block<P: FilterPolicy>(policy: P, keys: &[Vec<u8>], per_filter: usize) -> Vec<u8> {
    let mut block = Vec::new();
    build(&mut FilterBlockBuilder::new(policy).with_max_size(1 << 32), keys, per_filter, &mut block);
    block
}

fn bench_build<P: FilterPolicy>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: String,
    policy: P,
    keys: &[Vec<u8>],
    per_filter: usize,
) {
    let mut builder = FilterBlockBuilder::new(policy);
    let mut block = Vec::new();
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            build(&mut builder, black_box(keys), per_filter, &mut block);
            black_box(&block);
        })
    });
}

fn building(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    let policy = BloomFilterPolicy::new(BITS_PER_KEY);
    for len in LENGTHS {
        let keys = keys(KEYS, len, 0);
        for per_filter in [40, 200] {
            bench_build(&mut group, format!("{}/{per_filter}", name(len)), policy, &keys, per_filter);
        }
    }
    let keys_16 = keys(KEYS, Some(16), 0);
    let shared: SharedPolicy = Arc::new(policy);
    bench_build(&mut group, "16/40/shared".into(), shared, &keys_16, 40);
    let keys_24 = keys(KEYS, Some(24), 0);
    bench_build(&mut group, "16/40/internal".into(), InternalFilterPolicy::new(policy), &keys_24, 40);
    for bits_per_key in [1, 5, 20, 44] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        bench_build(&mut group, format!("16/40/k={}", policy.probes()), policy, &keys_16, 40);
    }
    group.sample_size(10);
    let keys = keys(1_000_000, Some(16), 0);
    bench_build(&mut group, "16/one filter".into(), policy, &keys, usize::MAX);
    group.finish();
}

/// Asks one by one, by hash, and many at once.
fn bench_ask<P: FilterPolicy>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    reader: &FilterBlockReader<P, &[u8]>,
    queries: &[(u64, &[u8])],
) {
    group.throughput(Throughput::Elements(queries.len() as u64));
    group.bench_function(format!("{name}/single"), |b| {
        b.iter(|| {
            black_box(queries).iter().filter(|(offset, key)| reader.key_may_match(*offset, key)).count()
        })
    });
    let hashes: Vec<_> =
        queries.iter().filter_map(|(offset, key)| Some((*offset, reader.policy().hash_key(key)?))).collect();
    group.bench_function(format!("{name}/by hash"), |b| {
        b.iter(|| {
            black_box(&hashes).iter().filter(|(offset, hash)| reader.hash_may_match(*offset, *hash)).count()
        })
    });
    let mut answers = Vec::new();
    group.bench_function(format!("{name}/many"), |b| {
        b.iter(|| {
            let ask = |queries| {
                reader.keys_may_match(queries, &mut answers);
                answers.iter().filter(|answer| **answer).count()
            };
            black_box(queries).chunks(1000).map(ask).sum::<usize>()
        })
    });
}

fn asking(c: &mut Criterion) {
    let policy = BloomFilterPolicy::new(BITS_PER_KEY);
    let mut group = c.benchmark_group("ask");
    let of_lengths = LENGTHS.map(|len| (len, 40, name(len)));
    let of_sizes = [(200, "16/200"), (KEYS, "16/one filter")];
    let of_sizes = of_sizes.map(|(per_filter, name)| (Some(16), per_filter, name.to_owned()));
    for (len, per_filter, name) in of_lengths.into_iter().chain(of_sizes) {
        let present = keys(KEYS, len, 0);
        let absent = keys(KEYS, len, 1);
        let block = block(policy, &present, per_filter);
        let shuffled = common::shuffled(KEYS);
        for (kind, asked) in [("hit", &present), ("miss", &absent)] {
            // The keys lie in memory in the order of the queries, so that fetching them takes no
            // time.
            let asked: Vec<_> = shuffled.iter().map(|&index| asked[index].clone()).collect();
            let offset = |index: usize| (index / per_filter) as u64 * RANGE;
            let queries: Vec<_> =
                shuffled.iter().zip(&asked).map(|(&index, key)| (offset(index), &key[..])).collect();
            let name = format!("{name}/{kind}");
            bench_ask(&mut group, &name, &FilterBlockReader::new(policy, &block[..]), &queries);
            if name.starts_with("16/hit") || name.starts_with("16/miss") {
                let shared: SharedPolicy = Arc::new(policy);
                let reader = FilterBlockReader::new(shared, &block[..]);
                bench_ask(&mut group, &format!("{name}/shared"), &reader, &queries);
                let internal: Vec<_> = asked.iter().map(|key| [&key[..], &SUFFIX].concat()).collect();
                let queries: Vec<_> =
                    queries.iter().zip(&internal).map(|(&(offset, _), key)| (offset, &key[..])).collect();
                let reader = FilterBlockReader::new(InternalFilterPolicy::new(policy), &block[..]);
                bench_ask(&mut group, &format!("{name}/internal"), &reader, &queries);
            }
        }
    }
    group.finish();
}

/// Asks about a gigabyte of filters, most of which are in no cache. One block stands for a thousand
/// tables: random places in the block are as far apart as the filters of different tables.
fn asking_from_memory(c: &mut Criterion) {
    const PER_FILTER: usize = 40;
    const FILTERS: usize = 18_000_000;
    const DISTINCT: usize = 1000;
    let policy = BloomFilterPolicy::new(BITS_PER_KEY);
    let present = keys(DISTINCT * PER_FILTER, Some(16), 0);
    let few = block(policy, &present, PER_FILTER);
    let few = FilterBlockReader::new(policy, &few[..]);
    // The filters of a thousand ranges, repeated: the same hits and misses, in other memory.
    let filters: Vec<&[u8]> = (0..DISTINCT).filter_map(|index| few.filter(index)).collect();
    let mut contents = Vec::with_capacity(FILTERS * 56);
    let mut offsets = Vec::with_capacity(FILTERS);
    for index in 0..FILTERS {
        offsets.push(contents.len() as u32);
        contents.extend_from_slice(filters[index % DISTINCT]);
    }
    offsets.push(contents.len() as u32);
    offsets.iter().for_each(|offset| contents.extend_from_slice(&offset.to_le_bytes()));
    contents.push(11);
    drop(offsets);

    let reader = FilterBlockReader::new(policy, &contents[..]);
    let absent = keys(KEYS, Some(16), 1);
    let mut random = Random::new(2);
    let mut group = c.benchmark_group("ask a gigabyte");
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    for kind in ["hit", "miss"] {
        let asked: Vec<(u64, Vec<u8>)> = (0..KEYS)
            .map(|index| {
                let filter = random.below(FILTERS);
                let of_filter = filter % DISTINCT * PER_FILTER + index % PER_FILTER;
                let key = if kind == "hit" { &present[of_filter] } else { &absent[index] };
                (filter as u64 * RANGE, key.clone())
            })
            .collect();
        let queries: Vec<_> = asked.iter().map(|(offset, key)| (*offset, &key[..])).collect();
        bench_ask(&mut group, kind, &reader, &queries);
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800)).sample_size(30);
    targets = building, asking, asking_from_memory
}
criterion_main!(benches);
