//! Complete objects of `--json`: every field is compared with what is known from how the file was put together.
//!
//! A field that is new, missing or renamed is a difference, too.

use std::fs;
use std::path::Path;

use filterblock::{BloomFilterPolicy, FilterPolicy as _, KeyBuf};
use serde_json::{Value, json};

use super::tables::{Crafted, Place, entry_block, listing, testdata, unhex};
use super::*;

const POLICY: &str = "leveldb.BuiltinBloomFilter2";
const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

/// Stands for any text.
const ANY: &str = "…";

/// Fails unless both are the same, field by field. Rates may differ in their last digits.
#[track_caller]
fn same(found: &Value, expected: &Value) {
    if let Some(difference) = difference("", found, expected) {
        panic!("{difference}\nfound {found:#}\nexpected {expected:#}");
    }
}

fn difference(at: &str, found: &Value, expected: &Value) -> Option<String> {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            let names = |object: &serde_json::Map<String, Value>| object.keys().cloned().collect::<Vec<_>>();
            if names(a) != names(b) {
                return Some(format!("{at}: fields {:?}, expected {:?}", names(a), names(b)));
            }
            a.iter().find_map(|(name, value)| difference(&format!("{at}.{name}"), value, &b[name]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|i| difference(&format!("{at}[{i}]"), &a[i], &b[i]))
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            ((a - b).abs() > 1e-12).then(|| format!("{at}: {a}, expected {b}"))
        }
        (Value::String(_), Value::String(any)) if any == ANY => None,
        _ => (found != expected).then(|| format!("{at}: {found}, expected {expected}")),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn len(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// An object: the fields that all objects have, without notes, and those of `rest`.
fn framed(object: &str, input: &Path, path: &Path, kind: Option<&str>, rest: Value) -> Value {
    let mut all = json!({
        "schema_version": 1, "object": object, "input": text(input), "path": text(path), "path_bytes": null,
        "error_kind": kind, "error": kind.map(|_| ANY), "notes": [],
    });
    let fields = all.as_object_mut().unwrap();
    fields.extend(rest.as_object().unwrap().clone());
    if fields.contains_key("filter_size_at_10_bits") {
        // `inspect` has a depth for each table that it could open.
        let is_opened = fields.get("file_size").is_some_and(|size| !size.is_null());
        fields.insert("depth".to_owned(), if is_opened { json!("sample") } else { Value::Null });
    }
    all
}

/// The only line that the program prints.
#[track_caller]
fn one(status: i32, arguments: &[std::ffi::OsString]) -> Value {
    run(arguments).expect(status).one()
}

/// A filter of ten bits a key: eight bytes of bits, and six probes.
fn filter(keys: &[&[u8]]) -> Vec<u8> {
    let mut all = KeyBuf::new();
    keys.iter().for_each(|key| all.push(key));
    let mut filter = Vec::new();
    BloomFilterPolicy::new(10).create_filter(all.as_keys(), &mut filter).unwrap();
    assert_eq!((filter.len(), filter[8]), (9, 6));
    filter
}

fn bits_set(filter: &[u8]) -> u32 {
    filter[..8].iter().map(|byte| byte.count_ones()).sum()
}

/// The share of absent keys that pass the six probes of a filter, estimated from the bits set.
fn rate(filter: &[u8]) -> f64 {
    (f64::from(bits_set(filter)) / 64.0).powi(6)
}

/// A table of two data blocks and four filters. The blocks are in the ranges of the first and the fourth filter. The
/// second and the third are empty.
struct Known {
    contents: Vec<u8>,
    first: Place,
    second: Place,
    filter_block: Place,
    filters: [Vec<u8>; 2],
}

impl Known {
    /// Makes the table. `suffix` follows each of the user keys "apple", "melon" and "peach".
    fn new(suffix: &[u8]) -> Self {
        let filters = [filter(&[b"apple", b"melon"]), filter(&[b"peach"])];
        Self::with_filters(suffix, filters)
    }

    fn with_filters(suffix: &[u8], filters: [Vec<u8>; 2]) -> Self {
        let key = |user_key: &[u8]| [user_key, suffix].concat();
        let mut crafted = Crafted::default();
        let first = crafted.entries(&[(key(b"apple"), vec![b'v'; 6500]), (key(b"melon"), b"2".to_vec())]);
        let second = entry_block(&[(key(b"peach"), [b'3'; 100])]);
        let second = crafted.block_of_type(&snap::raw::Encoder::new().compress_vec(&second).unwrap(), 1);
        assert_eq!(second.0 >> 11, 3);
        let mut block = filters.concat();
        [0, 9, 9, 9, 18u32].iter().for_each(|offset| block.extend(offset.to_le_bytes()));
        block.push(11);
        let filter_block = crafted.block(&block);
        let index = [(key(b"melon"), first), (key(b"peach"), second)];
        let index: Vec<_> = index.iter().map(|(key, place)| (key.as_slice(), *place)).collect();
        let contents = crafted.finish(&index, &[(FILTER, filter_block), (b"other", (0, 0))]).to_vec();
        Self { contents, first, second, filter_block, filters }
    }

    fn rates(&self) -> [f64; 2] {
        [rate(&self.filters[0]), rate(&self.filters[1])]
    }

    /// The share of random keys that pass. The positions among 64 bits depend on twelve bits of the hash: the lowest
    /// six, and the lowest six after a rotation to the right by 17.
    fn random_rate(&self) -> f64 {
        let passes = |filter: &[u8], start: u32, delta: u32| {
            let positions = (0..6).map(|probe| (start + probe * delta) % 64);
            positions.into_iter().all(|at| filter[at as usize / 8] & (1 << (at % 8)) != 0)
        };
        let pairs = (0..64).flat_map(|start| (0..64).map(move |delta| (start, delta)));
        let rate =
            |filter: &Vec<u8>| pairs.clone().filter(|&(h, d)| passes(filter, h, d)).count() as f64 / 4096.0;
        let [first, second] = [0, 1].map(|at| rate(&self.filters[at]));
        (2.0 * first + second) / 3.0
    }

    /// Returns the false-positive rate that `found` estimates from the bits set, once it is checked. Two of three
    /// absent keys come to the first filter, which has two of the three entries. With only 64 bits a filter, the
    /// numbers of entries are estimates.
    #[track_caller]
    fn estimated(&self, found: &Value) -> Value {
        let [first, second] = self.rates();
        let (exact, found) = ((2.0 * first + second) / 3.0, found.as_f64().unwrap());
        assert!((found - exact).abs() <= 0.05 * exact, "{found} {exact}");
        json!(found)
    }

    /// Copies the measured and the estimated rates from `found` to `expected`. The rate of random keys may differ from
    /// the exact one by less than the width of its 95% interval.
    fn measured(&self, found: &Value, mut expected: Value) -> Value {
        for kind in ["random_fpr", "similar_fpr"] {
            let measured = &found["filter"][kind];
            if !measured.is_null() {
                rates(measured);
                expected["filter"][kind] = measured.clone();
            }
        }
        expected["filter"]["estimated_fpr"] = self.estimated(&found["filter"]["estimated_fpr"]);
        let [rate, low, high] = rates(&found["filter"]["random_fpr"]);
        let exact = self.random_rate();
        assert!((rate - exact).abs() < high - low, "{low} {exact} {high}");
        assert!(exact == 0.0 || high < 1.35 * low, "{low} {exact} {high}");
        expected
    }

    /// The report of `inspect` on the filters.
    fn filter_report(&self) -> Value {
        json!({
            "policy": POLICY, "offset": self.filter_block.0, "size": 2 * 9 + 4 * 4 + 5, "base_lg": 11,
            "filters": 4, "empty_filters": 2,
            "bits": 128, "bits_set": bits_set(&self.filters[0]) + bits_set(&self.filters[1]), "probes": 6,
            "estimated_fpr": null, "random_fpr": null, "similar_fpr": null,
        })
    }

    /// The report of `inspect` on the table at `path`, outside of a database.
    fn report(&self, path: &Path) -> Value {
        framed(
            "table",
            path,
            path,
            None,
            json!({ "verdict": "fine", "file_size": len(path), "data_blocks": 2,
                "entries": counted(3), "distinct_keys": counted(3),
                "compression": ["none", "snappy"],
                "filter_policies": [POLICY], "key_format": "user", "format": null, "hash": null,
                "comparator": null, "level": null, "live": null, "recorded_size": null,
                "lost": null, "filter_status": "ok", "filter_error": null, "filter": self.filter_report(),
                "filter_size_at_10_bits": null,
            }),
        )
    }
}

/// A measured rate, and the lower and the upper end of its interval. Checks the form of the JSON.
fn rates(measured: &Value) -> [f64; 3] {
    let fields: Vec<_> = measured.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["high", "low", "rate", "samples"]);
    let [rate, low, high] = ["rate", "low", "high"].map(|field| measured[field].as_f64().unwrap());
    assert!(0.0 <= low && low <= rate && rate <= high && high <= 1.0, "{measured}");
    assert!(low < high && measured["samples"].as_u64().unwrap() > 0, "{measured}");
    [rate, low, high]
}

/// The JSON of an exact number.
fn counted(number: u64) -> Value {
    json!({"value": number, "low": number, "high": number})
}

/// The report of `inspect` on a file of which nothing could be found out.
fn unknown(path: &Path, error: &str) -> Value {
    framed(
        "table",
        path,
        path,
        Some("damaged"),
        json!({ "verdict": "damaged", "error": error, "file_size": null, "data_blocks": null, "entries": null,
            "distinct_keys": null,
            "compression": [], "filter_policies": [], "key_format": null, "format": null, "hash": null,
            "comparator": null, "level": null, "live": null, "recorded_size": null,
            "lost": null, "filter_status": null, "filter_error": null, "filter": null, "filter_size_at_10_bits": null,
        }),
    )
}

fn tag(sequence: u64) -> [u8; 8] {
    (sequence << 8 | 1).to_le_bytes()
}

/// A database with a live table whose recorded size is not the file's, a missing table, and an obsolete one.
struct Folder {
    folder: tempfile::TempDir,
    known: Known,
}

const RECORDED: u64 = 4711;
const MISSING: u64 = 815;

impl Folder {
    fn new() -> Self {
        let known = Known::new(&tag(7));
        let folder = folder();
        file(&folder, "000005.ldb", &known.contents);
        file(&folder, "000009.ldb", &known.contents);
        let key = |user_key: &[u8]| [user_key, &tag(7)].concat();
        let edit = manifest::Edit::default().add(3, 5, RECORDED, &key(b"apple"), &key(b"peach")).add(
            2,
            7,
            MISSING,
            &key(b"apple"),
            &key(b"peach"),
        );
        write_manifest(folder.path(), &[edit]);
        Self { folder, known }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The report of `inspect` on all tables together. The two tables that exist have the same contents, whose rates
    /// are in `filter`. The obsolete one counts in no rate but that of its level.
    fn totals(&self, filter: &Value) -> Value {
        let measured = &filter["random_fpr"];
        let (known, size) = (&self.known, self.known.contents.len());
        let rate = known.estimated(&filter["estimated_fpr"]);
        let level = |level: Option<u8>| {
            json!({"level": level, "tables": 1, "without_filters": 0, "file_size": size, "entries": counted(3),
                "distinct_keys": counted(3), "filter_size": 39, "estimated_fpr": rate, "random_fpr": measured})
        };
        let rest = json!({
            "verdict": "damaged", "tables": 2, "missing": 1, "damaged": 1, "not_live": 0, "unreadable": 0, "without_filters": 0, "file_size": 2 * size,
            "data_blocks": 4, "entries": counted(6), "distinct_keys": counted(3), "filter_size": 78, "filters": 8, "empty_filters": 4,
            "estimated_fpr": rate, "random_fpr": measured, "levels": [level(Some(3)), level(None)],
        });
        framed("totals", self.folder.path(), self.folder.path(), None, rest)
    }
}

#[test]
fn inspect_of_a_table() {
    let folder = folder();
    let known = Known::new(b"");
    let path = file(&folder, "known.ldb", &known.contents);
    let found = one(0, &args!["inspect", "--json", path]);
    let expected = known.measured(&found, known.report(&path));
    same(&found, &expected);
    assert!(!found["filter"]["similar_fpr"].is_null());

    let [first, second] = known.rates();
    let empty = |index: u64| {
        json!({
            "index": index, "first_offset": 2048 * index, "last_offset": 2048 * index + 2047, "data_blocks": [],
            "bytes": 0, "bits": 0, "bits_set": 0, "probes": null, "estimated_fpr": 0.0, "state": "empty",
        })
    };
    let mut expected = expected;
    expected["filter"]["list"] = json!([
        {"index": 0, "first_offset": 0, "last_offset": 2047, "data_blocks": [known.first.0], "bytes": 9,
         "bits": 64, "bits_set": bits_set(&known.filters[0]), "probes": 6, "estimated_fpr": first, "state": "ok"},
        empty(1),
        empty(2),
        {"index": 3, "first_offset": 6144, "last_offset": 8191, "data_blocks": [known.second.0], "bytes": 9,
         "bits": 64, "bits_set": bits_set(&known.filters[1]), "probes": 6, "estimated_fpr": second, "state": "ok"},
    ]);
    same(&one(0, &args!["inspect", "--json", "--filters", path]), &expected);
}

#[test]
fn inspect_of_a_database() {
    let database = Folder::new();
    let run = run(&args!["inspect", "--json", database.folder.path()]).expect(1);
    let missing = format!(
        "{}: is missing: the MANIFEST has a table of {MISSING} bytes on level 2",
        text(&database.path("000007.ldb"))
    );
    assert_eq!(run.err, format!("filterblock: {missing}\n"));
    let input = database.folder.path();
    let reports = run.all_json();
    assert_eq!(reports.len(), 5);
    let order = "leveldb.BytewiseComparator";
    let rest = json!({"database": true, "comparator": order, "tables": 2, "logs": []});
    same(&reports[0], &framed("folder", input, input, None, rest));
    let mut expected = unknown(&database.path("000007.ldb"), missing.split_once(": ").unwrap().1);
    (expected["input"], expected["error_kind"]) = (json!(text(input)), json!("missing"));
    (expected["comparator"], expected["level"]) = (json!(order), json!(2));
    (expected["live"], expected["recorded_size"]) = (json!(true), json!(MISSING));
    expected["lost"] = json!({"from": "apple", "after": null, "up_to": "peach"});
    same(&reports[1], &expected);
    same(&reports[4], &database.totals(&reports[2]["filter"]));
    for (report, (name, level, live, recorded)) in reports[2..].iter().zip([
        ("000005.ldb", json!(3), true, json!(RECORDED)),
        ("000009.ldb", Value::Null, false, Value::Null),
    ]) {
        let path = database.path(name);
        assert_ne!(len(&path), RECORDED);
        let mut expected = database.known.report(&path);
        expected["key_format"] = json!("internal");
        expected["comparator"] = json!("leveldb.BytewiseComparator");
        expected["level"] = level;
        expected["live"] = json!(live);
        expected["recorded_size"] = recorded;
        if live {
            (expected["error_kind"], expected["error"]) = (json!("damaged"), json!(ANY));
            expected["verdict"] = json!("damaged");
        }
        let expected = database.known.measured(report, expected);
        let mut of_folder = expected.clone();
        of_folder["input"] = json!(text(input));
        same(report, &of_folder);
        // The same for the table alone.
        let alone = super::run(&args!["inspect", "--json", path]).expect(i32::from(live)).one();
        same(&alone, &expected);
    }
}

/// The MANIFEST is LevelDB's. A table has been made longer since.
#[test]
fn inspect_of_a_table_that_has_grown() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let name = "000007.ldb";
    let recorded = len(&database("levels").join(name));
    let path = copy.path().join(name);
    let mut grown = fs::read(&path).unwrap();
    let footer = grown.split_off(grown.len() - 48);
    grown.extend([0; 100]);
    grown.extend(footer);
    fs::write(&path, grown).unwrap();
    let report = one(1, &args!["inspect", "--json", path]);
    let place = ["recorded_size", "file_size", "level", "live"].map(|field| report[field].clone());
    assert_eq!(place, [json!(recorded), json!(recorded + 100), json!(1), json!(true)]);
}

#[test]
fn inspect_of_a_table_without_filters() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("apple", ""), ("melon", ""), ("peach", "")]);
    let folder = folder();
    let path = file(&folder, "unfiltered.ldb", crafted.finish(&[(b"peach", data)], &[]));
    let expected = framed(
        "table",
        &path,
        &path,
        None,
        json!({ "verdict": "fine", "file_size": len(&path), "data_blocks": 1,
            "entries": counted(3), "distinct_keys": counted(3),
            "compression": ["none"], "filter_policies": [], "key_format": null, "format": null, "hash": null,
            "comparator": null, "level": null, "live": null, "recorded_size": null,
            "lost": null, "filter_status": "none", "filter_error": null, "filter": null,
            // 64 bits at least, k, one offset, where the offsets begin, and base_lg.
            "filter_size_at_10_bits": 8 + 1 + 4 + 4 + 1,
        }),
    );
    same(&one(0, &args!["inspect", "--json", path]), &expected);
}

