//! LevelDB's Bloom filter (`util/bloom.cc`).

use std::sync::Arc;

use super::array::{BATCH, BloomArray, matches_hashes, matches_many};
use crate::hash::{self, BLOOM_SEED};
use crate::kernel::{self, MAX_PROBES, matches, matches_key, prefetch};
use crate::policy::{FilterPolicy, FilterShape, KeyHash, SharedPolicy, bit_array};
use crate::{Error, Keys, Result};

/// The largest number of bits. Positions are 32-bit hashes modulo the number of bits, so further
/// bits would stay unused.
const MAX_BITS: u64 = 1 << 32;

/// The greatest number of keys whose filter is made without hashing in batches and without a byte for each bit. Both
/// pay off only for more keys.
const FEW: usize = 6;

/// LevelDB's own Bloom filter (`util/bloom.cc`), `leveldb.BuiltinBloomFilter2`.
///
/// A filter takes `bits_per_key` bits for each key, at least 64 in all, rounded up to whole bytes,
/// and one more byte. At ten bits per key, the false-positive rate is about 1%. Making a filter
/// hashes each key once, and sets k bits for it. A lookup hashes the key, and reads up to k bits.
///
/// ```
/// use filterblock::{BloomFilterPolicy, FilterPolicy, KeyBuf};
/// let policy = BloomFilterPolicy::new(10);
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
/// The filter has the [common layout](crate::policy#encoding). `h` is LevelDB's
/// [hash](crate::hash::leveldb) of the key with [its seed](crate::hash::BLOOM_SEED), and `delta` is
/// `h` rotated right by 17. k times, bit `h % bits` is set and `h += delta`, in 32-bit arithmetic.
/// k above 30 is reserved for other encodings: a filter with such a k matches every key. A filter of
/// fewer than two bytes matches no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloomFilterPolicy {
    bits_per_key: u32,
    probes: u8,
}

impl BloomFilterPolicy {
    /// Returns a policy for filters of `bits_per_key` bits per key. k is 0.69 * `bits_per_key`,
    /// rounded down, at least 1 and at most 30.
    ///
    /// With 0 bits per key, a filter has 64 bits and k = 1, the least possible, for any number of
    /// keys. It is an error to make a filter of more than `i32::MAX` bits per key, which the
    /// original's integer cannot hold, or of more than 2^32 bits in all.
    pub const fn new(bits_per_key: u32) -> Self {
        let probes = match (bits_per_key as f64 * 0.69) as u32 {
            0 => 1,
            probes if probes > MAX_PROBES as u32 => MAX_PROBES,
            probes => probes as u8,
        };
        Self { bits_per_key, probes }
    }

    /// Returns LevelDB's hash of a key, in the lower 32 bits, as
    /// [`hash_key`](FilterPolicy::hash_key) does. This policy has a hash for every key.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash::new(u64::from(hash::leveldb(key, BLOOM_SEED)))
    }

    /// Returns the same policy with k = `probes`, at most 30, for related policies that compute k
    /// in another way.
    pub(in crate::policy) const fn with_probes(self, probes: u8) -> Self {
        Self { probes, ..self }
    }

    /// Returns the number of bits for each key.
    pub const fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// Returns k, the number of bits that each key sets.
    pub const fn probes(&self) -> u8 {
        self.probes
    }

    /// Returns the length of the bit array for `keys` keys, in bytes.
    fn array_len(&self, keys: usize) -> Result<usize> {
        let bits = keys as u128 * u128::from(self.bits_per_key);
        if bits > u128::from(MAX_BITS) || self.bits_per_key > i32::MAX as u32 {
            return Err(Error::FilterSize { keys: keys as u64, limit: MAX_BITS, bits });
        }
        Ok((bits as u64).max(64).div_ceil(8) as usize)
    }

    /// Appends a filter for `count` keys. `hash` is called with the index of a key, an array, and a number of
    /// keys. It stores the hashes of that many keys in the array, starting with the key at the index.
    #[inline]
    pub(in crate::policy) fn create(
        &self,
        count: usize,
        mut hash: impl FnMut(usize, &mut [u32; BATCH], usize),
        dst: &mut Vec<u8>,
    ) -> Result<()> {
        let mut array = BloomArray::new(dst, self.array_len(count)?, self.probes)?;
        let mut hashes = [0; BATCH];
        let mut done = 0;
        while done < count {
            let some = BATCH.min(count - done);
            hash(done, &mut hashes, some);
            array.add(&mut hashes, some);
            done += some;
        }
        array.finish();
        Ok(())
    }
}

impl BloomFilterPolicy {
    /// Appends a filter for at most [`FEW`] keys.
    // Not inlined, so that filters of more keys pay only for the check.
    #[inline(never)]
    fn create_of_few(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        match keys.len() {
            0 => self.create_of(&[], dst),
            1 => self.create_of(&hash_each::<1>(keys), dst),
            2 => self.create_of(&hash_each::<2>(keys), dst),
            3 => self.create_of(&hash_each::<3>(keys), dst),
            4 => self.create_of(&hash_each::<4>(keys), dst),
            5 => self.create_of(&hash_each::<5>(keys), dst),
            _ => self.create_of(&hash_each::<FEW>(keys), dst),
        }
    }

    /// Appends a filter for the keys with these hashes, at most [`FEW`].
    #[inline(always)]
    fn create_of(&self, hashes: &[u32], dst: &mut Vec<u8>) -> Result<()> {
        let len = self.array_len(hashes.len())?;
        if len > 8 {
            return self.create_larger_of(hashes, len, dst);
        }
        // The smallest array fits in a register, where its bits are gathered.
        let bits = hashes.iter().fold(0, |bits, hash| bits | bits_of_64(*hash, self.probes));
        dst.try_reserve(9).map_err(|_| Error::out_of_memory("filter", 9))?;
        let [a, b, c, d, e, f, g, h] = bits.to_le_bytes();
        dst.extend_from_slice(&[a, b, c, d, e, f, g, h, self.probes]);
        Ok(())
    }

