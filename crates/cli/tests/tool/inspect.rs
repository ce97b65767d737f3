use std::fs;
use std::sync::Arc;

use filterblock::table::{Table, TableBuilder, WriteOptions};
use filterblock::{
    BloomFilterPolicy, CassandraBloomPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy as _,
    LegacyBloomPolicy, Murmur3BloomPolicy, SharedPolicy,
};
use serde_json::{Value, json};

use super::tables::{Crafted, entry_block, sample, samples};
use super::*;

#[test]
fn one_table_in_detail() {
    let path = table("words-2048-bloom10-restart1.ldb");
    let run = run(&args!["inspect", path]);
    let expected = format!(
        "{}
  size             26.5 KiB (27,158 bytes)
  data blocks      13
  entries          300
  distinct keys    300
  compression      none
  metaindex        filter.leveldb.BuiltinBloomFilter2
  filter policy    leveldb.BuiltinBloomFilter2
  filters are of   whole keys
  range            2 KiB of data blocks a filter (base_lg 11)
  filters          13, 0 of them empty
  bits             3,024, 44.7 % of them set
  probes (k)       6
  false positives  1.2 % of random keys (1.0 to 1.3 % with 95 % confidence, 20,480 asked)
                   0.8 % of stored keys changed or made longer (0.6 to 1.2 % with 95 % confidence, 3,327 asked)
                   0.82 % by the bits set
  filter block     448 B: filters 391 B, offsets 52 B, at offset 26230
",
        path.display()
    );
    assert_eq!(run.expect(0).quiet().out, expected);
}

#[test]
fn a_folder_as_a_listing_with_totals() {
    let out = run(&args!["inspect", database("levels")]).expect(0).quiet().out;
    let expected = "\
keys by leveldb.BytewiseComparator
1 log with the newest writes, which no filter covers: 000010.log
table          level        size      entries      +-  filter size  bits/entry      rate  state
000005.ldb         2    12.1 KiB          450                601 B        10.1     0.9 %  ok
000007.ldb         1     6.4 KiB          215                290 B        10.0    0.60 %  ok
000009.ldb         0     4.9 KiB          146                207 B        10.2    0.70 %  ok
3 tables                23.4 KiB          811              1.1 KiB        10.1    0.72 %
(811 entries of 464 distinct keys)

   level  tables  no filter        size       entries   of all  distinct keys  filter size      rate
       0       1          0     4.9 KiB           146   18.0 %            136        207 B    0.70 %
       1       1          0     6.4 KiB           215   26.5 %            193        290 B    0.60 %
       2       1          0    12.1 KiB           450   55.5 %            450        601 B     0.9 %
";
    assert_eq!(out, format!("{}\n{expected}", database("levels").display()));
}

#[test]
fn a_wide_listing_has_all_columns() {
    let out = run(&args!["inspect", "--wide", database("levels")]).expect(0).quiet().out;
    let expected = "\
table          level        size    recorded  blocks  compression      entries      +-  distinct keys  filter size  bits/entry  \
filters    empty    range  base_lg    offsets        bits     set   k      rate  state       filters of  \
policy                       metaindex
000005.ldb         2    12.1 KiB    12.1 KiB      21  snappy               450                    450        601 B        10.1        \
6        0    2 KiB       11       24 B       4,528  45.0 %   6     0.9 %  ok          internal    \
leveldb.BuiltinBloomFilter2  filter.leveldb.BuiltinBloomFilter2
";
    assert!(out.contains(expected), "{out}");
    run(&args!["inspect", "--wide", "--json", database("levels")]).expect(2);
}

