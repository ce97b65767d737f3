//! Helpers that the tests of the policies share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use filterblock::{FilterPolicy, KeyBuf};

/// Key `i` of those from which other programs made filters: `i` in four bytes, lowest first, and `i % 21` further
/// bytes.
pub(crate) fn numbered_key(i: u32) -> Vec<u8> {
    let mut key = i.to_le_bytes().to_vec();
    key.extend((0..i % 21).map(|j| (i.wrapping_mul(131) + j * 89 + 7) as u8));
    key
}

pub(crate) fn numbered_keys(n: u32) -> KeyBuf {
    (0..n).map(numbered_key).collect()
}

/// Key `i` of a sequence of keys that look random: 16 bytes, from two steps of SplitMix64.
pub(crate) fn random_key(i: u64) -> [u8; 16] {
    let mix = |seed: u64| {
        let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(2 * i + 1).to_le_bytes());
    key[8..].copy_from_slice(&mix(2 * i + 2).to_le_bytes());
    key
}

pub(crate) fn filter(policy: &dyn FilterPolicy, keys: &KeyBuf) -> Vec<u8> {
    let mut filter = Vec::new();
    policy.create_filter(keys.as_keys(), &mut filter).unwrap();
    filter
}

/// The 64-bit FNV-1a hash, which stands for filters that are too long to write down.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
