//! The number of entries that `inspect` estimates, compared with tables whose keys are known.

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};
use serde_json::Value;

use crate::tables::{Crafted, entry_block, samples};
use crate::{args, database, file, folder, run, table};

/// Numbers that look random and are the same in each run (the 64-bit LCG of Knuth's MMIX).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from 0 up to 1.
    fn share(&mut self) -> f64 {
        self.next() as f64 / f64::from(1_u32 << 31)
    }
}

/// The size of a value in a table of one of six kinds. `at` is the value's place in the file, from 0 to 1.
fn value_size(kind: u64, mean: f64, at: f64, runs: &[f64], random: &mut Random) -> usize {
    let factor = match kind {
        0 => 1.0,
        // Grows along the file.
        1 => 0.05 + 2.0 * at,
        // Runs of values of similar size.
        2 => runs[(at * runs.len() as f64) as usize],
        // One in ten is large.
        3 => {
            if random.below(10) == 0 {
                5.0
            } else {
                0.5
            }
        }
        // Any size, with a long tail.
        4 => -random.share().max(1e-9).ln(),
        // Waves.
        _ => 1.0 + 0.95 * (at * 40.0).sin(),
    };
    (mean * factor) as usize
}

/// A table with this number of keys and about this many bytes of values.
fn random_table(number: u64, keys: u64, bytes: u64) -> Vec<u8> {
    let mut random = Random(number);
    let kind = number % 6;
    let compression = if random.below(3) == 0 { Compression::None } else { Compression::Snappy };
    let options = WriteOptions::default().compression(compression);
    let options = options.block_size([1024, 4096, 4096, 16384][random.below(4) as usize]);
    let options = match random.below(2) {
        0 => options,
        _ => options.filter_policy(BloomFilterPolicy::new(10)),
    };
    let runs: Vec<f64> = (0..1 + random.below(30)).map(|_| 3.0 * random.share().powi(2)).collect();
    // Values differ in how far they can be compressed, by their place in the table.
    let patterns: Vec<u64> = (0..1 + random.below(8)).map(|_| random.below(256)).collect();
    let mean = bytes as f64 / keys as f64;
    let mut builder = TableBuilder::new(Vec::new(), options);
    let mut value = Vec::new();
    for key in 0..keys {
        let at = key as f64 / keys as f64;
        let pattern = patterns[(at * patterns.len() as f64) as usize];
        value.clear();
        let size = value_size(kind, mean, at, &runs, &mut random);
        value.extend((0..size).map(|_| if random.below(256) < pattern { random.next() as u8 } else { b'v' }));
        builder.add(format!("{key:012}").as_bytes(), &value).unwrap();
    }
    builder.finish().unwrap().0
}

/// The number of entries, the ends of its interval, and whether it is exact.
fn keys(report: &Value) -> (u64, u64, u64, bool) {
    let entries = &report["entries"];
    let number = |name: &str| entries[name].as_u64().unwrap();
    (number("value"), number("low"), number("high"), entries["low"] == entries["high"])
}

#[test]
fn the_interval_of_keys_holds_the_number_for_19_of_20_tables() {
    let folder = folder();
    let mut random = Random(1);
    // From 1 to 200,000 keys. The logarithms of the numbers are uniformly distributed.
    let truth: Vec<u64> = (0..200).map(|_| 200_000_f64.powf(random.share()).round() as u64).collect();
    for (number, keys) in (0..).zip(&truth) {
        let bytes = (keys * [20, 100, 1000, 5000][random.below(4) as usize]).min(1_500_000);
        file(&folder, &format!("{number:06}.ldb"), random_table(number, *keys, bytes));
    }
    let reports = run(&args!["inspect", "--json", folder.path()]).expect(0).json();
    let all = run(&args!["inspect", "--json", "--depth", "all", folder.path()]).expect(0).json();
    let (mut held, mut held_estimates, mut estimated) = (0, 0, 0);
    for (number, (report, truth)) in reports.iter().zip(&truth).enumerate() {
        let (count, low, high, exact) = keys(report);
        assert!(low <= count && count <= high, "{report}");
        assert!(!exact || (count, low, high) == (*truth, *truth, *truth), "{report} {truth}");
        held += usize::from((low..=high).contains(truth));
        estimated += usize::from(!exact);
        held_estimates += usize::from(!exact && (low..=high).contains(truth));
        assert_eq!(keys(&all[number]), (*truth, *truth, *truth, true), "{}", all[number]);
        assert_eq!([&report["depth"], &all[number]["depth"]], ["sample", "all"]);
        if !(low..=high).contains(truth) {
            println!("{number}: {truth} keys, {low} to {high}, {} blocks", report["data_blocks"]);
        }
    }
    println!("{held} of {estimated} estimated and {} in all", reports.len());
    assert_eq!(reports.len(), 200);
    assert!(estimated >= 60, "{estimated}");
    assert!(held >= 190, "{held}");
    // Numbers that were counted hold in any case, so the estimates are judged apart from them.
    assert!(20 * held_estimates >= 19 * estimated, "{held_estimates} of {estimated}");
}