#[test]
fn inspect_of_a_bare_filter_block() {
    let known = Known::new(b"");
    let (offset, size) = known.filter_block;
    let folder = folder();
    let path = file(&folder, "filter", &known.contents[offset as usize..][..size as usize]);
    let mut expected = unknown(&path, "");
    (expected["object"], expected["error_kind"]) = (json!("filter_block"), Value::Null);
    (expected["verdict"], expected["error"], expected["file_size"]) = (json!("fine"), Value::Null, json!(39));
    expected["filter_status"] = json!("ok");
    expected["filter"] = known.filter_report();
    expected["filter"]["offset"] = json!(0);
    for policy in [&[][..], &["--policy", POLICY][..]] {
        let mut arguments = args!["inspect", "--json", "--block", path].to_vec();
        arguments.extend(policy.iter().map(Into::into));
        let found = one(0, &arguments);
        expected = known.measured(&found, expected);
        assert!(found["filter"]["similar_fpr"].is_null());
        same(&found, &expected);
    }
    expected["filter"]["policy"] = json!("leveldb.BuiltinBloomFilter");
    let arguments = args!["inspect", "--json", "--block", path, "--policy", "leveldb.BuiltinBloomFilter"];
    same(&one(0, &arguments), &expected);
}

#[test]
fn inspect_of_a_malformed_filter_block() {
    let folder = folder();
    let path = file(&folder, "filter", b"abc");
    let mut expected = unknown(&path, "");
    expected["object"] = json!("filter_block");
    (expected["verdict"], expected["error"], expected["file_size"]) =
        (json!("could-be-better"), json!(ANY), json!(3));
    let error = "filter block at offset 0: expected at least 5 bytes, found 3";
    (expected["filter_status"], expected["filter_error"]) = (json!("malformed"), json!(error));
    expected["filter"] = json!({
        "policy": POLICY, "offset": 0, "size": 3, "base_lg": 0, "filters": 0, "empty_filters": 0,
        "bits": 0, "bits_set": 0, "probes": null, "estimated_fpr": null,
        "random_fpr": null, "similar_fpr": null,
    });
    same(&one(0, &args!["inspect", "--json", "--block", path]), &expected);
}

