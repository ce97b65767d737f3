//! How the contents of blocks are compressed (LevelDB's `table/format.cc`, `table/table_builder.cc`).

use bytes::Bytes;

use crate::{Error, Result, Structure};

/// More than any Snappy data expands by: its densest element makes 64 bytes of three.
const SNAPPY_MAX_EXPANSION: u64 = 22;

/// How a block's contents are compressed. A table's blocks may differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all: type 0.
    None,
    /// Snappy: type 1, LevelDB's default.
    Snappy,
}

impl Compression {
    /// What the type stored behind a block stands for in LevelDB's own tables, or `None` if that is not known here.
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::None),
            1 => Some(Self::Snappy),
            _ => None,
        }
    }

    /// The type stored behind a block.
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
        }
    }

    /// The name to show: lower case, without spaces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Snappy => "snappy",
        }
    }
}

/// Who writes a type that is unknown here, and what it then means.
const fn usual_meaning(id: u8) -> &'static str {
    match id {
        2 => " (Zstandard in newer LevelDB; zlib in Minecraft and RocksDB; LZ4 in Riak)",
        3 => " (Zstandard in Minecraft; bzip2 in RocksDB)",
        4 => " (raw deflate in Minecraft; LZ4 in RocksDB)",
        5 => " (LZ4HC in RocksDB)",
        7 => " (Zstandard in RocksDB)",
        8 => " (MinLZ in Pebble)",
        _ => "",
    }
}

/// The contents of a block whose stored contents, of compression type `id`, are at `offset` in the file.
///
/// Uncompressed contents are returned as they are. Others take one allocation, of at most `max_len` bytes
/// and only if the stored bytes can really hold as much.
pub(crate) fn decompress(id: u8, stored: Bytes, offset: u64, max_len: u64) -> Result<Bytes> {
    match Compression::from_id(id) {
        Some(Compression::None) => Ok(stored),
        Some(Compression::Snappy) => decompress_snappy(&stored, offset, max_len),
        None => Err(Error::Unsupported {
            what: Structure::CompressionType,
            offset: offset.saturating_add(stored.len() as u64),
            expected: "0 (none) or 1 (Snappy)".into(),
            found: format!("{id}{}", usual_meaning(id)).into(),
        }),
    }
}

fn decompress_snappy(stored: &[u8], offset: u64, max_len: u64) -> Result<Bytes> {
    let corrupt = |found: String| Error::corrupt(Structure::Compressed, offset, "Snappy data", found);
    if stored.is_empty() {
        return Err(corrupt("no bytes".to_owned()));
    }
    let len = snap::raw::decompress_len(stored).map_err(|error| corrupt(error.to_string()))?;
    let possible = stored.len() as u64 * SNAPPY_MAX_EXPANSION;
    if len as u64 > possible {
        return Err(Error::corrupt(
            Structure::Compressed,
            offset,
            format!("at most {possible} bytes from {} bytes of Snappy data", stored.len()),
            format!("a declared length of {len}"),
        ));
    }
    if len as u64 > max_len {
        return Err(Error::Limit { what: "decompressed block", offset, limit: max_len, found: len as u64 });
    }
    let mut contents = vec![0; len];
    snap::raw::Decoder::new()
        .decompress(stored, &mut contents)
        .map_err(|error| corrupt(error.to_string()))?;
    Ok(contents.into())
}

/// Compresses block after block, and keeps its buffers for the next.
pub(crate) struct Compressor {
    snappy: snap::raw::Encoder,
    output: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new() -> Self {
        Self { snappy: snap::raw::Encoder::new(), output: Vec::new() }
    }

