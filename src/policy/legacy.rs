//! The Bloom filter under LevelDB's old name, as goleveldb still writes it.
//!
//! The filter is that of [`BloomFilterPolicy`]; only the hash may differ. LevelDB up to 1.17 read
//! the bytes after a key's last whole four-byte word as `char`: signed on x86, unsigned on ARM.
//! goleveldb reads them as unsigned. A table does not record the choice.

use std::sync::Arc;

use super::bloom::{BATCH, hash_some, matches_hashes};
use super::{BloomFilterPolicy, FilterPolicy, FilterShape, KeyHash, SharedPolicy, bit_array};
use crate::hash::{self, BLOOM_SEED, hash_signed_tail, to_signed_tail};
use crate::kernel::MAX_PROBES;
use crate::kernel::matches;
use crate::{Error, Keys, Result};

/// The largest number of bits. goleveldb holds this number in a 32-bit integer, and rounds it up to
/// whole bytes in the same integer.
const MAX_BITS: u64 = (1 << 32) - 8;

/// The Bloom filter of LevelDB up to 1.17 and of goleveldb, `leveldb.BuiltinBloomFilter`.
///
/// The default, [`LegacyHash::Either`], suits tables of unknown origin: the filter rules a key
/// out only if it rules out both its unsigned and its signed hash. The hashes differ only for keys with a byte
/// of 0x80 or above among the one to three bytes after the last whole four-byte word. For absent
/// keys of this kind, the second hash costs a second lookup and about doubles the false positives.
///
/// Except with [`LegacyHash::Signed`], filters equal goleveldb's byte for byte. They take
/// `bits_per_key` bits for each key, at least 64 in all, rounded up to whole bytes, and one more
/// byte. Their layout is that of [`BloomFilterPolicy`].
///
/// ```
/// use filterblock::{FilterPolicy, KeyBuf, LegacyBloomPolicy};
/// let policy = LegacyBloomPolicy::new(10);
/// let keys: KeyBuf = ["hello", "world"].into_iter().collect();
/// let mut filter = Vec::new();
/// policy.create_filter(keys.as_keys(), &mut filter)?;
/// assert!(policy.key_may_match(b"hello", &filter));
/// assert!(!policy.key_may_match(b"x", &filter));
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyBloomPolicy {
    bloom: BloomFilterPolicy,
    hash: LegacyHash,
}

/// The way to read the one to three bytes after a key's last whole four-byte word, set by
/// [`LegacyBloomPolicy::with_hash`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LegacyHash {
    /// Reads with both hashes, so that no stored key is hidden, whoever wrote the table. Writes
    /// with the unsigned hash.
    #[default]
    Either,
    /// Reads and writes like goleveldb, and like LevelDB up to 1.17 on ARM.
    Unsigned,
    /// Reads and writes like LevelDB up to 1.17 on x86.
    Signed,
}

impl LegacyBloomPolicy {
    /// Returns a policy for filters of `bits_per_key` bits per key, read with [`LegacyHash::Either`].
    /// k is 0.69 * `bits_per_key`, rounded down, at least 1 and at most 30.
    ///
    /// As in goleveldb, k is computed in eight bits, which wrap around: at 372 bits per key, k is 1
    /// again.
    pub const fn new(bits_per_key: u32) -> Self {
        let probes = match ((bits_per_key as u64).saturating_mul(69) / 100) as u8 {
            0 => 1,
            probes if probes > MAX_PROBES => MAX_PROBES,
            probes => probes,
        };
        let bloom = BloomFilterPolicy::new(bits_per_key).with_probes(probes);
        Self { bloom, hash: LegacyHash::Either }
    }

    /// Returns the same policy with another hash. [`Unsigned`](LegacyHash::Unsigned) can hide
    /// stored keys in filters that [`Signed`](LegacyHash::Signed) has written, and vice versa.
    #[must_use]
    pub const fn with_hash(self, hash: LegacyHash) -> Self {
        Self { hash, ..self }
    }

    /// Returns the hash of a key, as [`hash_key`](FilterPolicy::hash_key) does. This policy has a
    /// hash for every key.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        hash_key(key)
    }

    /// Returns the number of bits for each key.
    pub const fn bits_per_key(&self) -> u32 {
        self.bloom.bits_per_key()
    }

    /// Returns k, the number of bits that each key sets.
    pub const fn probes(&self) -> u8 {
        self.bloom.probes()
    }

    /// Checks that a filter for `keys` keys is not too large.
    fn check_size(&self, keys: u64) -> Result<()> {
        let bits = bit_array::wished_bits(keys, self.bits_per_key());
        if bits > u128::from(MAX_BITS) {
            return Err(Error::FilterSize { keys, limit: MAX_BITS, bits });
        }
        Ok(())
    }
}

