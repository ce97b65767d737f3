//! Basho's "bloom2" (Riak's LevelDB, `util/bloom2.cc`), as it comes out on x86-64.
//!
//! The frame is that of LevelDB's filter, bit array and k, but positions are taken modulo a prime below the number of bits, and
//! a second hash spreads them: with `h` LevelDB's hash with a signed tail and `h2` the low half of MurmurHash64A, k times, counting j
//! from 0, bit `(h + (j + 1) * h2) % prime` is set, in 64-bit arithmetic, and `h += delta`, where `delta` is the first `h` rotated
//! right by 17, in 32-bit arithmetic.

use std::sync::LazyLock;

use super::{BloomFilterPolicy, FilterPolicy, FilterShape, KeyHash, Origin, bit_array};
use crate::hash::murmur64a;
use crate::hash::{BLOOM_SEED, hash_signed_tail};
use crate::kernel::MAX_PROBES;
use crate::{Error, Keys, Result};

/// The original counts bits in 32 bits, and rounds them up to whole bytes there.
const MAX_BITS: u64 = (1 << 32) - 8;

/// The least number of bits, a prime.
const MIN_BITS: u64 = 61;

/// The seed of the second hash.
const MURMUR_SEED: u64 = 0x5bd1_e995;

/// Arrays of this many bytes and more use all their bits.
const PRIMES: usize = 12_498;

/// Riak's second Bloom filter, which Basho named `leveldb.BuiltinBloomFilter2`: the name of another filter, [`BloomFilterPolicy`].
///
/// To be used only where the caller knows that Basho's LevelDB wrote a table, and on x86-64: read by the wrong one of the
/// two policies, a filter denies nearly all keys that are there. Keys of Riak's databases also
/// need [`BashoInternalFilterPolicy`](crate::policy::BashoInternalFilterPolicy), which a [`Table`](crate::table::Table) with Basho's mark puts
/// around it by itself.
///
/// A filter takes `bits_per_key` bits for each key, at least 61, a few more for the prime, and one byte.
///
/// ```
/// use filterblock::{BashoBloom2Policy, FilterPolicy, KeyBuf};
/// let policy = BashoBloom2Policy::default();
/// let keys: KeyBuf = ["hello", "world"].into_iter().collect();
/// let mut filter = Vec::new();
/// policy.create_filter(keys.as_keys(), &mut filter)?;
/// assert!(policy.key_may_match(b"hello", &filter));
/// assert!(!policy.key_may_match(b"x", &filter));
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BashoBloom2Policy {
    bits_per_key: u32,
    probes: u8,
}

impl BashoBloom2Policy {
    /// Filters of `bits_per_key` bits a key, with k = 0.69 * `bits_per_key` probes, rounded
    /// down, at least 1 and at most 30. Riak uses [16](Self::default).
    ///
    /// Beyond `i32::MAX`, where the original's integer ends, making a filter is an error.
    pub fn new(bits_per_key: u32) -> Self {
        Self { bits_per_key, probes: BloomFilterPolicy::new(bits_per_key).probes() }
    }

    /// Bits for each key.
    pub const fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// k: how many bits each key sets.
    pub const fn probes(&self) -> u8 {
        self.probes
    }

    /// The size of the bit array for `keys` keys, in bytes: the least whose prime is not below the number of bits.
    fn array_len(&self, keys: usize) -> Result<usize> {
        let bits = bit_array::wished_bits(keys as u64, self.bits_per_key);
        if bits > u128::from(MAX_BITS) || self.bits_per_key > i32::MAX as u32 {
            return Err(Error::FilterSize { keys: keys as u64, limit: MAX_BITS, bits });
        }
        let bits = (bits as u64).max(MIN_BITS);
        let mut len = bits.div_ceil(8) as usize;
        while modulus(len) < bits {
            len = len.saturating_add(1);
        }
        Ok(len)
    }

    fn create(&self, hashes: impl ExactSizeIterator<Item = KeyHash>, dst: &mut Vec<u8>) -> Result<()> {
        let array_len = self.array_len(hashes.len())?;
        bit_array::append(dst, array_len, self.probes, |array| {
            let modulus = modulus(array_len);
            for hash in hashes {
                positions(hash, modulus, self.probes).for_each(|position| bit_array::set(array, position));
            }
        })
    }
}

