//! `filterblock verify` on individual tables: sound ones, and each kind of damage, with checksums that fit.

use std::ffi::OsString;
use std::path::Path;

use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, LegacyBloomPolicy, LegacyHash};
use filterblock_engine::report::Code;
use serde_json::{Value, json};

use super::tables::{Crafted, Place, entry_block, samples};
use super::*;

const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

#[track_caller]
fn verify(contents: impl AsRef<[u8]>, status: i32) -> Value {
    let folder = folder();
    let path = file(&folder, "table.ldb", contents);
    let report = run(&args!["verify", "--json", path]).expect(status).one();
    // The text says the same.
    let text = run(&args!["verify", path]).expect(status).out;
    let words = match report["verdict"].as_str().unwrap() {
        "unknown" => "cannot tell".to_owned(),
        verdict => verdict.replace('-', " "),
    };
    assert!(text.starts_with(&format!("{}: {words}", path.display())), "{text}");
    // The details are shown to those who ask for them.
    let text = run(&args!["verify", "--verbose", path]).expect(status).out;
    for problem in report["problems"].as_array().unwrap() {
        let is_in_words = problem["code"] == "false-negative" || problem["code"] == "more";
        assert!(is_in_words || text.contains(problem["found"].as_str().unwrap()), "{problem} {text}");
    }
    report
}

fn codes(report: &Value) -> Vec<&str> {
    report["problems"].as_array().unwrap().iter().map(|problem| problem["code"].as_str().unwrap()).collect()
}

/// The keys of data block `block` of [`Parts`], in order.
fn keys(block: usize) -> Vec<Vec<u8>> {
    (0..40).map(|key| format!("{}{key:02}", char::from(b'a' + block as u8)).into_bytes()).collect()
}

/// Makes the index's entries from the places of the data blocks.
type MakeIndex = fn(&[Place]) -> Vec<(&'static [u8], Place)>;
/// Alters the filter block.
type ChangeFilter = Box<dyn Fn(&mut Vec<u8>)>;

/// The parts of a table of three data blocks.
struct Parts {
    /// The contents of the data blocks.
    blocks: Vec<Vec<u8>>,
    index: MakeIndex,
    filter: ChangeFilter,
}

impl Default for Parts {
    fn default() -> Self {
        let block = |block| {
            let entries: Vec<_> = keys(block).into_iter().map(|key| (key, vec![b'v'; 60])).collect();
            entry_block(&entries)
        };
        Self {
            blocks: (0..3).map(block).collect(),
            index: |places| [&b"a~"[..], b"b~", b"c~"].into_iter().zip(places.iter().copied()).collect(),
            filter: Box::new(|_| ()),
        }
    }
}

impl Parts {
    /// A table of three data blocks, each with a filter of its own.
    fn table(self) -> Vec<u8> {
        let mut crafted = Crafted::default();
        let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
        let mut places = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            builder.start_block(crafted.file.len() as u64).unwrap();
            keys(at).iter().for_each(|key| builder.add_key(key));
            places.push(crafted.block(block));
        }
        let mut filter = builder.finish().unwrap().to_vec();
        (self.filter)(&mut filter);
        let filter = crafted.block(&filter);
        crafted.finish(&(self.index)(&places), &[(FILTER, filter)]).to_vec()
    }
}

fn filtered(filter: impl Fn(&mut Vec<u8>) + 'static) -> Vec<u8> {
    Parts { filter: Box::new(filter), ..Parts::default() }.table()
}

#[test]
fn all_the_test_data_is_sound() {
    for sample in samples() {
        let path = table(&sample.name);
        let run = run(&args!["verify", "--json", path]).expect(0);
        let report = run.one();
        assert_eq!(report["verdict"], "fine", "{}", sample.name);
        assert_eq!(report["entries"], sample.entries.len(), "{}", sample.name);
        assert_eq!(
            (&report["false_negatives"], &report["problems"]),
            (&json!(0), &json!([])),
            "{}",
            sample.name
        );
        assert_eq!(run.out.contains("there is no filter"), !sample.filtered, "{}", sample.name);
        assert!(!run.out.contains("order of the keys"), "{run:?}");
    }
}

