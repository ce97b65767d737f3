//! Compressing blocks for writing.

use super::Compression;

/// Compresses one block after another in the same buffers.
pub(crate) struct Compressor {
    snappy: snap::raw::Encoder,
    output: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new() -> Self {
        Self { snappy: snap::raw::Encoder::new(), output: Vec::new() }
    }

    /// Compresses `contents`. Returns `None` if the block should be stored as it is: with
    /// [`Compression::None`], if compressing saves no more than an eighth, or if the contents are too
    /// long for the codec.
    ///
    /// The buffer holds the compressed bytes and nothing else. The caller may append to it, until
    /// the next call.
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
        (len < contents.len().saturating_sub(contents.len() / 8)).then_some(&mut self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::codec::{Codec, Limits, decompress};
    use bytes::Bytes;

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn contents_are_compressed_only_where_that_saves_an_eighth() {
        let mut compressor = Compressor::new();
        // Words that do not repeat, then zeros. Snappy stores the words as they are, and 64 zeros in
        // 3 bytes.
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

    #[cfg_attr(miri, ignore = "takes minutes")]
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
            let (found, codec) =
                decompress(1, stored, 0, Limits { contents: len as u64, memory: 0 }, &mut Vec::new(), &mut 0)
                    .unwrap();
            assert_eq!((found, codec), (contents.into(), Codec::Snappy));
        }
    }
}
