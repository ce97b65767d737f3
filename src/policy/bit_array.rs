//! The frame that all Bloom filters here share: an array of bits, then one byte, the number of probes.
//!
//! Bit p is bit p % 8, from the lowest, of byte p / 8.

use super::FilterShape;
use crate::kernel::MAX_PROBES;
use crate::{Error, Result};

/// How many bits an array has.
#[inline]
pub(super) fn bits(array: &[u8]) -> u64 {
    (array.len() as u64).saturating_mul(8)
}

/// How many bits of an array are set. One pass.
pub(super) fn bits_set(array: &[u8]) -> u64 {
    let (words, rest) = array.as_chunks();
    let words = words.iter().map(|&word| u64::from_le_bytes(word).count_ones());
    words.chain(rest.iter().map(|byte| byte.count_ones())).map(u64::from).sum()
}

/// Measures a filter of the common frame, whatever its policy makes of it: bits, then k.
pub(super) fn shape(filter: &[u8]) -> Option<FilterShape> {
    let (&probes, array) = filter.split_last()?;
    Some(FilterShape::bloom(bits(array), bits_set(array), probes.into()))
}

/// Measures a filter of LevelDB's encoding: greater k than 30 is reserved and denies nothing.
pub(super) fn leveldb_shape(filter: &[u8]) -> Option<FilterShape> {
    let shape = shape(filter)?;
    let is_reserved = shape.bits > 0 && shape.probes > MAX_PROBES.into();
    Some(if is_reserved { shape.with_expected_rate(1.0) } else { shape })
}

/// How many bits a filter would have with exactly `bits_per_key` for each of `keys` keys.
#[expect(clippy::arithmetic_side_effects, reason = "64 bits times 32 are at most 96")]
pub(super) fn wished_bits(keys: u64, bits_per_key: u32) -> u128 {
    u128::from(keys) * u128::from(bits_per_key)
}

/// Appends an array of `len` bytes, which `fill` sees as zeros, and `probes`. On an error `dst` is as before.
pub(super) fn append(dst: &mut Vec<u8>, len: usize, probes: u8, fill: impl FnOnce(&mut [u8])) -> Result<()> {
    let needed = len.saturating_add(1);
    dst.try_reserve(needed).map_err(|_| Error::out_of_memory("filter", needed))?;
    let start = dst.len();
    dst.resize(start.saturating_add(len), 0);
    let Some(array) = dst.get_mut(start..) else {
        // An array that nobody fills would deny every key.
        debug_assert!(false, "{start} bytes are gone");
        return Err(Error::out_of_memory("filter", needed));
    };
    fill(array);
    dst.push(probes);
    Ok(())
}

/// Sets a bit within the array.
#[inline]
pub(super) fn set(array: &mut [u8], position: u64) {
    debug_assert!(position < bits(array), "bit {position} of {} bytes", array.len());
    if let Some(byte) = array.get_mut((position / 8) as usize) {
        *byte |= 1 << (position % 8);
    }
}

/// Whether a bit is set. Bits beyond the array are, so that they deny nothing.
#[inline]
pub(super) fn is_set(array: &[u8], position: u64) -> bool {
    debug_assert!(position < bits(array), "bit {position} of {} bytes", array.len());
    array.get((position / 8) as usize).is_none_or(|byte| byte & (1 << (position % 8)) != 0)
}
