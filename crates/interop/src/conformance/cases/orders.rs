//! The order of keys, and the keys that an index has in place of longer ones.

use serde_json::json;

use super::super::{Question, Stored};
use super::{internal, question};
use crate::hex;

pub(super) fn all() -> Vec<Question> {
    let mut cases = Vec::new();
    let mut pair = |kind: &'static str, name: &str, a: &[u8], b: &[u8], internal_keys: bool| {
        let given = json!({ "a": hex(a), "b": hex(b), "internal_keys": internal_keys });
        let order = if internal_keys { "internal" } else { "bytewise" };
        cases.push(question(format!("{kind}/{order}-{name}"), kind, given, Stored::Nothing));
    };
    let keys: [(&str, &[u8], &[u8]); 14] = [
        ("equal", b"abc", b"abc"),
        ("empty", b"", b""),
        ("empty-first", b"", b"a"),
        ("prefix", b"abc", b"abcd"),
        ("last-byte", b"abc1", b"abc3"),
        ("neighbours", b"abc1", b"abc2"),
        ("middle", b"abcdefghi", b"abzdefghi"),
        ("middle-neighbours", b"abcdefghi", b"abddefghi"),
        ("high-bytes", b"abc\xff\xff", b"abd"),
        ("high-bytes-alone", b"\xff\xff", b"\xff\xff\xff"),
        ("unsigned", b"\x7f", b"\x80"),
        ("reversed", b"b", b"a"),
        ("ends-with-ff", b"a\xff1", b"b2"),
        ("short-limit", b"abc", b"b"),
    ];
    for (name, a, b) in keys {
        pair("compare", name, a, b, false);
        pair("compare", name, &internal(a, 5, 1), &internal(b, 5, 1), true);
        if a < b {
            pair("separator", name, a, b, false);
            pair("separator", name, &internal(a, 5, 1), &internal(b, 5, 1), true);
        }
    }
    for (name, a, b) in [
        ("newer-first", internal(b"a", 9, 1), internal(b"a", 8, 1)),
        ("value-before-deletion", internal(b"a", 9, 1), internal(b"a", 9, 0)),
        ("largest-sequence", internal(b"a", (1 << 56) - 1, 1), internal(b"a", 1, 1)),
        ("tag-is-a-number", internal(b"a", 0x0100, 1), internal(b"a", 0x00ff, 1)),
    ] {
        pair("compare", name, &a, &b, true);
        pair("separator", name, &a, &b, true);
    }
    for key in [&b""[..], b"a", b"abc", b"\xff", b"\xff\xff", b"\xffa", b"a\xff", b"\x7f"] {
        for internal_keys in [false, true] {
            let name = if key.is_empty() { "empty".to_owned() } else { hex(key) };
            let order = if internal_keys { "internal" } else { "bytewise" };
            let key = if internal_keys { internal(key, 7, 1) } else { key.to_vec() };
            let given = json!({ "key": hex(&key), "internal_keys": internal_keys });
            cases.push(question(format!("successor/{order}-{name}"), "successor", given, Stored::Nothing));
        }
    }
    cases.extend(parsed());
    cases
}

/// Cases of a database's keys taken apart: types, the largest numbers, and bytes that are no such key.
fn parsed() -> Vec<Question> {
    let mut cases = Vec::new();
    let mut push = |name: String, key: &[u8]| {
        let given = json!({ "key": hex(key) });
        cases.push(question(format!("internal_key/{name}"), "internal_key", given, Stored::Nothing));
    };
    let key = internal(b"apple", 7, 1);
    for len in 0..8 {
        push(format!("only-{len}-bytes"), &key[key.len() - len..]);
    }
    for kind in [0, 1, 2, 3, 7, 0x7f, 0x80, 0xff] {
        push(format!("type-{kind}"), &internal(b"apple", 7, kind));
    }
    for (name, sequence) in [
        ("zero", 0),
        ("one", 1),
        ("a-byte", 0xff),
        ("two-bytes", 0x0100),
        ("high-bit-of-each-byte", 0x80_8080_8080_8080),
        ("32-bits", u64::from(u32::MAX)),
        ("33-bits", 1 << 32),
        ("largest", (1 << 56) - 1),
    ] {
        push(format!("sequence-{name}"), &internal(b"apple", sequence, 1));
        push(format!("deletion-sequence-{name}"), &internal(b"apple", sequence, 0));
    }
    let user_keys: [(&str, &[u8]); 6] = [
        ("empty", b""),
        ("one-byte", b"a"),
        ("zeros", b"\0\0\0\0\0\0\0\0"),
        ("high-bytes", b"\xff\xff\xff"),
        ("like-a-tag", b"\x01\x07\0\0\0\0\0\0"),
        ("with-quotes", b"a' @ 3 : 1"),
    ];
    for (name, user_key) in user_keys {
        push(format!("user-key-{name}"), &internal(user_key, 9, 1));
    }
    cases
}
