//! Probing filters.

use crate::kernel::MAX_PROBES;
use crate::kernel::modulus::Modulus;

/// The greatest number of bytes of an array that are used. Positions are 32-bit hashes modulo the
/// number of bits, so no position is in the bytes after these.
const MAX_LEN: u64 = 1 << 29;

/// A filter's bit array, with the modulus for positions in it.
///
/// The number of bits is eight times the number of bytes. So bit `h % bits` is bit `h & 7` of byte
/// `(h >> 3) % bytes`.
#[derive(Clone, Copy)]
struct Bits<'a> {
    /// The array, at least one byte.
    array: &'a [u8],
    /// The modulus for the number of bytes that are used.
    modulus: Modulus,
}

impl Bits<'_> {
    /// Returns the byte that holds the bit of `h`, rotated so that this bit is the lowest. The
    /// other bits are garbage.
    #[inline(always)]
    fn one(self, h: u32) -> u8 {
        self.array[self.modulus.of(h >> 3)].rotate_right(h)
    }

    /// Returns `true` if the bits of `h` and of the next two probes are set.
    ///
    /// Each bit is set with a probability of about a half. A branch on each would often be
    /// mispredicted, which costs more than reading all three.
    #[inline(always)]
    fn three(self, h: u32, delta: u32) -> bool {
        let [second, third] = [h.wrapping_add(delta), h.wrapping_add(delta.wrapping_mul(2))];
        self.one(h) & self.one(second) & self.one(third) & 1 != 0
    }

    /// Returns `true` if the bits of `h` and of the next `count - 1` probes are set.
    #[inline(always)]
    fn all(self, mut h: u32, delta: u32, count: u8) -> bool {
        for _ in 0..count / 3 {
            if !self.three(h, delta) {
                return false;
            }
            h = h.wrapping_add(delta.wrapping_mul(3));
        }
        (0..u32::from(count % 3)).all(|i| self.one(h.wrapping_add(delta.wrapping_mul(i))) & 1 != 0)
    }
}

// Not inlined: its register spills would otherwise land in the path with AVX2 as well.
#[cfg_attr(all(feature = "simd", target_arch = "x86_64"), inline(never))]
#[cfg_attr(not(all(feature = "simd", target_arch = "x86_64")), inline)]
pub(in crate::kernel) fn matches(h: u32, filter: &[u8]) -> bool {
    matches_inlined(h, filter)
}

#[inline(always)]
pub(in crate::kernel) fn matches_inlined(h: u32, filter: &[u8]) -> bool {
    // Ten bits per key, the usual setting, in an array whose reciprocal is known. This case has code of
    // its own, so that the other cases cost it no registers.
    if let Some((6, array)) = filter.split_last()
        && let Some(modulus) = Modulus::known(array.len())
    {
        return Bits { array, modulus }.all(h, h.rotate_right(17), 6);
    }
    matches_other(h, filter)
}

#[inline(never)]
fn matches_other(h: u32, filter: &[u8]) -> bool {
    has_bits(h, filter, |len| Modulus::of_small(len.min(MAX_LEN)))
}

/// Returns `true` if `filter` may have a key with the hash `h`. `modulus` gives the modulus for the
/// length of an array in bytes.
#[inline(always)]
fn has_bits(h: u32, filter: &[u8], modulus: impl FnOnce(u64) -> Modulus) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if array.is_empty() {
        return false;
    }
    if probes > MAX_PROBES {
        return true;
    }
    if probes == 1
        && let Ok(bits) = u32::try_from(array.len() as u64 * 8)
    {
        // A single division beats all that follows.
        let bit = h % bits;
        return array[(bit / 8) as usize] >> (bit % 8) & 1 != 0;
    }
    let bits = Bits { array, modulus: modulus(array.len() as u64) };
    let delta = h.rotate_right(17);
    match probes {
        // The numbers of probes at ten bits per key, the usual setting, and at five, without
        // counting.
        6 => bits.all(h, delta, 6),
        3 => bits.three(h, delta),
        _ => bits.all(h, delta, probes),
    }
}

/// The modulus for the array probed last. The arrays of one block often have the same length, so
/// one division often serves for several of them.
#[derive(Default)]
pub(in crate::kernel) struct LastModulus(Option<(u64, Modulus)>);

impl LastModulus {
    /// Returns `true` if `filter` may have a key with the hash `h`.
    #[inline(always)]
    pub(in crate::kernel) fn matches(&mut self, h: u32, filter: &[u8]) -> bool {
        has_bits(h, filter, |len| match self.0 {
            Some((last, modulus)) if last == len => modulus,
            _ => {
                let modulus = Modulus::new(len.min(MAX_LEN));
                self.0 = Some((len, modulus));
                modulus
            }
        })
    }
}
