//! One wrong bit, found by the checksum.
//!
//! A CRC is linear: run backwards from the end, the difference of the checksums becomes a single bit at the wrong byte.
//! Two wrong bits are never corrected: other damage can look like them, and may then even decode.

mod budget;
pub(crate) mod footer;
pub(crate) mod fragments;
pub(crate) mod key_orders;
pub(crate) mod log;
pub(crate) mod patched;
pub(crate) mod storage;
pub(crate) mod table;

use bytes::Bytes;
use filterblock::table::{mask, unmask};

pub(crate) use self::budget::Budget;
use super::scan::carve::crc::back;

pub(crate) fn stored_crc(data: &[u8]) -> u32 {
    mask(crc32c::crc32c(data))
}

/// Every bit that alone explains why `data` do not have the checksum `stored`: the byte's position in data and checksum,
/// and the mask.
///
/// Other damage to a block of 4 KiB looks like one wrong bit with a probability of 8e-6, so the corrected block must be
/// checked.
pub(crate) fn wrong_bits(data: &[u8], stored: u32) -> Vec<(usize, u8)> {
    let found = crc32c::crc32c(data);
    let mut bits = Vec::new();
    let difference = mask(found) ^ stored;
    if difference == 0 {
        return bits;
    }
    if difference.is_power_of_two() {
        let bit = difference.trailing_zeros();
        bits.push((data.len().saturating_add((bit / 8) as usize), 1 << (bit % 8)));
    }
    let mut state = found ^ unmask(stored);
    for at in (0..data.len()).rev() {
        state = back(state);
        if state.is_power_of_two()
            && let Ok(mask) = u8::try_from(state)
        {
            bits.push((at, mask));
        }
    }
    bits
}

/// True if other bytes in place of the last `len` could give the checksum `stored`, as 4 always can. Damage elsewhere
/// is mistaken for damage there with a probability of 2^-16 if `len` is 2, and of 2^-8 if it is 3.
pub(crate) fn may_end_otherwise(data: &[u8], len: usize, stored: u32) -> bool {
    let Some(rest) = data.len().checked_sub(len).and_then(|end| data.get(..end)) else { return false };
    if len >= 4 {
        return true;
    }
    let end = !unmask(stored);
    let before = (0..len).fold(end, |state, _| back(state));
    (before ^ !crc32c::crc32c(rest)) >> (8 * len) == 0
}

/// Corrects the one bit of a stored block, trailer included, that explains its wrong checksum and that `accept`
/// accepts. Returns the accepted, the byte's position and the mask. `None`: there is no such bit, or more than one.
pub(crate) fn corrected<T>(
    stored: &[u8],
    mut accept: impl FnMut(Bytes) -> Option<T>,
) -> Option<(T, usize, u8)> {
    let (data, crc) = stored.split_last_chunk::<4>()?;
    let mut found = wrong_bits(data, u32::from_le_bytes(*crc)).into_iter().filter_map(|(at, mask)| {
        let mut right = stored.to_vec();
        *right.get_mut(at)? ^= mask;
        Some((accept(right.into())?, at, mask))
    });
    let first = found.next();
    // Of two possible corrections, neither is certain.
    first.filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bit may explain other damage, too. A block that is not accepted with that bit corrected stays as it is.
    #[test]
    fn what_is_not_accepted_is_not_corrected() {
        let sound = [data(), stored_crc(&data()).to_le_bytes().to_vec()].concat();
        let mut wrong = sound.clone();
        wrong[700] ^= 2;
        assert_eq!(corrected(&wrong, |right| Some(right == sound)), Some((true, 700, 2)));
        assert_eq!(corrected(&wrong, |_| None::<()>), None);
        assert_eq!(corrected(&sound, Some), None);
    }

    #[test]
    fn the_checksum_tells_whether_more_is_wrong_than_the_last_bytes() {
        let stored = stored_crc(&data());
        for len in 1..6 {
            let mut wrong = data();
            let from = wrong.len() - len;
            wrong[from..].fill(0xa5);
            assert!(may_end_otherwise(&wrong, len, stored), "{len}");
            if len > 1 {
                assert_eq!(may_end_otherwise(&wrong, len - 1, stored), len > 4, "{len}");
            }
            wrong[from - 1] ^= 0x42;
            assert_eq!(may_end_otherwise(&wrong, len, stored), len > 3, "{len}");
        }
        assert!(!may_end_otherwise(&data(), usize::MAX, stored));
    }

    fn data() -> Vec<u8> {
        (0..3000_u32).map(|at| (at.wrapping_mul(at) >> 5) as u8).collect()
    }

    #[test]
    fn each_bit_of_data_is_found() {
        let sound = data();
        let stored = stored_crc(&sound);
        assert_eq!(wrong_bits(&sound, stored), []);
        for at in [0, 1, 77, 1500, 2998, 2999] {
            for bit in 0..8 {
                let mut wrong = sound.clone();
                wrong[at] ^= 1 << bit;
                assert_eq!(wrong_bits(&wrong, stored), [(at, 1 << bit)]);
            }
        }
    }

    #[test]
    fn each_bit_of_the_checksum_is_found() {
        let sound = data();
        for bit in 0..32 {
            let expected = (sound.len() + bit / 8, 1 << (bit % 8));
            assert_eq!(wrong_bits(&sound, stored_crc(&sound) ^ 1 << bit), [expected]);
        }
    }

    #[test]
    fn two_bits_are_not_explained_by_one() {
        let sound = data();
        for (at, other) in [(0, 1), (5, 2000), (2998, 2999)] {
            let mut wrong = sound.clone();
            wrong[at] ^= 4;
            wrong[other] ^= 32;
            assert_eq!(wrong_bits(&wrong, stored_crc(&sound)), []);
        }
        assert_eq!(wrong_bits(&[], 0), []);
    }
}
