//! The crate `rusty-leveldb`, which has interfaces for filters and whole databases.

use rusty_leveldb::{BloomPolicy, DB, FilterPolicy as _, LdbIterator as _, Options};
use serde_json::{Value, json};

use super::{bytes, database, got, listed};

pub(super) fn answer(kind: &str, given: &Value) -> Option<Value> {
    if !given["policy"].is_null() {
        return None;
    }
    let bits_per_key = given["bits_per_key"].as_u64().map(|bits| bits as u32);
    Some(match kind {
        "bloom_create" => {
            let (mut all, mut offsets) = (Vec::new(), Vec::new());
            for key in given["keys"].as_array()? {
                offsets.push(all.len());
                all.extend(bytes(key));
            }
            let filter = BloomPolicy::new(bits_per_key?).create_filter(&all, &offsets);
            json!({ "filter": filterblock_interop::hex(&filter) })
        }
        "bloom_match" => {
            json!({ "match": BloomPolicy::new(10).key_may_match(&bytes(&given["key"]), &bytes(&given["filter"])) })
        }
        "database_get" => {
            let folder = database(given);
            match DB::open(folder.path(), options()) {
                // The crate's `get` reports no errors.
                Ok(mut database) => {
                    got(Ok::<_, ()>(database.get(&bytes(&given["key"])).map(|value| value.to_vec())))
                }
                Err(_) => json!({ "error": true }),
            }
        }
        "database_scan" => {
            let folder = database(given);
            listed(DB::open(folder.path(), options()).and_then(|mut database| {
                let mut entries = Vec::new();
                let mut cursor = database.new_iter()?;
                while let Some((key, value)) = cursor.next() {
                    entries.push((key.to_vec(), value.to_vec()));
                }
                Ok(entries)
            }))
        }
        _ => return None,
    })
}

fn options() -> Options {
    Options { create_if_missing: false, paranoid_checks: true, ..Options::default() }
}