/// The listing shows databases, one of them damaged and with an obsolete table, a table of many keys, and long names.
#[test]
fn a_listing_fits_into_100_columns() {
    let folder = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
    for key in 0..200_000 {
        builder.add(format!("{key:012}").as_bytes(), &vec![b'v'; key % 40]).unwrap();
    }
    file(&folder, "123456789012345.ldb", builder.finish().unwrap().0);
    file(&folder, &format!("{}.ldb", "long".repeat(20)), b"no table");
    let mut damaged = fs::read(database("unfiltered").join("000005.ldb")).unwrap();
    damaged[100] ^= 1;
    file(&folder, "000099.ldb", &damaged);
    let longest = |out: &str| {
        // Findings and lists of logs may be longer.
        let tables = out.lines().filter(|line| line.contains("iB") || line.contains("rate"));
        tables.map(|line| line.chars().count()).max().unwrap()
    };
    let out = run(&args!["inspect", folder.path()]).expect(1).out;
    assert!((80..=100).contains(&longest(&out)), "{out}");
    for end in ["  damaged", "  no filter", "  ok", "  incomplete"] {
        assert!(out.lines().any(|line| line.ends_with(end)), "{end}: {out}");
    }
    // The keys of one table are not known.
    let totals = out.lines().find(|line| line.starts_with("6 tables")).unwrap();
    assert!(totals.contains('~') && totals.contains("       -  "), "{out}");
    for name in ["levels", "unfiltered", "reversed"] {
        let out = run(&args!["inspect", database(name)]).expect(0).out;
        assert!((60..=100).contains(&longest(&out)), "{out}");
    }
    assert!(longest(&run(&args!["inspect", "--wide", folder.path()]).expect(1).out) > 200);
}

