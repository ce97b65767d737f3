//! The hash and individual Bloom filters.

use serde_json::json;

use super::super::{Question, Stored};
use super::{hexes, numbered, question, some_bytes};
use crate::hex;
use crate::leveldb::Bloom;

/// LevelDB's seed for Bloom filters.
const BLOOM_SEED: u32 = 0xbc9f_1d34;

/// Cases of the hash: every number of last bytes, with high bytes and without, other seeds, and long keys.
pub(super) fn hash() -> Vec<Question> {
    let mut cases = Vec::new();
    let mut push = |name: String, bytes: &[u8], seed: u32| {
        let given = json!({ "bytes": hex(bytes), "seed": seed });
        cases.push(question(format!("hash/{name}"), "hash", given, Stored::Nothing));
    };
    for len in 0..=20 {
        push(format!("ascii-{len}"), &b"abcdefghijklmnopqrst"[..len], BLOOM_SEED);
        push(format!("high-bytes-{len}"), &vec![0xff; len], BLOOM_SEED);
        push(format!("zeros-{len}"), &vec![0; len], BLOOM_SEED);
        push(format!("mixed-{len}"), &some_bytes(len, 1), BLOOM_SEED);
    }
    for seed in [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        for len in [0, 1, 4, 7] {
            push(format!("seed-{seed:08x}-{len}"), &some_bytes(len, 2), seed);
        }
    }
    for len in [31, 32, 33, 63, 64, 65, 127, 255, 256, 1000] {
        push(format!("long-{len}"), &some_bytes(len, 3), BLOOM_SEED);
    }
    // The last one to three bytes are unsigned: a signed `char` gives other values.
    for (name, bytes) in
        [("c3-97", &b"\xc3\x97"[..]), ("e2-99-a5", b"\xe2\x99\xa5"), ("e1-80-b9-32", b"\xe1\x80\xb92")]
    {
        push(format!("known-{name}"), bytes, BLOOM_SEED);
    }
    cases
}

/// Cases of filters, made and asked: sizes, probes, and bytes that no builder writes.
pub(super) fn bloom() -> Vec<Question> {
    let mut cases = Vec::new();
    for bits_per_key in [0, 1, 2, 4, 8, 10, 14, 16, 20, 30, 43, 44, 50, 100] {
        for count in [0, 1, 2, 6, 7, 30] {
            let given = json!({ "bits_per_key": bits_per_key, "keys": hexes(&numbered(count)) });
            let name = format!("bloom_create/{bits_per_key}-bits-{count}-keys");
            cases.push(question(name, "bloom_create", given, Stored::Nothing));
        }
    }
    let odd: [(&str, Vec<Vec<u8>>); 5] = [
        ("empty-key", vec![vec![]]),
        ("duplicates", vec![b"same".to_vec(); 5]),
        ("every-length", (0..=40).map(|len| some_bytes(len, 4)).collect()),
        ("high-bytes", (1..=9).map(|len| vec![0xf0 + len as u8; len]).collect()),
        ("long", vec![some_bytes(300, 5), some_bytes(1000, 6)]),
    ];
    for (name, keys) in &odd {
        let given = json!({ "bits_per_key": 10, "keys": hexes(keys) });
        cases.push(question(format!("bloom_create/{name}"), "bloom_create", given, Stored::Nothing));
    }

    let mut ask = |name: String, filter: &[u8], key: &[u8], stored: Stored| {
        let mut given = json!({ "filter": hex(filter), "key": hex(key) });
        if !name.starts_with("odd-") {
            given["sound"] = json!(true);
        }
        cases.push(question(format!("bloom_match/{name}"), "bloom_match", given, stored));
    };
    for bits_per_key in [1, 4, 10, 30, 50] {
        let keys = numbered(12);
        let filter = Bloom::new(bits_per_key).create_filter(&keys);
        for (number, key) in keys.iter().enumerate().step_by(5) {
            ask(format!("stored-{bits_per_key}-{number}"), &filter, key, Stored::InFilter);
        }
        for number in 0..6 {
            let key = format!("other{number}").into_bytes();
            ask(format!("other-{bits_per_key}-{number}"), &filter, &key, Stored::Nothing);
        }
    }
    let sound = Bloom::new(10).create_filter(&odd[2].1);
    for len in [0, 1, 2, 3, 4, 5, 17, 40] {
        ask(format!("stored-length-{len}"), &sound, &some_bytes(len, 4), Stored::InFilter);
    }
    for (name, filter) in [
        ("empty-filter", &[][..]),
        ("only-k", &[6]),
        ("only-zero", &[0]),
        ("k-zero", &[0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("k-zero-two-bytes", &[0, 0]),
        ("k-30-no-bits", &[0, 0, 0, 0, 0, 0, 0, 0, 30]),
        ("k-30-all-bits", &[255, 255, 255, 255, 255, 255, 255, 255, 30]),
        ("k-31-no-bits", &[0, 0, 0, 0, 0, 0, 0, 0, 31]),
        ("k-255-no-bits", &[0, 0, 0, 0, 0, 0, 0, 0, 255]),
        ("k-128-no-bits", &[0, 0, 0, 0, 0, 0, 0, 0, 128]),
        ("one-byte-of-bits", &[0x55, 1]),
        ("one-byte-no-bits", &[0, 1]),
        ("one-byte-all-bits", &[255, 30]),
        ("three-bytes-of-bits", &[0x55, 0xaa, 0x0f, 2]),
    ] {
        for key in ["", "key00", "pear"] {
            ask(
                format!("odd-{name}-{}", if key.is_empty() { "empty-key" } else { key }),
                filter,
                key.as_bytes(),
                Stored::Nothing,
            );
        }
    }
    cases
}
