//! The library's one error type. Its variants are grouped by cause: the underlying
//! system, the file, a limit, the caller, or the caller's filter policy.

mod parts;

use std::path::{Path, PathBuf};
use std::{borrow::Cow, io};

use bytes::Bytes;

use self::parts::{damage_message, io_message};
use crate::bytes::escape::{escape_path, quote};
pub use parts::{IoAction, OtherFormat, Structure};

/// The result of the library's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, with the numbers that locate and explain it.
///
/// `Display` is complete and takes one line, provided that the text of a source's or policy's own
/// error does. Bytes that come from a file are [escaped](crate::escape()), and names and keys of
/// more than 48 bytes are cut. [`with_path`](Error::with_path) adds the path of the file.
///
/// # In errors of your own
///
/// `?` turns an `Error` into an `io::Error`, from which `io::Error::downcast` gets it back. With `thiserror`,
/// a variant of your own takes an `Error` by `#[from]`. Without `thiserror`, write the `impl`s yourself:
///
/// ```
/// use std::{error, fmt};
///
/// #[derive(Debug)]
/// enum StoreError {
///     Table(filterblock::Error),
///     Closed,
/// }
///
/// impl fmt::Display for StoreError {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         match self {
///             Self::Table(error) => write!(f, "{error}"), // complete, in one line
///             Self::Closed => write!(f, "the store is closed"),
///         }
///     }
/// }
///
/// impl error::Error for StoreError {
///     // Not the error that `Display` has already shown, but its cause.
///     fn source(&self) -> Option<&(dyn error::Error + 'static)> {
///         if let Self::Table(error) = self { error::Error::source(error) } else { None }
///     }
/// }
///
/// impl From<filterblock::Error> for StoreError {
///     fn from(error: filterblock::Error) -> Self {
///         Self::Table(error)
///     }
/// }
///
/// fn base_lg(base_lg: u8) -> Result<(), StoreError> {
///     let policy = filterblock::BloomFilterPolicy::new(10);
///     filterblock::FilterBlockBuilder::with_base_lg(policy, base_lg)?;
///     Ok(())
/// }
/// assert!(base_lg(11).is_ok() && base_lg(64).is_err());
/// assert_eq!(StoreError::Closed.to_string(), "the store is closed");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // --- The underlying system ---
    /// An operation on a file, a folder, a source or a writer failed.
    #[error("{}", io_message(*action, *offset, source))]
    #[non_exhaustive]
    Io {
        /// The operation that failed.
        action: IoAction,
        /// The offset in the file, for operations that have one; otherwise 0.
        offset: u64,
        /// The error of the system, or of the source or writer that the caller supplied, or the
        /// library's own reason, such as "not a regular file".
        source: io::Error,
    },
    /// The bytes needed have not been fetched yet. Nothing is damaged: fetch them and try again.
    ///
    /// A caller's own source may also return this error, inside an [`io::Error`]. This variant can
    /// therefore be constructed outside the library, and will get no further fields.
    #[error("{len} bytes at offset {offset} are needed and have not been fetched")]
    NeedRange {
        /// The start of the missing range in the file.
        offset: u64,
        /// The length of the range, in bytes.
        len: usize,
    },

    /// The database is locked, for example by a program that has it open.
    #[error("the database is in use by {by}")]
    #[non_exhaustive]
    InUse {
        /// The holder of the lock, as far as it is known.
        by: &'static str,
    },

    /// There is too little memory.
    #[error("{what}: expected {bytes} bytes of memory, found less")]
    #[non_exhaustive]
    OutOfMemory {
        /// The purpose of the memory.
        what: &'static str,
        /// The size of the allocation, in bytes.
        bytes: u64,
    },

    // --- The file ---
    /// A file or block violates its format.
    #[error("{}", damage_message(*what, *offset, expected, found))]
    #[non_exhaustive]
    Corrupt {
        /// The malformed structure.
        what: Structure,
        /// The offset of the structure, or of the block that holds it, from the start of the file.
        /// In the errors of a [`FilterBlockReader`](crate::FilterBlockReader), the offset from the
        /// start of the filter block.
        offset: u64,
        /// The format's requirement.
        expected: Cow<'static, str>,
        /// The actual contents.
        found: Cow<'static, str>,
    },
    /// The file may be sound, but it uses a feature that this build cannot read.
    #[error("{what} at offset {offset}: expected {expected}, found {found}, which is not supported")]
    #[non_exhaustive]
    Unsupported {
        /// The structure that uses the feature.
        what: Structure,
        /// The offset in the file of the structure, or of the block that holds or names it.
        offset: u64,
        /// The variants that can be read.
        expected: Cow<'static, str>,
        /// The variant found, and the feature or program that can read it, if there is one.
        found: Cow<'static, str>,
    },

    /// The file is of another format than LevelDB's, or encrypted.
    #[error("{what}: {format}, which is not supported")]
    #[non_exhaustive]
    OtherFormat {
        /// The structure that shows the format.
        what: Structure,
        /// The format.
        format: OtherFormat,
    },

    // --- A limit ---
    /// More memory or work is needed than a limit allows. If the need was known beforehand, nothing
    /// has been allocated for it.
    #[error("{what} at offset {offset}: expected at most {limit} bytes, found {found}")]
    #[non_exhaustive]
    Limit {
        /// The object that is too large.
        what: &'static str,
        /// The offset in the file or block of the object, or of the place at which the limit is
        /// exceeded.
        offset: u64,
        /// The limit, in bytes.
        limit: u64,
        /// The size that would be needed, in bytes, as far as it is known.
        found: u64,
    },

    // --- The caller ---
    /// `start_block` went back to a range whose filter has already been made.
    #[error(
        "block offset {block_offset} after block offset {previous}: expected at least {lowest}, \
         as the filters of all ranges below that are made"
    )]
    #[non_exhaustive]
    BlockOffsetOrder {
        /// The offset given.
        block_offset: u64,
        /// The offset given before `block_offset`.
        previous: u64,
        /// The lowest offset that is still allowed.
        lowest: u64,
    },
    /// Keys were added to a table out of order.
    #[error("key {index}: expected a key after {}, found {}", quote(previous), quote(key))]
    #[non_exhaustive]
    KeyOrder {
        /// The number of keys added before `key`.
        index: u64,
        /// The key added immediately before `key`.
        previous: Bytes,
        /// The key, which does not come after `previous`.
        key: Bytes,
    },
    /// An earlier error left the table incomplete, so writing it cannot continue.
    #[error("table given up after an earlier error: {error}")]
    #[non_exhaustive]
    TableAbandoned {
        /// The text of that earlier error.
        error: String,
    },
    /// The start offsets given to [`Keys::new`](crate::Keys::new) do not describe keys end to
    /// end.
    #[error("start {index} of the keys: expected {lowest} to {highest}, found {found}")]
    #[non_exhaustive]
    KeyStarts {
        /// The number of the start offset, counted from 0.
        index: usize,
        /// The lowest value allowed: the previous start, or 0 for the first start.
        lowest: usize,
        /// The highest value allowed: the number of bytes given with the starts.
        highest: usize,
        /// The value given.
        found: usize,
    },
    /// A key is too short to carry the suffix of an internal key.
    #[error("internal key {index}: expected at least {expected} bytes, found {found}")]
    #[non_exhaustive]
    ShortInternalKey {
        /// The number of the key within the filter or the table being written, counted from 0.
        index: u64,
        /// The length of the suffix, in bytes.
        expected: usize,
        /// The length of the key, in bytes.
        found: usize,
    },
    /// An option or argument has a value that is not allowed.
    #[error("{option}: expected {expected}, found {found}")]
    #[non_exhaustive]
    InvalidOption {
        /// The option's name.
        option: &'static str,
        /// The values allowed.
        expected: Cow<'static, str>,
        /// The value given.
        found: Cow<'static, str>,
    },
    /// A filter cannot be made as requested, because of too many keys or too many bits per key.
    #[error("filter of {keys} keys: expected at most {limit} bits, found {bits}")]
    #[non_exhaustive]
    FilterSize {
        /// The number of keys.
        keys: u64,
        /// The highest number of bits allowed.
        limit: u64,
        /// The number of bits needed.
        bits: u128,
    },

    // --- The caller's filter policy ---
    /// A policy reported an error of its own.
    #[error("filter policy: {0}")]
    Policy(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Hashes were given in place of keys to a policy that does not look keys up by a hash, or along
    /// with a key for which the policy has no hash.
    #[error("filter policy {}: expected one that takes hashes, found one that needs the keys", quote(policy.as_bytes()))]
    #[non_exhaustive]
    HashUnsupported {
        /// The policy's name.
        policy: String,
    },
    /// A policy violated the contract of [`FilterPolicy`](crate::FilterPolicy).
    #[error("filter policy {}: expected {expected}, found {found}", quote(policy.as_bytes()))]
    #[non_exhaustive]
    PolicyContract {
        /// The policy's name.
        policy: String,
        /// The contract's requirement.
        expected: &'static str,
        /// The policy's actual result.
        found: Cow<'static, str>,
    },

    // --- Any of these, with the file ---
    /// One of the errors above, with the file that it is about.
    #[error("{}: {error}", escape_path(path))]
    #[non_exhaustive]
    InFile {
        /// The path of the file.
        path: PathBuf,
        /// The error in that file.
        #[source]
        error: Box<Error>,
    },
}

