//! Sound tables, built, scanned and asked, and tables with various names in the metaindex.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::table::{Block, Damage, ENTRIES, FILTER_NAME, Form, assemble};
use super::super::{Question, Stored};
use super::{internal, numbered, question, some_bytes};
use crate::hex;
use crate::leveldb::{Compression, Entries, TableOptions, build_table};

pub(super) type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// The contents of tables, each with its name, and `true` if the keys are internal. Most values are short, so that the
/// files stay small.
pub(super) fn contents() -> Vec<(&'static str, bool, Map)> {
    let value = |number: usize| some_bytes(number % 7, 9);
    let numbered: Map = numbered(40).into_iter().enumerate().map(|(n, key)| (key, value(n))).collect();
    let binary = (0..30).map(|n| (some_bytes(n % 11, n as u32), value(n))).collect();
    let shared = (0..12).map(|n| ([vec![b'x'; 140], vec![n as u8]].concat(), value(n))).collect();
    let dense = (0..20_u8).map(|n| (vec![b'a', n], vec![n])).collect();
    let large = (0..4_u8).map(|n| (vec![n], some_bytes(1500, n.into()))).collect();
    let mut versions: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for user_key in ["apple", "apricot", "banana"] {
        for sequence in [30, 20, 10] {
            let key = internal(user_key.as_bytes(), sequence, u64::from(sequence != 20));
            versions.push((key, if sequence == 20 { vec![] } else { vec![sequence as u8] }));
        }
    }
    vec![
        ("empty", false, Map::new()),
        ("empty-key", false, Map::from([(vec![], b"value".to_vec())])),
        ("numbered", false, numbered),
        ("binary", false, binary),
        ("shared", false, shared),
        ("dense", false, dense),
        ("large-values", false, large),
        ("versions", true, versions.into_iter().collect()),
    ]
}

/// The entries in the order of the table.
pub(super) fn ordered(map: &Map, internal_keys: bool) -> Vec<(&[u8], &[u8])> {
    let mut entries: Vec<(&[u8], &[u8])> = map.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    if internal_keys {
        entries.sort_by_key(|(key, _)| {
            let (user_key, tag) = key.split_at(key.len() - 8);
            (user_key, std::cmp::Reverse(u64::from_le_bytes(tag.try_into().expect("eight bytes"))))
        });
    }
    entries
}

fn listed(entries: &[(&[u8], &[u8])]) -> Value {
    entries.iter().map(|(key, value)| json!([hex(key), hex(value)])).collect()
}

pub(super) fn all() -> Vec<Question> {
    let mut cases = Vec::new();
    for (name, internal_keys, map) in contents() {
        let entries = ordered(&map, internal_keys);
        for (block_size, restart_interval, bits) in
            [(4096, 16, Some(10)), (64, 16, Some(10)), (64, 1, None), (300, 2, Some(1)), (1, 3, Some(30))]
        {
            let bits_name = bits.map_or("no".to_owned(), |bits: u32| bits.to_string());
            let given = json!({
                "block_size": block_size, "restart_interval": restart_interval, "bits_per_key": bits,
                "internal_keys": internal_keys, "entries": listed(&entries),
            });
            let name = format!("table_build/{name}-{block_size}-{restart_interval}-{bits_name}-bits");
            cases.push(question(name, "table_build", given, Stored::Nothing));
        }
        for compression in [Compression::None, Compression::Snappy] {
            let options = TableOptions {
                block_size: 200,
                compression,
                bits_per_key: Some(10),
                internal_keys,
                ..TableOptions::default()
            };
            let table: Entries = entries.iter().copied().collect();
            let table = build_table(&options, &table).expect("a table in memory");
            let name = format!(
                "{name}-{}",
                if compression == Compression::None { "uncompressed" } else { "snappy" }
            );
            let given = json!({ "table": hex(&table), "internal_keys": internal_keys, "sound": true });
            let stored = Stored::Entries(listed(&entries));
            cases.push(question(format!("table_scan/{name}"), "table_scan", given.clone(), stored));
            let absent = if internal_keys { internal(b"blueberry", 50, 1) } else { b"no such key".to_vec() };
            let step = (entries.len() / 4).max(1);
            let asked = entries.iter().step_by(step).map(|(key, value)| (*key, Some(*value)));
            for (number, (key, value)) in asked.chain([(&absent[..], None)]).enumerate() {
                let mut given = given.clone();
                given["key"] = hex(key).into();
                let stored = value.map_or(Stored::Absent, |value| Stored::Value(hex(value)));
                cases.push(question(format!("table_get/{name}-{number}"), "table_get", given, stored));
            }
        }
    }
    cases.extend(named());
    cases
}

/// Filters without a single bit set, under names near LevelDB's: a stored key is found only if the reader
/// ignores the filter.
fn named() -> Vec<Question> {
    let mut cases = Vec::new();
    for (name, meta) in [
        ("leveldbs", FILTER_NAME),
        ("without-prefix", "leveldb.BuiltinBloomFilter2"),
        ("longer", "filter.leveldb.BuiltinBloomFilter22"),
        ("shorter", "filter.leveldb.BuiltinBloomFilte"),
        ("prefix-only", "filter."),
        ("empty", ""),
        ("upper-case", "FILTER.leveldb.BuiltinBloomFilter2"),
        ("rocksdbs", "fullfilter.rocksdb.BuiltinBloomFilter"),
        ("somebody-elses", "filter.example.OwnFilter"),
        ("nul-behind", "filter.leveldb.BuiltinBloomFilter2\0"),
    ] {
        let no_bits = |block: &mut Block| {
            let (end, filter) = (block.contents.len() - 9, &mut block.contents);
            // All but the number of probes, the offsets and `base_lg`.
            filter[..end - 1].fill(0);
        };
        let damage = Damage {
            filter: Some(Box::new(no_bits)),
            names: Some(Box::new(move |names| names[0].0 = meta.into())),
            ..Damage::default()
        };
        let (key, value) = ENTRIES[4];
        let given = json!({ "table": hex(&assemble(&damage, Form::User)), "internal_keys": false, "key": hex(key.as_bytes()), "sound": true });
        let stored = Stored::Value(hex(value.as_bytes()));
        cases.push(question(format!("table_get/metaindex-name-{name}"), "table_get", given, stored));
    }
    cases
}
