//! The numbers of `tune` for a database, compared with tables that were really written with each number of bits per key,
//! and with a plain count of the blocks that lookups read of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, SharedPolicy};
use serde_json::Value;

use super::*;

const VALUE: u8 = 1;
const DELETION: u8 = 0;

/// Pseudo-random numbers of the test's own (the LCG of Knuth's MMIX).
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A table to be written, with the type of each entry by user key.
#[derive(Clone)]
struct Spec {
    level: u8,
    number: u64,
    entries: BTreeMap<Vec<u8>, u8>,
    /// The bits a key and the `base_lg`. `None`: no filters.
    filters: Option<(u32, u8)>,
}

impl Spec {
    fn bytes(&self) -> Vec<u8> {
        // Values that Snappy could make small would leave every block small.
        let mut options =
            WriteOptions::default().internal_keys(true).block_size(700).compression(Compression::None);
        if let Some((bits, base_lg)) = self.filters {
            let policy: SharedPolicy = Arc::new(BloomFilterPolicy::new(bits));
            options = options.filter_policies(vec![policy]).base_lg(base_lg);
        }
        let mut builder = TableBuilder::new(Vec::new(), options);
        for (key, kind) in &self.entries {
            // Some values are long, so that filters are for one key and for many. After the last value
            // there are empty filters.
            let is_last = Some(key) == self.entries.keys().last();
            let len = if is_last {
                9000
            } else if key.ends_with(b"00") {
                2500
            } else {
                20
            };
            builder.add(&manifest::internal_key(key, self.number, *kind), &vec![b'v'; len]).unwrap();
        }
        builder.finish().unwrap().0
    }
}

fn key(number: u64) -> Vec<u8> {
    format!("user{number:08}").into_bytes()
}

/// The database's tables: two on level 0 that overlap, a small level 1 in one part of the keys, and two larger levels.
/// Some keys are in several tables, some are deleted.
fn database() -> Vec<Spec> {
    let mut random = Lcg(1);
    let mut spec = |level: u8, number: u64, range: std::ops::Range<u64>, every: u64| {
        let mut entries = BTreeMap::new();
        for number in range {
            if random.below(every) == 0 {
                entries.insert(key(number), if random.below(12) == 0 { DELETION } else { VALUE });
            }
        }
        Spec { level, number, entries, filters: Some((10, 11)) }
    };
    let mut specs = vec![
        spec(0, 21, 0..40_000, 100),
        spec(0, 20, 3_000..30_000, 60),
        spec(1, 15, 5_000..12_000, 10),
        spec(2, 10, 0..15_000, 6),
        spec(2, 11, 15_000..40_000, 9),
    ];
    specs.extend((0..4).map(|part| spec(3, 1 + part, part * 10_000..(part + 1) * 10_000, 2)));
    specs
}

fn write(specs: &[Spec], folder: &Path) {
    let mut edit =
        manifest::Edit::sound().comparator(manifest::BYTEWISE).number(2, 0).number(3, 90).number(4, 99);
    for spec in specs {
        let bytes = spec.bytes();
        let (first, last) = (spec.entries.first_key_value().unwrap(), spec.entries.last_key_value().unwrap());
        let key = |(key, kind): (&Vec<u8>, &u8)| manifest::internal_key(key, spec.number, *kind);
        edit = edit.add(spec.level.into(), spec.number, bytes.len() as u64, &key(first), &key(last));
        std::fs::write(folder.join(format!("{:06}.ldb", spec.number)), bytes).unwrap();
    }
    std::fs::write(folder.join("CURRENT"), "MANIFEST-000005\n").unwrap();
    std::fs::write(folder.join("MANIFEST-000005"), manifest::log(&[edit.0]).0).unwrap();
}

/// The index of a table: for each data block, the user key in the index, and the block's offset.
type Blocks = Vec<(Vec<u8>, u64)>;

/// The tables as written, to count what lookups read of them.
struct Store {
    /// The tables in the order in which a lookup asks them.
    tables: Vec<(Spec, Table<Vec<u8>>, Blocks)>,
}

impl Store {
    fn new(specs: &[Spec]) -> Self {
        let mut specs = specs.to_vec();
        specs.sort_by_key(|spec| {
            (spec.level, if spec.level == 0 { u64::MAX - spec.number } else { spec.number })
        });
        let open = |spec: Spec| {
            let table = Table::open(spec.bytes(), &ReadOptions::default()).unwrap();
            let mut blocks = Vec::new();
            let mut index = table.index();
            while index.next().unwrap() {
                let key = index.key();
                blocks.push((key[..key.len() - 8].to_vec(), index.handle().unwrap().offset));
            }
            (spec, table, blocks)
        };
        Self { tables: specs.into_iter().map(open).collect() }
    }