#[test]
fn json_has_all_fields_in_order() {
    let run = run(&args!["inspect", "--json", table("versions-512-bloom10.ldb")]).expect(0).quiet();
    // Of measured rates, the names of the fields are compared. Other rates are taken as they are written, because
    // parsing and writing a number need not give the same digits.
    let between = |start: &str, end: &str| {
        let (_, rest) = run.out.split_once(start).unwrap();
        rest.split_once(end).unwrap().0
    };
    let fpr = between(r#""probes":6,"estimated_fpr":"#, ",");
    let [random, near] = [
        between(r#""random_fpr":"#, r#","neighbour_fpr""#),
        between(r#""neighbour_fpr":"#, r#","malformed""#),
    ];
    for measured in [random, near] {
        let names: Vec<_> = measured.split(',').map(|field| field.split(':').next().unwrap()).collect();
        assert_eq!(names, [r#"{"rate""#, r#""low""#, r#""high""#, r#""asked""#], "{measured}");
    }
    let larger_fpr = between(r#""saves":47,"estimated_fpr":"#, "}");
    assert_eq!(run.one()["path"], table("versions-512-bloom10.ldb").to_str().unwrap());
    let (path, rest) = run.out.split_at(run.out.find(r#","status""#).unwrap());
    assert!(path.starts_with(r#"{"schema_version":2,"object":"table","input":""#), "{path}");
    assert!(path.ends_with(r#","path_bytes":null,"error_kind":null,"notes":[]"#), "{path}");
    let expected = [
        r#","status":"ok","error":null,"file_size":23250,"data_blocks":39,"#,
        r#""entries":{"count":729,"low":729,"high":729,"exact":true},"#,
        r#""distinct_keys":{"count":300,"low":300,"high":300,"exact":true},"#,
        r#""compression":["none"],"metaindex":["filter.leveldb.BuiltinBloomFilter2"],"#,
        r#""key_format":"internal","origin":null,"dialect":null,"#,
        r#""comparator":null,"level":null,"live":null,"recorded_size":null,"#,
        r#""lost":null,"filter_error":null,"filter":{"#,
        r#""policy":"leveldb.BuiltinBloomFilter2","policy_assumed":false,"offset":20715,"size":969,"base_lg":11,"#,
        r#""filters":10,"empty_filters":0,"offset_array_bytes":40,"empty_filter_bytes":0,"#,
        &format!(r#""larger_ranges":{{"base_lg":15,"saves":47,"estimated_fpr":{larger_fpr}}},"#),
        r#""bits":7312,"bits_set":1628,"#,
        &format!(
            r#""probes":6,"estimated_fpr":{fpr},"random_fpr":{random},"neighbour_fpr":{near},"malformed":null,"unsound":null}},"filter_cost":null,"#
        ),
        r#""depth":"sample"}"#,
        "\n",
    ]
    .concat();
    assert_eq!(rest, expected);
}

/// Compares the fields with those that the library alone computes from the table.
#[test]
fn json_agrees_with_the_table_for_all_test_data() {
    for sample in samples() {
        let path = table(&sample.name);
        let report = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
        let table = sample.open();
        let offsets: Vec<u64> = table.data_blocks().map(|handle| handle.unwrap().offset).collect();
        assert_eq!(report["status"], "ok", "{}", sample.name);
        assert_eq!(report["file_size"], sample.file.len());
        assert_eq!(report["data_blocks"], offsets.len());
        let Some(filter) = table.filter() else {
            assert!(!sample.filtered);
            assert_eq!(report["filter"], Value::Null);
            assert_eq!(report["key_format"], Value::Null);
            let cost = &report["filter_cost"];
            assert_eq!(cost["entries"]["exact"], offsets.len() <= 65, "{}", sample.name);
            let off = cost["entries"]["count"].as_u64().unwrap().abs_diff(sample.entries.len() as u64);
            assert!(off == 0 || (offsets.len() > 65 && off < 20), "{}: {off}", sample.name);
            continue;
        };
        assert_eq!(report["filter_cost"], Value::Null);
        let format = match sample.name.split('-').next() {
            Some("empty") => Value::Null,
            Some("versions") => "internal".into(),
            _ => "user".into(),
        };
        assert_eq!(report["key_format"], format, "{}", sample.name);
        let found = &report["filter"];
        assert_eq!(found["size"], filter.contents().len());
        assert_eq!(found["filters"], filter.num_filters());
        assert_eq!(found["offset_array_bytes"], 4 * filter.num_filters());
        let empty = filter.iter().filter(|(_, filter)| filter.as_ref().unwrap().is_empty()).count();
        assert_eq!(found["empty_filters"], empty);
        let arrays = || filter.iter().filter_map(|(_, filter)| Some(filter.unwrap().split_last()?.1));
        let ones = |array: &[u8]| array.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        assert_eq!(found["bits"], arrays().map(|array| 8 * array.len()).sum::<usize>());
        assert_eq!(found["bits_set"], arrays().map(ones).sum::<u64>(), "{}", sample.name);
        // Absent keys come to a data block in proportion to its entries. Filters of 64 bits do not reveal how many
        // entries they are for.
        let (mut passing, mut entries) = (0.0, 0.0);
        for handle in table.data_blocks().map(Result::unwrap) {
            let mut block = table.block_cursor(handle).unwrap();
            let mut of_block = 0.0;
            while block.next().unwrap() {
                of_block += 1.0;
            }
            passing += of_block * rate(filter.filter((handle.offset >> 11) as usize));
            entries += of_block;
        }
        match found["estimated_fpr"].as_f64() {
            None => assert_eq!(entries, 0.0),
            Some(estimate) => {
                let mean = passing / entries;
                assert!((estimate / mean - 1.0).abs() < 0.1, "{}: {estimate} {mean}", sample.name);
            }
        }
    }
}

fn rate(filter: Option<&[u8]>) -> f64 {
    let Some(filter) = filter else { return 1.0 };
    let Some((&k, bits)) = filter.split_last() else { return 0.0 };
    let set: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
    (f64::from(set) / (8 * bits.len()) as f64).powi(k.into())
}

#[test]
fn a_folder_gives_a_line_a_table_by_number() {
    let folder = folder();
    let contents = fs::read(table("single-4096-bloom10.ldb")).unwrap();
    for name in ["000010.ldb", "9.sst", "000011.sst", "other.ldb", "000008.log", "LOG", "12.txt"] {
        file(&folder, name, if name.ends_with("log") { &[][..] } else { &contents });
    }
    let reports = run(&args!["inspect", "--json", folder.path()]).expect(0).quiet().json();
    let names: Vec<_> = reports.iter().map(|report| report["path"].as_str().unwrap()).collect();
    let expected = ["9.sst", "000010.ldb", "000011.sst", "other.ldb"];
    assert_eq!(names, expected.map(|name| folder.path().join(name).to_str().unwrap().to_owned()));
    let out = run(&args!["inspect", folder.path()]).expect(0).quiet().out;
    assert!(out.ends_with("\n(4 entries of 1 distinct key)\n"), "{out}");
    assert!(out.lines().any(|line| line.starts_with("4 tables")), "{out}");
}

#[test]
fn an_empty_folder_says_so() {
    let folder = folder();
    let message = "expected a database, or a folder with tables (.ldb, .sst), found neither\n";
    let empty = run(&args!["inspect", folder.path()]).expect(2);
    assert_eq!((&*empty.out, empty.err.ends_with(message)), ("", true), "{empty:?}");
    assert_eq!(run(&args!["inspect", "--json", folder.path()]).expect(2).one()["object"], "unreadable");
    write_manifest(folder.path(), &[manifest::Edit::default()]);
    let out = run(&args!["inspect", folder.path()]).expect(0).quiet().out;
    assert!(out.ends_with("\nno tables (.ldb, .sst)\n"), "{out}");
    for name in ["CURRENT", "MANIFEST-000004"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    fs::copy(database("levels").join("000010.log"), folder.path().join("000003.log")).unwrap();
    let log = run(&args!["inspect", folder.path()]).expect(1);
    assert!(log.out.contains("1 log with the newest writes") && log.err.contains("CURRENT"), "{log:?}");
}

#[test]
fn every_filter_is_listed() {
    let path = table("large-65536-bloom10.ldb");
    let report = run(&args!["inspect", "--json", "--filters", path]).expect(0).quiet().one();
    let list = report["filter"]["list"].as_array().unwrap();
    assert_eq!(list.len(), 69);
    let expected = json!({
        "index": 1, "first_offset": 2048, "last_offset": 4095, "data_blocks": [], "bytes": 0, "bits": 0,
        "bits_set": 0, "probes": null, "estimated_fpr": 0.0, "state": "empty"
    });
    assert_eq!(list[1], expected);
    assert_eq!(list[0]["data_blocks"], json!([0]));
    assert_eq!(list[0]["state"], "ok");
    let total = |field: &str| list.iter().map(|filter| filter[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(total("bits"), report["filter"]["bits"]);
    assert_eq!(total("bits_set"), report["filter"]["bits_set"]);
    assert_eq!(total("bytes") + 4 * 69 + 5, report["filter"]["size"]);
    let covered: Vec<_> = list.iter().flat_map(|filter| filter["data_blocks"].as_array().unwrap()).collect();
    assert_eq!(covered.len(), 3);

    let out = run(&args!["inspect", "--filters", path]).expect(0).quiet().out;
    let lines: Vec<_> = out.lines().skip_while(|line| !line.contains("data offsets")).skip(1).collect();
    assert_eq!(lines.len(), 69);
    assert_eq!(lines[0], "       0         0-2047       1        44 B  46.2 %    6   0.98 %  ok         0");
    assert_eq!(lines[1], "       1      2048-4095       0           -       -    -      0 %  empty");
}

#[test]
fn one_filter_for_all_data_blocks() {
    let options =
        WriteOptions::default().filter_policy(BloomFilterPolicy::new(10)).base_lg(63).block_size(128);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for key in 0..100 {
        builder.add(format!("key{key:03}").as_bytes(), &[b'v'; 50]).unwrap();
    }
    let folder = folder();
    let path = file(&folder, "one.ldb", builder.finish().unwrap().0);
    let report = run(&args!["inspect", "--json", "--filters", path]).expect(0).quiet().one();
    assert_eq!(report["filter"]["base_lg"], 63);
    let list = report["filter"]["list"].as_array().unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!(
        list[0]["data_blocks"].as_array().unwrap().len() as u64,
        report["data_blocks"].as_u64().unwrap()
    );
    assert_eq!(list[0]["last_offset"].as_u64(), Some((1 << 63) - 1));
    let out = run(&args!["inspect", path]).expect(0).quiet().out;
    assert!(out.contains("range            8 EiB of data blocks a filter (base_lg 63)"), "{out}");
}

#[test]
fn without_a_filter_it_says_what_one_would_cost() {
    // The same entries, with and without filters: the data blocks are at the same places.
    let with = run(&args!["inspect", "--json", table("words-4096-bloom10-snappy.ldb")]).one();
    let without = run(&args!["inspect", "--json", table("words-4096-unfiltered-snappy.ldb")]).one();
    let cost = &without["filter_cost"];
    assert_eq!(
        (&cost["bits_per_key"], &cost["entries"]["count"], &cost["entries"]["exact"]),
        (&10.into(), &300.into(), &true.into())
    );
    let (real, estimate) = (with["filter"]["size"].as_u64().unwrap(), cost["size"].as_u64().unwrap());
    assert!(real.abs_diff(estimate) <= 4, "{real} {estimate}");

    let out = run(&args!["inspect", table("words-4096-unfiltered.ldb")]).expect(0).quiet().out;
    assert!(
        out.contains("one would cost   about 430 B at 10 bits a key, for 300 entries (an estimate)"),
        "{out}"
    );
    let out = run(&args!["inspect", database("unfiltered")]).expect(0).quiet().out;
    assert!(
        out.contains("(~280 B)")
            && out.contains("(2 without a filter that can be read, 270 entries of 200 distinct keys)"),
        "{out}"
    );
}

#[test]
fn the_keys_of_many_blocks_are_estimated() {
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(256));
    for key in 0..10_000 {
        builder.add(format!("key{key:06}").as_bytes(), &[b'v'; 20]).unwrap();
    }
    let folder = folder();
    let path = file(&folder, "many.ldb", builder.finish().unwrap().0);
    let cost = &run(&args!["inspect", "--json", path]).expect(0).quiet().one()["filter_cost"];
    assert_eq!(cost["entries"]["exact"], false);
    assert!(cost["entries"]["count"].as_u64().unwrap().abs_diff(10_000) < 500, "{cost}");
}

#[test]
fn bare_filter_blocks() {
    let path = table("words-256-bloom10.ldb");
    let block = run(&args!["extract", path]).expect(0).quiet().raw;
    let folder = folder();
    let bare = file(&folder, "filter", &block);
    let of_table = run(&args!["inspect", "--json", path]).one();
    let of_file = run(&args!["inspect", "--json", "--block", bare]).expect(0).quiet().one();
    let of_input = run_with_input(&["inspect", "--json", "--block", "-"], &block).expect(0).quiet().one();
    assert_eq!(of_input["filter"], of_file["filter"]);
    assert_eq!((&of_file["status"], &of_file["file_size"]), (&"ok".into(), &block.len().into()));
    assert_eq!(of_file["data_blocks"], Value::Null);
    for field in ["policy", "size", "base_lg", "filters", "empty_filters", "bits", "bits_set", "probes"] {
        assert_eq!(of_file["filter"][field], of_table["filter"][field], "{field}");
    }
    assert_eq!(of_file["filter"]["offset"], 0);
    let out = run(&args!["inspect", "--block", "--filters", bare]).expect(0).quiet().out;
    assert!(out.contains("filters          12, 0 of them empty"), "{out}");
    let assumed = "filter policy    leveldb.BuiltinBloomFilter2, assumed: --policy names another";
    assert!(out.contains(assumed), "{out}");

    let run = run_with_input(&["inspect", "--json", "--block", "-"], b"abc").expect(1);
    let malformed = "filter block at offset 0: expected at least 5 bytes, found 3";
    assert_eq!(run.one()["filter"]["malformed"], malformed);
    assert_eq!(run.one()["path"], "-");
}

#[test]
fn bare_filter_blocks_are_read_by_the_policy_that_is_named() {
    let block = run(&args!["extract", table("words-256-bloom10.ldb")]).expect(0).raw;
    let inspect = |policy: &[&str]| {
        let arguments = [&["inspect", "--json", "--block", "-"], policy].concat();
        run_with_input(&arguments, &block).expect(0).quiet().one()["filter"].clone()
    };
    let leveldb = inspect(&["--policy", "leveldb.BuiltinBloomFilter2"]);
    let assumed = inspect(&[]);
    assert_eq!((&leveldb["policy_assumed"], &assumed["policy_assumed"]), (&false.into(), &true.into()));
    assert_eq!(leveldb["estimated_fpr"], assumed["estimated_fpr"]);
    // Read as RocksDB's, whose encoding is not known, filters deny nothing and have no bits to count.
    let rocksdb = inspect(&["--policy", "rocksdb.BuiltinBloomFilter"]);
    assert_eq!((&rocksdb["estimated_fpr"], &rocksdb["bits"]), (&1.0.into(), &0.into()));
    assert_eq!((&rocksdb["random_fpr"], &rocksdb["neighbour_fpr"]), (&Value::Null, &Value::Null));
    assert_eq!((&rocksdb["probes"], &rocksdb["bytes"]), (&Value::Null, &leveldb["bytes"]));
    run(&args!["inspect", "--block", "--policy", "unknown", "-"]).expect(2);
    run(&args!["inspect", "--policy", "leveldb.BuiltinBloomFilter", "table.ldb"]).expect(2);
}

#[test]
fn several_tables_are_a_listing() {
    let folder = folder();
    let [first, second] = ["single-4096-bloom10.ldb", "single-4096-unfiltered.ldb"].map(table);
    let short = ["1.ldb", "2.ldb"].map(|name| folder.path().join(name));
    fs::copy(&first, &short[0]).unwrap();
    fs::copy(&second, &short[1]).unwrap();
    let mut command = command(&["inspect", "1.ldb", "2.ldb"]);
    let out = finish(command.current_dir(&folder).spawn().unwrap()).expect(0).quiet().out;
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(lines[0].starts_with("table  "), "{out}");
    assert!(lines[1].starts_with("1.ldb  ") && lines[1].contains(" 18 B "), "{out}");
    assert!(lines[2].starts_with("2.ldb  ") && lines[2].contains("(~18 B)"), "{out}");
    // The columns of one line stand below those of the other.
    let column = |line: &str| line.find(" B  ").unwrap();
    assert_eq!(column(lines[1]), column(lines[2]), "{out}");
    // Wherever the files lie, each is named in full at the beginning of a line.
    let out = run(&args!["inspect", first, second]).expect(0).quiet().out;
    for path in [first, second] {
        assert_eq!(out.lines().filter(|line| line.starts_with(path.to_str().unwrap())).count(), 1, "{out}");
    }
}

#[test]
fn names_and_types_that_are_not_known() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    let odd = crafted.block_of_type(&entry_block(&[(b"other", b"value")]), 7);
    let filter = crafted.block(b"whatever");
    let contents = crafted
        .finish(&[(b"l", data), (b"p", odd)], &[(b"filter.example.\x1b[31mOdd", filter), (b"stats", filter)]);
    let folder = folder();
    let path = file(&folder, "odd.ldb", contents);
    let report = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
    assert_eq!(report["compression"], json!(["none", "type 7 (Zstandard in RocksDB)"]));
    assert_eq!(report["metaindex"], json!(["filter.example.\u{1b}[31mOdd", "stats"]));
    assert_eq!(report["filter"], Value::Null);
    assert_eq!(report["filter_error"], Value::Null);
    assert_eq!(report["filter_cost"], Value::Null);
    let out = run(&args!["inspect", path]).expect(0).quiet().out;
    assert!(out.contains(r"of a policy that is not known here: example.\x1b[31mOdd"), "{out}");
    assert!(out.contains("none, type 7"), "{out}");
}

#[test]
fn the_format_of_keys_that_tell_nothing() {
    // A filter that lets everything pass fits either way.
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key and more", b"value")]);
    let filter = crafted.block(b"\xff\x06\0\0\0\0\x02\0\0\0\x0b");
    let contents = crafted.finish(&[(b"l", data)], &[(b"filter.leveldb.BuiltinBloomFilter2", filter)]);
    let folder = folder();
    let path = file(&folder, "full.ldb", contents);
    let report = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
    assert_eq!(report["key_format"], Value::Null);
    assert_eq!(report["filter"]["estimated_fpr"], 1.0);
    assert_eq!(report["filter"]["unsound"], Value::Null);
    let out = run(&args!["inspect", path]).expect(0).quiet().out;
    assert!(out.contains("cannot be told"), "{out}");
}

#[test]
fn filters_with_different_k_have_no_common_k() {
    let mut block = Vec::new();
    let mut ends = Vec::new();
    for k in [3, 6] {
        let policy = BloomFilterPolicy::new(k * 3 / 2);
        let keys: filterblock::KeyBuf = ["key"].into_iter().collect();
        ends.push(block.len() as u32);
        policy.create_filter(keys.as_keys(), &mut block).unwrap();
    }
    let array = block.len() as u32;
    ends.into_iter().chain([array]).for_each(|offset| block.extend(offset.to_le_bytes()));
    block.push(11);
    assert_eq!(FilterBlockReader::new(BloomFilterPolicy::new(10), &block[..]).num_filters(), 2);
    let report = run_with_input(&["inspect", "--json", "--block", "-"], &block).expect(0).one();
    assert_eq!(report["filter"]["probes"], Value::Null);
    let run = run_with_input(&["inspect", "--block", "-"], &block).expect(0);
    assert!(run.out.contains("differ from filter to filter"), "{run:?}");
}

#[test]
fn all_policies_of_the_library_are_known() {
    let policies: [SharedPolicy; 4] = [
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(LegacyBloomPolicy::new(10)),
        Arc::new(CassandraBloomPolicy::new(10)),
        Arc::new(Murmur3BloomPolicy::new(10)),
    ];
    for policy in policies {
        let name = policy.name().to_owned();
        let options = WriteOptions::default().filter_policies(vec![policy]);
        let mut builder = TableBuilder::new(Vec::new(), options);
        for key in 0..1000 {
            builder.add(format!("key number {key:04}").as_bytes(), &[b'v'; 50]).unwrap();
        }
        let folder = folder();
        let path = file(&folder, "policy.ldb", builder.finish().unwrap().0);
        let report = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
        assert_eq!(report["filter"]["policy"], name);
        assert_eq!(report["key_format"], "user", "{name}");
        let rate = report["filter"]["estimated_fpr"].as_f64().unwrap();
        assert!((0.0005..0.02).contains(&rate), "{name}: {rate}");
        run(&args!["query", path, "key number 0777"]).expect(0).quiet();
        run(&args!["query", "--comparator", "bytewise", path, "key number", "key numbers"]).expect(1).quiet();
        assert!(!run(&args!["extract", path]).expect(0).raw.is_empty());
    }
}

#[test]
fn the_expiring_keys_of_riak_are_internal_keys_too() {
    let policy = LegacyBloomPolicy::new(10);
    let user_keys = ["first", "second", "third"];
    let mut builder = FilterBlockBuilder::new(policy);
    user_keys.iter().for_each(|key| builder.add_key(key.as_bytes()));
    let expiring = |key: &&str| [key.as_bytes(), &[9; 8], &(7u64 << 8 | 3).to_le_bytes()].concat();
    let mut crafted = Crafted::default();
    let data = crafted.entries(&user_keys.each_ref().map(|key| (expiring(key), b"value")));
    let filter = crafted.block(&builder.finish().unwrap());
    let contents = crafted.finish(&[(b"z", data)], &[(b"filter.leveldb.BuiltinBloomFilter", filter)]);
    let folder = folder();
    let path = file(&folder, "riak.sst", contents);
    let report = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
    assert_eq!(report["key_format"], "internal");
}

#[test]
fn the_database_in_use_is_only_read() {
    let path = database("levels");
    let before: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    run(&args!["inspect", path]).expect(0);
    let after: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(before, after);
    assert!(Table::open(sample("words-4096-bloom1.ldb").file, &Default::default()).is_ok());
}

/// The input is tables, files that are no tables, a missing path and folders. Neither the output nor its order depends
/// on the number of threads.
#[test]
fn the_output_is_the_same_with_any_number_of_jobs() {
    let folder = folder();
    let names: Vec<_> = (0..15).map(|number| format!("{number:06}.ldb")).collect();
    for (number, name) in names.iter().enumerate() {
        let contents = match number % 5 {
            4 => b"no table".to_vec(),
            _ => std::fs::read(table(["words-1024-bloom20-snappy.ldb", "dense-256-bloom10.ldb"][number % 2]))
                .unwrap(),
        };
        file(&folder, name, contents);
    }
    let missing = folder.path().join("missing");
    for options in [&["--json", "--filters"][..], &[]] {
        let runs = ["1", "2", "7"].map(|jobs| {
            let paths = [database("levels"), missing.clone(), folder.path().to_owned(), database("levels")];
            let options = options.iter().map(|option| option.into()).chain(["-j".into(), jobs.into()]);
            let arguments: Vec<std::ffi::OsString> =
                ["inspect".into()].into_iter().chain(options).chain(paths.map(Into::into)).collect();
            let run = run(&arguments).expect(2);
            (run.out, run.err)
        });
        assert!(runs[0].0.contains("000013.ldb") && runs[0].1.contains("missing"), "{:?}", runs[0]);
        assert_eq!(runs[0], runs[1]);
        assert_eq!(runs[0], runs[2]);
    }
}
