//! The rate of false positives for a Bloom filter's size, and the size for a rate.

use super::BloomFilterPolicy;
use crate::{Error, Result};

/// Returns the expected false-positive rate of a Bloom filter of `bits` bits and `k` probes, made
/// for `n` keys.
///
/// A probe sets one of m = `bits` bits, each with the same probability, so it leaves a given bit
/// unset with probability 1 - 1/m. All k * n probes of the keys leave it unset with probability
/// (1 - 1/m)^(kn). An absent key matches if each of its k bits happens to be set:
///
/// (1 - (1 - 1/m)^(kn))^k, which is about (1 - e^(-kn/m))^k.
///
/// The rate is lowest for k = ln 2 * m/n, when half of the bits are set. It is then 0.5^k, about
/// 0.6185^(m/n).
///
/// The formula assumes independent probes. Filters that derive all probes from one 32-bit hash, as
/// LevelDB's do, have higher rates, above all those of few keys: at ten bits per key, 1.2 times the
/// rate with 40 keys and 1.05 times with 1,000. `n` counts each distinct key once.
///
/// The result is 1 if `k` is 0, or if there are keys but no bits. Otherwise it is 0 if `n` is 0.
///
/// ```
/// let rate = filterblock::expected_false_positive_rate(10_000, 6, 1000);
/// assert!((rate - 0.0084).abs() < 0.0001);
/// ```
#[must_use]
pub fn expected_false_positive_rate(bits: u64, k: u32, n: u64) -> f64 {
    if k == 0 || (bits == 0 && n > 0) {
        return 1.0;
    }
    if n == 0 {
        return 0.0;
    }
    let unset_by_one = (-1.0 / bits as f64).ln_1p();
    let set = -(unset_by_one * f64::from(k) * n as f64).exp_m1();
    set.powf(f64::from(k))
}

impl BloomFilterPolicy {
    /// Returns a policy for filters of the fewest bits per key with a false-positive rate of at most `p`, by
    /// [`expected_false_positive_rate`] for large filters, with k rounded down as in
    /// [`new`](Self::new).
    ///
    /// Rounding k down costs a little: a rate of 0.0084 takes eleven bits per key, while ten would
    /// suffice with the best k.
    ///
    /// Small filters exceed `p`, since all probes of a key stem from one 32-bit hash. Measured rates of
    /// filters for 0.01 are 1.3 times that with ten keys, the same with 40, and 0.9 times with 200 or
    /// more. For 0.001 the factors are 4.7, 1.9 and 1.0. In a
    /// filter of n keys the rate never falls below n / 2^32, however many bits it has.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] unless `p` is at least 2^-32 and below 1. Even a filter of a single
    /// key does not get below 2^-32.
    ///
    /// ```
    /// use filterblock::BloomFilterPolicy;
    /// assert_eq!(BloomFilterPolicy::with_false_positive_rate(0.01)?.bits_per_key(), 10);
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    pub fn with_false_positive_rate(p: f64) -> Result<Self> {
        check_rate(p, 1.0 / (1_u64 << 32) as f64, "at least 2^-32")?;
        bits_per_key_for(p, |bits_per_key| Self::new(bits_per_key).probes()).map(Self::new)
    }
}

/// Checks that `p` is above 0 and below 1, and not below `least`.
pub(super) fn check_rate(p: f64, least: f64, at_least: &'static str) -> Result<()> {
    let expected = match p {
        _ if !(p > 0.0 && p < 1.0) => "above 0 and below 1",
        _ if p < least => at_least,
        _ => return Ok(()),
    };
    Err(Error::InvalidOption {
        option: "false-positive rate",
        expected: expected.into(),
        found: p.to_string().into(),
    })
}

/// Returns the fewest bits per key with which large filters have an expected false-positive rate of at
/// most `p`. `probes` returns the number of probes for a number of bits per key.
pub(super) fn bits_per_key_for(p: f64, probes: impl Fn(u32) -> u8) -> Result<u32> {
    /// The maximum number of bits per key to try: enough for 2^-64 with 16 probes or more.
    const MOST: u32 = 256;
    let rate = |bits_per_key: u32| {
        let k = f64::from(probes(bits_per_key));
        (-(-k / f64::from(bits_per_key)).exp_m1()).powf(k)
    };
    (1..=MOST).find(|&bits_per_key| rate(bits_per_key) <= p).ok_or_else(|| Error::InvalidOption {
        option: "false-positive rate",
        expected: format!("at least {:e}", rate(MOST)).into(),
        found: p.to_string().into(),
    })
}
