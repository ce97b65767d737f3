//! Filters of LevelDB's relatives under LevelDB's older name.

use serde_json::json;

use super::super::{Question, Stored};
use super::{hexes, numbered, question, some_bytes};
use crate::hex;

/// The policy of goleveldb: the name that LevelDB had until 1.17, with unsigned last bytes.
const GOLEVELDB: &str = "leveldb.BuiltinBloomFilter";

/// Filters that goleveldb makes.
pub(super) fn all() -> Vec<Question> {
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
    // 16 bytes without a bit, with any number of probes that the byte can hold.
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