#[test]
fn inspect_of_what_cannot_be_looked_at() {
    let folder = folder();
    let missing = folder.path().join("missing.ldb");
    let run_missing = run(&args!["inspect", "--json", missing]).expect(2);
    assert_eq!(run_missing.err, format!("filterblock: {}: {}\n", text(&missing), not_found()));
    let rest = json!({"verdict": "unknown", "error": not_found()});
    same(&run_missing.one(), &framed("unreadable", &missing, &missing, Some("missing"), rest));

    let damaged = file(&folder, "damaged.ldb", "hello");
    let mut expected =
        unknown(&damaged, "table at offset 0: expected a table of at least 48 bytes, found 5 bytes");
    (expected["file_size"], expected["depth"]) = (json!(5), json!("sample"));
    same(&one(1, &args!["inspect", "--json", damaged]), &expected);
}

#[test]
fn inspect_of_damage_within_a_table() {
    let folder = folder();
    let known = Known::new(b"");
    // Damage in the first data block, which is read to learn what the others are like.
    let mut contents = known.contents.clone();
    contents[5] ^= 1;
    let path = file(&folder, "data.ldb", contents);
    let mut found = one(1, &args!["inspect", "--json", path]);
    let mut expected = known.report(&path);
    let error = found["error"].take();
    let offset = known.first.0 + known.first.1 + 1;
    let start = format!("block checksum at offset {offset}: expected ");
    assert!(error.as_str().unwrap().starts_with(&start), "{error}");
    assert!(error.as_str().unwrap().ends_with("; lost: keys up to \"melon\""), "{error}");
    expected["lost"] = json!({"from": null, "after": null, "up_to": "melon"});
    (expected["verdict"], expected["error_kind"]) = (json!("damaged"), json!("damaged"));
    // Of the other block one key is known.
    let both = json!({"value": 2, "low": 2, "high": 3});
    (expected["entries"], expected["distinct_keys"]) = (both.clone(), both);
    same(&found, &known.measured(&found, expected));

    // Damage in the filter block, which is not used then.
    let mut contents = known.contents.clone();
    contents[known.filter_block.0 as usize] ^= 1;
    let path = file(&folder, "filter.ldb", contents);
    let mut found = one(1, &args!["inspect", "--json", path]);
    let error = found["filter_error"].take();
    let offset = known.filter_block.0 + known.filter_block.1 + 1;
    let start = format!("block checksum at offset {offset}: expected ");
    assert!(error.as_str().unwrap().starts_with(&start), "{error}");
    let mut expected = known.report(&path);
    (expected["filter"], expected["key_format"]) = (Value::Null, Value::Null);
    (expected["verdict"], expected["filter_status"]) = (json!("damaged"), json!("unusable"));
    (expected["error_kind"], expected["error"]) = (json!("damaged"), json!(ANY));
    same(&found, &expected);

    // A filter without a set bit denies the key that is there.
    let none = Known::with_filters(b"", [filter(&[b"apple", b"melon"]), [[0; 8].as_slice(), &[6]].concat()]);
    let path = file(&folder, "unsound.ldb", &none.contents);
    let mut expected = none.report(&path);
    let error = "expected filters that match all stored keys, found that they hide 1 of 3 tried";
    (expected["filter_status"], expected["filter_error"]) = (json!("false-negatives"), json!(error));
    (expected["verdict"], expected["error"]) = (json!("false-negatives"), json!(ANY));
    (expected["key_format"], expected["error_kind"]) = (Value::Null, json!("damaged"));
    let found = one(1, &args!["inspect", "--json", path]);
    same(&found, &none.measured(&found, expected));
}

