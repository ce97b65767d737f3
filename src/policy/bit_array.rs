//! The layout that all Bloom filters here share: an array of bits, then one byte, the number of
//! probes.
//!
//! Bit p is bit p % 8 of byte p / 8, counted from the lowest.

use super::FilterShape;
use crate::kernel::{self, MAX_PROBES};
use crate::{Error, Result};

/// Returns the number of bits of an array.
#[inline]
pub(super) fn bits(array: &[u8]) -> u64 {
    (array.len() as u64).saturating_mul(8)
}

/// Counts the bits of an array that are set, in one pass.
pub(super) fn bits_set(array: &[u8]) -> u64 {
    let (words, rest) = array.as_chunks();
    let words = words.iter().map(|&word| u64::from_le_bytes(word).count_ones());
    words.chain(rest.iter().map(|byte| byte.count_ones())).map(u64::from).sum()
}

/// Measures a filter of the common layout, without regard to the values of k that its policy
/// reserves. `None` if the filter is empty.
pub(super) fn shape(filter: &[u8]) -> Option<FilterShape> {
    let (&probes, array) = filter.split_last()?;
    Some(FilterShape::bloom(bits(array), bits_set(array), probes.into()))
}

/// Measures a filter of LevelDB's encoding, in which k above 30 is reserved: such a filter rules out no
/// key, unless its array is empty. `None` if the filter is empty.
pub(super) fn leveldb_shape(filter: &[u8]) -> Option<FilterShape> {
    let shape = shape(filter)?;
    let is_reserved = shape.bits > 0 && shape.probes > MAX_PROBES.into();
    Some(if is_reserved { shape.with_expected_rate(1.0) } else { shape })
}

/// Returns the number of bits of a filter with exactly `bits_per_key` bits for each of `keys` keys.
#[expect(clippy::arithmetic_side_effects, reason = "64 bits times 32 are at most 96")]
pub(super) fn wished_bits(keys: u64, bits_per_key: u32) -> u128 {
    u128::from(keys) * u128::from(bits_per_key)
}

/// The length in bytes up to which an array is first made with a byte for each bit. Setting such a
/// bit needs no read, and the bytes are packed into bits at the end. A larger array would not fit
/// in the fastest cache.
const MAX_SPREAD: usize = 4096;

/// Appends an array of `len` bytes with the bits of `keys`, and `probes`. A key is an iterator over
/// the positions of its bits, which have to be within the array. On an error `dst` is as before.
#[inline]
pub(super) fn append_keys<K>(
    dst: &mut Vec<u8>,
    len: usize,
    probes: u8,
    keys: impl Iterator<Item = K>,
) -> Result<()>
where
    K: Iterator<Item = u64>,
{
    if len > MAX_SPREAD {
        return append(dst, len, probes, |array| {
            keys.for_each(|key| key.for_each(|position| set(array, position)));
        });
    }
    let end = dst.len().saturating_add(len);
    append_area(dst, len.saturating_mul(8), |area| {
        keys.for_each(|key| key.for_each(|position| set_spread(area, position)));
        kernel::pack(area);
    })?;
    dst.truncate(end);
    dst.push(probes);
    Ok(())
}

/// Appends an array of `len` bytes, which are zero before `fill` sets bits, and `probes`. On an
/// error `dst` is as before.
pub(super) fn append(dst: &mut Vec<u8>, len: usize, probes: u8, fill: impl FnOnce(&mut [u8])) -> Result<()> {
    append_area(dst, len, fill)?;
    dst.push(probes);
    Ok(())
}

/// Appends `len` bytes, which are zero before `fill` changes them, and reserves one more.
#[inline]
fn append_area(dst: &mut Vec<u8>, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<()> {
    let needed = len.saturating_add(1);
    dst.try_reserve(needed).map_err(|_| Error::out_of_memory("filter", needed))?;
    let start = dst.len();
    dst.resize(start.saturating_add(len), 0);
    let Some(area) = dst.get_mut(start..) else {
        // An array left without bits would rule out every key, so this is an error.
        debug_assert!(false, "{start} bytes are gone");
        return Err(Error::out_of_memory("filter", needed));
    };
    fill(area);
    Ok(())
}

/// Sets the bit at `position` of an area with a byte for each bit.
#[inline]
fn set_spread(area: &mut [u8], position: u64) {
    debug_assert!(position < area.len() as u64, "bit {position} of {}", area.len());
    if let Some(byte) = area.get_mut(position as usize) {
        *byte = 1;
    }
}

/// Sets the bit at `position`, which has to be within the array.
#[inline]
fn set(array: &mut [u8], position: u64) {
    debug_assert!(position < bits(array), "bit {position} of {} bytes", array.len());
    if let Some(byte) = array.get_mut((position / 8) as usize) {
        *byte |= 1 << (position % 8);
    }
}

/// Returns `true` if all bits at these positions are set.
///
/// Looks at three bits before each branch: most absent keys lack at least one of three bits, so
/// that the branch is seldom mispredicted.
#[inline]
pub(super) fn all_set(array: &[u8], mut positions: impl Iterator<Item = u64>) -> bool {
    loop {
        let Some(first) = positions.next() else { return true };
        let Some(second) = positions.next() else { return is_set(array, first) };
        let Some(third) = positions.next() else { return is_set(array, first) & is_set(array, second) };
        if !(is_set(array, first) & is_set(array, second) & is_set(array, third)) {
            return false;
        }
    }
}

/// Returns `true` if a bit is set. A bit beyond the array counts as set, so that it rules out nothing.
#[inline]
pub(super) fn is_set(array: &[u8], position: u64) -> bool {
    debug_assert!(position < bits(array), "bit {position} of {} bytes", array.len());
    array.get((position / 8) as usize).is_none_or(|byte| byte & (1 << (position % 8)) != 0)
}
