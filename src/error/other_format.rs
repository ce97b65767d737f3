//! Formats that look like LevelDB's by the names of their files, and are not.

use std::fmt;

/// The format of a database that LevelDB does not read: that of a successor, or an encryption.
///
/// ```
/// use filterblock::OtherFormat;
/// assert_eq!(OtherFormat::of_start(b"\x80\x1d\x30\x01uy}{"), Some(OtherFormat::NetEase));
/// assert_eq!(OtherFormat::of_start(b"MANIFEST-000004\n"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum OtherFormat {
    /// RocksDB.
    RocksDb,
    /// Pebble, which CockroachDB and go-ethereum use.
    Pebble,
    /// A world of NetEase's Minecraft.
    NetEase,
    /// A world of NetEase's Minecraft in an older scheme, whose key is elsewhere.
    NetEaseOlder,
    /// A world from the Minecraft Marketplace.
    Marketplace,
}

impl OtherFormat {
    /// The number of bytes at the start of a file that tell whether it is encrypted.
    pub const START_LEN: usize = 16;

    /// The encryption of a file that begins with these bytes. `start` has at least the first 8 bytes.
    ///
    /// No MANIFEST and no CURRENT of LevelDB's begins so. A table may, by its first key, and a log by its checksum.
    pub fn of_start(start: &[u8]) -> Option<Self> {
        match (start.get(..4)?, start.get(4..8)) {
            (b"\x80\x1d\x30\x01", _) => Some(Self::NetEase),
            (b"\x90\x1d\x30\x01", _) => Some(Self::NetEaseOlder),
            (_, Some(b"\xfc\xb9\xcf\x9b")) => Some(Self::Marketplace),
            _ => None,
        }
    }

    /// The format whose MANIFESTs have fields of this tag. RocksDB and Pebble share some tags, which count as RocksDB's.
    #[cfg(feature = "table")]
    pub(crate) const fn of_tag(tag: u32) -> Option<Self> {
        match tag {
            0..=99 => None,
            104..=199 => Some(Self::Pebble),
            _ => Some(Self::RocksDb),
        }
    }

    /// True if the files are LevelDB's, but encrypted.
    pub const fn is_encrypted(self) -> bool {
        matches!(self, Self::NetEase | Self::NetEaseOlder | Self::Marketplace)
    }
}

impl fmt::Display for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RocksDb => "a RocksDB database",
            Self::Pebble => "a Pebble database (go-ethereum since 2023 uses it)",
            Self::NetEase => "encrypted by Minecraft of NetEase (China)",
            Self::NetEaseOlder => "encrypted by Minecraft of NetEase (China), older scheme",
            Self::Marketplace => "encrypted by the Minecraft Marketplace",
        })
    }
}
