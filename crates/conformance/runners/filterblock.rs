//! This library's answer to a case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use filterblock::database::Database;
use filterblock::table::{
    BytewiseComparator, Comparator, Compression, InternalKeyComparator, Lookup, ReadOptions, Table,
    TableBuilder, WriteOptions,
};
use filterblock::{
    BashoBloom2Policy, BloomFilterPolicy, Error, FilterBlockBuilder, FilterBlockReader, FilterPolicy,
    InternalFilterPolicy, InternalKey, KeyBuf, KeyFormat, Keys, LegacyBloomPolicy, LegacyHash, hash,
};
use serde_json::{Value, json};

/// Returns the answer. `None` if the library has no interface for the kind or the policy of the case.
pub(crate) fn answer(kind: &str, given: &Value) -> Option<Value> {
    let internal = given["internal_keys"] == json!(true);
    let bits_per_key = given["bits_per_key"].as_u64().unwrap_or(10) as u32;
    Some(match kind {
        "hash" => {
            let seed = u32::try_from(given["seed"].as_u64()?).ok()?;
            let hash = if given["signed"] == json!(true) { hash::hash_signed_tail } else { hash::leveldb };
            json!({ "hash": hash(&bytes(&given["bytes"]), seed) })
        }
        "bloom_create" => {
            let policy = policy(given["policy"].as_str(), bits_per_key)?;
            let keys: KeyBuf = list(&given["keys"]).collect();
            let mut filter = Vec::new();
            policy.create_filter(keys.as_keys(), &mut filter).expect("a filter of these keys");
            json!({ "filter": hex(&filter) })
        }
        "bloom_match" => {
            let policy = policy(given["policy"].as_str(), 10)?;
            json!({ "match": policy.key_may_match(&bytes(&given["key"]), &bytes(&given["filter"])) })
        }
        "internal_key" => match InternalKey::parse(&bytes(&given["key"]), KeyFormat::LevelDb) {
            Some(key) => json!({ "user_key": hex(key.user_key), "sequence": key.sequence, "type": key.kind }),
            None => json!({ "error": true }),
        },
        "filter_block_build" => {
            let policy = BloomFilterPolicy::new(bits_per_key);
            match internal {
                true => build(InternalFilterPolicy::new(policy), &given["calls"]),
                false => build(policy, &given["calls"]),
            }
        }
        "filter_block_match" => {
            let asked = AtomicBool::new(false);
            let reader = FilterBlockReader::new(Asking(&asked), bytes(&given["block"]));
            let may_match = reader.key_may_match(given["block_offset"].as_u64()?, &bytes(&given["key"]));
            json!({ "match": may_match, "asked": asked.load(Ordering::Relaxed) })
        }
        "compare" => {
            let order = comparator(internal).compare(&bytes(&given["a"]), &bytes(&given["b"]));
            json!({ "order": order as i8 })
        }
        "separator" => {
            let mut key = bytes(&given["a"]);
            comparator(internal).find_shortest_separator(&mut key, &bytes(&given["b"]));
            json!({ "key": hex(&key) })
        }
        "successor" => {
            let mut key = bytes(&given["key"]);
            comparator(internal).find_short_successor(&mut key);
            json!({ "key": hex(&key) })
        }
        "table_build" => {
            let policies = given["bits_per_key"].as_u64().map(|bits| BloomFilterPolicy::new(bits as u32));
            let options = WriteOptions::default()
                .compression(Compression::None)
                .block_size(given["block_size"].as_u64()? as usize)
                .restart_interval(given["restart_interval"].as_u64()? as u32)
                .internal_keys(internal)
                .filter_policies(policies.into_iter().map(|policy| Arc::new(policy) as _).collect());
            let mut table = TableBuilder::new(Vec::new(), options);
            for entry in given["entries"].as_array()? {
                table.add(&bytes(&entry[0]), &bytes(&entry[1])).expect("a key behind the one before");
            }
            json!({ "table": hex(&table.finish().expect("a table").0) })
        }
        "table_get" => match open(given, internal).and_then(|table| table.get(&bytes(&given["key"]))) {
            Ok(Some(value)) => json!({ "value": hex(&value) }),
            Ok(None) => json!({ "absent": true }),
            Err(_) => json!({ "error": true }),
        },
        "table_scan" => match open(given, internal).and_then(|table| entries(&table)) {
            Ok(entries) => json!({ "entries": entries }),
            Err(_) => json!({ "error": true }),
        },
        "table_walk" => match open(given, internal).and_then(|table| walk(&table, &given["steps"])) {
            Ok(entries) => json!({ "entries": entries }),
            Err(_) => json!({ "error": true }),
        },
        "table_offset" => match open(given, internal) {
            Ok(table) => json!({ "offset": table.approximate_offset_of(&bytes(&given["key"])) }),
            Err(_) => json!({ "error": true }),
        },
        "database_get" => in_database(given, |database| {
            Ok(match database.get(&bytes(&given["key"]), &options(true))? {
                Lookup::Value(value) => json!({ "value": hex(&value) }),
                _ => json!({ "absent": true }),
            })
        })?,
        "database_scan" => in_database(given, |database| Ok(json!({ "entries": live_entries(database)? })))?,
        "database_walk" => in_database(given, |database| {
            Ok(json!({ "entries": walk_database(database, &given["steps"])? }))
        })?,
        _ => return None,
    })
}

