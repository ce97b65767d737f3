//! Austin Appleby's MurmurHash family, as far as filters use it.

mod murmur2;
mod murmur3;
mod murmur64a;

pub(crate) use murmur2::{murmur2_twice, murmur2_twice_of_four};
pub(crate) use murmur3::{murmur3_twice, murmur3_twice_of_two};
pub(crate) use murmur64a::{murmur64a, murmur64a_of_four};

/// Returns at most 8 bytes as an integer, the first one lowest.
///
/// With four bytes or more, this takes two loads. A buffer would cost more: the processor would
/// have to wait for its bytes to be gathered into one load.
#[inline]
fn up_to_8_bytes(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            // The two may overlap. In the overlap they hold the same bytes, so the OR changes
            // nothing.
            let shift = (bytes.len() as u32).wrapping_sub(4).wrapping_mul(8);
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift
        }
        _ => bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    /// Returns the bytes 200, 33, 122, …, of which some are below 0x80 and some are not.
    pub(super) fn bytes(len: u8) -> Vec<u8> {
        (0..len).map(|i| i.wrapping_mul(89).wrapping_add(200)).collect()
    }
}