#[test]
fn the_fields_are_these() {
    let report = verify(Parts::default().table(), 0);
    let fields: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let frame = ["schema_version", "object", "input", "path", "path_bytes", "error_kind", "error", "notes"];
    let own = ["verdict", "entries", "distinct_keys", "writes", "batches", "false_negatives", "problems"];
    let mut expected = [&frame[..], &own].concat();
    expected.sort_unstable();
    assert_eq!(fields, expected);
    assert_eq!(
        (&report["verdict"], &report["entries"], &report["false_negatives"]),
        (&json!("fine"), &json!(120), &json!(0))
    );
    let report = verify(filtered(|filter| filter[..10].fill(0)), 1);
    let problem = report["problems"][0].as_object().unwrap();
    let fields: Vec<_> = problem.keys().map(String::as_str).collect();
    assert_eq!(fields, ["code", "expected", "found", "lost", "offset"]);
}

#[test]
fn cleared_bits_deny_keys() {
    let report = verify(filtered(|filter| filter[..10].fill(0)), 1);
    assert_eq!((codes(&report), &report["verdict"]), (vec!["false-negative"], &json!("false-negatives")));
    let denied = report["false_negatives"].as_u64().unwrap();
    assert!((1..=40).contains(&denied), "{report}");
    let problem = &report["problems"][0];
    assert_eq!(problem["offset"], 0);
    assert!(
        problem["expected"].as_str().unwrap().starts_with("filter 0 to have the stored key \"a"),
        "{problem}"
    );
    let found = format!("it ruled out, one of {denied} among the 40 keys of this data block");
    assert_eq!(problem["found"], found);
}

#[test]
fn any_single_bit_that_is_missing_denies_a_key() {
    let sound = filtered(|_| ());
    let folder = folder();
    let mut found = 0;
    for bit in (0..400).step_by(7) {
        let damaged = filtered(move |filter| filter[bit / 8] &= !(1 << (bit % 8)));
        if damaged == sound {
            continue;
        }
        found += 1;
        let path = file(&folder, "table.ldb", damaged);
        let report = run(&args!["verify", "--json", path]).expect(1).one();
        assert_eq!(codes(&report), ["false-negative"], "{bit}");
    }
    assert!(found > 10, "{found} bits were set");
}

/// Returns keys that the two hashes under LevelDB's old policy name hash differently, and a table of these in one data
/// block. The filter is by `hash`, and altered by `change`.
fn legacy(hash: LegacyHash, change: impl FnOnce(&mut Vec<u8>)) -> (Vec<Vec<u8>>, Vec<u8>) {
    let keys: Vec<Vec<u8>> = (0..64).map(|at| vec![b'k', at, 0x80 + at]).collect();
    let mut crafted = Crafted::default();
    let data = crafted.block(&entry_block(&keys.iter().map(|key| (key, b"")).collect::<Vec<_>>()));
    let mut builder = FilterBlockBuilder::new(LegacyBloomPolicy::new(4).with_hash(hash));
    builder.start_block(0).unwrap();
    keys.iter().for_each(|key| builder.add_key(key));
    let mut filter = builder.finish().unwrap().to_vec();
    change(&mut filter);
    let filter = crafted.block(&filter);
    (keys, crafted.finish(&[(b"l", data)], &[(b"filter.leveldb.BuiltinBloomFilter", filter)]).to_vec())
}

#[test]
fn a_key_that_only_the_other_hash_lets_pass_is_denied() {
    let denied = |hash, keys: &[Vec<u8>], filter: &[u8]| {
        let reader = FilterBlockReader::new(LegacyBloomPolicy::new(4).with_hash(hash), filter);
        keys.iter().filter(|key| !reader.key_may_match(0, key)).count()
    };
    let mut hidden = 0;
    for bit in 0..8 * 32 {
        let mut damaged = Vec::new();
        let (keys, table) = legacy(LegacyHash::Unsigned, |filter| {
            filter[bit / 8] &= !(1 << (bit % 8));
            damaged.clone_from(filter);
        });
        let [either, unsigned] =
            [LegacyHash::Either, LegacyHash::Unsigned].map(|hash| denied(hash, &keys, &damaged));
        if either == 0 && unsigned > 0 {
            hidden += 1;
            let report = verify(table, 1);
            assert_eq!(
                (codes(&report), &report["false_negatives"]),
                (vec!["false-negative"], &json!(unsigned))
            );
        }
    }
    assert!(hidden > 0);
}

#[test]
fn filters_by_the_signed_hash_are_sound_and_said_to_be_by_it() {
    for (hash, noted) in [(LegacyHash::Unsigned, false), (LegacyHash::Signed, true)] {
        let folder = folder();
        let path = file(&folder, "table.ldb", legacy(hash, |_| ()).1);
        let run = run(&args!["verify", "--json", path]).expect(0);
        assert_eq!(run.out.contains("the filters fit the signed hash"), noted, "{run:?}");
    }
}

