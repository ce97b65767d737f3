//! Properties of Bloom filters that no reader can change. If one of these fails, SECURITY.md says too little or too
//! much.

use filterblock::hash::{self, BLOOM_SEED};
use filterblock::{BloomFilterPolicy, FilterPolicy, KeyBuf};

use crate::filters::filter;

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
