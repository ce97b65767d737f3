//! Compresses blocks as other programs do.

use filterblock::table::Codec;
use miniz_oxide::deflate;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

pub(crate) fn encode(codec: Codec, contents: &[u8]) -> Vec<u8> {
    match codec {
        Codec::None => contents.to_vec(),
        Codec::Snappy => snap::raw::Encoder::new().compress_vec(contents).unwrap(),
        Codec::Zstd => compress_to_vec(contents, CompressionLevel::Fastest),
        Codec::Zlib => deflate::compress_to_vec_zlib(contents, 6),
        Codec::Deflate => deflate::compress_to_vec(contents, 6),
        Codec::Lz4 => lz4_flex::block::compress_prepend_size(contents),
        _ => panic!("{codec:?}"),
    }
}
