//! LevelDB 1.23, from the source of Debian's package, through the shim.

use std::path::Path;

use anyhow::Result;
use filterblock_interop::hex;
use filterblock_interop::leveldb::{
    self, BlockScript, Bloom, Compression, Database, DatabaseOptions, DatabaseWalk, Entries, Filter,
    KeyOrder, Place, QueryScript, Step, Table, TableOptions, TableWalk, build_table,
};
use serde_json::{Value, json};

use super::{bytes, database, got, listed};

pub(super) fn answer(kind: &str, given: &Value) -> Option<Value> {
    if !given["policy"].is_null() || given["signed"] == json!(true) {
        return None;
    }
    let internal_keys = given["internal_keys"] == json!(true);
    let bits_per_key = given["bits_per_key"].as_u64().map(|bits| bits as u32);
    Some(match kind {
        "hash" => json!({ "hash": leveldb::hash(&bytes(&given["bytes"]), given["seed"].as_u64()? as u32) }),
        "bloom_create" => {
            let keys: Vec<_> = given["keys"].as_array()?.iter().map(bytes).collect();
            json!({ "filter": hex(&Bloom::new(bits_per_key?).create_filter(&keys)) })
        }
        "bloom_match" => {
            json!({ "match": Bloom::new(10).key_may_match(&bytes(&given["key"]), &bytes(&given["filter"])) })
        }
        "filter_block_build" => {
            let mut script = BlockScript::new();
            match internal_keys {
                true => script.begin_internal(bits_per_key?),
                false => script.begin(bits_per_key?),
            }
            for call in given["calls"].as_array()? {
                match call["start_block"].as_u64() {
                    Some(offset) => script.start_block(offset),
                    None => script.add_key(&bytes(&call["add_key"])),
                }
            }
            script.finish();
            json!({ "block": hex(&script.build()[0]) })
        }
        "filter_block_match" => {
            let mut script = QueryScript::new();
            script.block(&bytes(&given["block"]));
            script.query(given["block_offset"].as_u64()?, &bytes(&given["key"]));
            let answer = script.answers()[0];
            json!({ "match": answer.may_match, "asked": answer.policy_asked })
        }
        "compare" => {
            json!({ "order": order(internal_keys).compare(&bytes(&given["a"]), &bytes(&given["b"])) as i8 })
        }
        "separator" => {
            let key = order(internal_keys).separator(&bytes(&given["a"]), &bytes(&given["b"]));
            json!({ "key": hex(&key) })
        }
        "internal_key" => {
            let key = bytes(&given["key"]);
            match leveldb::parse_internal_key(&key) {
                Some((sequence, kind)) => {
                    json!({ "user_key": hex(&key[..key.len() - 8]), "sequence": sequence, "type": kind })
                }
                None => json!({ "error": true }),
            }
        }
        "successor" => json!({ "key": hex(&order(internal_keys).successor(&bytes(&given["key"]))) }),
        "table_build" => {
            let options = TableOptions {
                block_size: given["block_size"].as_u64()? as usize,
                restart_interval: given["restart_interval"].as_u64()? as u32,
                compression: Compression::None,
                bits_per_key,
                internal_keys,
                ..TableOptions::default()
            };
            let entries = given["entries"].as_array()?;
            let entries: Entries = entries.iter().map(|entry| (bytes(&entry[0]), bytes(&entry[1]))).collect();
            json!({ "table": hex(&build_table(&options, &entries).expect("a table in memory")) })
        }
        "table_get" => {
            let key = bytes(&given["key"]);
            let table = bytes(&given["table"]);
            let found =
                Table::open(&options(internal_keys), &table).and_then(|table| table.internal_get(&key));
            // LevelDB finds the first entry at or after the key.
            got(found.map(|entry| entry.filter(|(found, _)| *found == key).map(|(_, value)| value)))
        }
        "table_scan" => {
            let table = bytes(&given["table"]);
            listed(Table::open(&options(internal_keys), &table).and_then(|table| table.entries()))
        }
        "table_walk" => {
            let walk = TableWalk::new(&bytes(&given["table"]), internal_keys, true);
            places(walk.map(|mut walk| walk.run(&steps(given), false)))
        }
        "table_offset" => match TableWalk::new(&bytes(&given["table"]), internal_keys, true) {
            Ok(walk) => json!({ "offset": walk.offset_of(&bytes(&given["key"])) }),
            Err(_) => json!({ "error": true }),
        },
        "database_walk" => {
            let folder = database(given);
            places(DatabaseWalk::new(folder.path()).map(|mut walk| walk.run(&steps(given))))
        }
        "database_get" => {
            let folder = database(given);
            let found = open(folder.path()).and_then(|database| database.get(&bytes(&given["key"])));
            got(found)
        }
        "database_scan" => {
            let folder = database(given);
            listed(open(folder.path()).and_then(|database| {
                let mut entries = Vec::new();
                database.scan(|key, value| {
                    entries.push((key.to_vec(), value.to_vec()));
                    true
                })?;
                Ok(entries)
            }))
        }
        _ => return None,
    })
}

fn steps(given: &Value) -> Vec<Step> {
    let steps = given["steps"].as_array().into_iter().flatten().map(|step| match step.as_str() {
        Some("first") => Step::First,
        Some("last") => Step::Last,
        Some("next") => Step::Next,
        Some("prev") => Step::Prev,
        _ => Step::Seek(bytes(&step["seek"])),
    });
    steps.collect()
}

/// Returns the answer about a walk. Damage anywhere on the way makes it an error.
fn places(places: Result<Vec<Place>>) -> Value {
    match places {
        Ok(places) if places.iter().all(|place| place.ok) => {
            let entry = |(key, value): &(Vec<u8>, Vec<u8>)| json!([hex(key), hex(value)]);
            let entries: Vec<_> = places.iter().map(|place| place.entry.as_ref().map(entry)).collect();
            json!({ "entries": entries })
        }
        _ => json!({ "error": true }),
    }
}

fn options(internal_keys: bool) -> TableOptions {
    TableOptions { bits_per_key: Some(10), internal_keys, verify_checksums: true, ..TableOptions::default() }
}

fn order(internal_keys: bool) -> KeyOrder {
    if internal_keys { KeyOrder::Internal } else { KeyOrder::Bytewise }
}

fn open(folder: &Path) -> Result<Database> {
    let options =
        DatabaseOptions { filter: Filter::BuiltIn(10), paranoid_checks: true, ..DatabaseOptions::default() };
    Database::open(folder, &options)
}
