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
    let short = run(&args!["inspect", path]).expect(0).quiet().out;
    let expected = "fine
  table            300 entries in 13 data blocks, 26.5 KiB
  filters          10.1 bits per entry, 448 B, leveldb.BuiltinBloomFilter2
  false positives  1.2% of random keys, 0.8% of keys similar to stored ones
";
    assert_eq!(short, format!("{}: {expected}", path.display()));
    let wide = run(&args!["inspect", "--wide", path]).expect(0).quiet().out;
    let expected = "fine
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
  bits             3,024, 44.7% of them set
  probes           6
  false positives  1.2% of random keys (1.0 to 1.3% with 95% confidence, 20,480 samples)
                   0.8% of keys similar to stored ones (0.6 to 1.2% with 95% confidence, 3,327 samples)
                   0.82% by the bits set
  filter block     448 B, at offset 26230
";
    assert_eq!(wide, format!("{}: {expected}", path.display()));
}

#[test]
fn a_database_on_one_screen() {
    let path = database("levels");
    let name = path.display();
    let out = run(&args!["inspect", path]).expect(0).quiet().out;
    let expected = "\
  3 tables on 3 levels, 23.4 KiB, 811 entries
  filters  10.1 bits per entry, 1.1 KiB, leveldb.BuiltinBloomFilter2
  logs     1 with newer writes: 000010.log

  level  tables      size  entries  filters  false positives
      0       1   4.9 KiB      146    207 B            0.70%
      1       1   6.4 KiB      215    290 B            0.60%
      2       1  12.1 KiB      450    601 B             0.9%
";
    assert_eq!(out, format!("{name}: fine (a sample was read; verify reads everything)\n  {expected}"));
    let all = run(&args!["inspect", "--depth", "all", path]).expect(0).quiet().out;
    assert!(all.starts_with(&format!("{name}: fine\n  3 tables")), "{all}");
    let none = database("unfiltered");
    let out = run(&args!["inspect", none]).expect(0).quiet().out;
    let hint =
        format!("no table has filters (would they help? filterblock tune {})", word(none.to_str().unwrap()));
    assert!(out.starts_with(&format!("{}: fine; {hint}\n", none.display())), "{out}");
}

#[test]
fn a_wide_listing_has_all_columns() {
    let out = run(&args!["inspect", "--wide", database("levels")]).expect(0).quiet().out;
    for title in
        ["table", "level", "recorded", "+-", "bits/entry", "base_lg", "probes", "false positives", "policy"]
    {
        assert!(out.lines().nth(1).unwrap().contains(title), "{title}: {out}");
    }
    let line = out.lines().find(|line| line.starts_with("000005.ldb")).unwrap();
    let cells: Vec<_> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[..6], ["000005.ldb", "2", "12.1 KiB", "12.1 KiB", "21", "snappy"], "{line}");
    assert!(line.ends_with("internal    leveldb.BuiltinBloomFilter2"), "{line}");
    run(&args!["inspect", "--wide", "--json", database("levels")]).expect(2);
}

