//! The questions of the cases. The answer that must hold is LevelDB's, or that of another [`Origin`].

mod blocks;
mod damaged;
mod dialects;
mod filters;
mod orders;
mod tables;
mod walks;

use serde_json::{Value, json};

use super::{Question, Stored};
use crate::hex;

/// A file of the suite: its name without the ending, and what it holds.
pub type File = (&'static str, Vec<Question>);

/// Cases that lead LevelDB into undefined behaviour: numbers that wrap around, and shifts by more bits than there are.
/// LevelDB is not asked about them, since its answers would be accidental.
const UNDEFINED: [&str; 8] = [
    "-first-key-4-gib",
    "-lengths-wrap",
    "-wraps",
    "-trailer-wraps",
    "-last-number",
    "-ten-bytes-with-excess-bits",
    "-filter-base-lg-64",
    "-filter-base-lg-255",
];

/// The program whose answer must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// LevelDB.
    LevelDb,
    /// goleveldb, for filters under the older name.
    GoLevelDb,
    /// This library, where LevelDB's behaviour is undefined.
    Ours,
}

impl Origin {
    /// Returns the program whose answer to a question must hold.
    pub fn of(question: &Question) -> Self {
        let ends = |part: &&str| question.name.contains(&format!("{part}-")) || question.name.ends_with(part);
        if !question.given["policy"].is_null() {
            Self::GoLevelDb
        } else if UNDEFINED.iter().any(ends) {
            Self::Ours
        } else {
            Self::LevelDb
        }
    }

    /// Returns the program's name, as cases give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LevelDb => "LevelDB 1.23",
            Self::GoLevelDb => "goleveldb 20200815.5c35d60",
            Self::Ours => "filterblock; LevelDB's behaviour is undefined",
        }
    }
}

/// All questions, by file.
pub fn all() -> Vec<File> {
    vec![
        ("hash", filters::hash()),
        ("bloom", filters::bloom()),
        ("filter-block", blocks::all()),
        ("keys", orders::all()),
        ("table", tables::all()),
        ("damaged-table", damaged::all()),
        ("database", damaged::databases()),
        ("dialect", dialects::all()),
        ("walk", walks::all()),
    ]
}

/// Returns the case in full, with the answer of the program `origin`.
pub fn complete(question: &Question, origin: &str, answer: &Value) -> Value {
    let (may, must_not) = alternatives(question, answer);
    let mut case = json!({
        "case": question.name,
        "kind": question.kind,
        "origin": origin,
        "given": question.given,
        "must": answer,
    });
    for (name, patterns) in [("may", may), ("must_not", must_not)] {
        if !patterns.is_empty() {
            case[name] = patterns.into();
        }
    }
    case
}

/// Returns answers that differ from `answer` and lose nothing, and answers that lose something.
fn alternatives(question: &Question, answer: &Value) -> (Vec<Value>, Vec<Value>) {
    let mut may = Vec::new();
    let mut must_not = Vec::new();
    match (question.kind, &question.stored) {
        ("bloom_match" | "filter_block_match", stored) => {
            if answer["match"] == json!(false) {
                may.push(json!({ "match": true }));
            }
            if *stored == Stored::InFilter {
                must_not.push(json!({ "match": false }));
            }
        }
        // A filter that is not asked, and a damaged table that is refused, lose nothing.
        ("table_get" | "database_get", Stored::Value(value)) => {
            may.push(json!({ "value": value }));
            may.push(json!({ "error": true }));
            if answer.get("absent").is_none() {
                must_not.push(json!({ "absent": true }));
            }
        }
        ("table_get" | "database_get", Stored::Absent) => {
            may.push(json!({ "absent": true }));
            may.push(json!({ "error": true }));
        }
        ("table_scan" | "database_scan", Stored::Entries(entries)) => {
            may.push(json!({ "entries": entries }));
            may.push(json!({ "error": true }));
        }
        // A type that LevelDB does not know may be a relative's.
        ("internal_key", _) => {
            let key = question.given["key"].as_str().unwrap_or_default();
            if let Some((user_key, tag)) = key.split_at_checked(key.len().wrapping_sub(16)) {
                let tag = u64::from_str_radix(tag, 16).map_or(0, u64::swap_bytes);
                may.push(json!({ "user_key": user_key, "sequence": tag >> 8, "type": tag & 0xff }));
            }
        }
        // A key that is not shortened separates just as well.
        ("separator", _) => may.push(json!({ "key": question.given["a"] })),
        ("successor", _) => may.push(json!({ "key": question.given["key"] })),
        _ => {}
    }
    may.retain(|pattern| pattern != answer);
    // Sound input gives no reason for an error, nor for a filter that is not asked. A reader of other names than
    // LevelDB's may find a value where LevelDB's filter denies it.
    if question.given["sound"] == json!(true) {
        may.retain(|pattern| pattern.get("error").is_none() && pattern.get("match").is_none());
    }
    (may, must_not)
}

fn question(name: String, kind: &'static str, given: Value, stored: Stored) -> Question {
    Question { name, kind, given, stored, known: None }
}

/// Bytes that are the same in every run, from a linear congruential generator.
fn some_bytes(len: usize, salt: u32) -> Vec<u8> {
    let mut state = salt.wrapping_mul(0x9e37_79b9).wrapping_add(len as u32);
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(byte).collect()
}

fn hexes<K: AsRef<[u8]>>(keys: &[K]) -> Vec<String> {
    keys.iter().map(|key| hex(key.as_ref())).collect()
}

/// The keys `key00`, `key01` and so on.
fn numbered(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| format!("key{number:02}").into_bytes()).collect()
}

/// A key as a database stores it: the user key, then sequence number and type in eight bytes.
fn internal(user_key: &[u8], sequence: u64, kind: u64) -> Vec<u8> {
    [user_key, &(sequence << 8 | kind).to_le_bytes()].concat()
}