    #[inline(never)]
    fn create_larger_of(&self, hashes: &[u32], len: usize, dst: &mut Vec<u8>) -> Result<()> {
        let (start, end) = (dst.len(), dst.len().saturating_add(len));
        dst.try_reserve(len.saturating_add(1)).map_err(|_| Error::out_of_memory("filter", len))?;
        dst.resize(end, 0);
        kernel::set_packed(dst.get_mut(start..).unwrap_or_default(), self.probes, hashes);
        dst.push(self.probes);
        Ok(())
    }
}

/// Hashes the first `N` keys.
#[inline(always)]
fn hash_each<const N: usize>(keys: Keys<'_>) -> [u32; N] {
    hash::leveldb_each(std::array::from_fn(|index| keys.get(index).unwrap_or_default()), BLOOM_SEED)
}

/// The bits, out of 64, that a key with this hash sets.
#[inline(always)]
fn bits_of_64(hash: u32, probes: u8) -> u64 {
    let delta = hash.rotate_right(17);
    let bit = |number: u32| 1_u64.wrapping_shl(hash.wrapping_add(number.wrapping_mul(delta)));
    match probes {
        // Ten bits per key, the usual setting.
        6 => bit(0) | bit(1) | bit(2) | bit(3) | bit(4) | bit(5),
        probes => (0..u32::from(probes)).fold(0, |bits, number| bits | bit(number)),
    }
}

/// Hashes `count` keys, at most `BATCH`, starting with key `from`.
#[inline]
pub(in crate::policy) fn hash_some(keys: Keys<'_>, from: usize, hashes: &mut [u32; BATCH], count: usize) {
    match keys.fixed_len() {
        Some(keys) => {
            let eights = &mut hashes.as_chunks_mut().0[..count.div_ceil(8)];
            kernel::hash_fixed_len(keys.part(from, count), BLOOM_SEED, eights);
        }
        None => kernel::hash_any_len(keys, from, BLOOM_SEED, &mut hashes[..count]),
    }
}

/// Here, so that filters are checked by optimized code even if the caller is compiled without
/// optimization.
impl From<BloomFilterPolicy> for SharedPolicy {
    fn from(policy: BloomFilterPolicy) -> Self {
        Arc::new(policy)
    }
}

/// Returns true if the code for few keys makes the filter of this many keys. On WebAssembly it never does: a web page
/// loses more by loading that code than it gains.
const fn is_few(keys: usize) -> bool {
    keys <= FEW && !cfg!(target_family = "wasm")
}

impl FilterPolicy for BloomFilterPolicy {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter2"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        if is_few(keys.len()) {
            return self.create_of_few(keys, dst);
        }
        self.create(keys.len(), |from, hashes, count| hash_some(keys, from, hashes, count), dst)
    }

    #[inline]
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        // The filter is fetched from memory while the key is hashed, and while the previous lookup still waits for its
        // own filter.
        if let [first, .., last] = filter {
            prefetch(first);
            prefetch(last);
        }
        matches_key(hash::leveldb(key, BLOOM_SEED), filter)
    }

    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        matches_many(probes, answers);
    }

    fn takes_hashes(&self) -> bool {
        true
    }

    #[inline]
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        Some(self.hash(key))
    }

    fn hash_keys(&self, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
        let mut some = [0; BATCH];
        hashes.reserve(keys.len());
        for from in (0..keys.len()).step_by(BATCH) {
            let count = BATCH.min(keys.len() - from);
            hash_some(keys, from, &mut some, count);
            hashes.extend(some[..count].iter().map(|&hash| KeyHash::new(u64::from(hash))));
        }
        true
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        if let (true, [a, b @ ..]) = (is_few(hashes.len()), hashes) {
            let mut few = [a.get() as u32; FEW];
            few.iter_mut().skip(1).zip(b).for_each(|(few, hash)| *few = hash.get() as u32);
            return self.create_of(few.get(..hashes.len()).unwrap_or_default(), dst);
        }
        let hash = |from: usize, some: &mut [u32; BATCH], count| {
            some.iter_mut().zip(&hashes[from..from + count]).for_each(|(h, hash)| *h = hash.get() as u32);
        };
        self.create(hashes.len(), hash, dst)
    }

    #[inline]
    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        matches(hash.get() as u32, filter)
    }

    fn hashes_may_match(&self, hashes: &[KeyHash], filter: &[u8], answers: &mut [bool]) {
        matches_hashes(hashes, filter, answers, |hash| hash.get() as u32);
    }

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        self.array_len(num_keys).ok()?.checked_add(1)
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        bit_array::leveldb_shape(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits are 2^32 bits, for any number of keys, and as many bits per key as the original's `int` can
    /// hold.
    #[test]
    fn sizes_end_at_their_limits() {
        let len = |bits_per_key, keys| BloomFilterPolicy::new(bits_per_key).array_len(keys).ok();
        assert_eq!((len(1 << 10, 1 << 22), len(1 << 10, (1 << 22) + 1)), (Some(1 << 29), None));
        assert_eq!((len(i32::MAX as u32, 1), len(1 << 31, 1)), (Some(1 << 28), None));
        assert_eq!((len(1 << 31, 0), len(0, usize::MAX)), (None, Some(8)));
        assert_eq!((len(1, 64), len(1, 65), len(1, 73)), (Some(8), Some(9), Some(10)));
    }
}