    /// The number of data blocks that a lookup reads, and the type of the entry that it finds, if any.
    fn read(&self, key: &[u8]) -> (u64, Option<u8>) {
        let mut blocks_read = 0;
        for (spec, table, blocks) in &self.tables {
            let (first, last) =
                (spec.entries.first_key_value().unwrap(), spec.entries.last_key_value().unwrap());
            if key < &first.0[..] || key > &last.0[..] {
                continue;
            }
            let at = blocks.partition_point(|(end, _)| &end[..] < key);
            let Some((_, offset)) = blocks.get(at) else { continue };
            if table.filter().is_some_and(|filter| !filter.key_may_match(*offset, key)) {
                continue;
            }
            blocks_read += 1;
            if let Some(kind) = spec.entries.get(key) {
                return (blocks_read, Some(*kind));
            }
        }
        (blocks_read, None)
    }

    fn filter_size(&self) -> u64 {
        self.tables.iter().filter_map(|(_, table, _)| table.filter_handle()).map(|handle| handle.size).sum()
    }
}

/// The specs with filters of so many bits per key.
fn with(specs: &[Spec], bits: u32) -> Vec<Spec> {
    specs.iter().map(|spec| Spec { filters: Some((bits, 11)), ..spec.clone() }).collect()
}

fn tune(folder: &Path, arguments: &[&str]) -> Value {
    let mut all = vec!["tune".as_ref(), "--json".as_ref(), folder.as_os_str()];
    all.extend(arguments.iter().map(|argument| std::ffi::OsStr::new(*argument)));
    let run = run(&all);
    assert_eq!(run.status, 0, "{}", run.err);
    run.one()
}