impl Default for BashoBloom2Policy {
    /// 16 bits a key, as Riak sets it.
    fn default() -> Self {
        Self::new(16)
    }
}

/// How many bits of an array of `len` bytes are used: as many as the largest prime below says, or all in larger arrays.
fn modulus(len: usize) -> u64 {
    /// `8 * len` minus the largest prime below it, which 8 bits hold: primes this small are never more than 72 apart.
    static GAPS: LazyLock<Vec<u8>> = LazyLock::new(prime_gaps);

    let gap = GAPS.get(len).map_or(0, |&gap| u64::from(gap));
    (len as u64).saturating_mul(8).saturating_sub(gap)
}

/// Sieves the numbers below `8 * PRIMES`.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "every number is an index of `composite`, every prime below the number after it"
)]
fn prime_gaps() -> Vec<u8> {
    let mut composite = vec![false; 8 * PRIMES];
    let mut gaps = vec![0];
    let mut prime = 0;
    for number in 2..composite.len() {
        if number % 8 == 0 {
            gaps.push((number - prime) as u8);
        }
        if !composite[number] {
            prime = number;
            composite
                .iter_mut()
                .skip(number.saturating_mul(number))
                .step_by(number)
                .for_each(|is| *is = true);
        }
    }
    gaps
}

fn hash_key(key: &[u8]) -> KeyHash {
    KeyHash::from_pair(hash_signed_tail(key, BLOOM_SEED), murmur64a(key, MURMUR_SEED) as u32)
}

/// `modulus` is not 0.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a divisor other than 0; k times 32 bits are far below 64"
)]
fn positions(hash: KeyHash, modulus: u64, probes: u8) -> impl Iterator<Item = u64> {
    let (mut h, h2) = hash.pair();
    let delta = h.rotate_right(17);
    (1..=u64::from(probes)).map(move |factor| {
        let position = (u64::from(h) + factor * u64::from(h2)) % modulus;
        h = h.wrapping_add(delta);
        position
    })
}

impl FilterPolicy for BashoBloom2Policy {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter2"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.create(keys.iter().map(hash_key), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match(hash_key(key), filter)
    }

    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        Some(hash_key(key))
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.create(hashes.iter().copied(), dst)
    }

    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        let Some((&probes, array)) = filter.split_last() else { return false };
        if array.is_empty() {
            return false;
        }
        // In larger arrays the original's modulus overflows.
        if probes > MAX_PROBES || array.len() as u64 > MAX_BITS / 8 {
            return true;
        }
        positions(hash, modulus(array.len()), probes).all(|position| bit_array::is_set(array, position))
    }

    fn reads_dialect(&self, origin: Origin) -> bool {
        origin == Origin::Basho
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        let shape = bit_array::leveldb_shape(filter)?;
        Some(if shape.bits > MAX_BITS { shape.with_expected_rate(1.0) } else { shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg_attr(miri, ignore = "sieves Basho's primes")]
    #[test]
    fn gaps_lead_to_the_largest_prime_below() {
        let is_prime = |number: u64| {
            number > 1 && (2..).take_while(|d| d * d <= number).all(|d| !number.is_multiple_of(d))
        };
        for len in 1..PRIMES {
            let prime = (0..len as u64 * 8).rev().find(|&number| is_prime(number));
            assert_eq!(Some(modulus(len)), prime, "{len} bytes");
        }
        assert_eq!(modulus(PRIMES - 1), 99_971);
        assert_eq!(modulus(PRIMES), PRIMES as u64 * 8);
    }

    #[cfg_attr(miri, ignore = "sieves Basho's primes")]
    #[test]
    fn the_largest_array() {
        let policy = BashoBloom2Policy::new(8);
        assert_eq!(policy.array_len((1 << 29) - 1).unwrap() as u64, MAX_BITS / 8);
        assert!(policy.array_len(1 << 29).is_err());
    }
}
