//! Databases of one table each, for implementations that open only databases. The table is sound, or damaged in one of
//! the ways of `damaged`.

use filterblock::database::{LiveTable, LogWriter, VersionEdit};
use serde_json::{Value, json};

use super::super::table::{ENTRIES, Form, SEQUENCE, assemble};
use super::super::{Question, Stored};
use super::damaged::{damages, is_sound};
use super::question;
use crate::hex;

/// The number of the table.
const TABLE: u64 = 5;

/// Makes a MANIFEST with the one table, of this size. `None`: without tables.
pub(super) fn manifest(size: Option<u64>) -> Vec<u8> {
    let (first, last) = (ENTRIES[0].0, ENTRIES[ENTRIES.len() - 1].0);
    let mut edit = VersionEdit::default();
    edit.comparator = Some("leveldb.BytewiseComparator".into());
    edit.log_number = Some(TABLE + 1);
    edit.prev_log_number = Some(0);
    edit.next_file_number = Some(TABLE + 2);
    edit.last_sequence = Some(SEQUENCE);
    edit.new_tables.extend(
        size.map(|size| LiveTable::new(2, TABLE, size, Form::Internal.key(first), Form::Internal.key(last))),
    );
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).expect("short keys");
    log.add_record(&record).expect("writing to memory");
    log.into_writer()
}

pub(super) fn files(table: &[u8]) -> Value {
    json!({
        "CURRENT": hex(b"MANIFEST-000002\n"),
        "MANIFEST-000002": hex(&manifest(Some(table.len() as u64))),
        "000005.ldb": hex(table),
    })
}

pub(super) fn all() -> Vec<Question> {
    let entries: Value =
        ENTRIES.iter().map(|(key, value)| json!([hex(key.as_bytes()), hex(value.as_bytes())])).collect();
    let mut cases = Vec::new();
    // LevelDB's behaviour is undefined if keys of an index are not internal keys.
    for (name, damage) in damages().into_iter().filter(|(name, _)| !name.starts_with("index-key-")) {
        let mut given = json!({ "files": files(&assemble(&damage, Form::Internal)) });
        if is_sound(&name) {
            given["sound"] = json!(true);
        }
        let stored = Stored::Entries(entries.clone());
        cases.push(question(format!("database_scan/damaged-{name}"), "database_scan", given.clone(), stored));
        for (place, key) in [("there", "citron"), ("elsewhere", "apple")] {
            let mut given = given.clone();
            given["key"] = hex(key.as_bytes()).into();
            let value =
                ENTRIES.iter().find(|(stored, _)| *stored == key).map(|(_, value)| hex(value.as_bytes()));
            let stored = value.map_or(Stored::Absent, Stored::Value);
            cases.push(question(
                format!("database_get/damaged-{name}-{place}"),
                "database_get",
                given,
                stored,
            ));
        }
    }
    cases
}
