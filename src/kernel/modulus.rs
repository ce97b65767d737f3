//! Remainders by one divisor without a division for each.

/// `n % divisor` for any 32-bit `n`: the fractional part of `n / divisor`, times `divisor`.
///
/// Exact for divisors up to 2^32: the fraction has 64 bits, which tell apart what 32 of `n` and 32 of the divisor can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modulus {
    divisor: u64,
    reciprocal: u64,
}

/// Reciprocals of small divisors, as a division takes longer than all that is done with its quotient.
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
    /// By `divisor`, 1 to 2^32. Costs a division.
    #[inline(always)]
    pub(crate) const fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: reciprocal(divisor) }
    }

    /// The same for a divisor that is used a few times only. Costs a division from 512 on.
    #[inline(always)]
    pub(crate) fn of_small(divisor: u64) -> Self {
        let known = usize::try_from(divisor).ok().and_then(|divisor| RECIPROCALS.get(divisor));
        Self { divisor, reciprocal: known.copied().unwrap_or_else(|| reciprocal(divisor)) }
    }

    /// Below the divisor.
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
}