    /// `contents` compressed, if that saves more than an eighth. Otherwise, and where the codec cannot take as
    /// much, a block is stored as it is.
    ///
    /// The buffer holds the compressed bytes and nothing else; what is appended is gone with the next call.
    pub(crate) fn compress(&mut self, compression: Compression, contents: &[u8]) -> Option<&mut Vec<u8>> {
        let len = match compression {
            Compression::None => return None,
            Compression::Snappy => {
                let max_len = snap::raw::max_compress_len(contents.len());
                self.output.resize(max_len, 0);
                self.snappy.compress(contents, &mut self.output).ok()?
            }
        };
        self.output.truncate(len);
        (len < contents.len() - contents.len() / 8).then_some(&mut self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1 << 20;

    fn error(id: u8, stored: &[u8], max_len: u64) -> String {
        decompress(id, Bytes::copy_from_slice(stored), 100, max_len).unwrap_err().to_string()
    }

    /// `literals` bytes that Snappy stores as they are, then `copies` copies of 64 bytes from 1 byte back.
    fn snappy(declared: u64, copies: usize) -> Vec<u8> {
        let mut stored = Vec::new();
        crate::coding::put_varint64(&mut stored, declared);
        stored.extend([0, b'a']);
        for _ in 0..copies {
            stored.extend([0b1111_1110, 1, 0]);
        }
        stored
    }

    #[test]
    fn types_have_numbers_and_names() {
        for id in 0..=u8::MAX {
            assert_eq!(Compression::from_id(id).map_or(id, Compression::id), id);
        }
        assert_eq!(Compression::from_id(1).map(Compression::name), Some("snappy"));
        assert_eq!(Compression::from_id(2), None);
    }

    #[test]
    fn uncompressed_contents_are_not_copied() {
        let stored = Bytes::from(vec![7; 100]);
        let contents = decompress(0, stored.clone(), 0, 0).unwrap();
        assert_eq!(contents.as_ptr(), stored.as_ptr());
    }

    #[test]
    fn unknown_types_are_named() {
        assert_eq!(
            error(4, b"abc", LIMIT),
            "compression type at offset 103: expected 0 (none) or 1 (Snappy), \
             found 4 (raw deflate in Minecraft; LZ4 in RocksDB), which is not supported"
        );
        assert!(error(255, b"", LIMIT).contains("found 255, which"));
    }

    #[test]
    fn the_densest_snappy_data_is_accepted() {
        for copies in [1, 2, 1000] {
            let len = 1 + 64 * copies;
            let contents = decompress(1, snappy(len as u64, copies).into(), 0, len as u64).unwrap();
            assert_eq!(contents, vec![b'a'; len]);
        }
    }

    #[test]
    fn lengths_beyond_the_limit_or_the_possible_are_refused_before_allocating() {
        assert_eq!(
            error(1, &snappy(6401, 100), 6400),
            "decompressed block at offset 100: expected at most 6400 bytes, found 6401"
        );
        assert_eq!(
            error(1, &snappy(u64::from(u32::MAX), 0), u64::MAX),
            "compressed block at offset 100: expected at most 154 bytes from 7 bytes of Snappy data, \
             found a declared length of 4294967295"
        );
        // Three bytes may hold 66, of which these lack most, but never 67.
        assert!(error(1, &snappy(66, 0), u64::MAX).contains("expected Snappy data, found"));
        assert!(error(1, &snappy(67, 0), u64::MAX).contains("expected at most 66 bytes from 3 bytes"));
        assert!(error(1, &snappy(u64::MAX, 0), u64::MAX).starts_with("compressed block at offset 100:"));
    }

    #[test]
    fn damaged_snappy_data_is_refused() {
        assert_eq!(
            error(1, b"", LIMIT),
            "compressed block at offset 100: expected Snappy data, found no bytes"
        );
        let sound = snappy(65, 1);
        for len in 1..sound.len() {
            let error = error(1, &sound[..len], LIMIT);
            assert!(error.starts_with("compressed block at offset 100: expected "), "{error}");
        }
        assert!(error(1, &snappy(64, 1), LIMIT).starts_with("compressed block at offset 100:"));
        assert!(error(1, &snappy(66, 1), LIMIT).starts_with("compressed block at offset 100:"));
    }

    #[test]
    fn contents_are_compressed_only_where_that_saves_an_eighth() {
        let mut compressor = Compressor::new();
        // Bytes that do not repeat in four, then zeros: Snappy stores the former as they are and the latter at 3 for 64.
        let noise = (0..2000u32).flat_map(|i| (i.wrapping_mul(0x9e37_79b9) ^ i << 3).to_le_bytes());
        let noise = noise.collect::<Vec<_>>();
        let mut kept = [0, 0];
        for zeros in 0..4000 {
            let mut contents = noise.clone();
            contents.resize(contents.len() + zeros, 0);
            let compressed = snap::raw::Encoder::new().compress_vec(&contents).unwrap();
            let saves = compressed.len() < contents.len() - contents.len() / 8;
            kept[usize::from(saves)] += 1;
            let ours = compressor.compress(Compression::Snappy, &contents);
            assert_eq!(ours, saves.then_some(&mut compressed.clone()));
        }
        assert!(kept.iter().all(|&count| count > 1000), "{kept:?}");
        assert_eq!(compressor.compress(Compression::None, &[0; 4000]), None);
        assert_eq!(compressor.compress(Compression::Snappy, b""), None);
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let mut compressor = Compressor::new();
        for len in [9, 4096, 70_000] {
            let contents = b"0123456".iter().copied().cycle().take(len).collect::<Vec<_>>();
            let Some(compressed) = compressor.compress(Compression::Snappy, &contents) else {
                assert_eq!(len, 9);
                continue;
            };
            let stored = Bytes::copy_from_slice(compressed);
            assert_eq!(decompress(1, stored, 0, len as u64).unwrap(), contents);
        }
    }
}
