//! Basho's "bloom2" (Riak's LevelDB, `util/bloom2.cc`), as compiled for x86-64.

use std::sync::LazyLock;

use super::groups::{LastModulus, hashes, in_groups};
use super::{BloomFilterPolicy, FilterPolicy, FilterShape, KeyHash, Origin, bit_array};
use crate::hash::{BLOOM_SEED, hash_signed_tail, murmur64a, murmur64a_of_four, to_signed_tail};
use crate::kernel::{self, MAX_PROBES, Modulus};
use crate::lanes::EqualLenKeys;
use crate::{Error, Keys, Result};

/// The largest number of bits. The original holds this number in a 32-bit integer, and rounds it up
/// to whole bytes in the same integer.
const MAX_BITS: u64 = (1 << 32) - 8;

/// The k for ten bits per key. It has loops of its own, since loops of a known length are faster.
const TEN_BITS: u8 = 6;

/// The k for 16 bits per key, Riak's setting.
const SIXTEEN_BITS: u8 = 11;

/// The smallest number of bits that a new filter uses, a prime.
const MIN_BITS: u64 = 61;

/// The seed of the second hash.
const MURMUR_SEED: u64 = 0x5bd1_e995;

/// The length in bytes of the shortest array that uses all its bits.
const PRIMES: usize = 12_498;

/// Riak's second Bloom filter. Basho named it `leveldb.BuiltinBloomFilter2`, the name of another
/// filter, [`BloomFilterPolicy`].
///
/// Use it only for tables that Basho's LevelDB wrote on x86-64: read with the wrong one of the two policies,
/// a filter hides nearly all its keys. Keys of Riak's databases also need
/// [`BashoInternalFilterPolicy`](crate::policy::BashoInternalFilterPolicy). A [`Table`](crate::table::Table)
/// of internal keys with Basho's mark wraps the policy in it automatically.
///
/// A filter takes `bits_per_key` bits for each key, at least 61 in all, a few more for the prime,
/// and one byte.
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
///
/// # Encoding
///
/// The filter has the [common layout](crate::policy#encoding). Positions are taken modulo the
/// largest prime below the number of bits or, with 99,984 bits or more, modulo the number of bits
/// itself. `h` is the key's [hash with a signed tail](crate::hash::hash_signed_tail), with
/// [LevelDB's seed](crate::hash::BLOOM_SEED), `h2` the low half of its MurmurHash64A, with the seed
/// 0x5bd1e995, and `delta` the first `h` rotated right by 17. k times, counting j from 0, bit
/// `(h + (j + 1) * h2) % modulus` is set, in 64-bit arithmetic, and `h += delta`, in 32-bit
/// arithmetic.
///
/// Every key may match if k is above 30, or if the array has more than 2^32 - 8 bits. A filter of
/// fewer than two bytes matches no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BashoBloom2Policy {
    bits_per_key: u32,
    probes: u8,
}

impl BashoBloom2Policy {
    /// Returns a policy for filters of `bits_per_key` bits per key. k is 0.69 * `bits_per_key`,
    /// rounded down, at least 1 and at most 30. Riak uses [16](Self::default) bits.
    ///
    /// It is an error to make a filter of more than `i32::MAX` bits per key, which the original's
    /// integer cannot hold, or of more than 2^32 - 8 bits in all.
    pub const fn new(bits_per_key: u32) -> Self {
        Self { bits_per_key, probes: BloomFilterPolicy::new(bits_per_key).probes() }
    }

    /// Returns the hash of a key, as [`hash_key`](FilterPolicy::hash_key) does. This policy has a
    /// hash for every key.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        hash_key(key)
    }

    /// Returns the number of bits for each key.
    pub const fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// Returns k, the number of bits that each key sets.
    pub const fn probes(&self) -> u8 {
        self.probes
    }

    /// Returns the length of the bit array for `keys` keys, in bytes: the least length whose
    /// modulus is at least the number of bits needed.
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

    /// Appends a filter for the `count` keys with these hashes.
    fn create(&self, count: usize, hashes: impl Iterator<Item = KeyHash>, dst: &mut Vec<u8>) -> Result<()> {
        let array_len = self.array_len(count)?;
        let modulus = modulus(array_len);
        if modulus > Modulus::MAX_WIDE {
            let keys =
                hashes.map(|hash| positions(hash, self.probes, move |n| n.checked_rem(modulus).unwrap_or(0)));
            return bit_array::append_keys(dst, array_len, self.probes, keys);
        }
        let modulus = Modulus::of_small(modulus);
        let of = move |n| modulus.of_wide(n);
        match self.probes {
            TEN_BITS => {
                let keys = hashes.map(|hash| positions(hash, TEN_BITS, of));
                bit_array::append_keys(dst, array_len, TEN_BITS, keys)
            }
            SIXTEEN_BITS => {
                let keys = hashes.map(|hash| positions(hash, SIXTEEN_BITS, of));
                bit_array::append_keys(dst, array_len, SIXTEEN_BITS, keys)
            }
            probes => {
                let keys = hashes.map(|hash| positions(hash, probes, of));
                bit_array::append_keys(dst, array_len, probes, keys)
            }
        }
    }
}

