//! The Bloom filter of Cassandra's early versions, in an encoding of this library.

use super::groups::{LastModulus, hashes, in_groups};
use super::rate::check_rate;
use super::{FilterPolicy, FilterShape, KeyHash, bit_array};
use crate::hash::{murmur2_twice, murmur2_twice_of_four};
use crate::kernel::Modulus;
use crate::lanes::EqualLenKeys;
use crate::{Error, Keys, Result};

/// The number of bits added to n * buckets, for n keys.
const EXCESS: u64 = 20;

/// The largest number of bits: a multiple of 64 below 2^31, since positions are signed.
const MAX_BITS: u64 = (1 << 31) - 64;

/// The last row of Cassandra's table: the greatest number of buckets per element.
const MAX_BUCKETS: u64 = 15;

/// The largest K, more than in any row. Other values of the filter's last byte are free for
/// other encodings.
const MAX_PROBES: u8 = 15;

/// The K for ten bits per key, the usual setting. It has loops of its own, since loops of a known
/// length are faster.
const USUAL_PROBES: u8 = 7;

/// The false-positive probability by buckets per element, then by K from 0.
const PROBABILITIES: [&[f64]; MAX_BUCKETS as usize + 1] = [
    &[1.0],
    &[1.0, 1.0],
    &[1.0, 0.393, 0.400],
    &[1.0, 0.283, 0.237, 0.253],
    &[1.0, 0.221, 0.155, 0.147, 0.160],
    &[1.0, 0.181, 0.109, 0.092, 0.092, 0.101],
    &[1.0, 0.154, 0.0804, 0.0609, 0.0561, 0.0578, 0.0638],
    &[1.0, 0.133, 0.0618, 0.0423, 0.0359, 0.0347, 0.0364],
    &[1.0, 0.118, 0.0489, 0.0306, 0.024, 0.0217, 0.0216, 0.0229],
    &[1.0, 0.105, 0.0397, 0.0228, 0.0166, 0.0141, 0.0133, 0.0135, 0.0145],
    &[1.0, 0.0952, 0.0329, 0.0174, 0.0118, 0.00943, 0.00844, 0.00819, 0.00846],
    &[1.0, 0.0869, 0.0276, 0.0136, 0.00864, 0.0065, 0.00552, 0.00513, 0.00509],
    &[1.0, 0.08, 0.0236, 0.0108, 0.00646, 0.00459, 0.00371, 0.00329, 0.00314],
    &[1.0, 0.074, 0.0203, 0.00875, 0.00492, 0.00332, 0.00255, 0.00217, 0.00199, 0.00194],
    &[1.0, 0.0689, 0.0177, 0.00718, 0.00381, 0.00244, 0.00179, 0.00146, 0.00129, 0.00121, 0.0012],
    &[1.0, 0.0645, 0.0156, 0.00596, 0.003, 0.00183, 0.00128, 0.001, 0.000852, 0.000775, 0.000744],
];

/// The smallest probability in the table.
const FINEST: f64 = 0.000744;

/// The Bloom filter of early Cassandra, `filterblock.CassandraBloomFilter1`.
///
/// The encoding is this library's own: the filter files of Cassandra itself have another format.
/// LevelDB opens tables with such filters, and ignores the filters.
///
/// A filter takes its buckets (bits) for each key and 20 more bits, rounded up to whole words of
/// eight bytes, and then one byte. Making a filter takes two passes over each key, and sets K bits
/// for it. A lookup takes two passes over the key, and reads up to K bits.
///
/// ```
/// use filterblock::{CassandraBloomPolicy, FilterPolicy, KeyBuf};
/// let policy = CassandraBloomPolicy::with_false_positive_rate(0.01)?;
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
/// The filter has the [common layout](crate::policy#encoding). For n keys the array has
/// `n * buckets + 20` bits, rounded up to whole words of 8 bytes, at most 2^31 - 64. With
/// `h1 = hash(key, 0)` and `h2 = hash(key, h1)`, the K bits of a key are `|(h1 + i * h2) % bits|`
/// for i = 0 to K - 1, in signed 32-bit arithmetic. `hash(key, seed)` is MurmurHash2, except that
/// the one to three bytes after the last whole four-byte word are read as signed and in reverse
/// order.
///
/// A reader takes K from the filter, so any `CassandraBloomPolicy` reads filters of any sizing.
/// Every key may match if the array is not one or more whole words within the limit, or if K is not
/// 1 to 15. An empty filter matches no key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CassandraBloomPolicy {
    sizing: Sizing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sizing {
    Buckets(u32),
    Rate(f64),
}

impl CassandraBloomPolicy {
    /// Returns a policy for filters of `buckets_per_element` bits per key, raised to 1 or lowered to
    /// 15 if outside these limits, with the best K for that number of bits.
    ///
    /// With more than about 143 million keys, 15 bits per key no longer fit. A filter then has the
    /// greatest whole number of bits per key that fits.
    pub const fn new(buckets_per_element: u32) -> Self {
        Self { sizing: Sizing::Buckets(buckets_per_element) }
    }

    /// Returns a policy for filters of the fewest bits per key, and then the fewest probes, for which
    /// Cassandra's table promises the false-positive rate `p`.
    ///
    /// A filter has at least two bits per key, for which the table promises a rate of 0.393.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] unless `p` is at least 0.000744, where the table ends, and below 1.
    pub fn with_false_positive_rate(p: f64) -> Result<Self> {
        check_rate(p, FINEST, "at least 0.000744")?;
        Ok(Self { sizing: Sizing::Rate(p) })
    }

