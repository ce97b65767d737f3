use std::ffi::OsString;
use std::io;
use std::sync::{Arc, Mutex};

use filterblock::{BloomFilterPolicy, FilterBlockBuilder};
use serde_json::Value;

use super::tables::{Crafted, Place, entry_block, handle, sample, varint};
use super::*;

const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

/// A filter block for these keys in the data block at offset 0.
fn filter_block(keys: &[&[u8]]) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    keys.iter().for_each(|key| builder.add_key(key));
    builder.finish().unwrap().to_vec()
}

/// A table of two keys whose filter block `change` alters.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let keys: [&[u8]; 2] = [b"first key", b"second key"];
    let mut crafted = Crafted::default();
    let data = crafted.entries(&keys.map(|key| (key, b"value")));
    let mut filter = filter_block(&keys);
    change(&mut filter);
    let filter = crafted.block(&filter);
    crafted.finish(&[(b"z", data)], &[(FILTER, filter)]).to_vec()
}

#[track_caller]
fn inspect(contents: impl AsRef<[u8]>, status: i32) -> Value {
    let folder = folder();
    let path = file(&folder, "table.ldb", contents);
    let report = run(&args!["inspect", "--json", path]).expect(status).one();
    // The text says the same, and has the reasons for those who ask for them.
    let words = report["verdict"].as_str().unwrap().replace('-', " ").replace("unknown", "cannot tell");
    let text = run(&args!["inspect", path]).expect(status).out;
    assert!(text.starts_with(&format!("{}: {words}", path.display())), "{text}");
    let wide = run(&args!["inspect", "--wide", path]).expect(status).out;
    for text in ["error", "filter_error"].map(|field| report[field].as_str().unwrap_or_default()) {
        let text = text
            .split_once(": ")
            .filter(|(kind, _)| ["malformed", "false negatives"].contains(kind))
            .map_or(text, |(_, rest)| rest);
        assert!(wide.contains(text.strip_prefix("filter error: ").unwrap_or(text)), "{text} {wide}");
    }
    report
}

#[test]
fn sound_to_begin_with() {
    let report = inspect(changed(|_| ()), 0);
    assert_eq!((&report["verdict"], &report["key_format"]), (&"fine".into(), &"user".into()));
}

#[test]
fn malformed_filter_blocks() {
    let report = inspect(changed(|filter| *filter.last_mut().unwrap() = 64), 0);
    assert_eq!(
        (&report["verdict"], &report["filter_status"]),
        (&"could-be-better".into(), &"malformed".into())
    );
    let malformed = report["filter_error"].as_str().unwrap();
    assert!(malformed.contains("expected base_lg 0 to 63, found 64"), "{malformed}");
    assert_eq!(report["filter"]["estimated_fpr"], 1.0);
    assert_eq!(report["filter"]["base_lg"], 64);

    let report = inspect(changed(|filter| filter.truncate(3)), 0);
    assert_eq!(report["filter"]["filters"], 0);
    assert_eq!(report["filter"]["estimated_fpr"], 1.0);

    // The filter's end before its start.
    let report = inspect(changed(|filter| filter[9] = 20), 0);
    assert!(report["filter_error"].as_str().unwrap().contains("filter 0 within 0 to 9"), "{report}");
    assert_eq!((&report["filter"]["bits"], &report["key_format"]), (&0.into(), &Value::Null));
}

#[test]
fn reserved_k_lets_everything_pass() {
    let report = inspect(changed(|filter| filter[8] = 31), 0);
    assert_eq!(report["filter"]["probes"], 31);
    assert_eq!(report["filter"]["estimated_fpr"], 1.0);
}

#[test]
fn filters_that_deny_stored_keys() {
    let report = inspect(changed(|filter| filter[..8].fill(0)), 1);
    assert_eq!(report["verdict"], "false-negatives");
    assert_eq!(report["filter_status"], "false-negatives");
    assert_eq!(report["key_format"], Value::Null);
    let hide = "expected filters that match all stored keys, found that they hide 2 of 2 tried";
    assert_eq!(report["filter_error"], hide);
    let folder = folder();
    let path = file(&folder, "table.ldb", changed(|filter| filter[..8].fill(0)));
    let run = run(&args!["inspect", path]).expect(1);
    assert!(run.out.contains(": false negatives: filters hide stored keys\n"), "{run:?}");
}