/// The expected numbers are those of `testdata/README.md`.
#[test]
fn inspect_of_a_table_of_riaks() {
    let path = testdata().join("basho/versions-bloom.ldb");
    let mut found = one(0, &args!["inspect", "--json", path]);
    let filter = found["filter"].take();
    let blocks = found["data_blocks"].take();
    // The blocks have 1 KiB each, and the entries more than 20,000 bytes together.
    assert!(blocks.as_u64().unwrap() > 10, "{blocks}");
    let expected = framed(
        "table",
        &path,
        &path,
        None,
        json!({ "verdict": "fine", "file_size": len(&path), "data_blocks": null,
            "entries": counted(729), "distinct_keys": counted(300),
            "compression": ["lz4"], "filter_policies": ["leveldb.BuiltinBloomFilter"],
            "key_format": "internal", "format": "riak", "hash": "either",
            "comparator": null, "level": null, "live": null, "recorded_size": null,
            "lost": null, "filter_status": "ok", "filter_error": null, "filter": null, "filter_size_at_10_bits": null,
        }),
    );
    same(&found, &expected);
    // 729 entries, and one filter for all of them: bits for each entry, whatever its user key.
    let fields = ["policy", "base_lg", "filters", "bits", "probes"].map(|field| filter[field].clone());
    let bits = 729 * 16;
    assert_eq!(fields, [json!("leveldb.BuiltinBloomFilter"), json!(14), json!(1), json!(bits), json!(11)]);
    assert_eq!(filter["size"], bits / 8 + 1 + 4 + 5);
}

