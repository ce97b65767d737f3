//! The advice on larger ranges, compared with a table that is rebuilt with them.

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};

use crate::tables::sample;
use crate::{args, file, folder, run, table};

/// Keys with values of these lengths. Every second byte of a value is random, so that a value compresses in part.
fn entries(keys: usize, value_len: impl Fn(usize) -> usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut state = 1_u32;
    let mut byte = |at: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if at.is_multiple_of(2) { (state >> 24) as u8 } else { b'v' }
    };
    // Keys that count up have hashes that do so too, and rates of their own.
    let mut names: Vec<u64> = (1..=keys as u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    names.iter_mut().for_each(|name| *name = (*name ^ (*name >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    names.sort_unstable();
    let entry =
        |(key, name)| (format!("{name:016x}").into_bytes(), (0..value_len(key)).map(&mut byte).collect());
    names.into_iter().enumerate().map(entry).collect()
}

fn build(entries: &[(Vec<u8>, Vec<u8>)], options: &WriteOptions, bits: u32, base_lg: u8) -> Vec<u8> {
    let options = options.clone().filter_policy(BloomFilterPolicy::new(bits)).base_lg(base_lg);
    let mut builder = TableBuilder::new(Vec::new(), options);
    entries.iter().for_each(|(key, value)| builder.add(key, value).unwrap());
    builder.finish().unwrap().0
}

#[test]
fn a_rebuild_saves_what_is_said_and_has_the_rate_that_is_said() {
    let blocks = |size| WriteOptions::default().block_size(size);
    let plain = |size| blocks(size).compression(Compression::None);
    let cases = [
        ("small values", entries(20_000, |_| 60), blocks(4096), 10),
        ("small values, few bits", entries(20_000, |_| 60), plain(4096), 5),
        ("a key or two a block", entries(1500, |_| 3000), plain(4096), 10),
        ("large values", entries(400, |_| 20_000), blocks(4096), 20),
        ("values of any size", entries(3000, |key| key * 37 % 1500), blocks(4096), 14),
        ("sizes that grow", entries(2500, |key| key), blocks(1024), 10),
        ("large blocks", entries(20_000, |_| 100), plain(65_536), 10),
        ("tiny blocks", entries(3000, |_| 60), plain(256), 16),
        ("many bits", entries(3000, |_| 300), blocks(4096), 60),
    ];
    let folder = folder();
    for (name, entries, options, bits) in cases {
        let inspect = |base_lg: u8| {
            let path = file(&folder, "table.ldb", build(&entries, &options, bits, base_lg));
            let report = run(&args!["inspect", "--json", path]).expect(0).one();
            println!("{name}: {} keys {}", report["data_blocks"], report["entries"]);
            report["filter"].clone()
        };
        let before = inspect(11);
        let larger = &before["larger_ranges"];
        let base_lg = larger["base_lg"].as_u64().expect(name) as u8;
        let after = inspect(base_lg);
        let size = |filter: &serde_json::Value| filter["size"].as_u64().unwrap();
        let (saved, said) = (size(&before) - size(&after), larger["saves"].as_u64().unwrap());
        let [rate, said_rate] =
            [&after["estimated_fpr"], &larger["estimated_fpr"]].map(|rate| rate.as_f64().unwrap());
        println!(
            "{name}: base_lg {base_lg}: {saved} of {} saved, {said} said; {rate}, {said_rate} said; {}",
            size(&before),
            before["estimated_fpr"]
        );
        assert!(saved.abs_diff(said) <= saved / 10 + 4, "{name}: {saved} saved, {said} said");
        assert!((rate - said_rate).abs() <= 0.2 * rate + 1e-4, "{name}: {rate}, {said_rate} said");
    }
}

#[test]
fn a_rebuild_of_the_test_data_saves_what_is_said() {
    let path = table("large-65536-bloom10.ldb");
    let filter = run(&args!["inspect", "--json", path]).expect(0).one()["filter"].clone();
    let larger = &filter["larger_ranges"];
    let (base_lg, said) = (larger["base_lg"].as_u64().unwrap() as u8, larger["saves"].as_u64().unwrap());
    assert_eq!(filter["empty_filter_bytes"], 4 * filter["empty_filters"].as_u64().unwrap());
    let entries: Vec<_> = sample("large-65536-bloom10.ldb")
        .entries
        .iter()
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect();
    let size = |base_lg| {
        let options = WriteOptions::default().block_size(65_536).compression(Compression::None);
        let table = Table::open(build(&entries, &options, 10, base_lg), &ReadOptions::default()).unwrap();
        table.filter_handle().unwrap().size
    };
    assert_eq!(size(11), filter["size"].as_u64().unwrap());
    let saved = size(11) - size(base_lg);
    assert!(saved > 100 && saved.abs_diff(said) <= 4, "{said} announced, {saved} saved");
    let card = run(&args!["inspect", path]).expect(0).out;
    assert!(
        card.contains(&format!("base_lg {base_lg} would save about {said} B, false positives then ")),
        "{card}"
    );
}
