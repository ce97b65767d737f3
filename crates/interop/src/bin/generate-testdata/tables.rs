//! Bare tables by `leveldb::TableBuilder`, and a listing for each set of entries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use filterblock_interop::leveldb::{Compression, Entries, TableOptions, build_table};
use filterblock_interop::random::Random;

use crate::{Text, hex, value_of};

const NONE: Compression = Compression::None;
const SNAPPY: Compression = Compression::Snappy;

pub(crate) fn write(folder: &Path) -> Result<()> {
    set(
        folder,
        "words",
        &words(),
        &[
            options(256, Some(10), NONE),
            options(1024, Some(20), SNAPPY),
            options(4096, Some(10), SNAPPY),
            options(4096, Some(1), NONE),
            options(4096, None, NONE),
            options(4096, None, SNAPPY),
            TableOptions { restart_interval: 1, ..options(2048, Some(10), NONE) },
        ],
    )?;
    set(
        folder,
        "binary",
        &binary(),
        &[
            options(256, Some(10), NONE),
            options(512, Some(1), SNAPPY),
            options(4096, Some(20), SNAPPY),
            options(1024, None, NONE),
        ],
    )?;
    set(folder, "dense", &dense(), &[options(256, Some(10), NONE), options(256, Some(10), SNAPPY)])?;
    set(
        folder,
        "large",
        &large(),
        &[
            options(65536, Some(10), NONE),
            options(65536, Some(10), SNAPPY),
            options(65536, None, SNAPPY),
            options(4096, Some(20), SNAPPY),
        ],
    )?;
    set(folder, "noise", &noise(), &[options(2048, Some(10), SNAPPY)])?;
    let single = Set::from([(Vec::new(), 5)]);
    set(folder, "single", &single, &[options(4096, Some(10), NONE), options(4096, None, NONE)])?;
    set(folder, "empty", &Set::new(), &[options(4096, Some(10), NONE), options(4096, None, NONE)])?;
    versions(
        folder,
        &[options(512, Some(10), NONE), options(4096, Some(10), SNAPPY), options(1024, None, SNAPPY)]
            .map(|options| TableOptions { internal_keys: true, ..options }),
    )
}

fn options(block_size: usize, bits_per_key: Option<u32>, compression: Compression) -> TableOptions {
    TableOptions { block_size, bits_per_key, compression, ..TableOptions::default() }
}

fn set(folder: &Path, name: &str, set: &Set, tables: &[TableOptions]) -> Result<()> {
    let mut listing = Text::new("<key> <length of its value>");
    set.iter().for_each(|(key, len)| listing.line(format!("{} {len}", hex(key))));
    listing.write(&folder.join(name).with_extension("keys"))?;

    let entries = set.iter().map(|(key, &len)| (key, value_of(key, len))).collect();
    write_each(folder, name, &entries, tables)
}

fn versions(folder: &Path, tables: &[TableOptions]) -> Result<()> {
    let mut listing = Text::new("<internal key> <length of its value>");
    let entries = versions_of_words();
    entries.iter().for_each(|(key, _, len)| listing.line(format!("{} {len}", hex(key))));
    listing.write(&folder.join("versions.keys"))?;

    let entries = entries.iter().map(|(key, user_key, len)| (key, value_of(user_key, *len))).collect();
    write_each(folder, "versions", &entries, tables)
}

fn write_each(folder: &Path, set: &str, entries: &Entries, tables: &[TableOptions]) -> Result<()> {
    for options in tables {
        let filter = options.bits_per_key.map_or("unfiltered".to_owned(), |bits| format!("bloom{bits}"));
        let restarts = if options.restart_interval == 1 { "-restart1" } else { "" };
        let snappy = if options.compression == SNAPPY { "-snappy" } else { "" };
        let name = format!("{set}-{}-{filter}{restarts}{snappy}.ldb", options.block_size);
        fs::write(folder.join(name), build_table(options, entries)?)?;
    }
    Ok(())
}

/// Keys, ascending, and the lengths of their values.
type Set = BTreeMap<Vec<u8>, usize>;

/// Text keys with common prefixes.
fn words() -> Set {
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
fn binary() -> Set {
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
fn dense() -> Set {
    (0..500).map(|i| (format!("key{i:05}").into_bytes(), 8)).collect()
}

/// Values so large that a data block of 64 KiB holds few of them.
fn large() -> Set {
    let mut random = Random::new(3);
    (0..75).map(|i| (format!("object-{i:04}").into_bytes(), random.between(1400, 2400) as usize)).collect()
}

/// Random keys that Snappy cannot compress.
fn noise() -> Set {
    let mut random = Random::new(4);
    (0..50)
        .map(|_| {
            let len = random.between(100, 200) as usize;
            (random.bytes(len), random.index(9))
        })
        .collect()
}

/// Internal keys in order: up to four versions of each user key, some of them deletions.
fn versions_of_words() -> Vec<(Vec<u8>, Vec<u8>, usize)> {
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