#[test]
fn query_of_a_table() {
    let folder = folder();
    let known = Known::new(b"");
    let path = file(&folder, "known.ldb", &known.contents);
    let [first, second] = known.rates();
    let all = 1.0 - (1.0 - first) * (1.0 - second);
    let may = |key: &str, blocks: &[u64]| {
        framed(
            "answer",
            &path,
            &path,
            None,
            json!({ "key": key, "key_hex": key.bytes().map(|b| format!("{b:02x}")).collect::<String>(),
                "may_match": !blocks.is_empty(), "blocks": blocks, "error": null,
                "log": null, "by_index": false, "lookup_blocks": null, "estimated_fpr": all,
            }),
        )
    };
    let answers = run(&args!["query", "--json", path, "melon", "peach", "none"]).expect(0).quiet().json();
    let expected = [may("melon", &[known.first.0]), may("peach", &[known.second.0]), may("none", &[])];
    same(&json!(answers), &json!(expected));
    // By the index, the filter of one data block is asked, or of none.
    let by_index = args!["query", "--json", "--comparator", "bytewise", path, "melon", "peach", "none", "z"];
    let answers = run(&by_index).expect(0).quiet().json();
    let expected = [
        ("melon", vec![known.first.0], first, 1),
        ("peach", vec![known.second.0], second, 1),
        ("none", vec![], second, 0),
        ("z", vec![], 0.0, 0),
    ]
    .map(|(key, blocks, rate, lookup)| {
        let mut answer = may(key, &blocks);
        answer["estimated_fpr"] = json!(rate);
        (answer["by_index"], answer["lookup_blocks"]) = (json!(true), json!(lookup));
        answer
    });
    same(&json!(answers), &json!(expected));
}