/// Wraps the error. The kind is that of the wrapped `io::Error` for [`Error::Io`], `ResourceBusy`
/// for [`Error::InUse`], and the kind of the same name for [`Error::OutOfMemory`] and
/// [`Error::Unsupported`], also for [`Error::OtherFormat`]. It is `InvalidData` for [`Error::Corrupt`] and [`Error::Limit`], and
/// `Other` for [`Error::NeedRange`], [`Error::TableAbandoned`], [`Error::Policy`] and
/// [`Error::PolicyContract`]. For all other errors it is `InvalidInput`. A path does not count:
/// the kind is that of the error without it.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.without_path() {
            Error::Io { source, .. } => source.kind(),
            Error::InUse { .. } => io::ErrorKind::ResourceBusy,
            Error::OutOfMemory { .. } => io::ErrorKind::OutOfMemory,
            Error::Corrupt { .. } | Error::Limit { .. } => io::ErrorKind::InvalidData,
            Error::Unsupported { .. } | Error::OtherFormat { .. } => io::ErrorKind::Unsupported,
            Error::NeedRange { .. }
            | Error::Policy { .. }
            | Error::PolicyContract { .. }
            | Error::TableAbandoned { .. }
            | Error::InFile { .. } => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

impl Error {
    /// Wraps an error that the caller's own [`FilterPolicy`](crate::FilterPolicy) reports.
    pub fn policy(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Policy(error.into())
    }

