//! Compression of blocks, as LevelDB (`table/format.cc`, `table/table_builder.cc`) and its
//! relatives use it.

mod compression;
mod compressor;
mod decompress;
#[cfg(feature = "zlib")]
mod deflate;
mod kind;
mod limits;
#[cfg(feature = "lz4")]
mod lz4;
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;

pub use compression::Compression;
pub(in crate::table) use compressor::Compressor;
pub(in crate::table) use decompress::decompress;
pub use kind::Codec;
pub(in crate::table) use limits::Limits;
