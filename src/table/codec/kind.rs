//! The codecs of LevelDB and other formats, the compression types that stand for them, and the compression
//! that a table is written with.

use std::borrow::Cow;

use crate::{Error, Structure};

/// The compression that the contents of a block turn out to have.
///
/// The compression type stored with a block is a number. LevelDB and other formats disagree on the
/// meaning of numbers above 1, so only the contents reveal the codec. A cursor that has read the block
/// returns its codec: [`BlockCursor::codec`](crate::table::BlockCursor::codec).
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
    /// The length of the contents as fixed32, then an LZ4 block: Basho's LevelDB. Read with feature
    /// `lz4`.
    Lz4,
}

impl Codec {
    /// The name for display: lower case, without spaces.
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

    /// The feature of this library that reads this codec, or `None` if the codec needs no feature.
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Zstd => Some("zstd"),
            Self::Zlib | Self::Deflate => Some("zlib"),
            Self::Lz4 => Some("lz4"),
        }
    }

    /// The possible codecs of a compression type, in the order in which a reader tries them. Empty
    /// if this library knows no codec for the type.
    pub const fn of_type(id: u8) -> &'static [Self] {
        match id {
            0 => &[Self::None],
            1 => &[Self::Snappy],
            // Codecs with the strictest checks come first, so that their data do not pass for
            // another codec's.
            2 => &[Self::Zstd, Self::Zlib, Self::Lz4, Self::Deflate],
            3 => &[Self::Zstd],
            4 => &[Self::Deflate],
            _ => &[],
        }
    }

    /// A meaning that another format gives a compression type, and that this library does not
    /// read. `None` if there is no such meaning.
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

    /// Returns false if the first bytes of `stored` rule this codec out. Always returns true for a
    /// codec whose data may begin with any bytes.
    pub(super) fn magic_matches(self, stored: &[u8]) -> bool {
        match self {
            Self::None | Self::Snappy | Self::Deflate | Self::Lz4 => true,
            Self::Zstd => stored.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
            // Method deflate, a window of up to 32 KiB, no preset dictionary, a correct check of
            // both bytes.
            Self::Zlib => stored.first_chunk().is_some_and(|&header: &[u8; 2]| {
                let [method, flags] = header;
                method & 0x0f == 8
                    && method >> 4 <= 7
                    && flags & 0x20 == 0
                    && u16::from_be_bytes(header).is_multiple_of(31)
            }),
        }
    }

    /// Returns true if the codec's data begin with a magic, which
    /// [`magic_matches`](Self::magic_matches) checks.
    pub(super) const fn has_magic(self) -> bool {
        matches!(self, Self::Zstd | Self::Zlib)
    }

    /// The error for stored bytes that are not this codec's data.
    pub(super) fn not_data(self, offset: u64, found: impl Into<Cow<'static, str>>) -> Error {
        Error::corrupt(Structure::Compressed, offset, self.data(), found)
    }

    /// The name of the codec's data in messages.
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

/// The compression that a table is written with. A block that compression does not make small
/// enough is stored as it is.
///
/// The compression of a stored block is a [`Codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// No compression: type 0.
    None,
    /// Snappy: type 1, LevelDB's default.
    Snappy,
}

impl Compression {
    /// Returns the compression that this type, as stored after a block, stands for in all tables. `None` for all
    /// other types, whose meaning depends on the writer.
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::None),
            1 => Some(Self::Snappy),
            _ => None,
        }
    }

    /// Returns the type to store after a block.
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
        }
    }

    /// The name for display: lower case, without spaces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => Codec::None.name(),
            Self::Snappy => Codec::Snappy.name(),
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
        // The check of both bytes holds in each of these headers, so the error above is the only one.
        for header in [0x789c, 0x081d, 0x7785, 0x881c, 0x78bb_u16] {
            assert!(header.is_multiple_of(31), "{header:x}");
        }
    }

    #[test]
    fn types_have_numbers_and_names() {
        for id in 0..=u8::MAX {
            assert_eq!(Compression::from_id(id).map_or(id, Compression::id), id);
        }
        assert_eq!(Compression::from_id(1).map(Compression::name), Some("snappy"));
        assert_eq!(Compression::from_id(0).map(Compression::name), Some("none"));
        assert_eq!(Compression::from_id(2), None);
    }
}
