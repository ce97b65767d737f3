//! Random tables: options and entries.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use filterblock::table::{self, WriteOptions};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, SharedPolicy};

use crate::leveldb::{Compression, TableOptions};
use crate::random::Random;

const MAX_ENTRIES: u64 = 2000;

/// Restart intervals, among them those at which a counter of 8 or 16 bits would wrap, and LevelDB's
/// default.
const RESTART_INTERVALS: [u32; 8] = [1, 2, 16, 255, 256, 257, 1000, 65_536];

/// Lengths of the shared part of a key at which its varint grows, or a counter of 8 or 16 bits
/// would wrap.
const SHARED_LENGTHS: [usize; 10] = [0, 1, 127, 128, 255, 256, 257, 16_383, 16_384, 70_000];
/// Limit on the total length of keys with long shared parts.
const MAX_SHARED: usize = 1 << 20;

/// A table that LevelDB and we write.
pub(super) struct TableCase {
    pub(super) options: TableOptions,
    pub(super) entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Any `base_lg` that LevelDB reads, for tables that only we write.
    base_lg: u8,
    /// True if these tables have a second filter block, under a name that LevelDB must ignore.
    pub(super) second_policy: bool,
}

impl TableCase {
    pub(super) fn new(random: &mut Random) -> Self {
        let internal_keys = random.one_in(3);
        // Half of the tables have blocks of up to 4 MiB, which hold many entries.
        let is_long = random.one_in(2);
        let block_size = if is_long { 4 << 20 } else { random.skewed(16).clamp(64, 64 << 10) as usize };
        let restart_interval = match random.one_in(3) {
            true => random.between(1, 64) as u32,
            false => RESTART_INTERVALS[random.index(RESTART_INTERVALS.len())],
        };
        let options = TableOptions {
            block_size,
            restart_interval,
            compression: Compression::None,
            bits_per_key: (!random.one_in(5)).then(|| random.between(1, 30) as u32),
            internal_keys,
            verify_checksums: true,
        };
        let count = if random.one_in(10) { random.below(MAX_ENTRIES + 1) } else { random.skewed(10) };
        let keys = match random.one_in(5) {
            true => sharing_keys(random, count as usize),
            false => user_keys(random, count as usize),
        };
        let keys = if internal_keys { internal(random, keys) } else { keys.into_iter().collect() };
        let repeating = random.one_in(2);
        let entries = keys.into_iter().map(|key| (key, value(random, repeating))).collect();
        Self { options, entries, base_lg: random.between(4, 63) as u8, second_policy: random.one_in(4) }
    }

    /// Makes a case of numbered keys in one data block, with values of one byte.
    pub(super) fn one_block(restart_interval: u32, count: u32) -> Self {
        let options = TableOptions {
            block_size: 64 << 20,
            restart_interval,
            bits_per_key: Some(10),
            ..TableOptions::default()
        };
        let entries = (0..count).map(|i| ([b"key", &i.to_be_bytes()[..]].concat(), vec![i as u8])).collect();
        Self { options, entries, base_lg: 11, second_policy: false }
    }

    /// Returns our options for the table that LevelDB writes.
    pub(super) fn same(&self) -> WriteOptions {
        let policies = self.options.bits_per_key.map(|bits| Arc::new(BloomFilterPolicy::new(bits)) as _);
        WriteOptions::default()
            .block_size(self.options.block_size)
            .restart_interval(self.options.restart_interval)
            .compression(table::Compression::None)
            .internal_keys(self.options.internal_keys)
            .filter_policies(policies.into_iter().collect())
    }

    /// Returns our options for a table that LevelDB does not write, but reads.
    pub(super) fn other(&self) -> WriteOptions {
        let mut policies: Vec<SharedPolicy> = Vec::new();
        if let Some(bits) = self.options.bits_per_key {
            policies.push(Arc::new(BloomFilterPolicy::new(bits)));
        }
        if self.second_policy {
            policies.push(Arc::new(LegacyBloomPolicy::new(10)));
        }
        self.same().compression(table::Compression::Snappy).base_lg(self.base_lg).filter_policies(policies)
    }

    /// Returns a stored key, or one that is probably not stored.
    pub(super) fn some_key(&self, random: &mut Random) -> Vec<u8> {
        let mut key = match self.entries.len() {
            0 => vec![],
            len => self.entries[random.index(len)].0.clone(),
        };
        let suffix_len = if self.options.internal_keys { 8 } else { 0 };
        key.resize(key.len().max(suffix_len), 1);
        let suffix = key.split_off(key.len() - suffix_len);
        match random.below(6) {
            0 => key.push(random.below(256) as u8),
            1 => drop(key.pop()),
            2 => {
                if let Some(last) = key.last_mut() {
                    *last = last.wrapping_add(1);
                }
            }
            _ => {}
        }
        key.extend_from_slice(&suffix);
        key
    }
}

/// Makes keys of one of several kinds, up to `count`.
pub(super) fn user_keys(random: &mut Random, count: usize) -> BTreeSet<Vec<u8>> {
    const EDGES: [u8; 8] = [0x00, 0x01, 0x61, 0x7f, 0x80, 0xfe, 0xff, 0xff];
    let kind = random.below(4);
    let shared_len = random.index(30);
    let shared = random.bytes(shared_len);
    let mut number = 0;
    let mut key = || match kind {
        0 => {
            let len = random.index(41);
            random.bytes(len)
        }
        1 => (0..random.index(13)).map(|_| EDGES[random.index(8)]).collect(),
        2 => {
            number += random.skewed(8);
            format!("key{number:08}").into_bytes()
        }
        _ => {
            let len = random.index(9);
            [&shared[..], &random.bytes(len)].concat()
        }
    };
    (0..count).map(|_| key()).collect()
}

/// Makes keys that share long beginnings with each other, up to `count`.
fn sharing_keys(random: &mut Random, count: usize) -> BTreeSet<Vec<u8>> {
    let shared = random.bytes(SHARED_LENGTHS[SHARED_LENGTHS.len() - 1]);
    let first = random.index(SHARED_LENGTHS.len());
    let most = SHARED_LENGTHS[(first + 1).min(SHARED_LENGTHS.len() - 1)];
    let mut key = || {
        let len = SHARED_LENGTHS[(first + random.index(2)).min(SHARED_LENGTHS.len() - 1)];
        let rest = random.index(6);
        [&shared[..len], &random.bytes(rest)].concat()
    };
    (0..count.min(MAX_SHARED / (most + 1))).map(|_| key()).collect()
}

/// Makes internal keys, in their order: up to three versions of each user key, some of them deletions.
fn internal(random: &mut Random, user_keys: BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut keys = BTreeMap::new();
    for user_key in user_keys {
        for _ in 0..random.between(1, 3) {
            let tag = random.skewed(56) << 8 | random.below(2);
            let key = [&user_key[..], &tag.to_le_bytes()].concat();
            keys.insert((user_key.clone(), Reverse(tag)), key);
        }
    }
    keys.into_values().collect()
}

fn value(random: &mut Random, repeating: bool) -> Vec<u8> {
    let len = if random.one_in(200) { random.skewed(15) } else { random.skewed(8) } as usize;
    if repeating { vec![random.below(256) as u8; len] } else { random.bytes(len) }
}