/// Asks the database of these files.
fn in_database(given: &Value, ask: impl FnOnce(&Database) -> Result<Value, Error>) -> Option<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, contents) in given["files"].as_object()? {
        std::fs::write(folder.path().join(name), bytes(contents)).expect("a small file");
    }
    let answer = match Database::open(folder.path()) {
        Ok(database) if database.manifest().is_ok() => ask(&database).ok(),
        _ => None,
    };
    Some(answer.unwrap_or(json!({ "error": true })))
}

/// Takes the steps, and returns the entry that each leads to.
fn walk(table: &Table<Vec<u8>>, steps: &Value) -> Result<Vec<Value>, Error> {
    let mut cursor = table.cursor();
    let steps = steps.as_array().into_iter().flatten().map(|step| {
        let found = match step.as_str() {
            Some("first") => cursor.seek_to_first(),
            Some("last") => cursor.seek_to_last(),
            Some("next") => cursor.next(),
            Some("prev") => cursor.prev(),
            _ => cursor.seek(&bytes(&step["seek"])),
        };
        Ok(found?.then(|| json!([hex(cursor.key()), hex(cursor.value())])).into())
    });
    steps.collect()
}

/// Takes the steps in a database. After a step that found no entry, a scan could go on in the other direction; in the
/// suite, `next` and `prev` find no entry either.
fn walk_database(database: &Database, steps: &Value) -> Result<Vec<Value>, Error> {
    let mut scan = database.scan(&options(true))?;
    let mut found = false;
    let steps = steps.as_array().into_iter().flatten().map(|step| {
        found = match step.as_str() {
            Some("next") => found && scan.next()?,
            Some("prev") => found && scan.prev()?,
            Some("last") => {
                scan.seek_to_last();
                scan.prev()?
            }
            first_or_seek => {
                scan.seek(&first_or_seek.map_or_else(|| bytes(&step["seek"]), |_| Vec::new()));
                scan.next()?
            }
        };
        let entry = scan.entry().filter(|_| found);
        Ok(entry.map(|entry| json!([hex(entry.key.user_key), hex(entry.value)])).into())
    });
    steps.collect()
}

fn live_entries(database: &Database) -> Result<Vec<[String; 2]>, Error> {
    let mut scan = database.scan(&options(true))?;
    let mut entries = Vec::new();
    while scan.next()? {
        let entry = scan.entry().expect("an entry after a step");
        entries.push([hex(entry.key.user_key), hex(entry.value)]);
    }
    Ok(entries)
}

fn options(internal_keys: bool) -> ReadOptions {
    ReadOptions::default().internal_keys(internal_keys).verify_checksums(true)
}

fn open(given: &Value, internal: bool) -> Result<Table<Vec<u8>>, Error> {
    Table::open(bytes(&given["table"]), &options(internal))
}

pub(crate) fn entries(table: &Table<Vec<u8>>) -> Result<Vec<[String; 2]>, Error> {
    let mut entries = Vec::new();
    let mut cursor = table.cursor();
    while cursor.next()? {
        entries.push([hex(cursor.key()), hex(cursor.value())]);
    }
    Ok(entries)
}

fn build(policy: impl FilterPolicy, calls: &Value) -> Value {
    let mut builder = FilterBlockBuilder::new(policy);
    for call in calls.as_array().into_iter().flatten() {
        match call["start_block"].as_u64() {
            Some(offset) => builder.start_block(offset).expect("offsets that ascend"),
            None => builder.add_key(&bytes(&call["add_key"])),
        }
    }
    json!({ "block": hex(&builder.finish().expect("a filter block")) })
}

/// Returns the built-in policy of that name, or LevelDB's if no name is given. `None` if no policy has the name.
fn policy(name: Option<&str>, bits_per_key: u32) -> Option<Box<dyn FilterPolicy>> {
    Some(match name {
        None => Box::new(BloomFilterPolicy::new(bits_per_key)),
        Some("leveldb.BuiltinBloomFilter") => {
            Box::new(LegacyBloomPolicy::new(bits_per_key).with_hash(LegacyHash::Unsigned))
        }
        Some("leveldb.BuiltinBloomFilter, signed") => {
            Box::new(LegacyBloomPolicy::new(bits_per_key).with_hash(LegacyHash::Signed))
        }
        Some("leveldb.BuiltinBloomFilter, either") => Box::new(LegacyBloomPolicy::new(bits_per_key)),
        Some("leveldb.BuiltinBloomFilter2, Basho's") => Box::new(BashoBloom2Policy::new(bits_per_key)),
        Some(_) => return None,
    })
}

fn comparator(internal: bool) -> Box<dyn Comparator> {
    match internal {
        true => Box::new(InternalKeyComparator::new(BytewiseComparator)),
        false => Box::new(BytewiseComparator),
    }
}

/// LevelDB's policy, which notes that it was asked.
struct Asking<'a>(&'a AtomicBool);

impl FilterPolicy for Asking<'_> {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter2"
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<(), Error> {
        BloomFilterPolicy::new(10).create_filter(keys, dst)
    }
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.store(true, Ordering::Relaxed);
        BloomFilterPolicy::new(10).key_may_match(key, filter)
    }
}

fn list(keys: &Value) -> impl Iterator<Item = Vec<u8>> + '_ {
    keys.as_array().into_iter().flatten().map(bytes)
}

/// The bytes of a text in hexadecimal.
pub(crate) fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("bytes in hexadecimal");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("bytes in hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
