//! The measures of a filter.

/// The measures of one filter, as returned by
/// [`FilterPolicy::describe`](super::FilterPolicy::describe).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilterShape {
    /// The size of the bit array, in bits.
    pub bits: u64,
    /// The number of bits that are set.
    pub bits_set: u64,
    /// k, the number of bits that have to be set for a key to pass.
    pub probes: u32,
    /// The share of absent keys that pass, 0 to 1, as expected for independent hashes.
    pub expected_rate: f64,
}

impl FilterShape {
    /// Returns the measures of a Bloom filter that probes `probes` of its bits: absent keys pass at
    /// the rate of `(bits_set / bits)^probes`.
    ///
    /// Without bits, no key passes. With bits but without probes, every key does.
    #[must_use]
    pub fn bloom(bits: u64, bits_set: u64, probes: u32) -> Self {
        let exponent = i32::try_from(probes).unwrap_or(i32::MAX);
        let expected_rate = if bits == 0 { 0.0 } else { (bits_set as f64 / bits as f64).powi(exponent) };
        Self { bits, bits_set, probes, expected_rate }
    }

    /// Returns the same measures with another rate, for filters that deny more or fewer keys than
    /// their bits suggest.
    #[must_use]
    pub fn with_expected_rate(self, expected_rate: f64) -> Self {
        Self { expected_rate, ..self }
    }
}