#[test]
fn query_of_a_database() {
    let database = Folder::new();
    let (known, [first, _]) = (&database.known, database.known.rates());
    let path = database.folder.path();
    let named = database.path("000009.ldb");
    // The obsolete table is not asked with the folder, but by its name.
    let arguments = args!["query", "--json", path, database.path("000009.ldb"), "--", "melon", "z"];
    let answers = run(&arguments).expect(0).json();
    let answer = |name: &str, key: &str| {
        framed(
            "answer",
            if name == "000009.ldb" { &named } else { path },
            &database.path(name),
            None,
            json!({ "key": key,
                "key_hex": key.bytes().map(|b| format!("{b:02x}")).collect::<String>(), "may_match": false, "blocks": [],
                "error": null, "log": null, "by_index": true, "lookup_blocks": 0, "estimated_fpr": 0.0,
            }),
        )
    };
    let mut all = Vec::new();
    for key in ["melon", "z"] {
        let mut missing = answer("000007.ldb", key);
        (missing["may_match"], missing["by_index"]) = (json!(true), json!(false));
        (missing["lookup_blocks"], missing["estimated_fpr"]) = (Value::Null, json!(1.0));
        missing["error_kind"] = json!("missing");
        missing["error"] = json!("is missing");
        all.push(missing);
    }
    for (name, lookup) in [("000005.ldb", 1), ("000009.ldb", 0)] {
        let mut there = answer(name, "melon");
        (there["may_match"], there["blocks"]) = (json!(true), json!([known.first.0]));
        (there["lookup_blocks"], there["estimated_fpr"]) = (json!(lookup), json!(first));
        let mut absent = answer(name, "z");
        if name == "000009.ldb" {
            // The obsolete table was given by its own path.
            for line in [&mut there, &mut absent] {
                line["input"] = json!(text(&database.path(name)));
            }
        }
        all.extend([there, absent]);
    }
    // The last two are the answers of the table that was named.
    let named = database.path("000009.ldb");
    all.iter_mut().skip(4).for_each(|answer| answer["input"] = json!(text(&named)));
    same(&json!(answers), &json!(all));
}

