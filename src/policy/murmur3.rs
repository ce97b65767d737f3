//! The Bloom filter of Go's `bloom` libraries, in an encoding of this library.

use super::groups::{hashes, in_groups};
use super::rate::{bits_per_key_for, check_rate};
use super::{FilterPolicy, FilterShape, bit_array};
use crate::hash::{murmur3_twice, murmur3_twice_of_two};
use crate::{Error, Keys, Result};

const MIN_BITS: u64 = 64;

/// The largest power of two that fits into a filter block with its 32-bit offsets.
const MAX_BITS: u64 = 1 << 34;

/// The k for ten bits per key, the usual setting. It has loops of its own, since loops of a known
/// length are faster.
const USUAL_PROBES: u8 = 7;

/// The largest k. Other values of the filter's last byte are free for other encodings.
const MAX_PROBES: u8 = 64;

/// The Bloom filter of Go's `bloom` libraries, `filterblock.Murmur3BloomFilter1`: it hashes keys
/// with MurmurHash3, and its number of bits is a power of two.
///
/// The encoding is this library's own. LevelDB opens tables with such filters, and ignores the
/// filters.
///
/// A filter for n keys takes n * `bits_per_key` bits, rounded up to a power of two of at least 64,
/// and one byte. A filter of more than 64 bits thus takes up to twice that. The
/// additional bits lower the false-positive rate. The positions come from four 64-bit hashes,
/// so large filters, and those with many probes, lose no accuracy to the hash. Making a filter
/// takes a pass over each key, and sets k bits for it. A lookup takes a pass over the key, and
/// reads up to k bits. The four hashes are more than a [`KeyHash`](crate::policy::KeyHash) holds,
/// so these filters need the keys.
///
/// [`AtomicBloomFilter`](crate::policy::AtomicBloomFilter) is the same filter in memory.
///
/// ```
/// use filterblock::{FilterPolicy, KeyBuf, Murmur3BloomPolicy};
/// let policy = Murmur3BloomPolicy::new(10);
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
/// The filter has the [common layout](crate::policy#encoding), with an array of m bits, a power of
/// two of at least 64. `h[0]` and `h[1]` are the two words of the key's MurmurHash3 x64 128, with
/// seed 0. `h[2]` and `h[3]` are those of the same hash of the key followed by a byte 0x01. Bit i of
/// a key's k bits, counted from 0, is `h[i % 2] + i * h[2 + (i + 1) / 2 % 2]` modulo m, in 64-bit
/// arithmetic.
///
/// A reader takes k from the filter, so any `Murmur3BloomPolicy` reads filters of any sizing. Every
/// key may match if the length of the array is not a power of two of at least 8 and at most 2^31
/// bytes, or if k is not 1 to 64. An empty filter matches no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Murmur3BloomPolicy {
    bits_per_key: u32,
    probes: u8,
}

impl Murmur3BloomPolicy {
    /// Returns a policy for filters of at least `bits_per_key` bits per key. k is ln 2 *
    /// `bits_per_key`, rounded to the nearest integer, at least 1 and at most 64.
    pub fn new(bits_per_key: u32) -> Self {
        Self { bits_per_key, probes: best_probes(bits_per_key) }
    }

    /// Returns a policy for filters of the fewest bits per key with an expected false-positive rate of at
    /// most `p`. Rounding a filter's bits up to a power of two can lower its rate further.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] unless `p` is at least 2^-64, the rate with the most probes, and
    /// below 1.
    pub fn with_false_positive_rate(p: f64) -> Result<Self> {
        bits_per_key_for_rate(p).map(Self::new)
    }

    /// Returns the same policy with k = `probes`. Fewer probes than the best number take less time,
    /// at a higher false-positive rate.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `probes` is not 1 to 64.
    pub fn with_probes(self, probes: u8) -> Result<Self> {
        check_probes(probes)?;
        Ok(Self { probes, ..self })
    }

    /// Returns the number of bits for each key, before rounding up.
    pub const fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// Returns k, the number of bits that each key sets.
    pub const fn probes(&self) -> u8 {
        self.probes
    }
}

/// Returns the best k for `bits_per_key` bits per key.
pub(super) fn best_probes(bits_per_key: u32) -> u8 {
    let probes = (f64::from(bits_per_key) * std::f64::consts::LN_2).round();
    probes.clamp(1.0, f64::from(MAX_PROBES)) as u8
}