#[test]
fn a_filter_that_fails_its_checksum() {
    let mut contents = changed(|_| ());
    let at = contents.windows(9).position(|window| window[8] == 6 && window != [0; 9]).unwrap();
    contents[at] ^= 0x80;
    let report = inspect(&contents, 1);
    assert_eq!((&report["verdict"], &report["filter"]), (&"damaged".into(), &Value::Null));
    assert_eq!(report["filter_status"], "unusable");
    assert!(report["filter_error"].as_str().unwrap().starts_with("block checksum at offset "), "{report}");
    assert_eq!(report["filter_size_at_10_bits"], Value::Null);
    assert_eq!(report["filter_policies"][0], "leveldb.BuiltinBloomFilter2");
}

#[test]
fn bashos_filters_are_not_read_as_leveldbs() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    let filter = crafted.block(&filter_block(&[b"something else"]));
    let contents = crafted.finish(&[(b"l", data)], &[(FILTER, filter), (b"stats.sst1", filter)]);
    let report = inspect(&contents, 0);
    assert!(report["filter_error"].as_str().unwrap().contains("Basho"), "{report}");
    assert_eq!((&report["format"], &report["filter"]["estimated_fpr"]), (&"riak".into(), &Value::Null));
    let folder = folder();
    let answer = run(&args!["query", "--json", file(&folder, "riak.ldb", contents), "key"]).expect(2).one();
    assert_eq!(answer["may_match"], true);
}

/// A table of one data block, whose index holds these handles.
fn indexed(handles: impl Iterator<Item = Place>) -> Vec<u8> {
    let mut crafted = Crafted::default();
    crafted.entries(&[(b"key", b"value")]);
    crafted.with_index(handles).to_vec()
}

/// The place of the only data block of [`indexed`].
fn data() -> Place {
    (0, entry_block(&[(b"key", b"value")]).len() as u64)
}

#[test]
fn one_block_named_again_and_again() {
    let report = inspect(indexed((0..150_000).map(|_| data())), 1);
    assert_eq!(report["data_blocks"], 1);
    let error = "index: expected each data block once, found the one at offset 0 again (and 149998 more)";
    assert_eq!(report["error"], error);
    assert_eq!(report["entries"]["value"], 1);
}

#[test]
fn a_million_handles_that_lead_nowhere() {
    let far = |at: u64| (u64::MAX - at % 7, u64::MAX - at % 3);
    let folder = folder();
    let path = file(&folder, "table.ldb", indexed((0..1_000_000).map(far)));
    let report = run(&args!["inspect", "--json", path]).expect(1).one();
    assert_eq!(report["data_blocks"], 0);
    assert!(report["error"].as_str().unwrap().ends_with("(and 999999 more)"), "{report}");
    let answer = run(&args!["query", "--json", path, "key"]).expect(2).one();
    assert_eq!(answer["may_match"], true);
}

#[test]
fn names_that_share_a_long_start() {
    // Each entry but the first takes a few bytes, and all have names of this length.
    let table = |len: usize| {
        let mut crafted = Crafted::default();
        let shared = varint(len as u64);
        let mut metaindex = [&[0][..], &shared, &varint(2), &vec![b'x'; len], &[0, 0]].concat();
        for _ in 0..100_000 {
            metaindex.extend([&shared[..], &[0, 2, 0, 0]].concat());
        }
        metaindex.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        let metaindex = crafted.block(&metaindex);
        let index = crafted.entries::<&[u8], &[u8]>(&[]);
        crafted.footer(metaindex, index)
    };
    let report = inspect(table(4096), 0);
    assert_eq!(report["filter_policies"], Value::Array(Vec::new()));
    let folder = folder();
    let wide = run(&args!["inspect", "--wide", file(&folder, "table.ldb", table(4096))]).expect(0).out;
    assert!(wide.contains("... (4096 bytes), ") && wide.contains("... and 99985 more\n"));
    // A longer name is not put together.
    let report = inspect(table(100_000), 1);
    let error = report["filter_error"].as_str().unwrap();
    assert!(error.ends_with("expected at most 4096 bytes, found 100000"), "{error}");
}