    /// Returns the hash of a key, as [`hash_key`](FilterPolicy::hash_key) does. This policy has a
    /// hash for every key.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        hash_key(key)
    }

    /// Returns the number of bits of a filter for `keys` keys, a multiple of 64, and its K. The
    /// filter takes `bits / 8 + 1` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::FilterSize`] if one bit per key and the 20 extra bits do not fit below 2^31, or too
    /// few bits fit for the rate.
    pub fn bits_and_probes(&self, keys: u64) -> Result<(u64, u8)> {
        const MOST_BITS: u64 = i32::MAX as u64 - EXCESS;
        let most = MOST_BITS.checked_div(keys).unwrap_or(MAX_BUCKETS).min(MAX_BUCKETS);
        let (buckets, probes) = match self.sizing {
            Sizing::Buckets(wished) => {
                let buckets = u64::from(wished).min(most).max(1);
                (buckets, best(buckets).0)
            }
            Sizing::Rate(p) => {
                // If two buckets and one probe suffice, Cassandra itself swaps the two numbers by
                // mistake: it takes one bucket and K = 2.
                let buckets = (2..MAX_BUCKETS).find(|&buckets| best(buckets).1 <= p).unwrap_or(MAX_BUCKETS);
                let probes = row(buckets).iter().position(|&rate| rate <= p);
                (buckets, probes.map_or(best(buckets).0, |k| k as u8))
            }
        };
        if buckets > most {
            let bits = u128::from(keys).saturating_mul(buckets.into()).saturating_add(EXCESS.into());
            return Err(Error::FilterSize { keys, limit: MAX_BITS, bits });
        }
        // Rounding up may reach 2^31 itself, which is one word too many.
        let bits = keys.saturating_mul(buckets).saturating_add(EXCESS);
        Ok((bits.next_multiple_of(64).min(MAX_BITS), probes))
    }

    /// Appends a filter for the `count` keys with these hashes.
    fn create(&self, count: usize, hashes: impl Iterator<Item = KeyHash>, dst: &mut Vec<u8>) -> Result<()> {
        let (bits, probes) = self.bits_and_probes(count as u64)?;
        let modulus = Modulus::of_small(bits);
        let len = (bits / 8) as usize;
        if probes == USUAL_PROBES {
            let keys = hashes.map(|hash| positions(hash, modulus, USUAL_PROBES));
            return bit_array::append_keys(dst, len, probes, keys);
        }
        bit_array::append_keys(dst, len, probes, hashes.map(|hash| positions(hash, modulus, probes)))
    }
}

fn row(buckets: u64) -> &'static [f64] {
    PROBABILITIES.get(buckets as usize).copied().unwrap_or_default()
}

/// Returns the K of the smallest probability in a row, at least 1, and that probability.
fn best(buckets: u64) -> (u8, f64) {
    let mut best = (1, 1.0);
    for (k, &rate) in (0..).zip(row(buckets)).skip(1) {
        if rate < best.1 {
            best = (k, rate);
        }
    }
    best
}

fn pair([first, step]: [u32; 2]) -> KeyHash {
    KeyHash::from_pair(first, step)
}

fn hash_key(key: &[u8]) -> KeyHash {
    pair(murmur2_twice(key))
}

fn hash_four(keys: EqualLenKeys<'_, 4>) -> [KeyHash; 4] {
    murmur2_twice_of_four(keys).map(pair)
}

/// Looks up a key by its hash. `modulus` returns the prepared modulus for a number of bits.
#[inline]
fn may_match(hash: KeyHash, filter: &[u8], modulus: impl FnOnce(u64) -> Modulus) -> bool {
    match decode(filter) {
        Some((probes, array)) => {
            let modulus = modulus(bit_array::bits(array));
            if probes == USUAL_PROBES {
                return bit_array::all_set(array, positions(hash, modulus, USUAL_PROBES));
            }
            bit_array::all_set(array, positions(hash, modulus, probes))
        }
        None => !filter.is_empty(),
    }
}

/// Yields the positions of a key's bits. `modulus` is prepared for the number of bits.
///
/// The absolute value of a signed remainder is the remainder of the absolute value.
#[inline]
fn positions(hash: KeyHash, modulus: Modulus, probes: u8) -> impl Iterator<Item = u64> {
    let (mut h, step) = hash.pair();
    (0..probes).map(move |_| {
        let position = modulus.of(h.cast_signed().unsigned_abs()) as u64;
        h = h.wrapping_add(step);
        position
    })
}

/// Splits a filter into K and the array, if both are within the limits of this policy.
fn decode(filter: &[u8]) -> Option<(u8, &[u8])> {
    let (&probes, array) = filter.split_last()?;
    let bits = bit_array::bits(array);
    let is_sound =
        (1..=MAX_PROBES).contains(&probes) && bits > 0 && bits.is_multiple_of(64) && bits <= MAX_BITS;
    is_sound.then_some((probes, array))
}

impl FilterPolicy for CassandraBloomPolicy {
    fn name(&self) -> &str {
        "filterblock.CassandraBloomFilter1"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.create(keys.len(), hashes(keys, hash_key, hash_four), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match(hash_key(key), filter)
    }

    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        let mut last = LastModulus::default();
        in_groups(probes, answers, hash_key, hash_four, |hash, filter| {
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

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        let (bits, _) = self.bits_and_probes(num_keys as u64).ok()?;
        usize::try_from(bits / 8).ok()?.checked_add(1)
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        let shape = bit_array::shape(filter)?;
        Some(if decode(filter).is_some() { shape } else { shape.with_expected_rate(1.0) })
    }
}
