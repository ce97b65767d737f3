//! The crate `sstable`.

use std::sync::Arc;

use serde_json::{Value, json};
use sstable::{Options, SSIterator as _, Table, filter};

use super::{bytes, got, listed};

pub(super) fn answer(kind: &str, given: &Value) -> Option<Value> {
    if !given["policy"].is_null() || given["internal_keys"] == json!(true) {
        return None;
    }
    let bits_per_key = given["bits_per_key"].as_u64().map(|bits| bits as u32);
    Some(match kind {
        "bloom_create" => {
            use filter::FilterPolicy as _;
            let (mut all, mut offsets) = (Vec::new(), Vec::new());
            for key in given["keys"].as_array()? {
                offsets.push(all.len());
                all.extend(bytes(key));
            }
            let filter = filter::BloomPolicy::new(bits_per_key?).create_filter(&all, &offsets);
            json!({ "filter": filterblock_interop::hex(&filter) })
        }
        "bloom_match" => {
            use filter::FilterPolicy as _;
            json!({ "match": filter::BloomPolicy::new(10).key_may_match(&bytes(&given["key"]), &bytes(&given["filter"])) })
        }
        "table_build" => {
            let mut options = Options {
                block_size: given["block_size"].as_u64()? as usize,
                block_restart_interval: given["restart_interval"].as_u64()? as usize,
                compression_type: sstable::CompressionType::CompressionNone,
                ..Options::default()
            };
            options.filter_policy = match bits_per_key {
                Some(bits) => Arc::new(Box::new(filter::BloomPolicy::new(bits))),
                None => Arc::new(Box::new(filter::NoFilterPolicy::new())),
            };
            let mut file = Vec::new();
            let mut table = sstable::TableBuilder::new(options, &mut file);
            for entry in given["entries"].as_array()? {
                table.add(&bytes(&entry[0]), &bytes(&entry[1])).expect("a key behind the one before");
            }
            table.finish().expect("a table in memory");
            json!({ "table": filterblock_interop::hex(&file) })
        }
        "table_get" => got(open(given).and_then(|table| table.get(&bytes(&given["key"])))),
        "table_scan" => listed(open(given).map(|table| {
            let mut entries = Vec::new();
            let mut cursor = table.iter();
            while let Some(entry) = cursor.next() {
                entries.push(entry);
            }
            entries
        })),
        _ => return None,
    })
}

fn open(given: &Value) -> sstable::Result<Table> {
    let file = bytes(&given["table"]);
    let len = file.len();
    Table::new(Options::default(), Box::new(file), len)
}
