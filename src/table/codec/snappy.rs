//! Snappy, in its raw format: `[length of the contents: varint32][literals and copies]`.

use super::Codec;
use super::decompress::too_long;
use crate::{Error, Result, Structure};

/// The number of bytes that the densest element of Snappy data stands for: a copy with a two-byte
/// offset field.
const DENSEST_LEN: u64 = 64;
/// The number of bytes that this element takes in Snappy data.
const DENSEST_STORED: u64 = 3;

/// Decodes into `contents`, overwriting it. Allocates at most once, after checking that the
/// declared length is within `max_len` and within what the data can hold.
pub(super) fn decode(
    stored: &[u8],
    offset: u64,
    max_len: u64,
    mut contents: Vec<u8>,
    made: &mut u64,
) -> Result<Vec<u8>> {
    let corrupt = |found: String| Codec::Snappy.not_data(offset, found);
    if stored.is_empty() {
        return Err(corrupt("no bytes".to_owned()));
    }
    let len = snap::raw::decompress_len(stored).map_err(|error| corrupt(error.to_string()))?;
    let possible = (stored.len() as u64).saturating_mul(DENSEST_LEN) / DENSEST_STORED;
    if len as u64 > possible {
        return Err(Error::corrupt(
            Structure::Compressed,
            offset,
            format!("at most {possible} bytes from {} bytes of Snappy data", stored.len()),
            format!("a declared length of {len}"),
        ));
    }
    if len as u64 > max_len {
        return Err(too_long(offset, max_len, len as u64));
    }
    // Code that keeps the contents keeps the whole buffer, so a buffer of more than twice their
    // length is not reused.
    if contents.capacity() / 2 > len {
        contents = Vec::new();
    }
    *made = made.saturating_add(len as u64);
    contents.resize(len, 0);
    snap::raw::Decoder::new()
        .decompress(stored, &mut contents)
        .map_err(|error| corrupt(error.to_string()))?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1 << 20;

    fn error(stored: &[u8], max_len: u64) -> String {
        decode(stored, 100, max_len, Vec::new(), &mut 0).unwrap_err().to_string()
    }

    /// One literal byte, then `copies` copies of 64 bytes from 1 byte back, under any declared
    /// length.
    fn snappy(declared: u64, copies: usize) -> Vec<u8> {
        let mut stored = Vec::new();
        crate::bytes::coding::put_varint64(&mut stored, declared);
        stored.extend([0, b'a']);
        for _ in 0..copies {
            stored.extend([0b1111_1110, 1, 0]);
        }
        stored
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn the_densest_snappy_data_is_accepted() {
        for copies in [1, 2, 1000] {
            let len = 1 + 64 * copies;
            for before in [0, len / 2, len, 2 * len] {
                let before = vec![b'x'; before];
                let contents = decode(&snappy(len as u64, copies), 0, len as u64, before, &mut 0).unwrap();
                assert_eq!(contents, vec![b'a'; len]);
            }
        }
    }

    #[test]
    fn lengths_beyond_the_limit_or_the_possible_are_refused_before_allocating() {
        assert_eq!(
            error(&snappy(6401, 100), 6400),
            "decompressed block at offset 100: expected at most 6400 bytes, found 6401"
        );
        assert_eq!(
            error(&snappy(u64::from(u32::MAX), 0), u64::MAX),
            "compressed block at offset 100: expected at most 149 bytes from 7 bytes of Snappy data, \
             found a declared length of 4294967295"
        );
        // Three bytes of Snappy data can hold 64 bytes, never 65. The data here hold one byte, so a
        // declared length of 64 is refused only when they are decompressed.
        assert!(error(&snappy(64, 0), u64::MAX).contains("expected Snappy data, found"));
        assert!(error(&snappy(65, 0), u64::MAX).contains("expected at most 64 bytes from 3 bytes"));
        assert!(error(&snappy(u64::MAX, 0), u64::MAX).starts_with("compressed block at offset 100:"));
    }

    #[test]
    fn damaged_snappy_data_is_refused() {
        assert_eq!(error(b"", LIMIT), "compressed block at offset 100: expected Snappy data, found no bytes");
        let sound = snappy(65, 1);
        for len in 1..sound.len() {
            let error = error(&sound[..len], LIMIT);
            assert!(error.starts_with("compressed block at offset 100: expected "), "{error}");
        }
        assert!(error(&snappy(64, 1), LIMIT).starts_with("compressed block at offset 100:"));
        assert!(error(&snappy(66, 1), LIMIT).starts_with("compressed block at offset 100:"));
    }
}