impl Default for BashoBloom2Policy {
    /// Returns the policy with 16 bits per key, Riak's setting.
    fn default() -> Self {
        Self::new(16)
    }
}

/// Returns the number of bits used in an array of `len` bytes: the largest prime below `8 * len` or,
/// with [`PRIMES`] bytes or more, `8 * len` itself.
fn modulus(len: usize) -> u64 {
    /// The differences between `8 * len` and the largest prime below it. They fit into 8 bits,
    /// because consecutive primes of this size are at most 72 apart.
    static GAPS: LazyLock<Vec<u8>> = LazyLock::new(prime_gaps);

    let gap = GAPS.get(len).map_or(0, |&gap| u64::from(gap));
    (len as u64).saturating_mul(8).saturating_sub(gap)
}

/// Sieves the numbers below `8 * PRIMES`, and returns the gap below each multiple of 8.
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

/// Hashes eight keys side by side.
fn hash_eight(keys: EqualLenKeys<'_, 8>) -> [KeyHash; 8] {
    let mut first = [0; 8];
    kernel::hash_eight(keys, BLOOM_SEED, &mut first);
    if !keys.len().is_multiple_of(4) {
        for (first, key) in first.iter_mut().zip(keys.keys()) {
            *first = to_signed_tail(*first, key);
        }
    }
    let mut both = [KeyHash::new(0); 8];
    let seconds = keys.halves().map(|keys| murmur64a_of_four(keys, MURMUR_SEED));
    for ((both, first), second) in both.iter_mut().zip(first).zip(seconds.as_flattened()) {
        *both = KeyHash::from_pair(first, *second as u32);
    }
    both
}

/// Yields the positions of a key's bits. `modulus` takes the remainder of a number below 2^37.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "31 times 32 bits are at most 37")]
fn positions(hash: KeyHash, probes: u8, modulus: impl Fn(u64) -> u64) -> impl Iterator<Item = u64> {
    let (mut h, h2) = hash.pair();
    let delta = h.rotate_right(17);
    let mut sum = 0;
    (0..probes).map(move |_| {
        sum += u64::from(h2);
        let position = modulus(u64::from(h) + sum);
        h = h.wrapping_add(delta);
        position
    })
}

/// Looks up a key by its hash. `prepared` prepares a modulus of at most [`Modulus::MAX_WIDE`].
#[inline]
fn may_match(hash: KeyHash, filter: &[u8], prepared: impl FnOnce(u64) -> Modulus) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if array.is_empty() {
        return false;
    }
    // The original's modulus overflows in larger arrays.
    if probes > MAX_PROBES || array.len() as u64 > MAX_BITS / 8 {
        return true;
    }
    let modulus = modulus(array.len());
    if modulus > Modulus::MAX_WIDE {
        return bit_array::all_set(array, positions(hash, probes, |n| n.checked_rem(modulus).unwrap_or(0)));
    }
    let modulus = prepared(modulus);
    let of = |n| modulus.of_wide(n);
    match probes {
        TEN_BITS => bit_array::all_set(array, positions(hash, TEN_BITS, of)),
        SIXTEEN_BITS => bit_array::all_set(array, positions(hash, SIXTEEN_BITS, of)),
        _ => bit_array::all_set(array, positions(hash, probes, of)),
    }
}

impl FilterPolicy for BashoBloom2Policy {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter2"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.create(keys.len(), hashes(keys, hash_key, hash_eight), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match(hash_key(key), filter)
    }

    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        let mut last = LastModulus::default();
        in_groups(probes, answers, hash_key, hash_eight, |hash, filter| {
            may_match(hash, filter, |bits| last.by(bits))
        });
    }

    fn takes_hashes(&self) -> bool {
        true
    }

    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        Some(hash_key(key))
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.create(hashes.len(), hashes.iter().copied(), dst)
    }

    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        may_match(hash, filter, Modulus::of_small)
    }

    fn reads_dialect(&self, origin: Origin) -> bool {
        origin == Origin::Basho
    }

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        self.array_len(num_keys).ok()?.checked_add(1)
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
