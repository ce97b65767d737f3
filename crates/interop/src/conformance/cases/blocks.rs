//! Cases of filter blocks: built by calls, and asked, sound and damaged.

use serde_json::{Value, json};

use super::super::{Question, Stored};
use super::{internal, numbered, question};
use crate::hex;
use crate::leveldb::BlockScript;

fn start(offset: u64) -> Value {
    json!({ "start_block": offset })
}

fn add(key: &[u8]) -> Value {
    json!({ "add_key": hex(key) })
}

pub(super) fn all() -> Vec<Question> {
    let mut cases = built();
    cases.extend(asked());
    cases
}

/// Calls to the builder, and the blocks that it makes.
fn built() -> Vec<Question> {
    let mut cases = Vec::new();
    let mut push = |name: &str, calls: Vec<Value>, bits: u32, internal_keys: bool| {
        let given = json!({ "bits_per_key": bits, "internal_keys": internal_keys, "calls": calls });
        cases.push(question(
            format!("filter_block_build/{name}"),
            "filter_block_build",
            given,
            Stored::Nothing,
        ));
    };
    push("nothing", vec![], 10, false);
    push("start-only", vec![start(0)], 10, false);
    push("start-far-only", vec![start(0), start(10_000)], 10, false);
    push("key-without-start", vec![add(b"a")], 10, false);
    push(
        "single-chunk",
        vec![
            start(100),
            add(b"foo"),
            add(b"bar"),
            add(b"box"),
            start(200),
            add(b"box"),
            start(300),
            add(b"hello"),
        ],
        10,
        false,
    );
    push(
        "multi-chunk",
        vec![
            start(0),
            add(b"foo"),
            start(2000),
            add(b"bar"),
            start(3100),
            add(b"box"),
            start(9000),
            add(b"box"),
            add(b"hello"),
        ],
        10,
        false,
    );
    for offset in [2047, 2048, 2049, 4095, 4096, 6144] {
        push(
            &format!("second-block-at-{offset}"),
            vec![start(0), add(b"a"), start(offset), add(b"b")],
            10,
            false,
        );
    }
    push("many-empty-ranges", vec![start(0), add(b"a"), start(2048 * 40), add(b"b")], 10, false);
    push("first-block-far", vec![start(2048 * 5), add(b"a")], 10, false);
    push("back-within-the-range", vec![start(2100), add(b"a"), start(2050), add(b"b")], 10, false);
    push("same-offset-twice", vec![start(0), add(b"a"), start(0), add(b"b")], 10, false);
    push("empty-key", vec![start(0), add(b"")], 10, false);
    push("duplicate-keys", vec![start(0), add(b"a"), add(b"a"), add(b"a")], 10, false);
    push("ends-with-empty-range", vec![start(0), add(b"a"), start(5000)], 10, false);
    for bits in [0, 1, 30, 50] {
        let mut calls = vec![start(0)];
        calls.extend(numbered(9).iter().map(|key| add(key)));
        push(&format!("{bits}-bits"), calls, bits, false);
    }
    let mut calls = vec![start(0)];
    calls.extend(numbered(5).iter().enumerate().map(|(at, key)| add(&internal(key, at as u64 + 1, 1))));
    calls.push(start(3000));
    calls.extend([(9, 1), (8, 0)].map(|(sequence, kind)| add(&internal(b"same", sequence, kind))));
    push("internal-keys", calls, 10, true);
    cases
}

/// Returns a filter block of these filters with this `base_lg`. With 11, LevelDB's value, the block's bytes are those
/// of LevelDB.
fn block(filters: &[&[u8]], base_lg: u8) -> Vec<u8> {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for filter in filters {
        offsets.extend((bytes.len() as u32).to_le_bytes());
        bytes.extend(*filter);
    }
    let array = bytes.len() as u32;
    bytes.extend(offsets);
    bytes.extend(array.to_le_bytes());
    bytes.push(base_lg);
    bytes
}

fn with_word(mut block: Vec<u8>, back: usize, word: u32) -> Vec<u8> {
    let at = block.len() - back;
    block[at..at + 4].copy_from_slice(&word.to_le_bytes());
    block
}