#[test]
fn query_of_a_table_of_riaks() {
    let path = testdata().join("basho/versions-bloom.ldb");
    let table = filterblock::table::Table::open_path(&path, &Default::default()).unwrap();
    let first_block = table.data_blocks().next().unwrap().unwrap().offset;
    let filter = one(0, &args!["inspect", "--json", path])["filter"].clone();
    let rate = (filter["bits_set"].as_f64().unwrap() / f64::from(729 * 16)).powi(11);
    // The first of the keys in `versions.keys`, without its tag.
    let key = unhex(&listing("tables/versions.keys")[0][0]);
    let key = String::from_utf8(key[..key.len() - 8].to_vec()).unwrap();
    let found = one(0, &args!["query", "--json", "--comparator", "bytewise", path, key]);
    let expected = framed(
        "answer",
        &path,
        &path,
        None,
        json!({ "key": key, "key_hex": key.bytes().map(|b| format!("{b:02x}")).collect::<String>(),
            "may_match": true, "blocks": [first_block], "error": null,
            "log": null, "by_index": true, "lookup_blocks": 1, "estimated_fpr": rate,
        }),
    );
    same(&found, &expected);
}

#[test]
fn query_of_what_cannot_be_read() {
    let folder = folder();
    let answer = |path: &Path, kind: &str, error: &str| {
        framed(
            "answer",
            path,
            path,
            Some(kind),
            json!({ "key": null, "key_hex": "ff", "may_match": true, "blocks": [], "error": error,
                "log": null, "by_index": false, "lookup_blocks": null, "estimated_fpr": 1.0,
            }),
        )
    };
    let missing = folder.path().join("missing.ldb");
    same(
        &one(2, &args!["query", "--json", "--hex", missing, "ff"]),
        &answer(&missing, "missing", not_found()),
    );
    let damaged = file(&folder, "damaged.ldb", "hello");
    let error = "no table, or cut short";
    same(&one(2, &args!["query", "--json", "--hex", damaged, "ff"]), &answer(&damaged, "damaged", error));
}

/// The answer comes from what can be read, and is not certain.
#[test]
fn query_of_damage_within_a_table() {
    let folder = folder();
    let known = Known::new(b"");
    let mut contents = known.contents.clone();
    contents[5] ^= 1;
    let path = file(&folder, "data.ldb", contents);
    let mut found = one(2, &args!["query", "--json", "--comparator", "bytewise", path, "melon"]);
    let error = found["error"].take();
    let offset = known.first.0 + known.first.1 + 1;
    let start = format!("block checksum at offset {offset}: expected ");
    assert!(error.as_str().unwrap().starts_with(&start), "{error}");
    let expected = framed(
        "answer",
        &path,
        &path,
        Some("damaged"),
        json!({ "key": "melon", "key_hex": "6d656c6f6e", "may_match": true,
            "blocks": [known.first.0], "error": null,
            "log": null, "by_index": true, "lookup_blocks": 1, "estimated_fpr": 1.0,
        }),
    );
    same(&found, &expected);
}

/// The report of `verify`. A problem is given as code, offset, expected and found.
fn verdict(
    path: &Path,
    status: &str,
    [keys, denied]: [u64; 2],
    problems: &[(&str, Option<u64>, &str, &str)],
) -> Value {
    let kind = problems.first().map(|(code, ..)| match *code {
        "table-missing" | "unreadable" => "missing",
        "unsupported" => "unsupported",
        _ => "damaged",
    });
    let problems = problems.iter().map(|(code, offset, expected, found)| {
        json!({"code": code, "offset": offset, "expected": expected, "found": found, "lost": null})
    });
    framed(
        "table",
        path,
        path,
        kind,
        json!({ "verdict": status, "entries": keys, "distinct_keys": keys, "writes": null, "batches": null, "false_negatives": denied,
            "problems": problems.collect::<Vec<_>>(),
        }),
    )
}

