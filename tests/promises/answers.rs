//! Malformed filters deny nothing, opening takes at most four reads, and messages hold no control characters.
//!
//! Some properties of Bloom filters no reader can change. If a test of one of these fails, SECURITY.md says too little or
//! too much.

use std::sync::Mutex;

use bytes::Bytes;
use filterblock::database::{LogReader, Manifest};
use filterblock::hash::{self, BLOOM_SEED};
use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, FilterBlockReader, FilterPolicy, KeyBuf};

use crate::filters::{filter, random_key};
use crate::policies;
use crate::tables::{Answering, Crafted, handle, samples};

/// Promise: A2.
#[test]
fn malformed_filters_deny_nothing() {
    // One filter that by itself denies every key: bits, k, its offset, the array's offset, base_lg.
    let block = |start: u32, array: u32, base_lg: u8| {
        [&[0; 8][..], &[6], &start.to_le_bytes(), &array.to_le_bytes(), &[base_lg]].concat()
    };
    let sound = FilterBlockReader::new(BloomFilterPolicy::new(10), block(0, 9, 11));
    assert!(sound.check().is_ok() && !sound.key_may_match(0, b"key"), "it denies where it is sound");

    let mut malformed =
        vec![block(10, 9, 11), block(u32::MAX, 9, 11), block(0, 14, 11), block(0, u32::MAX, 11)];
    malformed.extend((64..=255).map(|base_lg| block(0, 9, base_lg)));
    malformed.extend((0..5).map(|len| vec![0; len]));
    // The array's offset comes to lie within the filter, so that filters become offsets.
    malformed.extend((1..=3).map(|back| block(0xffff_ff00, 9 - back, 11)));
    for contents in malformed {
        for policy in policies() {
            let reader = FilterBlockReader::new(policy, &contents[..]);
            assert!(matches!(reader.check(), Err(Error::Corrupt { .. })), "{contents:?}");
            for offset in [0, 1, 2047, 2048, 1 << 40, u64::MAX] {
                assert!(reader.key_may_match(offset, b"key"), "{contents:?}");
                assert!(reader.key_may_match(offset, b"an internal key"), "{contents:?}");
            }
        }
    }
}

/// Whatever the bytes are, four reads are enough, unless a read of several parts at once fails.
/// Promise: A5.
#[test]
fn opening_takes_at_most_four_reads() {
    let mut most = 0;
    for sample in samples() {
        for seed in 0..40 {
            let mut file = sample.file.to_vec();
            let random = random_key(seed);
            // Handles are at the end; the first time nothing is changed.
            for change in random.chunks(2).take(if seed == 0 { 0 } else { 3 }) {
                let at = file.len() - 9 - usize::from(change[0]) % file.len().min(90).saturating_sub(9);
                file[at] = change[1];
            }
            let len = file.len() as u64;
            let file = Bytes::from(file);
            let source = Answering::new(len, move |_, offset, len| {
                Ok(file.slice(offset as usize..offset as usize + len))
            });
            let options = ReadOptions::default().tail_size(48).verify_checksums(seed % 2 == 0);
            drop(Table::open(&source, &options));
            assert!(source.asked() <= 4, "{}: {} reads", sample.name, source.asked());
            most = most.max(source.asked());
        }
    }
    assert!(most >= 3, "the sources were asked");
}