#[test]
fn another_k_denies_keys() {
    // More probes than were made.
    let report = verify(filtered(|filter| filter[50] = 12), 1);
    assert_eq!(codes(&report), ["false-negative"]);
    // Fewer probes only raise the rate; with more than 30, every key passes.
    for k in [1, 31] {
        verify(filtered(move |filter| filter[50] = k), 0);
    }
}

#[test]
fn shifted_and_swapped_filters_deny_keys() {
    let report = verify(
        filtered(|filter| {
            let at = filter.len() - 5;
            let array = u32::from_le_bytes(filter[at..at + 4].try_into().unwrap()) as usize;
            // Each filter begins a byte late.
            for offset in filter[array..at].chunks_exact_mut(4) {
                let shifted = u32::from_le_bytes(offset.try_into().unwrap()) + 1;
                offset.copy_from_slice(&shifted.min(array as u32).to_le_bytes());
            }
        }),
        1,
    );
    assert!(codes(&report).contains(&"false-negative"), "{report}");
    let report = verify(
        filtered(|filter| {
            let (first, rest) = filter.split_at_mut(51);
            first.swap_with_slice(&mut rest[..51]);
        }),
        1,
    );
    assert_eq!(codes(&report), ["false-negative", "false-negative"]);
    assert!(report["false_negatives"].as_u64().unwrap() > 70, "{report}");
}

#[test]
fn malformed_filter_blocks() {
    // LevelDB reads more blocks than it has to, and finds every key.
    let report = verify(filtered(|filter| *filter.last_mut().unwrap() = 64), 0);
    assert_eq!((codes(&report), &report["verdict"]), (vec!["filter-malformed"], &json!("could-be-better")));
    assert_eq!(report["false_negatives"], 0);
    let start = inspect_offset(filtered(|filter| *filter.last_mut().unwrap() = 64));
    assert!(report["problems"][0]["offset"].as_u64().unwrap() >= start, "offsets are those of the file");
}

fn inspect_offset(contents: Vec<u8>) -> u64 {
    let folder = folder();
    let path = file(&folder, "table.ldb", contents);
    run(&args!["inspect", "--json", path]).expect(0).one()["filter"]["offset"].as_u64().unwrap()
}

#[test]
fn every_flipped_byte_of_blocks_is_found() {
    let sound = Parts::default().table();
    let folder = folder();
    let path = folder.path().join("table.ldb");
    // The footer is left out, because its padding has no meaning.
    for at in (0..sound.len() - 48).step_by(97) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        let run = run(&args!["verify", "--json", path]);
        assert!(run.status == 1, "byte {at}: {run:?}");
        let report = run.one();
        let codes = codes(&report);
        assert!(codes.contains(&"checksum") || codes.contains(&"filter-unreadable"), "byte {at}: {report}");
    }
}

#[test]
fn what_cannot_be_looked_at_is_status_2() {
    let mut crafted = Crafted::default();
    let data = crafted.block_of_type(b"whatever", 9);
    let report = verify(crafted.finish(&[(b"z", data)], &[]), 2);
    assert_eq!((codes(&report), &report["verdict"]), (vec!["unsupported"], &json!("unknown")));
    let missing = run(&args!["verify", "--json", "/missing/table.ldb"]).expect(2).one();
    assert_eq!((codes(&missing), &missing["entries"]), (vec!["unreadable"], &json!(0)));
    let folder = folder();
    let path = file(&folder, "table.ldb", Parts::default().table());
    let report = run(&args!["verify", "--json", "--max-output", "5000", path]).expect(2).one();
    assert_eq!(codes(&report), ["limit"]);
    assert!(report["entries"].as_u64().unwrap() < 120, "{report}");
    run(&args!["verify", "--max-output", "20000", path]).expect(0);
}