#[test]
fn many_databases_have_a_line_each_and_a_sum() {
    let folder = folder();
    for (name, source) in [("a", "levels"), ("b", "unfiltered"), ("c", "levels")] {
        let db = folder.path().join(name);
        fs::create_dir(&db).unwrap();
        for entry in fs::read_dir(database(source)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, db.join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::remove_file(folder.path().join("c/CURRENT")).unwrap();
    let mut command = command(&["inspect", "-r", "."]);
    let out = finish(command.current_dir(&folder).spawn().unwrap()).expect(1).quiet().out;
    let expected = "\
database  tables      size  filters  false pos.  verdict
./a            3  23.4 KiB  1.1 KiB       0.72%  fine
./b            2  15.2 KiB     none           -  fine
./c            3  23.4 KiB  1.1 KiB       0.76%  damaged
3 databases: 2 fine, 1 damaged
";
    assert_eq!(out.replace('\\', "/"), expected);
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
        between(r#""random_fpr":"#, r#","similar_fpr""#),
        between(r#""similar_fpr":"#, r#"},"filter_size_at_10_bits""#),
    ];
    for measured in [random, near] {
        let names: Vec<_> = measured.split(',').map(|field| field.split(':').next().unwrap()).collect();
        assert_eq!(names, [r#"{"rate""#, r#""low""#, r#""high""#, r#""samples""#], "{measured}");
    }
    assert_eq!(run.one()["path"], table("versions-512-bloom10.ldb").to_str().unwrap());
    let (path, rest) = run.out.split_at(run.out.find(r#","verdict""#).unwrap());
    assert!(path.starts_with(r#"{"schema_version":1,"object":"table","input":""#), "{path}");
    assert!(path.ends_with(r#","path_bytes":null,"error_kind":null,"error":null,"notes":[]"#), "{path}");
    let expected = [
        r#","verdict":"fine","file_size":23250,"data_blocks":39,"#,
        r#""entries":{"value":729,"low":729,"high":729},"distinct_keys":{"value":300,"low":300,"high":300},"#,
        r#""compression":["none"],"filter_policies":["leveldb.BuiltinBloomFilter2"],"#,
        r#""key_format":"internal","format":null,"hash":null,"#,
        r#""comparator":null,"level":null,"live":null,"recorded_size":null,"#,
        r#""lost":null,"filter_status":"ok","filter_error":null,"filter":{"#,
        r#""policy":"leveldb.BuiltinBloomFilter2","offset":20715,"size":969,"base_lg":11,"#,
        r#""filters":10,"empty_filters":0,"bits":7312,"bits_set":1628,"#,
        &format!(r#""probes":6,"estimated_fpr":{fpr},"random_fpr":{random},"similar_fpr":{near}}},"#),
        r#""filter_size_at_10_bits":null,"#,
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
        assert_eq!(report["verdict"], "fine", "{}", sample.name);
        assert_eq!(report["file_size"], sample.file.len());
        assert_eq!(report["data_blocks"], offsets.len());
        let Some(filter) = table.filter() else {
            assert!(!sample.filtered);
            assert_eq!(report["filter"], Value::Null);
            assert_eq!(report["key_format"], Value::Null);
            let entries = &report["entries"];
            assert_eq!(entries["low"] == entries["high"], offsets.len() <= 65, "{}", sample.name);
            let off = entries["value"].as_u64().unwrap().abs_diff(sample.entries.len() as u64);
            assert!(off == 0 || (offsets.len() > 65 && off < 20), "{}: {off}", sample.name);
            assert!(report["filter_size_at_10_bits"].is_u64(), "{}", sample.name);
            continue;
        };
        assert_eq!(report["filter_size_at_10_bits"], Value::Null);
        let format = match sample.name.split('-').next() {
            Some("empty") => Value::Null,
            Some("versions") => "internal".into(),
            _ => "user".into(),
        };
        assert_eq!(report["key_format"], format, "{}", sample.name);
        let found = &report["filter"];
        assert_eq!(found["size"], filter.contents().len());
        assert_eq!(found["filters"], filter.num_filters());
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
    for name in ["000010.ldb", "9.sst", "000011.sst", "other.ldb", "12.txt"] {
        file(&folder, name, &contents);
    }
    let reports = run(&args!["inspect", "--json", folder.path()]).expect(0).quiet().json();
    let names: Vec<_> = reports.iter().map(|report| report["path"].as_str().unwrap()).collect();
    let expected = ["9.sst", "000010.ldb", "000011.sst", "other.ldb"];
    assert_eq!(names, expected.map(|name| folder.path().join(name).to_str().unwrap().to_owned()));
    let out = run(&args!["inspect", folder.path()]).expect(0).quiet().out;
    assert!(out.contains("\n  4 tables, "), "{out}");
}

#[test]
fn an_empty_folder_says_so() {
    let folder = folder();
    let message = "no database here: no CURRENT, table (.ldb, .sst) or log\n";
    let empty = run(&args!["inspect", folder.path()]).expect(2);
    assert_eq!((&*empty.out, empty.err.ends_with(message)), ("", true), "{empty:?}");
    assert_eq!(run(&args!["inspect", "--json", folder.path()]).expect(2).one()["object"], "unreadable");
    write_manifest(folder.path(), &[manifest::Edit::default()]);
    let out = run(&args!["inspect", folder.path()]).expect(0).quiet().out;
    assert!(out.ends_with("\n  no tables\n"), "{out}");
    for name in ["CURRENT", "MANIFEST-000004"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    fs::copy(database("levels").join("000010.log"), folder.path().join("000003.log")).unwrap();
    let log = run(&args!["inspect", folder.path()]).expect(1);
    assert!(
        log.out.contains("logs     1 with newer writes: 000003.log")
            && log.out.contains(": CURRENT is missing"),
        "{log:?}"
    );
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
    let lines = out.lines().skip_while(|line| !line.contains("data offsets")).skip(1);
    let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 69);
    assert_eq!(lines[0], "       0         0-2047       1        44 B   46.2%    6    0.98%  ok         0");
    assert_eq!(lines[1], "       1      2048-4095       0           -       -    -       0%  empty");
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
    let out = run(&args!["inspect", "--wide", path]).expect(0).quiet().out;
    assert!(out.contains("range            8 EiB of data blocks a filter (base_lg 63)"), "{out}");
}

#[test]
fn without_a_filter_it_says_what_one_would_cost() {
    // The same entries, with and without filters: the data blocks are at the same places.
    let with = run(&args!["inspect", "--json", table("words-4096-bloom10-snappy.ldb")]).one();
    let without = run(&args!["inspect", "--json", table("words-4096-unfiltered-snappy.ldb")]).one();
    assert_eq!(without["entries"], json!({"value": 300, "low": 300, "high": 300}));
    let (real, estimate) =
        (with["filter"]["size"].as_u64().unwrap(), without["filter_size_at_10_bits"].as_u64().unwrap());
    assert!(real.abs_diff(estimate) <= 4, "{real} {estimate}");
    let path = table("words-4096-unfiltered.ldb");
    let out = run(&args!["inspect", path]).expect(0).quiet().out;
    assert!(out.contains("  filters          none (would they help? filterblock tune "), "{out}");
    let out = run(&args!["inspect", "--wide", path]).expect(0).quiet().out;
    assert!(out.contains("with 10 bits     ~430 B\n"), "{out}");
}

#[test]
fn the_keys_of_many_blocks_are_estimated() {
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(256));
    for key in 0..10_000 {
        builder.add(format!("key{key:06}").as_bytes(), &[b'v'; 20]).unwrap();
    }
    let folder = folder();
    let path = file(&folder, "many.ldb", builder.finish().unwrap().0);
    let entries = &run(&args!["inspect", "--json", path]).expect(0).quiet().one()["entries"];
    assert_ne!(entries["low"], entries["high"]);
    assert!(entries["value"].as_u64().unwrap().abs_diff(10_000) < 500, "{entries}");
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
    assert_eq!((&of_file["verdict"], &of_file["file_size"]), (&"fine".into(), &block.len().into()));
    assert_eq!(of_file["data_blocks"], Value::Null);
    for field in ["policy", "size", "base_lg", "filters", "empty_filters", "bits", "bits_set", "probes"] {
        assert_eq!(of_file["filter"][field], of_table["filter"][field], "{field}");
    }
    assert_eq!(of_file["filter"]["offset"], 0);
    let out = run(&args!["inspect", "--block", "--filters", bare]).expect(0).quiet().out;
    assert!(out.contains("filters          12, 0 of them empty"), "{out}");

    let run = run_with_input(&["inspect", "--json", "--block", "-"], b"abc").expect(0);
    let malformed = "filter block at offset 0: expected at least 5 bytes, found 3";
    assert_eq!(run.one()["filter_error"], malformed);
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
    assert_eq!(leveldb["estimated_fpr"], assumed["estimated_fpr"]);
    // Read as RocksDB's, whose encoding is not known, filters deny nothing and have no bits to count.
    let rocksdb = inspect(&["--policy", "rocksdb.BuiltinBloomFilter"]);
    assert_eq!((&rocksdb["estimated_fpr"], &rocksdb["bits"]), (&1.0.into(), &0.into()));
    assert_eq!((&rocksdb["random_fpr"], &rocksdb["similar_fpr"]), (&Value::Null, &Value::Null));
    assert_eq!((&rocksdb["probes"], &rocksdb["bytes"]), (&Value::Null, &leveldb["bytes"]));
    run(&args!["inspect", "--block", "--policy", "unknown", "-"]).expect(2);
    run(&args!["inspect", "--policy", "leveldb.BuiltinBloomFilter", "table.ldb"]).expect(2);
}

#[test]
fn several_tables_have_a_line_each() {
    let folder = folder();
    fs::copy(table("single-4096-bloom10.ldb"), folder.path().join("1.ldb")).unwrap();
    fs::copy(table("single-4096-unfiltered.ldb"), folder.path().join("2.ldb")).unwrap();
    let mut command = command(&["inspect", "1.ldb", "2.ldb"]);
    let out = finish(command.current_dir(&folder).spawn().unwrap()).expect(0).quiet().out;
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(lines[0].starts_with("path   tables  "), "{out}");
    assert!(lines[1].starts_with("1.ldb  ") && lines[1].contains(" 18 B "), "{out}");
    assert!(lines[2].starts_with("2.ldb  ") && lines[2].contains(" none "), "{out}");
    assert_eq!(lines[3], "2 paths: 2 fine");
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
    assert_eq!(report["filter_policies"], json!(["example.\u{1b}[31mOdd"]));
    assert_eq!(report["filter_status"], "unknown-policy");
    assert_eq!(report["filter"], Value::Null);
    assert_eq!(report["filter_error"], Value::Null);
    assert_eq!(report["filter_size_at_10_bits"], Value::Null);
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
    assert_eq!(report["filter_status"], "ok");
    let out = run(&args!["inspect", "--wide", path]).expect(0).quiet().out;
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
    let run = run_with_input(&["inspect", "--wide", "--block", "-"], &block).expect(0);
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
        assert!(runs[0].0.contains("damaged") && runs[0].1.contains("missing"), "{:?}", runs[0]);
        assert_eq!(runs[0], runs[1]);
        assert_eq!(runs[0], runs[2]);
    }
}

/// More than that nobody reads.
#[test]
fn a_table_has_at_most_50_values_in_json() {
    fn values(of: &Value) -> usize {
        match of {
            Value::Object(fields) => fields.values().map(values).sum(),
            Value::Array(list) => list.iter().map(values).sum(),
            _ => 1,
        }
    }
    for path in [database("levels"), database("unfiltered"), table("words-256-bloom10.ldb")] {
        let lines = run(&args!["inspect", "--json", path]).expect(0).all_json();
        let tables = lines.iter().filter(|line| line["object"] == "table");
        assert!(tables.map(values).all(|number| (20..=50).contains(&number)), "{lines:?}");
    }
}