#[test]
fn the_keys_of_all_test_data_are_counted() {
    for sample in samples() {
        let report = run(&args!["inspect", "--json", table(&sample.name)]).expect(0).one();
        let (count, low, high, exact) = keys(&report);
        let truth = sample.entries.len() as u64;
        assert!((low..=high).contains(&truth), "{}: {truth} {report}", sample.name);
        assert!(!exact || count == truth, "{}: {truth} {report}", sample.name);
        assert!(exact || report["data_blocks"].as_u64() > Some(64), "{}", sample.name);
    }
}

/// All blocks but the last hold two keys each. The last one holds a single key, which does not change the estimate for
/// the others.
#[test]
fn the_last_block_counts_for_itself_alone() {
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(100));
    for key in 0..4000_u32 {
        builder.add(&key.to_be_bytes(), &[7; 60]).unwrap();
    }
    builder.add(b"z", b"").unwrap();
    let folder = folder();
    let report = run(&args!["inspect", "--json", file(&folder, "table.ldb", builder.finish().unwrap().0)]);
    let report = report.expect(0).one();
    assert_eq!((report["data_blocks"].as_u64(), keys(&report).0), (Some(2001), 4001));
}

/// The blocks at the start of each of 32 equal parts of the index hold one key each, and so does the last block. All
/// other blocks hold ten keys.
#[test]
fn blocks_that_repeat_in_step_with_the_parts_are_no_trouble() {
    let block = |number: u64| {
        let keys = if number.is_multiple_of(32) { 1 } else { 10 };
        entry_block(&(0..keys).map(|key| (format!("{number:06} {key:02}"), "")).collect::<Vec<_>>())
    };
    let mut crafted = Crafted::default();
    let places: Vec<_> = (0..=32 * 32).map(|number| crafted.block(&block(number))).collect();
    let folder = folder();
    let path = file(&folder, "table.ldb", crafted.with_index(places.into_iter()));
    let (count, low, high, exact) = keys(&run(&args!["inspect", "--json", path]).expect(0).one());
    let truth = 33 + 992 * 10;
    assert!(!exact && (low..=high).contains(&truth), "{count}, {low} to {high}, {truth} keys");
}

/// All blocks hold the same number of keys, but those that were not decoded might be different.
#[test]
fn an_estimate_is_not_sure_of_blocks_that_were_not_decoded() {
    let mut crafted = Crafted::default();
    let places: Vec<_> = (0..3000)
        .map(|number| crafted.entries(&[(format!("{number:06}"), ""), (format!("{number:06} 2"), "")]))
        .collect();
    let folder = folder();
    let path = file(&folder, "table.ldb", crafted.with_index(places.into_iter()));
    let (count, low, high, exact) = keys(&run(&args!["inspect", "--json", path]).expect(0).one());
    assert!(!exact && count == 6000 && low < 5950 && high > 6050, "{count}, {low} to {high}");
}

#[test]
fn keys_of_a_table_whose_index_is_damaged_are_not_exact() {
    let mut crafted = Crafted::default();
    let place = crafted.entries(&[("key", "value")]);
    let folder = folder();
    let path = file(&folder, "table.ldb", crafted.with_index([place, place].into_iter()));
    let report = run(&args!["inspect", "--json", path]).expect(1).one();
    assert_eq!((keys(&report).0, &report["verdict"]), (1, &"damaged".into()), "{report}");
}

#[test]
fn there_is_no_number_of_keys_where_no_block_can_be_decoded() {
    let folder = folder();
    let mut contents = std::fs::read(table("versions-512-bloom10.ldb")).unwrap();
    // All data blocks lie before the filter block.
    contents[..20_715].fill(0xff);
    let path = file(&folder, "000005.ldb", contents);
    let report = run(&args!["inspect", "--json", path]).expect(1).one();
    assert_eq!(report["entries"], Value::Null);
    let out = run(&args!["inspect", path]).expect(1).out;
    assert!(out.contains("\n  table            39 data blocks (type 255), "), "{out}");
}

#[test]
fn keys_are_a_dash_by_level_where_no_block_can_be_decoded() {
    let copy = folder();
    for entry in std::fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let path = copy.path().join("000009.ldb");
    let report = run(&args!["inspect", "--json", path]).expect(0).one();
    let mut contents = std::fs::read(&path).unwrap();
    contents[..report["filter"]["offset"].as_u64().unwrap() as usize].fill(0xff);
    std::fs::write(&path, contents).unwrap();
    let out = run(&args!["inspect", copy.path()]).expect(1).out;
    let level = out.lines().find(|line| line.trim_start().starts_with("0  ")).unwrap();
    assert!(level.split_whitespace().any(|cell| cell == "-") && !level.contains('~'), "{out}");
}
