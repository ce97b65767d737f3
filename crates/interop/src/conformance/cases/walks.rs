//! Walks in both directions, offsets of keys, and databases with writes in a log. All of it is sound.

use filterblock::database::LogWriter;
use serde_json::{Value, json};

use super::super::table::{Damage, ENTRIES, Form, SEQUENCE, assemble, varint};
use super::super::{Question, Stored};
use super::damaged::{files, manifest};
use super::tables::{contents, ordered};
use super::{internal, question, some_bytes};
use crate::hex;
use crate::leveldb::{Compression, Entries, TableOptions, build_table};

/// A write: a key, and its value unless it is deleted.
type Write = (&'static str, Option<&'static str>);

/// The writes that a log adds to [`ENTRIES`], in two batches.
const WRITES: [&[Write]; 2] = [
    &[("banana", Some("new")), ("cherry", None), ("aardvark", Some("first")), ("zebra", Some("last"))],
    &[("zebra", None), ("fig", None), ("cherry", Some("back")), ("blueberry", Some("")), ("fig", None)],
];

pub(super) fn all() -> Vec<Question> {
    let mut cases = Vec::new();
    for (number, (name, internal_keys, map)) in contents().into_iter().enumerate() {
        let entries = ordered(&map, internal_keys);
        let compression = if number % 2 == 0 { Compression::None } else { Compression::Snappy };
        let options = TableOptions { block_size: 200, compression, internal_keys, ..TableOptions::default() };
        let table = build_table(&options, &entries.iter().copied().collect::<Entries>());
        let given = json!({
            "table": hex(&table.expect("a table in memory")), "internal_keys": internal_keys, "sound": true,
        });
        let mut keys: Vec<Vec<u8>> = entries.iter().map(|(key, _)| key.to_vec()).collect();
        for user_key in [&b""[..], b"aq", b"key1", b"x", b"\xff\xff"] {
            keys.push(if internal_keys { internal(user_key, 15, 1) } else { user_key.to_vec() });
        }
        for salt in 0..4 {
            let mut given = given.clone();
            given["steps"] = steps(&keys, salt);
            cases.push(question(format!("table_walk/{name}-{salt}"), "table_walk", given, Stored::Nothing));
        }
        let own = (entries.len() / 5).max(1);
        for (at, key) in
            keys.iter().take(entries.len()).step_by(own).chain(&keys[entries.len()..]).enumerate()
        {
            let mut given = given.clone();
            given["key"] = hex(key).into();
            cases.push(question(format!("table_offset/{name}-{at}"), "table_offset", given, Stored::Nothing));
        }
    }
    cases.extend(with_logs());
    cases
}

/// Makes sixty steps: to either end, to a key, and then a few in one direction or in turns.
fn steps(keys: &[Vec<u8>], salt: u32) -> Value {
    let mut steps = vec![json!("first")];
    let mut random = some_bytes(400, 100 + salt).into_iter();
    while let (Some(kind), Some(which)) = (random.next(), random.next()) {
        let run = usize::from(which % 6);
        match kind % 8 {
            0 => steps.push(json!("first")),
            1 => steps.push(json!("last")),
            2 => steps.extend(vec![json!("next"); run]),
            3 | 4 => steps.extend(vec![json!("prev"); run]),
            5 => steps.extend(["prev", "next", "next", "prev"].map(|step| json!(step))),
            _ => steps.push(json!({ "seek": hex(&keys[usize::from(which) % keys.len()]) })),
        }
    }
    steps.truncate(60);
    steps.into()
}

/// A log as LevelDB writes it.
fn log() -> Vec<u8> {
    let (mut log, mut sequence) = (LogWriter::new(Vec::new()), SEQUENCE + 1);
    for writes in WRITES {
        let mut batch = [&sequence.to_le_bytes()[..], &(writes.len() as u32).to_le_bytes()].concat();
        for (key, value) in writes {
            batch.push(u8::from(value.is_some()));
            for part in [Some(*key), *value].into_iter().flatten() {
                batch.extend([varint(part.len() as u64), part.into()].concat());
            }
        }
        log.add_record(&batch).expect("writing to memory");
        sequence += writes.len() as u64;
    }
    log.into_writer()
}

fn with_logs() -> Vec<Question> {
    let log = log();
    let table = assemble(&Damage::default(), Form::Internal);
    let both = files(&table);
    let only = json!({ "CURRENT": both["CURRENT"], "MANIFEST-000002": hex(&manifest(None)) });
    let mut cases = Vec::new();
    for (name, mut files, is_cut) in [
        ("log-and-table", both.clone(), false),
        ("log-alone", only, false),
        ("log-cut-and-table", both, true),
    ] {
        // A record that was cut off was never acknowledged: its writes are not there.
        let end = if is_cut { log.len() - 3 } else { log.len() };
        files["000006.log"] = hex(&log[..end]).into();
        let given = json!({ "files": files, "sound": true });
        let scan = format!("database_scan/{name}");
        cases.push(question(scan, "database_scan", given.clone(), Stored::Nothing));
        let mut keys: Vec<&str> = ENTRIES.iter().map(|(key, _)| *key).collect();
        keys.extend(["aardvark", "blueberry", "zebra", "", "nowhere"]);
        for key in &keys {
            let mut given = given.clone();
            given["key"] = hex(key.as_bytes()).into();
            let name = format!("database_get/{name}-{}", if key.is_empty() { "empty-key" } else { key });
            cases.push(question(name, "database_get", given, Stored::Nothing));
        }
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        for salt in 0..4 {
            let mut given = given.clone();
            given["steps"] = steps(&keys, 10 + salt);
            let name = format!("database_walk/{name}-{salt}");
            cases.push(question(name, "database_walk", given, Stored::Nothing));
        }
    }
    cases
}