/// The rows by bits per key.
fn rows(tuning: &Value) -> impl Iterator<Item = (u32, &Value)> {
    tuning["by_bits"].as_array().unwrap().iter().map(|row| (number(&row["bits_per_key"]) as u32, row))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

fn mean(numbers: &[u64]) -> f64 {
    numbers.iter().sum::<u64>() as f64 / numbers.len() as f64
}

/// Fails unless `said`, an estimate, is within 10 % of the mean of `counted`, or within three standard
/// errors of both.
#[track_caller]
fn agrees(said: &Value, counted: &[u64], what: &str) {
    let found = mean(counted);
    let variance =
        counted.iter().map(|one| (*one as f64 - found).powi(2)).sum::<f64>() / counted.len() as f64;
    let error = (variance / counted.len() as f64
        + ((number(&said["high"]) - number(&said["low"])) / 2.0 / 1.96).powi(2))
    .sqrt();
    let off = (number(&said["value"]) - found).abs();
    assert!(off <= 0.1 * found || off <= 3.0 * error, "{what}: said {said}, counted {found} ± {error}");
}

#[test]
fn sizes_are_those_of_tables_written_with_each_number_of_bits() {
    let specs = database();
    let folder = tempfile::tempdir().unwrap();
    write(&specs, folder.path());
    let tuning = tune(folder.path(), &[]);
    assert_eq!(number(&tuning["filter_size"]), Store::new(&specs).filter_size() as f64);
    let entries: usize = specs.iter().map(|spec| spec.entries.len()).sum();
    assert_eq!((number(&tuning["entries"]), &tuning["bits_per_key"]), (entries as f64, &10.into()));
    assert_eq!(rows(&tuning).map(|(bits, _)| bits).collect::<Vec<_>>(), [4, 6, 8, 10, 12, 14, 16, 20]);
    for (bits, row) in rows(&tuning) {
        assert_eq!(
            number(&row["filter_size"]),
            Store::new(&with(&specs, bits)).filter_size() as f64,
            "{bits}"
        );
    }
    // Rates are shares of the keys that reach a filter, so they do not depend on levels.
    let [random, ..] = drawn(&specs, 5000);
    let bare: Vec<_> = specs.iter().map(|spec| Spec { filters: None, ..spec.clone() }).collect();
    let reads = |specs: &[Spec]| -> u64 {
        let store = Store::new(specs);
        random.iter().map(|key| store.read(key).0).sum()
    };
    let checked = reads(&bare) as f64;
    for (bits, row) in rows(&tuning).filter(|(bits, _)| *bits < 10) {
        let (said, found) = (number(&row["fpr"]), reads(&with(&specs, bits)) as f64 / checked);
        let error = 3.0 * (found / checked).sqrt() + 0.05 * found;
        assert!((said - found).abs() < error, "{bits}: said {said}, counted {found}");
    }
}

/// For the user's own lookups, nothing is estimated.
#[test]
fn reads_of_given_lookups_are_those_of_tables_written_with_each_number_of_bits() {
    let specs = database();
    let folder = tempfile::tempdir().unwrap();
    write(&specs, folder.path());
    let mut random = Lcg(2);
    let lookups: Vec<Vec<u8>> = (0..9000).map(|_| key(random.below(41_000))).collect();
    let file = folder.path().join("lookups");
    std::fs::write(&file, lookups.join(&b'\n')).unwrap();
    let tuning = tune(folder.path(), &["--lookups", file.to_str().unwrap()]);
    let count = |specs: &[Spec]| {
        let store = Store::new(specs);
        let (mut present, mut absent) = (Vec::new(), Vec::new());
        for key in &lookups {
            let (blocks, found) = store.read(key);
            if found == Some(VALUE) { present.push(blocks) } else { absent.push(blocks) }
        }
        assert!(present.len() > 2000 && absent.len() > 2000);
        (present.len(), mean(&present), mean(&absent))
    };
    let now = count(&specs);
    assert_eq!(tuning["lookups"], serde_json::json!({"given": 9000, "used": 9000, "stored": now.0}));
    let equal = |said: [&Value; 2], (_, stored, absent): (usize, f64, f64)| {
        for (said, counted) in said.into_iter().zip([stored, absent]) {
            assert!((number(said) - counted).abs() < 1e-9, "said {said}, counted {counted}");
        }
    };
    equal([&tuning["stored_reads"]["value"], &tuning["absent_reads"]["value"]], now);
    for (bits, row) in rows(&tuning) {
        equal([&row["stored_reads"], &row["absent_reads"]], count(&with(&specs, bits)));
    }
}

/// Five sets of keys that the test draws. Four have absent keys: stored ones with eight random bytes appended, with a
/// byte changed to another one that occurs there, cut by one to four bytes, and made longer by as many. The fifth set
/// has all keys that have a value.
fn drawn(specs: &[Spec], count: usize) -> [Vec<Vec<u8>>; 5] {
    let mut random = Lcg(3);
    let all: Vec<&Vec<u8>> = specs.iter().flat_map(|spec| spec.entries.keys()).collect();
    let store = Store::new(specs);
    let longest = all.iter().map(|key| key.len()).max().unwrap();
    let occurring: Vec<BTreeSet<u8>> =
        (0..longest).map(|at| all.iter().filter_map(|key| key.get(at).copied()).collect()).collect();
    let mut sets = [const { Vec::new() }; 5];
    while sets[..4].iter().any(|set| set.len() < count) {
        let seed = all[random.below(all.len() as u64) as usize].clone();
        let tail: Vec<u8> = (0..8).map(|_| random.below(256) as u8).collect();
        let beside: Vec<u8> = [&seed[..], &tail].concat();
        let mut changed = seed.clone();
        let at = random.below(seed.len() as u64) as usize;
        let others: Vec<u8> = occurring[at].iter().copied().filter(|byte| *byte != seed[at]).collect();
        changed[at] = match others.is_empty() {
            true => seed[at] ^ (1 + random.below(255) as u8),
            false => others[random.below(others.len() as u64) as usize],
        };
        let cut = seed[..seed.len() - 1 - random.below(4) as usize].to_vec();
        let mut longer = seed.clone();
        for _ in 0..=random.below(4) {
            let bytes = &occurring[longest.min(longer.len()) - 1];
            longer.extend(bytes.iter().nth(random.below(bytes.len() as u64) as usize));
        }
        sets[0].push(beside);
        for (set, key) in sets[1..4].iter_mut().zip([changed, cut, longer]) {
            if store.read(&key).1.is_none() {
                set.push(key);
            }
        }
    }
    let newest: BTreeMap<_, _> = all.iter().map(|key| (*key, store.read(key).1)).collect();
    sets[4] =
        newest.into_iter().filter(|(_, kind)| *kind == Some(VALUE)).map(|(key, _)| key.clone()).collect();
    sets
}

#[test]
fn reads_are_what_lookups_of_other_random_keys_read() {
    let mut specs = database();
    // A table without filters costs a block wherever a lookup reaches it.
    specs[4].filters = None;
    let folder = tempfile::tempdir().unwrap();
    write(&specs, folder.path());
    let tuning = tune(folder.path(), &[]);
    let sets = drawn(&specs, 10_000);
    let counted = |specs: &[Spec], set: usize| -> Vec<u64> {
        let store = Store::new(specs);
        sets[set].iter().map(|key| store.read(key).0).collect()
    };
    let exactly = |value: &Value| serde_json::json!({"value": value, "low": value, "high": value});
    agrees(&tuning["absent_reads"], &counted(&specs, 0), "random, now");
    agrees(&tuning["stored_reads"], &counted(&specs, 4), "stored, now");
    let similar = &tuning["similar"];
    let set = ["changed", "cut-short", "lengthened"].iter().position(|kind| similar["kind"] == *kind);
    // Keys of one length are neither cut short nor lengthened, and these numbers are no sequence with gaps.
    let (set, reads) = (set.map_or(1, |set| set + 1), exactly(&similar["reads"]));
    if similar["kind"] != "between-numbers" {
        agrees(&reads, &counted(&specs, set), "similar, now");
    }
    for (bits, row) in rows(&tuning) {
        let specs = with(&specs, bits);
        agrees(&exactly(&row["absent_reads"]), &counted(&specs, 0), &format!("random, {bits}"));
        agrees(&exactly(&row["stored_reads"]), &counted(&specs, 4), &format!("stored, {bits}"));
    }
    assert_eq!([&tuning["verdict"], &tuning["reason"]], ["could-be-better", "reads"]);
}
