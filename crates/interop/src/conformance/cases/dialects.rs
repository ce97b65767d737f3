//! Filters and tables of LevelDB's relatives, and of LevelDB before 1.18.

use std::fs;
use std::path::{Path, PathBuf};

use filterblock::table::{ReadOptions, Table};
use filterblock::{BashoBloom2Policy, FilterPolicy, LegacyBloomPolicy};
use serde_json::{Value, json};

use super::super::{Question, Stored};
use super::{hexes, numbered, question, some_bytes};
use crate::hex;

/// The policy of goleveldb: the name that LevelDB's had up to 1.17, and a hash that reads the last bytes as unsigned.
const GOLEVELDB: &str = "leveldb.BuiltinBloomFilter";

/// The policy of LevelDB up to 1.17 where `char` is signed, and of Riak: the same name, and a hash that reads the
/// last bytes as signed.
const SIGNED: &str = "leveldb.BuiltinBloomFilter, signed";

/// The same name, where nothing says which of the two hashes it stands for.
const EITHER: &str = "leveldb.BuiltinBloomFilter, either";

/// The filters that Riak writes under LevelDB's name.
const BASHOS: &str = "leveldb.BuiltinBloomFilter2, Basho's";

/// The program that gave the known answers. Its `util/hash.cc` and `util/bloom.cc` are those of LevelDB before 1.18.
const BASHO: &str = "Basho's LevelDB b91d5ce";

pub(super) fn all() -> Vec<Question> {
    let mut cases = goleveldbs();
    cases.extend(signed_hashes());
    cases.extend(bashos());
    cases.extend(tables());
    cases
}

fn known(question: Question, answer: Value) -> Question {
    Question { known: Some((BASHO, answer)), ..question }
}

/// Hashes of LevelDB before 1.18. They differ from today's if high bytes follow the last whole word of four.
fn signed_hashes() -> Vec<Question> {
    let lengths = [
        0xbc9f_1d34_u32,
        0x7006_76cd,
        0xb2b8_299c,
        0x0c9d_87c3,
        0xa2b0_0170,
        0xa574_a567,
        0xfdaf_ca85,
        0x8423_20db,
        0x251e_153f,
        0xedf2_71de,
        0x46d9_1dd0,
        0x4da7_5606,
        0x6c69_cebc,
        0xa43a_2e09,
        0x21e4_39cf,
        0x8684_a222,
        0x9ff7_c6fc,
        0x8860_4d85,
        0x72ec_22aa,
        0xdd10_57e5,
        0xba33_2f48,
    ];
    let bytes: Vec<u8> = (0..=20_u8).map(|i| i.wrapping_mul(89).wrapping_add(200)).collect();
    let of_lengths = (0..).zip(lengths).map(|(len, hash)| (bytes[..len].to_vec(), hash));
    let others = [
        (&b"a"[..], 0x286e_9db0),
        (b"\x80", 0x91b7_55f4),
        (b"\xff", 0x1d66_774f),
        (b"\xc3\x97", 0x0f2b_a540),
        (b"\xe2\x99\xa5", 0x5301_74ee),
        (b"\xe1\x80\xb9\x32", 0xed21_633a),
        (b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4\xf3\xf2\xf1", 0xf07d_c894),
    ];
    let others = others.map(|(bytes, hash)| (bytes.to_vec(), hash));
    let case = |(bytes, hash): (Vec<u8>, u32)| {
        let given = json!({ "bytes": hex(&bytes), "seed": 0xbc9f_1d34_u32, "signed": true });
        let name = if bytes.is_empty() { "nothing".to_owned() } else { hex(&bytes) };
        known(
            question(format!("hash/signed-{name}"), "hash", given, Stored::Nothing),
            json!({ "hash": hash }),
        )
    };
    of_lengths.chain(others).map(case).collect()
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Returns the user keys of the set `versions`, as often as they are stored.
fn versions() -> Vec<Vec<u8>> {
    let listing = fs::read_to_string(testdata("tables/versions.keys")).expect("the listing of the set");
    let keys = listing.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let key = line.split(' ').next().unwrap_or_default();
        let byte = |at| u8::from_str_radix(&key[at..at + 2], 16).expect("a key in hexadecimal");
        (0..key.len() - 16).step_by(2).map(byte).collect()
    });
    keys.collect()
}

/// The only filter in a table that Basho's LevelDB wrote.
fn filter_of(table: &str, policy: impl FilterPolicy + 'static) -> Vec<u8> {
    let options = ReadOptions::default().internal_keys(true).filter_policy(policy);
    let table = Table::open_path(testdata(table), &options).expect("a table of Basho's LevelDB");
    let filters = table.filter().expect("a filter block");
    assert_eq!(filters.num_filters(), 1, "filters of all keys");
    filters.filter(0).expect("a sound filter").to_vec()
}

