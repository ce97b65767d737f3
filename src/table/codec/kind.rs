//! The codecs that LevelDB and its relatives use, and which compression types stand for which of them.

use std::borrow::Cow;

use crate::{Error, Structure};

/// How a block's contents turned out to be compressed.
///
/// A compression type says it by its number, but from 2 on each relative of LevelDB has given the numbers meanings of its
/// own. What is meant shows in the contents, so only reading a block tells: [`BlockCursor::codec`](crate::table::BlockCursor::codec).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Codec {
    /// Not compressed.
    None,
    /// Snappy, in its raw format.
    Snappy,
    /// One Zstandard frame: LevelDB after 1.23, some builds of Minecraft. Read with feature `zstd`.
    Zstd,
    /// Deflate with zlib's header and checksum: Minecraft Bedrock. Read with feature `zlib`.
    Zlib,
    /// Deflate alone: Minecraft Bedrock since 1.2, and old RocksDB. Read with feature `zlib`.
    Deflate,
    /// The length of the contents as fixed32, then an LZ4 block: Basho's LevelDB. Read with feature `lz4`.
    Lz4,
}

impl Codec {
    /// The name to show: lower case, without spaces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Snappy => "snappy",
            Self::Zstd => "zstd",
            Self::Zlib => "zlib",
            Self::Deflate => "deflate",
            Self::Lz4 => "lz4",
        }
    }

    /// The feature of this library that reads it; `None` if that needs no feature.
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Zstd => Some("zstd"),
            Self::Zlib | Self::Deflate => Some("zlib"),
            Self::Lz4 => Some("lz4"),
        }
    }

    /// What a compression type may stand for, in the order in which a reader tries them; empty if nothing that is known here.
    pub const fn of_type(id: u8) -> &'static [Self] {
        match id {
            0 => &[Self::None],
            1 => &[Self::Snappy],
            // Those with the strictest checks come first: data of one are not taken for another's.
            2 => &[Self::Zstd, Self::Zlib, Self::Lz4, Self::Deflate],
            3 => &[Self::Zstd],
            4 => &[Self::Deflate],
            _ => &[],
        }
    }

    /// What a relative of LevelDB means by a compression type, for types that this library does not read.
    pub const fn foreign_name(id: u8) -> Option<&'static str> {
        match id {
            3 => Some("bzip2 in RocksDB"),
            4 => Some("LZ4 in RocksDB"),
            5 => Some("LZ4HC in RocksDB"),
            6 => Some("XPRESS in RocksDB"),
            7 => Some("Zstandard in RocksDB"),
            8 => Some("MinLZ in Pebble"),
            _ => None,
        }
    }

    /// Whether `stored` begins as data of this codec do. Those that begin with anything are not excluded.
    pub(super) fn magic_matches(self, stored: &[u8]) -> bool {
        match self {
            Self::None | Self::Snappy | Self::Deflate | Self::Lz4 => true,
            Self::Zstd => stored.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
            // Deflate, a window of up to 32 KiB, no dictionary, and a check of both bytes.
            Self::Zlib => stored.first_chunk().is_some_and(|&header: &[u8; 2]| {
                let [method, flags] = header;
                method & 0x0f == 8
                    && method >> 4 <= 7
                    && flags & 0x20 == 0
                    && u16::from_be_bytes(header).is_multiple_of(31)
            }),
        }
    }

    /// Whether data that [may begin](Self::magic_matches) as this codec's begin as nobody else's.
    pub(super) const fn has_magic(self) -> bool {
        matches!(self, Self::Zstd | Self::Zlib)
    }

    /// Stored bytes are not what it makes.
    pub(super) fn not_data(self, offset: u64, found: impl Into<Cow<'static, str>>) -> Error {
        Error::corrupt(Structure::Compressed, offset, self.data(), found)
    }

    /// What its data are called in messages.
    pub(super) const fn data(self) -> &'static str {
        match self {
            Self::None => "uncompressed data",
            Self::Snappy => "Snappy data",
            Self::Zstd => "a Zstandard frame",
            Self::Zlib => "zlib data",
            Self::Deflate => "deflate data",
            Self::Lz4 => "a length and LZ4 data",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_feature_is_named_too() {
        for (codec, name, data) in
            [(Codec::None, "none", "uncompressed data"), (Codec::Snappy, "snappy", "Snappy data")]
        {
            assert_eq!((codec.name(), codec.data(), codec.feature()), (name, data, None));
        }
        for codec in Codec::of_type(2) {
            assert!(
                codec
                    .feature()
                    .is_some_and(|feature| codec.name().starts_with(&feature[..1]) || feature == "zlib")
            );
        }
    }

    #[test]
    fn zlib_begins_with_a_sound_header() {
        for (header, sound) in [
            (b"\x78\x9c", true),
            (b"\x08\x1d", true),
            (b"\x78\x9d", false),
            (b"\x77\x85", false), // another method
            (b"\x88\x1c", false), // a window beyond 32 KiB
            (b"\x78\xbb", false), // a dictionary
        ] {
            assert_eq!(Codec::Zlib.magic_matches(header), sound, "{header:x?}");
            assert!(Codec::Deflate.magic_matches(header));
        }
        assert!(!Codec::Zlib.magic_matches(b"\x78") && Codec::Lz4.magic_matches(b""));
        // All but the one thing wrong holds for each.
        for header in [0x789c, 0x081d, 0x7785, 0x881c, 0x78bb_u16] {
            assert!(header.is_multiple_of(31), "{header:x}");
        }
    }
}
