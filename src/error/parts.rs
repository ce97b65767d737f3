//! The subjects of errors: the operation that failed, the structure that is malformed or not
//! supported, or the format that only looks like LevelDB's.

use std::{fmt, io};

/// The operation that failed with [`Error::Io`](crate::Error::Io).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum IoAction {
    /// Opening a file or folder.
    #[error("opening")]
    Open,
    /// Listing a folder.
    #[error("listing")]
    List,
    /// Looking up the size or other metadata of a file.
    #[error("looking up the size")]
    LookUp,
    /// Asking a source for its length.
    #[error("asking for the length")]
    Length,
    /// Reading a whole file.
    #[error("reading")]
    ReadAll,
    /// Reading a part of a file.
    #[error("reading {len} bytes")]
    #[non_exhaustive]
    Read {
        /// The number of bytes to read.
        len: u64,
    },
    /// Writing to a file or to another writer.
    #[error("writing {len} bytes")]
    #[non_exhaustive]
    Write {
        /// The number of bytes to write.
        len: u64,
    },
    /// Flushing a writer.
    #[error("flushing")]
    Flush,
    /// Creating a file.
    #[error("creating")]
    Create,
    /// Setting the owner, group or mode of a file.
    #[error("setting owner and mode")]
    SetAttributes,
    /// Making sure that a file or folder survives a loss of power.
    #[error("syncing")]
    Sync,
    /// Renaming a file.
    #[error("renaming")]
    Rename,
    /// Removing a file.
    #[error("removing")]
    Remove,
    /// Locking a file.
    #[error("locking")]
    Lock,
}

/// A structure that [`Error::Corrupt`](crate::Error::Corrupt) or
/// [`Error::Unsupported`](crate::Error::Unsupported) is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Structure {
    /// A filter block as a whole: its last five bytes and the offset array.
    #[error("filter block")]
    FilterBlock,
    /// One entry of a filter block's offset array.
    #[error("filter offset")]
    FilterOffset,
    /// One filter.
    #[error("filter")]
    Filter,
    /// A table as a whole.
    #[error("table")]
    Table,
    /// The last 48 bytes of a table.
    #[error("footer")]
    Footer,
    /// A block's offset and size, as the footer, the index and the metaindex hold them.
    #[error("block handle")]
    BlockHandle,
    /// The checksum after a block.
    #[error("block checksum")]
    Checksum,
    /// The compression type after a block.
    #[error("compression type")]
    CompressionType,
    /// The compressed contents of a block.
    #[error("compressed block")]
    Compressed,
    /// A block's restart array.
    #[error("restart array")]
    Restarts,
    /// An entry of a block.
    #[error("block entry")]
    Entry,
    /// The block that lists the data blocks.
    #[error("index")]
    Index,
    /// The block that names the filter block.
    #[error("metaindex")]
    Metaindex,
    /// A user key followed by sequence number and type.
    #[error("internal key")]
    InternalKey,
    /// A record of a log or a MANIFEST, or a fragment of such a record, with its header.
    #[error("log record")]
    LogRecord,
    /// The contents of one record of a MANIFEST.
    #[error("version edit")]
    VersionEdit,
    /// A MANIFEST as a whole: the file that lists a database's live tables.
    #[error("MANIFEST")]
    Manifest,
    /// The file that names the MANIFEST.
    #[error("CURRENT")]
    Current,
}

/// Describes the failed operation, with the offset in the file if it is a read or a write, or says
/// that the file to be opened does not exist.
pub(super) fn io_message(action: IoAction, offset: u64, source: &io::Error) -> String {
    match action {
        IoAction::Open if source.kind() == io::ErrorKind::NotFound => "does not exist".to_owned(),
        IoAction::Read { .. } | IoAction::Write { .. } => format!("{action} at offset {offset}: {source}"),
        _ => format!("{action}: {source}"),
    }
}

/// Says what is wrong with a structure. CURRENT is a line of text, of which an offset says nothing.
pub(super) fn damage_message(what: Structure, offset: u64, expected: &str, found: &str) -> String {
    match what {
        Structure::Current => format!("{what} has {found}; expected {expected}"),
        _ => format!("{what} at offset {offset}: expected {expected}, found {found}"),
    }
}

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
    /// The number of bytes at the start of a file that show whether it is encrypted.
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