/// Filters that Basho's LevelDB wrote, by both of its policies.
fn bashos() -> Vec<Question> {
    let numbered: Vec<Vec<u8>> = (0..5_u32)
        .map(|i| {
            let mut key = i.to_le_bytes().to_vec();
            key.extend((0..i % 21).map(|j| (i.wrapping_mul(131) + j * 89 + 7) as u8));
            key
        })
        .collect();
    let versions = versions();
    let mut cases = Vec::new();
    for (policy, short, keys, bits_per_key, filter) in [
        (SIGNED, "signed-numbered", &numbered, 10, vec![0xac, 0x32, 0xf4, 0xc1, 0xa9, 0xc8, 0x42, 0x83, 6]),
        (BASHOS, "basho-numbered", &numbered, 10, vec![0xc1, 0x25, 0x18, 0xa5, 0x68, 0xa0, 0x1c, 0x0a, 6]),
        (
            SIGNED,
            "signed-versions",
            &versions,
            16,
            filter_of("basho/versions-bloom.ldb", LegacyBloomPolicy::new(16)),
        ),
        (
            BASHOS,
            "basho-versions",
            &versions,
            16,
            filter_of("basho/versions-bloom2.ldb", BashoBloom2Policy::new(16)),
        ),
    ] {
        let given = json!({ "policy": policy, "bits_per_key": bits_per_key, "keys": hexes(keys) });
        let create = question(format!("bloom_create/{short}"), "bloom_create", given, Stored::Nothing);
        cases.push(known(create, json!({ "filter": hex(&filter) })));
        let asked = if policy == SIGNED { vec![SIGNED, EITHER] } else { vec![policy] };
        for policy in asked {
            let way = if policy == EITHER { "either-" } else { "" };
            for (number, key) in keys.iter().enumerate().step_by(keys.len().div_ceil(12)) {
                let given = json!({ "policy": policy, "filter": hex(&filter), "key": hex(key) });
                let name = format!("bloom_match/{way}{short}-{number}");
                let question = question(name, "bloom_match", given, Stored::InFilter);
                cases.push(known(question, json!({ "match": true })));
            }
        }
    }
    cases
}

/// Tables with filters under the name that LevelDB's had up to 1.17, by each of the two hashes. LevelDB 1.23 ignores
/// these filters.
fn tables() -> Vec<Question> {
    let mut cases = Vec::new();
    for (file, name, internal_keys) in [
        ("constructed/leveldb-1.17-signed.ldb", "leveldb-1.17-signed", false),
        ("goleveldb/base-lg-11/000004.ldb", "goleveldb-base-lg-11", true),
        ("goleveldb/base-lg-19/000004.ldb", "goleveldb-base-lg-19", true),
    ] {
        let bytes = fs::read(testdata(file)).expect("a table");
        let options = ReadOptions::default().internal_keys(internal_keys).filter_policies(vec![]);
        let table = Table::open(&bytes[..], &options).expect("a sound table");
        let entries: Vec<_> = table.iter().map(|entry| entry.expect("a sound entry")).collect();
        let listed: Value = entries.iter().map(|(key, value)| json!([hex(key), hex(value)])).collect();
        let given = json!({ "table": hex(&bytes), "internal_keys": internal_keys, "sound": true });
        let scan = format!("table_scan/dialect-{name}");
        cases.push(question(scan, "table_scan", given.clone(), Stored::Entries(listed)));
        for (number, (key, value)) in entries.iter().enumerate().step_by(entries.len().div_ceil(6)) {
            let mut given = given.clone();
            given["key"] = hex(key).into();
            let stored = Stored::Value(hex(value));
            cases.push(question(format!("table_get/dialect-{name}-{number}"), "table_get", given, stored));
        }
    }
    cases
}

/// Filters that goleveldb makes, and filters without a bit set that it is asked about.
fn goleveldbs() -> Vec<Question> {
    let mut cases = Vec::new();
    let keys: [(&str, Vec<Vec<u8>>); 4] = [
        ("none", vec![]),
        ("numbered", numbered(20)),
        ("every-length", (0..=20).map(|len| some_bytes(len, 7)).collect()),
        ("high-bytes", (1..=7).map(|len| vec![0xff - len as u8; len]).collect()),
    ];
    for (name, keys) in keys {
        for bits_per_key in [0, 5, 10, 14, 30, 43] {
            let given = json!({ "policy": GOLEVELDB, "bits_per_key": bits_per_key, "keys": hexes(&keys) });
            let name = format!("bloom_create/goleveldb-{name}-{bits_per_key}-bits");
            cases.push(question(name, "bloom_create", given, Stored::Nothing));
        }
    }
    // 16 bytes without a bit set, with several numbers of probes.
    for probes in [0, 1, 6, 30, 31, 200] {
        let filter = [vec![0; 16], vec![probes]].concat();
        let given = json!({ "policy": GOLEVELDB, "filter": hex(&filter), "key": hex(b"pear") });
        cases.push(question(
            format!("bloom_match/goleveldb-no-bits-k-{probes}"),
            "bloom_match",
            given,
            Stored::Nothing,
        ));
    }
    cases
}