/// Messages quote the contents of a file, and terminals act on some bytes.
/// Promise: A7.
#[test]
fn messages_hold_no_control_characters() {
    const EVIL: &[u8] = b"\x1b]0;owned\x07\r\n\x9b31m\xe2\x80\xae";
    let messages = Mutex::new(Vec::new());
    let note = |error: Error| messages.lock().unwrap().push(error.with_path("/tmp/\x1b[2J").to_string());

    let mut table = TableBuilder::new(Vec::new(), WriteOptions::default());
    table.add(EVIL, b"").unwrap();
    note(table.add(EVIL, b"").unwrap_err());

    let mut crafted = Crafted::default();
    let name = [b"filter.", EVIL].concat();
    let metaindex = crafted.entries(&[(&name[..], EVIL)]);
    let index = crafted.entries(&[(EVIL, EVIL), (b"\xff", &handle((u64::MAX, 0)))]);
    let table = Table::open(crafted.footer(metaindex, index), &ReadOptions::default()).unwrap();
    note(table.get(EVIL).unwrap_err());
    note(table.get(b"\xff").unwrap_err());

    // A comparator's name, then another.
    let edit = |name: &[u8]| [&[1, name.len() as u8], name].concat();
    let fragment = |data: &[u8]| {
        let crc = crc32c::crc32c_append(crc32c::crc32c(&[1]), data);
        let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
        [&masked.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), &[1], data].concat()
    };
    let manifest = [fragment(&edit(EVIL)), fragment(&edit(&[EVIL, b"2"].concat()))].concat();
    note(Manifest::parse(&manifest).unwrap_err());
    note(Manifest::parse(&fragment(EVIL)).unwrap_err());
    // Two bytes after a wrong checksum.
    let log = [0x1b, 0x1b, 0x1b, 0x1b, 2, 0, 1, 0x1b, 0x1b];
    note(LogReader::new(&log[..]).read_record().unwrap_err());

    let messages = messages.into_inner().unwrap();
    assert!(messages.iter().any(|message| message.contains(r"\x1b]0;owned")), "{messages:?}");
    for message in messages {
        assert!(message.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{message:?}");
    }
}

/// A key of eight bytes with the same hash as `like`. Its first four bytes may be any: the second four make up for
/// them.
fn collision(like: [u8; 8], first: u32) -> [u8; 8] {
    const M: u32 = 0xc6a4_a793;
    let word = |at: usize| u32::from_le_bytes(like[at..at + 4].try_into().unwrap());
    let after = |word: u32| {
        let h = (BLOOM_SEED ^ 8u32.wrapping_mul(M)).wrapping_add(word).wrapping_mul(M);
        h ^ (h >> 16)
    };
    let second = after(word(0)).wrapping_add(word(4)).wrapping_sub(after(first));
    let mut key = [0; 8];
    key[..4].copy_from_slice(&first.to_le_bytes());
    key[4..].copy_from_slice(&second.to_le_bytes());
    key
}

#[test]
fn chosen_keys_force_false_positives() {
    let policy = BloomFilterPolicy::new(10);
    let stored: KeyBuf = (0..1000u64).map(u64::to_be_bytes).collect();
    let contents = filter(&policy, &stored);
    let like = 7u64.to_be_bytes();
    // Any number of other keys pass, in this filter and in every other filter that holds the key that they imitate.
    for first in 1000..11_000 {
        let key = collision(like, first);
        assert_ne!(key, like);
        assert_eq!(hash::leveldb(&key, BLOOM_SEED), hash::leveldb(&like, BLOOM_SEED));
        assert!(policy.key_may_match(&key, &contents));
    }
    let random = (1000..11_000u64).filter(|key| policy.key_may_match(&key.to_be_bytes(), &contents)).count();
    assert!(random < 300, "keys that nobody chose pass one time in a hundred: {random} of 10,000");
}

#[test]
fn filters_reveal_their_keys() {
    let policy = BloomFilterPolicy::new(10);
    let name = |number: u32| format!("user-{number}");
    let stored: KeyBuf = (0..50_000).step_by(1000).map(name).collect();
    let contents = filter(&policy, &stored);
    // Anyone who has the filter and a list of guesses needs no table.
    let guessed: Vec<u32> =
        (0..50_000).filter(|&n| policy.key_may_match(name(n).as_bytes(), &contents)).collect();
    let right = guessed.iter().filter(|&&number| number % 1000 == 0).count();
    assert_eq!(right, 50, "all of them are among the guesses that pass");
    assert!(guessed.len() < 1500, "and nearly all others are not: {} of 50,000 pass", guessed.len());
}
