//! Benchmarks of whole tables: writing with filters and without, opening, walking.

use std::time::Duration;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};

mod common;

const ENTRIES: usize = 20_000;

/// Makes 16-byte keys in order, and values of 100 bytes that compress to half.
fn entries() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut keys = common::keys(ENTRIES, Some(16), 0);
    keys.sort();
    let halves = common::keys(ENTRIES, Some(50), 1);
    keys.into_iter().zip(halves.into_iter().map(|half| half.repeat(2))).collect()
}

fn write(entries: &[(Vec<u8>, Vec<u8>)], options: WriteOptions) -> Vec<u8> {
    let mut builder = TableBuilder::new(Vec::with_capacity(entries.len() * 130), options);
    entries.iter().for_each(|(key, value)| builder.add(key, value).expect("keys in order"));
    builder.finish().expect("a table in memory").0
}

fn tables(c: &mut Criterion) {
    let entries = entries();
    let policy = BloomFilterPolicy::new(10);
    let mut group = c.benchmark_group("table");
    group.throughput(Throughput::Elements(ENTRIES as u64));
    for (name, compression) in [("raw", Compression::None), ("snappy", Compression::Snappy)] {
        let plain = WriteOptions::default().compression(compression);
        let filtered = plain.clone().filter_policy(policy);
        group.bench_function(format!("write/{name}"), |b| b.iter(|| write(&entries, plain.clone())));
        group.bench_function(format!("write/{name}/filters"), |b| {
            b.iter(|| write(&entries, filtered.clone()))
        });

        let file = Bytes::from(write(&entries, filtered));
        let options = ReadOptions::default().filter_policy(policy).verify_checksums(true);
        group.bench_function(format!("walk/{name}"), |b| {
            let table = Table::open(file.clone(), &options).expect("a sound table");
            b.iter(|| {
                let mut cursor = table.cursor();
                cursor.seek_to_first().expect("a sound table");
                let mut bytes = 0;
                loop {
                    bytes += cursor.key().len() + cursor.value().len();
                    if !cursor.next().expect("a sound table") {
                        return bytes;
                    }
                }
            })
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("open/{name}"), |b| {
            b.iter(|| Table::open(file.clone(), &options).expect("a sound table"))
        });
        group.throughput(Throughput::Elements(ENTRIES as u64));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1)).sample_size(30);
    targets = tables
}
criterion_main!(benches);
