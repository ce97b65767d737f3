//! One wrong bit, found by the checksum.
//!
//! A CRC is linear: a wrong bit changes it by a value that depends only on the bit's distance from the end. If the
//! difference between the stored and the computed checksum is run backwards from the end, byte by byte, it becomes a
//! single bit at the byte with the wrong bit.
//!
//! Two wrong bits under one checksum are never corrected: other damage can look like two wrong bits by chance, and
//! after such a false correction the block may even decode.
//!
//! A [`Budget`] limits the work that a file may cause while it is corrected or salvaged.

pub(crate) mod footer;
pub(crate) mod fragments;
pub(crate) mod key_orders;
pub(crate) mod log;
pub(crate) mod patched;
pub(crate) mod table;

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::{Meter, ReadOptions, mask, unmask};

use super::scan::carve::crc::back;

/// A bit that explains a wrong checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WrongBit {
    /// The bit `mask` of byte `at` of the data.
    Data { at: usize, mask: u8 },
    /// The bit `mask` of byte `at` of the checksum. The data are right.
    Checksum { at: usize, mask: u8 },
}

/// The checksum of `data`, as a block stores it.
pub(crate) fn stored_crc(data: &[u8]) -> u32 {
    mask(crc32c::crc32c(data))
}

/// Returns every bit that, if it alone is wrong, explains why `data` do not have the checksum `stored`. The result is
/// empty if `data` have that checksum.
///
/// Other damage to a block of 4 KiB looks like one wrong bit with a probability of 8e-6. So a corrected block still has
/// to be checked.
pub(crate) fn wrong_bits(data: &[u8], stored: u32) -> Vec<WrongBit> {
    let found = crc32c::crc32c(data);
    let mut bits = Vec::new();
    let difference = mask(found) ^ stored;
    if difference == 0 {
        return bits;
    }
    if difference.is_power_of_two() {
        let bit = difference.trailing_zeros();
        bits.push(WrongBit::Checksum { at: (bit / 8) as usize, mask: 1 << (bit % 8) });
    }
    let mut state = found ^ unmask(stored);
    for at in (0..data.len()).rev() {
        state = back(state);
        if state.is_power_of_two()
            && let Ok(mask) = u8::try_from(state)
        {
            bits.push(WrongBit::Data { at, mask });
        }
    }
    bits
}

/// Returns true if `data` could have the checksum `stored` with other bytes in place of the last `len` bytes. There
/// always are such bytes if `len` is at least 4. Damage elsewhere is mistaken for damage to these bytes with a
/// probability of 2^-16 if `len` is 2, and of 2^-8 if it is 3.
pub(crate) fn may_end_otherwise(data: &[u8], len: usize, stored: u32) -> bool {
    let Some(rest) = data.len().checked_sub(len).and_then(|end| data.get(..end)) else { return false };
    if len >= 4 {
        return true;
    }
    let end = !unmask(stored);
    let before = (0..len).fold(end, |state, _| back(state));
    (before ^ !crc32c::crc32c(rest)) >> (8 * len) == 0
}

/// Corrects the one bit of a stored block, trailer included, that alone explains its wrong checksum and whose
/// correction makes `accept` return `Some`. Returns what `accept` returned, the position of the byte, and the mask of
/// the bit in the byte. Returns `None` if there is no such bit, or more than one.
pub(crate) fn corrected<T>(
    stored: &[u8],
    mut accept: impl FnMut(Bytes) -> Option<T>,
) -> Option<(T, usize, u8)> {
    let (data, crc) = stored.split_last_chunk::<4>()?;
    let mut found = wrong_bits(data, u32::from_le_bytes(*crc)).into_iter().filter_map(|bit| {
        let (at, mask) = match bit {
            WrongBit::Data { at, mask } => (at, mask),
            WrongBit::Checksum { at, mask } => (data.len().saturating_add(at), mask),
        };
        let mut right = stored.to_vec();
        *right.get_mut(at)? ^= mask;
        Some((accept(right.into())?, at, mask))
    });
    let first = found.next();
    // Of two possible corrections, neither is certain.
    first.filter(|_| found.next().is_none())
}

/// Counts the bytes of blocks and keys that are decoded from a file, up to a limit.
pub(crate) struct Budget {
    meter: Arc<Meter>,
    /// The number of bytes of all keys looked at so far. Looking at keys takes time, as decoding
    /// does.
    keys: Cell<u64>,
    limit: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { meter: Arc::default(), keys: Cell::new(0), limit }
    }

    /// The options for reading blocks within this budget.
    pub(crate) fn options(&self, options: &ReadOptions) -> ReadOptions {
        options.clone().meter(Arc::clone(&self.meter))
    }

    /// The work of reading blocks so far.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns true if the limit is exceeded.
    pub(crate) fn is_spent(&self) -> bool {
        self.meter.bytes_decoded().saturating_add(self.keys.get()) > self.limit
    }

    /// Counts the bytes of a key that is looked at. Returns `None` if the limit is exceeded.
    pub(crate) fn take(&self, key: &[u8]) -> Option<()> {
        self.keys.set(self.keys.get().saturating_add(key.len() as u64));
        (!self.is_spent()).then_some(())
    }
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
                assert_eq!(wrong_bits(&wrong, stored), [WrongBit::Data { at, mask: 1 << bit }]);
            }
        }
    }

    #[test]
    fn each_bit_of_the_checksum_is_found() {
        let sound = data();
        for bit in 0..32 {
            let expected = WrongBit::Checksum { at: bit / 8, mask: 1 << (bit % 8) };
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
