//! Compression of blocks, as LevelDB (`table/format.cc`, `table/table_builder.cc`) and other
//! formats use it.

mod compressor;
mod decompress;
#[cfg(feature = "zlib")]
mod deflate;
mod kind;
#[cfg(feature = "lz4")]
mod lz4;
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;

pub(in crate::table) use compressor::Compressor;
pub(in crate::table) use decompress::{Limits, decompress};
pub use kind::{Codec, Compression};