#[test]
fn what_cannot_be_looked_at_outweighs_problems() {
    let folder = folder();
    let denying = file(&folder, "denying.ldb", filtered(|filter| filter[..10].fill(0)));
    let missing = folder.path().join("missing.ldb");
    run(&args!["verify", "--json", denying]).expect(1);
    for paths in [[&denying, &missing], [&missing, &denying]] {
        let reports = run(&args!["verify", "--json", paths[0], paths[1]]).expect(2).json();
        let mut found: Vec<_> = reports.iter().map(|report| report["verdict"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, ["false-negatives", "unknown"]);
    }
}

#[test]
fn as_much_may_be_decoded_as_is_allowed_and_no_more() {
    let mut crafted = Crafted::default();
    let block = entry_block(&[(b"key", b"value"), (b"kez", b"value")]);
    let data = crafted.block(&block);
    let folder = folder();
    let path = file(&folder, "table.ldb", crafted.finish(&[(b"separator", data)], &[]));
    // The block, its keys, and the keys of the index.
    let needed = block.len() + 3 + 3 + 9;
    for (limit, status) in [(needed, 0), (needed - 1, 2)] {
        run(&args!["verify", "--max-output", limit.to_string(), path]).expect(status);
    }
}

#[test]
fn what_is_wrong_with_paths_is_said_once() {
    let folder = folder();
    let found = |arguments: &[OsString]| {
        let report = run(arguments).expect(2).one();
        assert_eq!(codes(&report), ["unreadable"]);
        (report["problems"][0]["expected"].clone(), report["problems"][0]["found"].clone())
    };
    std::fs::create_dir_all(folder.path().join("db/000005.ldb")).unwrap();
    assert_eq!(
        found(&args!["verify", "--json", folder.path().join("db")]),
        ("a regular file".into(), "a folder".into())
    );
    let missing = folder.path().join("missing");
    let (expected, _) = found(&args!["verify", "--json", missing]);
    assert_eq!(expected, "a table or a database folder");
    let (expected, _) = found(&args!["verify", "--json", "--files-from", missing]);
    assert_eq!(expected, "a table or a database folder");
    #[cfg(unix)]
    assert_eq!(
        found(&args!["verify", "--json", "/dev/null"]),
        ("a table or a database folder".into(), "a device".into())
    );
    std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
    for json in [&[][..], &["--json"]] {
        let nothing = [
            &args!["verify", "--recursive", folder.path().join("a")][..],
            &json.iter().map(OsString::from).collect::<Vec<_>>(),
        ]
        .concat();
        let nothing = run(&nothing).expect(2);
        assert!(
            [nothing.out.clone(), nothing.err.clone()].concat().contains("no database here: no CURRENT"),
            "{nothing:?}"
        );
    }
}

#[test]
fn threads_are_limited() {
    let path = tables::testdata().join("databases/levels/000005.ldb");
    for jobs in ["0", "257", "1000000", "x"] {
        let wrong = run(&args!["verify", "--jobs", jobs, path]).expect(2);
        assert!(wrong.err.contains(&format!("invalid value '{jobs}' for '--jobs")), "{wrong:?}");
    }
    run(&args!["verify", "--jobs", "256", path]).expect(0);
}

#[test]
fn filters_in_another_encoding_are_not_checked() {
    let path = tables::testdata().join("basho/versions-bloom2.ldb");
    let report = run(&args!["verify", "--json", path]).expect(2).one();
    assert_eq!((codes(&report), &report["false_negatives"]), (vec!["unsupported"], &json!(0)));
}

/// A block of more keys than are checked together. Keys are out of order where one group ends and the next begins, and
/// at the end.
#[test]
fn a_block_of_many_keys_is_gone_through_whole() {
    let mut keys: Vec<_> = (0..1000).map(|at| format!("key {at:04}")).collect();
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(20));
    builder.start_block(0).unwrap();
    keys.iter()
        .enumerate()
        .filter(|(at, _)| at % 100 != 77)
        .for_each(|(_, key)| builder.add_key(key.as_bytes()));
    let filter = builder.finish().unwrap();
    for at in [64, 128, 512, 999] {
        keys.swap(at - 1, at);
    }
    let entries: Vec<_> = keys.iter().map(|key| (key.as_bytes(), b"value")).collect();
    let mut crafted = Crafted::default();
    let data = crafted.block(&entry_block(&entries));
    let filter = crafted.block(&filter);
    let table = crafted.finish(&[(b"z", data)], &[(FILTER, filter)]);
    let report = verify(&table, 1);
    assert_eq!((&report["entries"], &report["false_negatives"]), (&json!(1000), &json!(10)));
    assert_eq!(codes(&report), ["false-negative"]);
    assert_eq!(
        report["problems"][0]["found"],
        "it ruled out, one of 10 among the 1000 keys of this data block"
    );

    let folder = folder();
    let path = file(&folder, "table.ldb", table);
    let report = run(&args!["verify", "--json", "--comparator", "bytewise", path]).expect(1).one();
    assert_eq!(codes(&report), ["false-negative", "key-order", "key-order", "key-order", "key-order"]);
}

