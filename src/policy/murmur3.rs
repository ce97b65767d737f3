//! The Bloom filter of Go's `bloom` libraries, by MurmurHash3 over a power of two of bits, in an encoding of this library.
//!
//! ```text
//! [bit array: 8, 16, 32, … bytes][k: 1 byte]
//! ```
//!
//! The array holds m bits, a power of two of at least 64. With `h[0], h[1]` the MurmurHash3 x64 128 (seed 0) of the key and
//! `h[2], h[3]` that of the key with a byte 0x01 behind it, bit i of k is
//! `h[i % 2] + i * h[2 + (i + 1) / 2 % 2]` modulo m, in 64-bit arithmetic. Bit p is bit p % 8, from the lowest, of byte p / 8.
//!
//! A reader takes k from the filter, so filters of any sizing are read by any policy. Unless the array is a power of two of
//! bytes, at least 8 and within the limit, and k is 1 to 64, a key "may match"; the filter of no bytes matches nothing.

use super::rate::{bits_per_key_for, check_rate};
use super::{FilterPolicy, FilterShape, bit_array};
use crate::hash::murmur3_twice;
use crate::{Error, Keys, Result};

const MIN_BITS: u64 = 64;

/// The largest power of two that a filter block, with its 32-bit offsets, has room for.
const MAX_BITS: u64 = 1 << 34;

/// Other values of the filter's last byte are free for other encodings.
const MAX_PROBES: u8 = 64;

/// A Bloom filter by MurmurHash3, `filterblock.Murmur3BloomFilter1`.
///
/// LevelDB opens tables with such filters and reads them without.
///
/// A filter takes `bits_per_key` bits for each key, rounded up to a power of two of at least 64 bits, and one byte: so up to twice the
/// bits, and fewer false positives accordingly. The bits come from four 64-bit hashes, so large filters and those of many
/// probes lose nothing to the hash. Making one takes a pass over each key and k bits to set, asking it a pass and up
/// to k bits to read. Four words of hash are more than a [`KeyHash`](crate::policy::KeyHash) holds: these filters need the keys.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Murmur3BloomPolicy {
    bits_per_key: u32,
    probes: u8,
}

impl Murmur3BloomPolicy {
    /// Filters of at least `bits_per_key` bits a key, with k = ln 2 * `bits_per_key` probes, rounded to
    /// the nearest, at least 1 and at most 64.
    pub fn new(bits_per_key: u32) -> Self {
        Self { bits_per_key, probes: best_probes(bits_per_key) }
    }

    /// Filters of as few bits a key as let at most the share `p` of absent keys pass, before rounding up to a power of two.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `p` is not a number, not above 0 or not below 1, and if it
    /// is below 2^-64, as the most probes make it.
    pub fn with_false_positive_rate(p: f64) -> Result<Self> {
        bits_per_key_for_rate(p).map(Self::new)
    }

    /// The same with k = `probes`: fewer cost less time, and let more absent keys pass.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `probes` is not 1 to 64.
    pub fn with_probes(self, probes: u8) -> Result<Self> {
        check_probes(probes)?;
        Ok(Self { probes, ..self })
    }

    /// Bits for each key, before rounding up.
    pub const fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// k: how many bits each key sets.
    pub const fn probes(&self) -> u8 {
        self.probes
    }
}

/// k for `bits_per_key` bits a key.
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

/// `bits`, wished for `keys` keys, rounded up to what a filter can have.
pub(super) fn round_up(bits: u128, keys: u64) -> Result<u64> {
    if bits > u128::from(MAX_BITS) {
        return Err(Error::FilterSize { keys, limit: MAX_BITS, bits });
    }
    Ok((bits as u64).next_power_of_two().max(MIN_BITS))
}

/// What a filter's bytes are: k, and the array if they are well-formed.
pub(super) fn decode(filter: &[u8]) -> Option<(u8, &[u8])> {
    let (&probes, array) = filter.split_last()?;
    let bits = bit_array::bits(array);
    let sound = bits.is_power_of_two() && (MIN_BITS..=MAX_BITS).contains(&bits);
    (sound && check_probes(probes).is_ok()).then_some((probes, array))
}

/// Where the bits of `key` are in a filter of `bits` bits, a power of two.
#[inline]
pub(super) fn positions(key: &[u8], bits: u64, probes: u8) -> impl Iterator<Item = u64> {
    let [v1, v2, v3, v4] = murmur3_twice(key);
    (0..u64::from(probes)).map(move |i| {
        let base = if i & 1 == 0 { v1 } else { v2 };
        let step = if i.wrapping_add(1) & 2 == 0 { v3 } else { v4 };
        base.wrapping_add(i.wrapping_mul(step)) & bits.wrapping_sub(1)
    })
}

impl FilterPolicy for Murmur3BloomPolicy {
    fn name(&self) -> &str {
        "filterblock.Murmur3BloomFilter1"
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        let count = keys.len() as u64;
        let bits = round_up(bit_array::wished_bits(count, self.bits_per_key), count)?;
        bit_array::append(dst, (bits / 8) as usize, self.probes, |array| {
            for key in keys.iter() {
                positions(key, bits, self.probes).for_each(|position| bit_array::set(array, position));
            }
        })
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        match decode(filter) {
            Some((probes, array)) => positions(key, bit_array::bits(array), probes)
                .all(|position| bit_array::is_set(array, position)),
            None => !filter.is_empty(),
        }
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