pub(super) fn bits_per_key_for_rate(p: f64) -> Result<u32> {
    check_rate(p, 1.0 / (1_u128 << 64) as f64, "at least 2^-64")?;
    bits_per_key_for(p, best_probes)
}

pub(super) fn check_probes(probes: u8) -> Result<()> {
    if (1..=MAX_PROBES).contains(&probes) {
        return Ok(());
    }
    Err(Error::InvalidOption {
        option: "probes",
        expected: format!("1 to {MAX_PROBES}").into(),
        found: probes.to_string().into(),
    })
}

/// Rounds `bits`, the number of bits wanted for `keys` keys, up to a size that a filter can have.
pub(super) fn round_up(bits: u128, keys: u64) -> Result<u64> {
    if bits > u128::from(MAX_BITS) {
        return Err(Error::FilterSize { keys, limit: MAX_BITS, bits });
    }
    Ok((bits as u64).next_power_of_two().max(MIN_BITS))
}

/// Splits a filter into k and the array, if both are well-formed.
pub(super) fn decode(filter: &[u8]) -> Option<(u8, &[u8])> {
    let (&probes, array) = filter.split_last()?;
    let bits = bit_array::bits(array);
    let sound = bits.is_power_of_two() && (MIN_BITS..=MAX_BITS).contains(&bits);
    (sound && check_probes(probes).is_ok()).then_some((probes, array))
}

/// Yields the positions of the bits of `key` in a filter of `bits` bits, a power of two.
#[inline]
pub(super) fn positions(key: &[u8], bits: u64, probes: u8) -> impl Iterator<Item = u64> {
    positions_of(murmur3_twice(key), bits, probes)
}

/// Yields the positions of the bits of a key with these four hashes.
#[inline]
fn positions_of([v1, v2, v3, v4]: [u64; 4], bits: u64, probes: u8) -> impl Iterator<Item = u64> {
    (0..u64::from(probes)).map(move |i| {
        let base = if i & 1 == 0 { v1 } else { v2 };
        let step = if i.wrapping_add(1) & 2 == 0 { v3 } else { v4 };
        base.wrapping_add(i.wrapping_mul(step)) & bits.wrapping_sub(1)
    })
}

/// Looks up a key by its four hashes.
#[inline]
fn may_match(hashes: [u64; 4], filter: &[u8]) -> bool {
    match decode(filter) {
        Some((probes, array)) => positions_of(hashes, bit_array::bits(array), probes)
            .all(|position| bit_array::is_set(array, position)),
        None => !filter.is_empty(),
    }
}

/// Like [`may_match`], but for lookups of many keys, where more code does no harm.
#[inline]
fn one_of_many_may_match(hashes: [u64; 4], filter: &[u8]) -> bool {
    match decode(filter) {
        Some((USUAL_PROBES, array)) => {
            bit_array::all_set(array, positions_of(hashes, bit_array::bits(array), USUAL_PROBES))
        }
        _ => may_match(hashes, filter),
    }
}

impl FilterPolicy for Murmur3BloomPolicy {
    fn name(&self) -> &str {
        "filterblock.Murmur3BloomFilter1"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        let count = keys.len() as u64;
        let bits = round_up(bit_array::wished_bits(count, self.bits_per_key), count)?;
        let (len, probes) = ((bits / 8) as usize, self.probes);
        let hashes = hashes(keys, murmur3_twice, murmur3_twice_of_two);
        if probes == USUAL_PROBES {
            let keys = hashes.map(|hash| positions_of(hash, bits, USUAL_PROBES));
            return bit_array::append_keys(dst, len, probes, keys);
        }
        bit_array::append_keys(dst, len, probes, hashes.map(|hash| positions_of(hash, bits, probes)))
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        may_match(murmur3_twice(key), filter)
    }

    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        in_groups(probes, answers, murmur3_twice, murmur3_twice_of_two, one_of_many_may_match);
    }

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        let bits =
            round_up(bit_array::wished_bits(num_keys as u64, self.bits_per_key), num_keys as u64).ok()?;
        usize::try_from(bits / 8).ok()?.checked_add(1)
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        let shape = bit_array::shape(filter)?;
        Some(if decode(filter).is_some() { shape } else { shape.with_expected_rate(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two_up_to_the_largest() {
        for (bits, rounded) in [(0, 64), (64, 64), (65, 128), (1 << 34, MAX_BITS), ((1 << 34) - 1, MAX_BITS)]
        {
            assert_eq!(round_up(bits, 1).unwrap(), rounded);
        }
        assert!(round_up((1 << 34) + 1, 1).is_err());
    }
}