#[test]
fn bytes_that_are_in_no_block_are_noted() {
    let note = |text: &str| {
        text.lines()
            .find_map(|line| line.strip_suffix(" bytes of the file are in none of its blocks"))
            .map(|line| line.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap())
    };
    let verify = |path: &Path| run(&args!["verify", "-v", path]).out;
    // The metaindex names Basho's counters, too.
    for name in ["versions-bloom2.ldb", "versions-bloom.ldb", "numbers-bloom2.ldb"] {
        assert_eq!(note(&verify(&tables::testdata().join("basho").join(name))), None, "{name}");
    }
    let folder = folder();
    for (name, place, expected) in [
        (&b"stats.sst1"[..], None, None),
        (b"other", None, Some(15)),
        // A handle that leads beyond the file.
        (b"stats.sst1", Some((1 << 40, 10)), Some(15)),
    ] {
        let mut crafted = Crafted::default();
        let data = crafted.block(&entry_block(&[(b"key", b"value")]));
        let unknown = crafted.block(&[7; 10]);
        let path =
            file(&folder, "table.ldb", crafted.finish(&[(b"z", data)], &[(name, place.unwrap_or(unknown))]));
        assert_eq!(note(&verify(&path)), expected);
    }
}

#[test]
fn bytes_of_a_block_that_cannot_be_read_are_not_said_to_be_in_none() {
    let mut contents = Parts::default().table();
    contents[5] ^= 1;
    let folder = folder();
    let out = run(&args!["verify", "-v", file(&folder, "table.ldb", contents)]).expect(1).out;
    assert!(
        out.contains("one bit is wrong, at offset 5; ") && !out.contains("in none of its blocks"),
        "{out}"
    );
}

#[test]
fn bytes_and_denied_keys_are_counted_in_words_that_fit() {
    let folder = folder();
    for (len, expected) in [
        (1, "  1 byte of the file is in none of its blocks\n"),
        (1500, "  1,500 bytes of the file are in none of its blocks\n"),
    ] {
        let mut crafted = Crafted { file: vec![0; len] };
        let data = crafted.entries(&[(b"key", b"value")]);
        let path = file(&folder, "table.ldb", crafted.finish(&[(b"z", data)], &[]));
        let run = run(&args!["verify", "-v", path]).expect(0);
        assert!(run.out.contains(expected), "{run:?}");
    }
    let keys: Vec<_> = (0..3000).map(|key| format!("{key:05}")).collect();
    let mut crafted = Crafted::default();
    let data = crafted.entries(&keys.iter().map(|key| (key, b"")).collect::<Vec<_>>());
    // A filter of one probe and no set bit.
    let filter = crafted.block(&[0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 63]);
    let path = file(&folder, "table.ldb", crafted.finish(&[(b"z", data)], &[(FILTER, filter)]));
    let run = run(&args!["verify", path]).expect(1);
    assert!(run.out.contains(": false negatives: filters hide 3,000 of 3,000 keys\n"), "{run:?}");
}

#[test]
fn what_is_no_table() {
    for contents in [&b""[..], b"too short", &[0; 100]] {
        let report = verify(contents, 1);
        assert_eq!(codes(&report), ["not-a-table"], "{contents:?}");
    }
}

#[test]
fn blocks_named_twice_or_lying_in_one_another() {
    let twice = |places: &[Place]| vec![(&b"a~"[..], places[0]), (b"b~", places[0]), (b"c~", places[2])];
    let report = verify(Parts { index: twice, ..Parts::default() }.table(), 1);
    assert_eq!(codes(&report), ["repeated-block"]);
    assert_eq!(report["entries"], 80);

    // A handle that leads into the middle of a block.
    let within = |places: &[Place]| {
        let (offset, size) = places[1];
        vec![(&b"a~"[..], places[0]), (b"b~", (offset + 10, size - 20)), (b"c~", places[2])]
    };
    let report = verify(Parts { index: within, ..Parts::default() }.table(), 1);
    assert_eq!(codes(&report), ["checksum"]);

    let far = |places: &[Place]| vec![(&b"a~"[..], places[0]), (b"b~", (1 << 40, 1)), (b"c~", places[2])];
    let report = verify(Parts { index: far, ..Parts::default() }.table(), 1);
    assert_eq!((codes(&report), &report["entries"]), (vec!["bad-handle"], &json!(80)));

    // Found by fuzzing: the bytes already read were counted by adding these sizes.
    let huge = |places: &[Place]| vec![(&b"a~"[..], places[0]), (b"b~", (1, u64::MAX)), (b"c~", places[2])];
    let report = verify(Parts { index: huge, ..Parts::default() }.table(), 1);
    assert_eq!((codes(&report), &report["entries"]), (vec!["bad-handle"], &json!(80)));

    // A data block that holds another, sound one among its values.
    let mut crafted = Crafted::default();
    let mut inner = Crafted::default();
    inner.entries(&[(b"b", b"inner")]);
    let outer = entry_block(&[(&b"a"[..], &inner.file[..])]);
    let outer_place = crafted.block(&outer);
    let at = outer.windows(inner.file.len()).position(|window| window == inner.file).unwrap() as u64;
    let inner_place = (at, inner.file.len() as u64 - 5);
    let report = verify(crafted.finish(&[(b"a", outer_place), (b"b", inner_place)], &[]), 1);
    assert_eq!(codes(&report), ["overlapping-blocks"]);
    assert_eq!(report["problems"][0]["offset"], at);
}

