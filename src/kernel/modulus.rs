//! Remainders by one divisor, without a division for each.

/// Computes `n % divisor` for any 32-bit `n`, as the fractional part of `n / divisor`, times
/// `divisor`.
///
/// The result is exact for divisors up to 2^32: the fraction has 64 bits, enough to distinguish all
/// quotients of a 32-bit `n` and such a divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modulus {
    divisor: u64,
    reciprocal: u64,
}

/// The reciprocals of small divisors. A division would take longer than everything done with its
/// quotient.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static RECIPROCALS: [u64; 512] = {
    let mut reciprocals = [0; 512];
    let mut divisor = 1;
    while divisor < reciprocals.len() {
        reciprocals[divisor] = reciprocal(divisor as u64);
        divisor += 1;
    }
    reciprocals
};

#[expect(clippy::arithmetic_side_effects, reason = "no divisor is 0")]
#[inline(always)]
const fn reciprocal(divisor: u64) -> u64 {
    (u64::MAX / divisor).wrapping_add(1)
}

impl Modulus {
    /// Prepares the modulus for `divisor`, 1 to 2^32. This costs a division.
    #[inline(always)]
    pub(crate) const fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: reciprocal(divisor) }
    }

    /// Returns the modulus for `divisor` if it is 1 to 511, for which there is a table.
    #[inline(always)]
    pub(crate) fn known(divisor: usize) -> Option<Self> {
        let reciprocal = *RECIPROCALS.get(divisor)?;
        (divisor != 0).then_some(Self { divisor: divisor as u64, reciprocal })
    }

    /// Like [`new`](Self::new), but for a divisor that is used only a few times. This costs a division only for
    /// divisors of 512 or more.
    #[inline(always)]
    pub(crate) fn of_small(divisor: u64) -> Self {
        let known = usize::try_from(divisor).ok().and_then(|divisor| RECIPROCALS.get(divisor));
        Self { divisor, reciprocal: known.copied().unwrap_or_else(|| reciprocal(divisor)) }
    }

    /// Returns the divisor.
    #[inline(always)]
    pub(crate) const fn divisor(self) -> u64 {
        self.divisor
    }

    /// Returns `n` modulo the divisor, which is at most 2^26, for `n` below 2^38.
    ///
    /// The reciprocal exceeds 2^64 / divisor by less than 1, so the computed fraction exceeds the exact one
    /// by less than 2^38. That is no more than 2^64 / divisor, the distance between the fractions of two
    /// successive remainders.
    #[expect(clippy::arithmetic_side_effects, reason = "64 bits times 26 are at most 90")]
    #[inline(always)]
    pub(crate) const fn of_wide(self, n: u64) -> u64 {
        debug_assert!(self.divisor <= Self::MAX_WIDE && n < 1 << 38, "within the limits");
        let fraction = self.reciprocal.wrapping_mul(n);
        ((fraction as u128 * self.divisor as u128) >> 64) as u64
    }

    /// The largest divisor of [`of_wide`](Self::of_wide).
    pub(crate) const MAX_WIDE: u64 = 1 << 26;

    /// Returns `n` modulo the divisor.
    #[expect(clippy::arithmetic_side_effects, reason = "64 bits times 33 are at most 97")]
    #[inline(always)]
    pub(crate) const fn of(self, n: u32) -> usize {
        let fraction = self.reciprocal.wrapping_mul(n as u64);
        ((fraction as u128 * self.divisor as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn is_the_remainder() {
        let powers = (11..=32).flat_map(|lg| [(1 << lg) - 1, 1 << lg, (1 << lg) + 1]);
        for divisor in (1..3000).chain(powers).filter(|divisor| *divisor <= 1 << 32) {
            let modulus = Modulus::new(divisor);
            assert_eq!(modulus, Modulus::of_small(divisor));
            let last = (1 << 32) / divisor * divisor;
            let multiples =
                (0..50).map(|i| i * divisor).chain((0..50).map(|i| last.wrapping_sub(i * divisor)));
            let around = multiples.flat_map(|multiple| [multiple.wrapping_sub(1), multiple, multiple + 1]);
            for n in around.chain((0..=32).map(|lg| (1 << lg) - 1)) {
                let n = n as u32;
                assert_eq!(modulus.of(n) as u64, u64::from(n) % divisor, "{n} % {divisor}");
            }
        }
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn is_the_remainder_of_wide_numbers() {
        let powers = (10..=26).flat_map(|lg| [(1 << lg) - 1, 1 << lg, (1 << lg) + 1]);
        for divisor in (1..3000).chain(powers).filter(|&divisor| divisor <= Modulus::MAX_WIDE) {
            let modulus = Modulus::new(divisor);
            let last = (1 << 38) / divisor * divisor;
            let multiples = (0..50).flat_map(|i| [i * divisor, last.saturating_sub(i * divisor)]);
            let around = multiples.flat_map(|multiple| [multiple.saturating_sub(1), multiple, multiple + 1]);
            for n in around.chain((0..=38).map(|lg| (1 << lg) - 1)).filter(|&n| n < 1 << 38) {
                assert_eq!(modulus.of_wide(n), n % divisor, "{n} % {divisor}");
            }
        }
    }
}
