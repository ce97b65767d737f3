//! One error type, grouped by who is at fault: the system below us, the file,
//! a limit the caller set, the caller, or the caller's filter policy.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::bytes::escape::quote;
use crate::escape_path;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, with the numbers that say where and why.
///
/// `Display` is complete and takes one line; bytes that come from a file are
/// [escaped](crate::escape()), and names and keys of more than 48 bytes are cut.
/// [`with_path`](Error::with_path) adds the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // --- The system below us ---
    /// Reading or writing failed.
    #[error("{action} at offset {offset}: {source}")]
    #[non_exhaustive]
    Io {
        /// What was being done.
        action: IoAction,
        /// Where in the file.
        offset: u64,
        /// What the system, or the source the caller supplied, said.
        source: io::Error,
    },
    /// Not a fault: the bytes asked for have not been fetched yet. Fetch them and try again.
    ///
    /// A source of one's own makes it too, inside an [`io::Error`]. So this variant, unlike the others, can be made
    /// outside the library, and gets no further fields.
    #[error("{len} bytes at offset {offset} are needed and have not been fetched")]
    NeedRange {
        /// Where in the file the missing range starts.
        offset: u64,
        /// How long it is, in bytes.
        len: usize,
    },

    /// Memory could not be had.
    #[error("{what}: expected {bytes} bytes of memory, found less")]
    #[non_exhaustive]
    OutOfMemory {
        /// What it was for.
        what: &'static str,
        /// How much of it.
        bytes: u64,
    },

    // --- The file ---
    /// A file or block holds what its format does not allow.
    #[error("{what} at offset {offset}: expected {expected}, found {found}")]
    Corrupt {
        /// Which structure is malformed.
        what: Structure,
        /// Where it is: from the start of the file, or of the filter block if that is all there is.
        offset: u64,
        /// What the format asks for.
        expected: Cow<'static, str>,
        /// What is there.
        found: Cow<'static, str>,
    },
    /// The file may be sound, but it uses what this build cannot read.
    #[error("{what} at offset {offset}: expected {expected}, found {found}, which is not supported")]
    #[non_exhaustive]
    Unsupported {
        /// Which structure asks for it.
        what: Structure,
        /// Where it is in the file.
        offset: u64,
        /// What can be read.
        expected: Cow<'static, str>,
        /// What is there, and what would read it, if anything.
        found: Cow<'static, str>,
    },

    // --- A limit ---
    /// More memory or work is asked for than a limit allows. Nothing was allocated for it.
    #[error("{what} at offset {offset}: expected at most {limit} bytes, found {found}")]
    #[non_exhaustive]
    Limit {
        /// What is too large.
        what: &'static str,
        /// Where in the file or block.
        offset: u64,
        /// The most that is allowed, in bytes.
        limit: u64,
        /// What would be needed, in bytes.
        found: u64,
    },

    // --- The caller ---
    /// `start_block` went back to a range whose filter is already made.
    #[error(
        "block offset {block_offset} after block offset {previous}: expected at least {lowest}, \
         as the filters of all ranges below that are made"
    )]
    #[non_exhaustive]
    BlockOffsetOrder {
        /// The offset given.
        block_offset: u64,
        /// The offset given before it.
        previous: u64,
        /// The lowest offset still allowed.
        lowest: u64,
    },
    /// Keys were added to a table out of order.
    #[error("key {index}: expected a key after {}, found {}", quote(previous), quote(key))]
    #[non_exhaustive]
    KeyOrder {
        /// How many keys were added before.
        index: u64,
        /// The key added before.
        previous: Bytes,
        /// The key that does not come after it.
        key: Bytes,
    },
    /// A table cannot be written further: an earlier error left it incomplete.
    #[error("table given up after an earlier error: {error}")]
    #[non_exhaustive]
    TableAbandoned {
        /// The error that ended the table, as it was shown.
        error: String,
    },
    /// The start offsets given to [`Keys::new`](crate::Keys::new) do not describe keys lying end to end.
    #[error("start {index} of the keys: expected {lowest} to {highest}, found {found}")]
    #[non_exhaustive]
    KeyStarts {
        /// Which start offset.
        index: usize,
        /// The least it may be: the start before it.
        lowest: usize,
        /// The most it may be: the number of bytes.
        highest: usize,
        /// What it is.
        found: usize,
    },
    /// A key is too short to carry the suffix of an internal key.
    #[error("internal key {index}: expected at least {expected} bytes, found {found}")]
    #[non_exhaustive]
    ShortInternalKey {
        /// Which key, counted within the filter or the table being written.
        index: u64,
        /// How many bytes the suffix takes.
        expected: usize,
        /// How many bytes the key has.
        found: usize,
    },
    /// An option or argument is outside what it may be.
    #[error("{option}: expected {expected}, found {found}")]
    #[non_exhaustive]
    InvalidOption {
        /// The option's name.
        option: &'static str,
        /// What it may be.
        expected: Cow<'static, str>,
        /// What was given.
        found: Cow<'static, str>,
    },
    /// A filter cannot be made as asked: too many keys or too many bits a key.
    #[error("filter of {keys} keys: expected at most {limit} bits, found {bits}")]
    #[non_exhaustive]
    FilterSize {
        /// How many keys it is for.
        keys: u64,
        /// The most bits it may have.
        limit: u64,
        /// How many it would need.
        bits: u128,
    },

    // --- The caller's filter policy ---
    /// A policy reported an error of its own.
    #[error("filter policy: {0}")]
    Policy(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A policy does not look at keys by a hash, so it takes none.
    #[error("filter policy {}: expected one that takes hashes, found one that needs the keys", quote(policy.as_bytes()))]
    #[non_exhaustive]
    HashUnsupported {
        /// The policy's name.
        policy: String,
    },
    /// A policy did not keep to what [`FilterPolicy`](crate::FilterPolicy) asks of it.
    #[error("filter policy {}: expected {expected}, found {found}", quote(policy.as_bytes()))]
    #[non_exhaustive]
    PolicyContract {
        /// The policy's name.
        policy: String,
        /// What it should have done.
        expected: &'static str,
        /// What it did.
        found: Cow<'static, str>,
    },

    // --- Any of these, with the file ---
    /// One of the errors above, and the file it is about.
    #[error("{}: {error}", escape_path(path))]
    #[non_exhaustive]
    InFile {
        /// The file.
        path: PathBuf,
        /// What went wrong there.
        #[source]
        error: Box<Error>,
    },
}