#[test]
fn disorder_is_a_finding_where_the_order_is_known() {
    let swapped = |places: &[Place]| vec![(&b"a~"[..], places[1]), (b"b~", places[0]), (b"c~", places[2])];
    let contents = Parts { index: swapped, ..Parts::default() }.table();
    let folder = folder();
    let path = file(&folder, "table.ldb", &contents);
    // The table may be of another order.
    let unknown = run(&args!["verify", "--json", path]).expect(0);
    assert!(
        unknown.out.contains("the order of the keys is not bytewise and was not checked (index-order"),
        "{unknown:?}"
    );
    let report = run(&args!["verify", "--json", "--comparator", "bytewise", path]).expect(1).one();
    let codes = codes(&report);
    assert!(codes.contains(&"index-order") && codes.contains(&"key-order"), "{report}");
    run(&args!["verify", "--comparator", "bytewise", table("words-256-bloom10.ldb")]).expect(0);
    run(&args!["verify", "--comparator", "bytewise", table("versions-512-bloom10.ldb")]).expect(0);
}

#[test]
fn many_problems_are_counted() {
    let mut crafted = Crafted::default();
    let places: Vec<_> = (0..100).map(|_| crafted.block(b"bad")).collect();
    let index: Vec<(&[u8], Place)> = places.into_iter().map(|place| (&b"x"[..], place)).collect();
    let report = verify(crafted.finish(&index, &[]), 1);
    assert_eq!(report["problems"].as_array().unwrap().len(), 17);
    assert_eq!(report["problems"][16]["found"], "84 more of bad-block");
}

/// The page that `--help` points to explains every code.
#[test]
fn the_problems_are_documented() {
    const PAGE: &str = "docs/problems.md";
    let page = std::fs::read_to_string(tables::testdata().join("..").join(PAGE)).unwrap();
    let documented: Vec<_> = page.split('`').skip(1).step_by(2).collect();
    for code in Code::ALL {
        assert!(documented.contains(&code.name()), "{PAGE} does not explain `{}`", code.name());
    }
    assert!(run(&["verify", "--help"]).expect(0).out.contains(PAGE));
}

/// The text has a reason in words; the fields of JSON have what was expected and found.
#[test]
fn what_cannot_be_looked_at_is_said_in_words() {
    let copy = manifest::copy_of(&database("levels"));
    let said = |path: &std::path::Path, status: i32, words: &str| {
        let run = run(&args!["verify", path]).expect(status);
        assert!(run.out.contains(words) || run.err.contains(words), "{run:?}");
    };
    said(&copy.path().join("nowhere"), 2, "nowhere: no such file or folder\n");
    std::fs::remove_file(copy.path().join("CURRENT")).unwrap();
    said(
        copy.path(),
        1,
        ": damaged: CURRENT is missing\n  Do not open the database with its program: LevelDB may start a new one",
    );
    let json = run(&args!["verify", "--json", copy.path().join("nowhere")]).expect(2).one();
    let problem = &json["problems"][0];
    assert_eq!(problem["expected"], "a table or a database folder");
    assert_eq!((&problem["found"], problem.get("plain")), (&"nothing".into(), None));
    #[cfg(unix)]
    {
        let circle = copy.path().join("CURRENT");
        std::os::unix::fs::symlink("CURRENT", &circle).unwrap();
        let reason = "cannot be read: Too many levels of symbolic links";
        // Other systems than Linux have other words for this error.
        if cfg!(target_os = "linux") {
            said(copy.path(), 2, reason);
            said(&circle, 2, reason);
        }
    }
}