fn asked() -> Vec<Question> {
    let mut cases = Vec::new();
    let mut push = |name: String, block: &[u8], offset: u64, key: &[u8], stored: bool| {
        let mut given = json!({ "block": hex(block), "block_offset": offset, "key": hex(key) });
        if name.starts_with("sound-") || name.starts_with("stored-") {
            given["sound"] = json!(true);
        }
        let stored = if stored { Stored::InFilter } else { Stored::Nothing };
        cases.push(question(format!("filter_block_match/{name}"), "filter_block_match", given, stored));
    };

    // LevelDB's own example: filters for 0 to 2047, 2048 to 4095, and 8192 to 10239.
    let mut script = BlockScript::new();
    script.begin(10);
    let blocks: [(u64, &[&[u8]]); 4] =
        [(0, &[b"foo"]), (2000, &[b"bar"]), (3100, &[b"box"]), (9000, &[b"box", b"hello"])];
    for (offset, keys) in blocks {
        script.start_block(offset);
        keys.iter().for_each(|key| script.add_key(key));
    }
    script.finish();
    let sound = script.build().remove(0);
    for (offset, keys) in blocks {
        for key in keys {
            push(format!("stored-{}-at-{offset}", String::from_utf8_lossy(key)), &sound, offset, key, true);
        }
    }
    for (offset, key) in [
        (0, "box"),
        (0, "hello"),
        (3100, "foo"),
        (3100, "hello"),
        (4100, "foo"),
        (4100, "box"),
        (9000, "foo"),
        (9000, "bar"),
        (10_240, "foo"),
        (1 << 40, "box"),
        (u64::MAX, "box"),
        (2047, "foo"),
        (2048, "bar"),
        (8192, "hello"),
        (8191, "hello"),
    ] {
        push(format!("sound-{key}-at-{offset}"), &sound, offset, key.as_bytes(), false);
    }

    for len in 0..5 {
        push(format!("short-{len}"), &sound[sound.len() - len..], 0, b"foo", false);
        push(format!("short-zeros-{len}"), &vec![0; len], 0, b"foo", false);
    }
    push("no-filters".to_owned(), &[0, 0, 0, 0, 11], 0, b"foo", false);
    let all: &[u8] = &[255, 255, 255, 255, 255, 255, 255, 255, 6];
    let none: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 0, 6];
    let pair = block(&[none, all], 11);
    let len = pair.len() as u32;
    for word in [len - 5, len - 4, len, len + 1, u32::MAX, 0x8000_0000, 0, 1, 9, 17, 19, 20, 21, 22, 23] {
        let damaged = with_word(pair.clone(), 5, word);
        for offset in [0, 2048, 4096] {
            push(format!("array-at-{word:x}-asked-at-{offset}"), &damaged, offset, b"foo", false);
        }
    }
    // The two words before the array's offset are where the filters start.
    for word in [0, 8, 9, 10, 17, 18, 19, 30, u32::MAX] {
        let damaged = with_word(pair.clone(), 9, word);
        push(format!("second-starts-at-{word:x}-first-asked"), &damaged, 0, b"foo", false);
        push(format!("second-starts-at-{word:x}-second-asked"), &damaged, 2048, b"foo", false);
        let damaged = with_word(pair.clone(), 13, word);
        push(format!("first-starts-at-{word:x}"), &damaged, 0, b"foo", false);
    }
    for filter in [&[][..], &[6], &[0, 0], &[0, 31], &[255, 30]] {
        let name = if filter.is_empty() { "empty".to_owned() } else { hex(filter) };
        push(format!("filter-{name}"), &block(&[filter, all], 11), 0, b"foo", false);
    }
    // Other programs write other ranges; all readers go by the last byte.
    for base_lg in [0, 1, 4, 10, 12, 14, 31, 32, 33, 62, 63] {
        let made = block(&[none, all], base_lg);
        for offset in [0, 1, 1 << 10, 1 << 14, 1 << 32, 1 << 62, u64::MAX] {
            push(format!("base-lg-{base_lg}-asked-at-{offset}"), &made, offset, b"foo", false);
        }
    }
    cases
}