#[test]
fn verify_of_a_sound_table() {
    let folder = folder();
    let known = Known::new(b"");
    let path = file(&folder, "known.ldb", &known.contents);
    same(&one(0, &args!["verify", "--json", path]), &verdict(&path, "fine", [3, 0], &[]));

    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("apple", "")]);
    let path = file(&folder, "unfiltered.ldb", crafted.finish(&[(b"apple", data)], &[]));
    let mut expected = verdict(&path, "fine", [1, 0], &[]);
    expected["notes"] = json!(["there is no filter"]);
    same(&one(0, &args!["verify", "--json", path]), &expected);
}

#[test]
fn verify_with_problems() {
    let folder = folder();
    let none = [[0; 8].as_slice(), &[6]].concat();
    let known = Known::with_filters(b"", [none.clone(), none]);
    let path = file(&folder, "denied.ldb", &known.contents);
    let problems = [
        (
            "false-negative",
            Some(known.first.0),
            "filter 0 to have the stored key \"apple\"",
            "it ruled out, one of 2 among the 2 keys of this data block",
        ),
        (
            "false-negative",
            Some(known.second.0),
            "filter 3 to have the stored key \"peach\"",
            "it ruled out, one of 1 among the 1 keys of this data block",
        ),
    ];
    let expected = verdict(&path, "false-negatives", [3, 3], &problems);
    same(&one(1, &args!["verify", "--json", path]), &expected);

    let path = file(&folder, "damaged.ldb", "hello");
    let problems = [("not-a-table", Some(0), "a table of at least 48 bytes", "5 bytes")];
    let expected = verdict(&path, "damaged", [0, 0], &problems);
    same(&one(1, &args!["verify", "--json", path]), &expected);
}

#[test]
fn verify_of_a_database() {
    let database = Folder::new();
    let path = |name| database.path(name);
    let input = database.folder.path();
    let run = run(&args!["verify", "--json", input]).expect(1);
    let reports = run.json();
    let size = len(&path("000005.ldb"));
    let expected = [
        verdict(
            &path("000007.ldb"),
            "damaged",
            [0, 0],
            &[("table-missing", None, &format!("a table of {MISSING} bytes on level 2"), "no such file")],
        ),
        verdict(
            &path("000005.ldb"),
            "damaged",
            [3, 0],
            &[(
                "table-size",
                None,
                &format!("{RECORDED} bytes, as the MANIFEST has it"),
                &format!("{size} bytes"),
            )],
        ),
        verdict(&path("000009.ldb"), "fine", [3, 0], &[]),
    ];
    let mut expected = json!(expected);
    expected.as_array_mut().unwrap().iter_mut().for_each(|one| one["input"] = json!(text(input)));
    expected[0]["problems"][0]["lost"] = json!({"from": "apple", "after": null, "up_to": "peach"});
    expected[2]["notes"] =
        json!(["the table is not in the MANIFEST: it is being written, or was left behind"]);
    same(&json!(reports), &expected);
    let folder = framed(
        "folder",
        input,
        input,
        None,
        json!({ "verdict": "damaged", "entries": 6, "distinct_keys": 6, "writes": null, "batches": null,
            "false_negatives": 0, "problems": [],
        }),
    );
    same(run.all_json().last().unwrap(), &folder);
}

#[test]
fn verify_of_what_cannot_be_looked_at() {
    let folder = folder();
    let missing = folder.path().join("missing.ldb");
    let problems = [("unreadable", None, "a table or a database folder", "nothing")];
    let mut expected = verdict(&missing, "unknown", [0, 0], &problems);
    expected["object"] = json!("unreadable");
    same(&one(2, &args!["verify", "--json", missing]), &expected);

    // A compression type that nobody has.
    let mut crafted = Crafted::default();
    let data = crafted.block_of_type(b"whatever", 9);
    let path = file(&folder, "type.ldb", crafted.finish(&[(b"z", data)], &[]));
    let found = one(2, &args!["verify", "--json", path]);
    let problem = found["problems"][0].clone();
    assert!(problem["found"].as_str().unwrap().contains('9'), "{problem}");
    let [expected, text] = ["expected", "found"].map(|field| problem[field].as_str().unwrap());
    let problems = [("unsupported", Some(data.0 + data.1), expected, text)];
    let mut expected = verdict(&path, "unknown", [0, 0], &problems);
    expected["notes"] = json!(["there is no filter"]);
    expected["problems"][0]["lost"] = json!({"from": null, "after": null, "up_to": "z"});
    same(&found, &expected);
}