    /// Adds the path of the file that the error is about, unless the error already has a path.
    #[must_use]
    pub fn with_path(self, path: impl AsRef<Path>) -> Self {
        match self {
            Self::InFile { .. } => self,
            error => Self::InFile { path: path.as_ref().to_owned(), error: Box::new(error) },
        }
    }

    /// Returns the path of the file that the error is about, if it is known.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::InFile { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the error itself, without the path of the file.
    pub fn without_path(&self) -> &Error {
        match self {
            Self::InFile { error, .. } => error,
            error => error,
        }
    }

    /// Returns `true` for [`NeedRange`](Self::NeedRange), with or without a path: the caller can
    /// fetch the missing bytes and try again, so carrying on without them would be premature.
    pub fn needs_range(&self) -> bool {
        matches!(self.without_path(), Self::NeedRange { .. })
    }

    /// Returns `true` for [`InUse`](Self::InUse), with or without a path: another process or
    /// another part of this program holds the lock.
    pub fn is_in_use(&self) -> bool {
        matches!(self.without_path(), Self::InUse { .. })
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

    /// The same error without its path, with `note` at its end. An error other than [`Io`](Self::Io) and
    /// [`Corrupt`](Self::Corrupt) becomes a `Corrupt` one about a metaindex, expected to be `wanted`, without the note.
    #[cfg(feature = "table")]
    pub(crate) fn noted(&self, note: &str, wanted: &'static str) -> Self {
        match self.without_path() {
            Self::Io { action, offset, source } => {
                let source = io::Error::new(source.kind(), format!("{source}{note}"));
                Self::Io { action: *action, offset: *offset, source }
            }
            Self::Corrupt { what, offset, expected, found } => {
                Self::corrupt(*what, *offset, expected.clone(), format!("{found}{note}"))
            }
            other => Self::corrupt(Structure::Metaindex, 0, wanted, other.to_string()),
        }
    }

    /// Wraps an [`io::Error`]. If it holds an `Error`, such as [`NeedRange`](Error::NeedRange),
    /// that error is returned unchanged instead.
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