/// What was being done when the system below failed: [`Error::Io`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum IoAction {
    /// Opening a file.
    #[error("opening")]
    Open,
    /// Listing a folder.
    #[error("listing")]
    List,
    /// Looking up the size of a listed file.
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
        /// How many bytes.
        len: u64,
    },
    /// Writing.
    #[error("writing {len} bytes")]
    #[non_exhaustive]
    Write {
        /// How many bytes.
        len: u64,
    },
    /// Flushing a writer.
    #[error("flushing")]
    Flush,
}

/// The structures that [`Error::Corrupt`] and [`Error::Unsupported`] speak of.
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
    /// The 48 bytes at a table's end.
    #[error("footer")]
    Footer,
    /// A block's offset and size, as the footer, the index and the metaindex hold them.
    #[error("block handle")]
    BlockHandle,
    /// The checksum behind a block.
    #[error("block checksum")]
    Checksum,
    /// The compression type behind a block.
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
    /// The block that names the data blocks.
    #[error("index")]
    Index,
    /// The block that names the filter block.
    #[error("metaindex")]
    Metaindex,
    /// A user key with sequence number and type behind it.
    #[error("internal key")]
    InternalKey,
    /// One entry of a log or a MANIFEST: header and contents.
    #[error("log record")]
    LogRecord,
    /// What one record of a MANIFEST says.
    #[error("version edit")]
    VersionEdit,
    /// The file that lists a database's live tables, as a whole.
    #[error("MANIFEST")]
    Manifest,
    /// The file that names the MANIFEST.
    #[error("CURRENT")]
    Current,
}

impl Error {
    /// Wraps an error of a [`FilterPolicy`](crate::FilterPolicy) of the caller's own.
    pub fn policy(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Policy(error.into())
    }

    /// Adds the file this is about. An error that names a file already keeps it.
    #[must_use]
    pub fn with_path(self, path: impl AsRef<Path>) -> Self {
        match self {
            Self::InFile { .. } => self,
            error => Self::InFile { path: path.as_ref().to_owned(), error: Box::new(error) },
        }
    }

    /// The file this is about, if it is known.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::InFile { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The error itself, without the file.
    pub fn without_path(&self) -> &Error {
        match self {
            Self::InFile { error, .. } => error,
            error => error,
        }
    }

    /// Whether the caller can fetch what is missing, so that going on without it would be premature.
    #[cfg(feature = "table")]
    pub(crate) fn needs_range(&self) -> bool {
        matches!(self.without_path(), Self::NeedRange { .. })
    }

    pub(crate) fn out_of_memory(what: &'static str, bytes: usize) -> Self {
        Self::OutOfMemory { what, bytes: bytes as u64 }
    }

    pub(crate) fn corrupt(
        what: Structure,
        offset: u64,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Corrupt { what, offset, expected: expected.into(), found: found.into() }
    }

    /// An `Error` that travelled inside an [`io::Error`], such as
    /// [`NeedRange`](Error::NeedRange), comes out again as itself.
    #[cfg(feature = "table")]
    pub(crate) fn io(action: IoAction, offset: u64, source: io::Error) -> Self {
        match source.downcast::<Error>() {
            Ok(inner) => inner,
            Err(source) => Self::Io { action, offset, source },
        }
    }
}

#[cfg(test)]
mod tests;