/// Returns `true` if a byte after the key's last whole four-byte word is 0x80 or above. The signed
/// and the unsigned hash differ for such keys only.
#[inline]
fn has_high_tail(key: &[u8]) -> bool {
    key.as_chunks::<4>().1.iter().any(|byte| *byte >= 0x80)
}

/// Returns both hashes of a key: unsigned and signed.
fn hash_key(key: &[u8]) -> KeyHash {
    let unsigned = hash::leveldb(key, BLOOM_SEED);
    KeyHash::from_pair(unsigned, to_signed_tail(unsigned, key))
}

/// Here, as for [`BloomFilterPolicy`], so that filters are checked by optimized code.
impl From<LegacyBloomPolicy> for SharedPolicy {
    fn from(policy: LegacyBloomPolicy) -> Self {
        Arc::new(policy)
    }
}

impl FilterPolicy for LegacyBloomPolicy {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.check_size(keys.len() as u64)?;
        if self.hash == LegacyHash::Signed && keys.iter().any(has_high_tail) {
            let hash = |from: usize, hashes: &mut _, count| {
                hash_some(keys, from, hashes, count);
                for (h, key) in hashes.iter_mut().zip(keys.iter().skip(from)).take(count) {
                    *h = to_signed_tail(*h, key);
                }
            };
            return self.bloom.create(keys.len(), hash, dst);
        }
        self.bloom.create_filter(keys, dst)
    }

    #[inline]
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        let unsigned = hash::leveldb(key, BLOOM_SEED);
        match self.hash {
            LegacyHash::Unsigned => matches(unsigned, filter),
            LegacyHash::Signed => matches(to_signed_tail(unsigned, key), filter),
            LegacyHash::Either => {
                matches(unsigned, filter)
                    || has_high_tail(key) && matches(to_signed_tail(unsigned, key), filter)
            }
        }
    }

    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        self.bloom.keys_may_match(probes, answers);
        if self.hash == LegacyHash::Unsigned {
            return;
        }
        // The signed hash differs only for keys with a high tail.
        for (&(key, filter), answer) in probes.iter().zip(answers) {
            if has_high_tail(key) && !(*answer && self.hash == LegacyHash::Either) {
                *answer = matches(hash_signed_tail(key, BLOOM_SEED), filter);
            }
        }
    }

    fn takes_hashes(&self) -> bool {
        true
    }

    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        Some(hash_key(key))
    }

    fn hash_keys(&self, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
        let from = hashes.len();
        self.bloom.hash_keys(keys, hashes);
        for (hash, key) in hashes.iter_mut().skip(from).zip(keys) {
            let unsigned = hash.pair().0;
            *hash = KeyHash::from_pair(unsigned, to_signed_tail(unsigned, key));
        }
        true
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.check_size(hashes.len() as u64)?;
        let is_signed = self.hash == LegacyHash::Signed;
        let hash = |from: usize, some: &mut [u32; BATCH], _| {
            for (h, hash) in some.iter_mut().zip(hashes.iter().skip(from)) {
                let (unsigned, signed) = hash.pair();
                *h = if is_signed { signed } else { unsigned };
            }
        };
        self.bloom.create(hashes.len(), hash, dst)
    }

    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        let (unsigned, signed) = hash.pair();
        match self.hash {
            LegacyHash::Unsigned => matches(unsigned, filter),
            LegacyHash::Signed => matches(signed, filter),
            LegacyHash::Either => matches(unsigned, filter) || signed != unsigned && matches(signed, filter),
        }
    }

    fn hashes_may_match(&self, hashes: &[KeyHash], filter: &[u8], answers: &mut [bool]) {
        match self.hash {
            LegacyHash::Unsigned => matches_hashes(hashes, filter, answers, |hash| hash.pair().0),
            LegacyHash::Signed => matches_hashes(hashes, filter, answers, |hash| hash.pair().1),
            LegacyHash::Either => {
                for (&hash, answer) in hashes.iter().zip(answers) {
                    *answer = self.hash_may_match(hash, filter);
                }
            }
        }
    }

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        self.check_size(num_keys as u64).ok()?;
        self.bloom.filter_len(num_keys)
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        bit_array::leveldb_shape(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_end_at_goleveldbs_limit() {
        let policy = LegacyBloomPolicy::new(8);
        assert!(policy.check_size(MAX_BITS / 8).is_ok());
        let error = policy.check_size(MAX_BITS / 8 + 1).unwrap_err();
        assert!(matches!(error, Error::FilterSize { bits: 0x1_0000_0000, .. }), "{error}");
    }
}
