//! An entry with its place.

use std::path::{Path, PathBuf};

use filterblock::Error;

use crate::audit::error_kind::ErrorKind;

/// One version of a key, and where it lies.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// The offset in it of the data block, or of the log's record.
    pub(crate) offset: u64,
    pub(crate) state: State,
    /// The user key, or the stored key of a table whose keys are not internal keys.
    pub(crate) key: &'a [u8],
    /// `None`: the keys are not internal keys.
    pub(crate) version: Option<Version>,
    /// Empty for a deletion.
    pub(crate) value: &'a [u8],
}

/// Sequence number and type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Version {
    pub(crate) sequence: u64,
    pub(crate) kind: u8,
}

impl Version {
    pub(crate) const fn is_deletion(self) -> bool {
        self.kind == 0
    }
}

/// The part that a file has in its database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Live,
    /// Also a log whose writes are all in tables.
    Obsolete,
    Unlisted,
    Unknown,
    /// A log that may hold what is in no table.
    Log,
    /// The file was given by itself.
    Alone,
}

impl State {
    /// The word for it; `None` for a file that was given by itself.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Live => Some("live"),
            Self::Obsolete => Some("obsolete"),
            Self::Unlisted => Some("unlisted"),
            Self::Unknown => Some("unknown"),
            Self::Log => Some("log"),
            Self::Alone => None,
        }
    }
}

/// Something that cannot be shown, and the reason.
#[derive(Debug)]
pub(crate) struct Fault {
    /// `None`: the file that was asked for.
    pub(crate) path: Option<PathBuf>,
    pub(crate) message: String,
    pub(crate) kind: ErrorKind,
}

impl Fault {
    pub(super) const fn damage(message: String) -> Self {
        Self { path: None, message, kind: ErrorKind::Damaged }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let path = error.path().map(Path::to_owned);
        let kind = ErrorKind::of(&error);
        Self { path, message: error.without_path().to_string(), kind }
    }
}

/// A source of entries.
pub(crate) trait Rows {
    /// Moves to the next entry. Returns false at the end. After an error the next call goes on
    /// behind it.
    fn advance(&mut self) -> Result<bool, Fault>;

    /// The current entry.
    fn row(&self) -> Option<Row<'_>>;

    /// Something to say at the end that is no error.
    fn note(&self) -> Option<String> {
        None
    }
}
