//! The sets of entries that tables are made of.

use std::collections::BTreeMap;

use filterblock_interop::random::Random;

/// Keys, ascending, and the lengths of their values.
pub(crate) type Set = BTreeMap<Vec<u8>, usize>;

/// Text keys with common prefixes.
pub(crate) fn words() -> Set {
    let mut random = Random::new(1);
    let mut account = 0;
    let mut set = Set::new();
    while set.len() < 300 {
        account += random.between(1, 400);
        for field in ["city", "mail", "name"] {
            let key = format!("account:{account:06}:{field}");
            set.insert(key.into_bytes(), random.between(5, 120) as usize);
        }
    }
    set
}

/// Keys of all lengths up to 24, including the empty key, mostly of bytes at the borders of signed
/// and unsigned ranges.
pub(crate) fn binary() -> Set {
    const BYTES: [u8; 8] = [0x00, 0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff, 0xff];
    let mut random = Random::new(2);
    let mut set = Set::new();
    for key in [&b""[..], b"\0", b"\0\0", b"\xff", b"\xff\xff", b"\xff\xff\xff\xff", b"\xfe\xff"] {
        set.insert(key.to_vec(), 3);
    }
    while set.len() < 300 {
        let len = random.index(25);
        let mut key = random.bytes(len);
        if !random.one_in(4) {
            key.iter_mut().for_each(|byte| *byte = BYTES[usize::from(*byte) % BYTES.len()]);
        }
        set.insert(key, random.index(41));
    }
    set
}

/// Consecutive numbers as keys. No separator can be shorter than its key.
pub(crate) fn dense() -> Set {
    (0..500).map(|i| (format!("key{i:05}").into_bytes(), 8)).collect()
}

/// Values so large that a data block of 64 KiB holds few of them.
pub(crate) fn large() -> Set {
    let mut random = Random::new(3);
    (0..75).map(|i| (format!("object-{i:04}").into_bytes(), random.between(1400, 2400) as usize)).collect()
}

/// Random keys that Snappy cannot compress.
pub(crate) fn noise() -> Set {
    let mut random = Random::new(4);
    (0..50)
        .map(|_| {
            let len = random.between(100, 200) as usize;
            (random.bytes(len), random.index(9))
        })
        .collect()
}

/// Internal keys in order: up to four versions of each user key, some of them deletions.
pub(crate) fn versions() -> Vec<(Vec<u8>, Vec<u8>, usize)> {
    let mut random = Random::new(5);
    let mut entries = Vec::new();
    for (user_key, len) in words() {
        let mut sequence = random.between(1_000, 1 << 40);
        for version in 0..random.between(1, 4) as usize {
            let is_value = !random.one_in(5);
            let mut key = user_key.clone();
            key.extend_from_slice(&(sequence << 8 | u64::from(is_value)).to_le_bytes());
            entries.push((key, user_key.clone(), if is_value { len / 4 + version } else { 0 }));
            sequence -= random.between(1, 200);
        }
    }
    entries
}
