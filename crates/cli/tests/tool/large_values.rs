//! Tables with values of many megabytes, as Chromium's IndexedDB has them, through `build`,
//! `inspect`, `verify`, `query` and `extract`.

use std::fs;

use serde_json::json;

use super::tables::Crafted;
use super::*;

/// Lines for `build`: three keys, two of which have values of 9 and 40 MiB.
fn pairs() -> Vec<u8> {
    let value = |len: usize| {
        let words = (0..).flat_map(|number: u32| format!("{} ", number / 700).into_bytes());
        words.take(len).collect::<Vec<_>>()
    };
    [&b"a\tsmall\nb\t"[..], &value(9 << 20), b"\nc\t", &value(40 << 20), b"\n"].concat()
}

#[test]
fn tables_with_values_of_40_mib_are_looked_at_by_all_commands() {
    let folder = folder();
    let pairs = file(&folder, "pairs", pairs());
    for compression in ["none", "snappy"] {
        let path = folder.path().join(format!("{compression}.ldb"));
        run(&args!["build", "--compression", compression, pairs, path]).expect(0).quiet();
        let shown = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
        assert_eq!((&shown["verdict"], &shown["compression"]), (&json!("fine"), &json!([compression])));
        assert_eq!((&shown["key_format"], &shown["data_blocks"]), (&json!("user"), &json!(2)));
        let verified = run(&args!["verify", "--json", path]).expect(0).quiet().one();
        assert_eq!((&verified["verdict"], &verified["entries"]), (&json!("fine"), &json!(3)));
        let answers = run(&args!["query", "--json", "--comparator", "bytewise", path, "a", "b", "c", "x"]);
        let answers = answers.expect(0).quiet().json();
        let found: Vec<_> = answers.iter().map(|answer| answer["may_match"].as_bool().unwrap()).collect();
        assert_eq!(found, [true, true, true, false]);
        assert!(answers.iter().all(|answer| answer["error"].is_null() && answer["by_index"] == true));
        let block = folder.path().join("block");
        run(&args!["extract", path, "-o", block]).expect(0).quiet();
    }
}

/// A Zstandard frame of a data block with one entry, whose value is `blocks` times 128 KiB of zeros.
pub(super) fn zeros(key: &[u8], blocks: usize) -> Vec<u8> {
    let block = |kind: u32, len: usize, last: bool| {
        ((len as u32) << 3 | kind << 1 | u32::from(last)).to_le_bytes()[..3].to_vec()
    };
    let mut value_len = Vec::new();
    let mut rest = blocks << 17;
    while rest >= 0x80 {
        value_len.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    value_len.push(rest as u8);
    let entry = [&[0, key.len() as u8][..], &value_len, key].concat();
    let run = [block(1, 1 << 17, false), vec![0]].concat();
    [
        b"\x28\xb5\x2f\xfd\x00\x38",
        &block(0, entry.len(), false)[..],
        &entry,
        &run.repeat(blocks),
        &block(0, 8, true),
        &[0, 0, 0, 0, 1, 0, 0, 0],
    ]
    .concat()
}

/// Writes a table whose only entry has a value of `blocks` times 128 KiB of zeros.
fn table_of_zeros(folder: &tempfile::TempDir, blocks: usize) -> PathBuf {
    let mut crafted = Crafted::default();
    let place = crafted.block_of_type(&zeros(b"a", blocks), 2);
    file(folder, "zeros.ldb", crafted.finish(&[(b"a", place)], &[]))
}

/// The error about the limit names the option that raises it, and that option works.
#[test]
fn max_output_lifts_the_limit_on_a_block_in_every_command() {
    let folder = folder();
    // 300 MiB of zeros, in some 10 KB.
    let path = table_of_zeros(&folder, 2400);
    assert!(fs::metadata(&path).unwrap().len() < 16 << 10);
    let refused = run(&args!["verify", "--json", path]).expect(2).one();
    let problem = &refused["problems"][0];
    assert_eq!((&problem["code"], &refused["entries"]), (&json!("limit"), &json!(0)), "{refused}");
    let expected = problem["expected"].as_str().unwrap();
    assert!(expected.ends_with(" bytes (--max-output)"), "{expected}");
    let lifted = args!["verify", "--json", "--max-output", "1G", path];
    let verified = run(&lifted).expect(0).one();
    assert_eq!((&verified["verdict"], &verified["entries"]), (&json!("fine"), &json!(1)));
    // The number of keys is known once the block can be read.
    let keys = |arguments: &[std::ffi::OsString]| run(arguments).expect(0).one()["entries"]["value"].clone();
    assert_eq!(keys(&args!["inspect", "--json", path]), json!(null));
    // A lower limit refuses what the usual one does not. The decoder takes 3 MB of it.
    let small = table_of_zeros(&folder, 80);
    for (limit, status) in [(14_000_000, 0), (10_000_000, 2)] {
        run(&args!["verify", "--max-output", limit.to_string(), small]).expect(status);
    }
    assert_eq!(keys(&args!["inspect", "--json", small]), json!(1));
    for (command, has_option) in
        [("scan", true), ("verify", true), ("repair", true), ("query", false), ("inspect", false)]
    {
        let help = run(&args![command, "--help"]).expect(0).out;
        assert_eq!(help.contains("--max-output <SIZE>"), has_option, "{help}");
    }
}

/// No command opens a table whose index is longer than the limit.
#[test]
fn every_command_reads_an_index_as_long_as_max_output_allows() {
    let folder = folder();
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("a", "value")]);
    let metaindex = crafted.entries::<&[u8], &[u8]>(&[]);
    let index = super::tables::entry_block(&[(vec![b'a'; 100_000], super::tables::handle(data))]);
    let index = crafted.block_of_type(&snap::raw::Encoder::new().compress_vec(&index).unwrap(), 1);
    let path = file(&folder, "table.ldb", crafted.footer(metaindex, index));
    for command in ["scan", "verify"] {
        for (limit, status) in [("200000", 0), ("50000", 2)] {
            let run = run(&args![command, "--max-output", limit, path]).expect(status);
            assert_eq!(
                run.err.contains("decompressed block") || run.out.contains("decompressed block"),
                status == 2,
                "{run:?}"
            );
        }
    }
}
