//! The subjects of errors: the operation that failed, or the structure that is malformed or not
//! supported.

use std::io;

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