/// The library stops reading the metaindex at RocksDB's name in it, which is before the damage.
#[test]
fn a_metaindex_that_is_damaged_behind_its_filter() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    let filter = crafted.block(&filter_block(&[b"key"]));
    let names = [FILTER, b"rocksdb.properties", b"zzz"].map(|name| (name, handle(filter)));
    let mut metaindex = entry_block(&names);
    // The place of the last key's length.
    let length = metaindex.windows(3).position(|key| key == b"zzz").unwrap() - 2;
    metaindex[length] = 0x7f;
    let metaindex = crafted.block(&metaindex);
    let index = crafted.entries(&[(b"z", handle(data))]);
    let contents = crafted.footer(metaindex, index);
    let report = inspect(&contents, 1);
    let error = report["filter_error"].as_str().unwrap();
    assert!(error.starts_with("block entry at offset ") && !report["filter"].is_null(), "{report}");
    let folder = folder();
    let verdict = run(&args!["verify", "--json", file(&folder, "table.ldb", contents)]).expect(1).one();
    let problem = &verdict["problems"][0];
    assert_eq!((&problem["code"], &problem["found"]), (&"filter-unreadable".into(), &report["filter_error"]));
}

#[test]
fn index_keys_that_share_a_long_start() {
    let mut crafted = Crafted::default();
    crafted.entries(&[(b"key", b"value")]);
    let metaindex = crafted.entries::<&[u8], &[u8]>(&[]);
    let value = handle(data());
    let mut index = [&[0][..], &varint(30_000), &varint(2), &[b'x'; 30_000], &value].concat();
    for _ in 0..30_000 {
        index.extend([&varint(30_000)[..], &[0, 2], &value].concat());
    }
    index.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let index = crafted.block(&index);
    let folder = folder();
    let path = file(&folder, "table.ldb", crafted.footer(metaindex, index));
    let answer = run(&args!["query", "--json", "--comparator", "bytewise", path, "key"]).expect(2).one();
    assert_eq!(answer["may_match"], true);
}

/// The program's output when it runs within the test.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the program in this process, which is faster than starting another one.
fn run_here(arguments: Vec<OsString>) -> (u8, Vec<Value>) {
    let output = Output::default();
    let arguments = std::iter::once("filterblock".into()).chain(arguments);
    let status = filterblock_cli::run(arguments, output.clone(), io::sink());
    let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    (status, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Whatever happens to a file, it gets its line of output, and no stored key is denied.
#[test]
fn every_truncation_and_every_flipped_bit() {
    let sample = sample("dense-256-bloom10-snappy.ldb");
    let folder = folder();
    let keys: Vec<String> =
        sample.entries.iter().map(|(key, _)| key.iter().map(|b| format!("{b:02x}")).collect()).collect();
    let keys =
        file(&folder, "keys", keys.iter().step_by(20).map(|key| format!("{key}\n")).collect::<String>());
    let mut statuses = [0; 3];
    let mut try_it = |contents: &[u8]| {
        let path = file(&folder, "table.ldb", contents);
        let (status, reports) = run_here(args!["inspect", "--json", "--filters", path].to_vec());
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0]["file_size"], contents.len());
        let fine = reports[0]["error"].is_null() && reports[0]["filter_error"].is_null();
        assert!(status == 0 || (status == 1 && !fine), "{} {}", status, reports[0]);
        statuses[usize::from(status)] += 1;
        for order in [&["--comparator", "bytewise"][..], &[]] {
            let mut arguments = args!["query", "--json", "--hex", path, "--keys-from", keys].to_vec();
            arguments.extend(order.iter().map(Into::into));
            let (_, answers) = run_here(arguments);
            assert_eq!(answers.len(), sample.entries.len().div_ceil(20));
            assert!(answers.iter().all(|answer| answer["may_match"] == true), "{}", answers[0]);
        }
    };
    try_it(&sample.file);
    for len in (0..sample.file.len()).step_by(35) {
        try_it(&sample.file[..len]);
    }
    let mut contents = sample.file.to_vec();
    for bit in (0..8 * contents.len()).step_by(95) {
        contents[bit / 8] ^= 1 << (bit % 8);
        try_it(&contents);
        contents[bit / 8] ^= 1 << (bit % 8);
    }
    println!("fine, damaged, unreadable: {statuses:?}");
    assert!(statuses[1] > 80, "{statuses:?}");
}
