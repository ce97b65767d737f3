//! An entry with its place.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use filterblock::Error;

use crate::audit::reading::decode_limit_text;
use crate::report::error_kind::ErrorKind;

/// One version of a key, and where it lies.
#[derive(Debug)]
pub struct Row<'a> {
    /// The file.
    pub path: &'a Path,
    /// The offset in it of the data block, or of the log's record.
    pub offset: u64,
    /// The part that the file has in its database.
    pub state: State,
    /// The user key, or the stored key of a table whose keys are not internal keys.
    pub key: &'a [u8],
    /// `None`: the keys are not internal keys.
    pub version: Option<Version>,
    /// Empty for a deletion.
    pub value: &'a [u8],
}

/// Sequence number and type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// The sequence number.
    pub sequence: u64,
    /// The type: 0 for a deletion, 1 for a value.
    pub kind: u8,
}

impl Version {
    /// Returns true for a deletion.
    pub const fn is_deletion(self) -> bool {
        self.kind == 0
    }

    /// The word for the type.
    pub fn type_name(self) -> Cow<'static, str> {
        match self.kind {
            0 => "deletion".into(),
            1 => "value".into(),
            other => format!("type {other}").into(),
        }
    }
}

/// The part that a file has in its database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A table that the MANIFEST lists.
    Live,
    /// Also a log whose writes are all in tables.
    Obsolete,
    /// A table that is newer than the MANIFEST, or a second one of its number.
    Unlisted,
    /// There is no MANIFEST that can be relied on.
    Unknown,
    /// A log that may hold what is in no table.
    Log,
    /// The file was given by itself.
    Alone,
}

impl State {
    /// The word for it; `None` for a file that was given by itself.
    pub const fn name(self) -> Option<&'static str> {
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// `None`: the file that was asked for.
    pub path: Option<PathBuf>,
    /// The whole reason, without the file.
    pub message: String,
    /// The kind of reason.
    pub kind: ErrorKind,
    /// The offset in the file.
    pub offset: Option<u64>,
    /// What should be there.
    pub expected: Option<String>,
    /// What is there.
    pub found: Option<String>,
}

impl Fault {
    /// A fault of which no more is known than its message.
    pub const fn new(message: String, kind: ErrorKind) -> Self {
        Self { path: None, message, kind, offset: None, expected: None, found: None }
    }

    /// Damage to `what`, which names the offset, too.
    pub(super) fn damage(what: &str, offset: u64, expected: String, found: String) -> Self {
        Self::at(ErrorKind::Damaged, what, offset, expected, found)
    }

    /// What lies behind `offset` takes more to decode than `limit` bytes.
    pub(super) fn over_limit(offset: u64, limit: u64) -> Self {
        let what = format!("limit at offset {offset}");
        Self::at(ErrorKind::Unsupported, &what, offset, decode_limit_text(limit), "more".to_owned())
    }

    fn at(kind: ErrorKind, what: &str, offset: u64, expected: String, found: String) -> Self {
        let message = format!("{what}: expected {expected}, found {found}");
        let (offset, expected, found) = (Some(offset), Some(expected), Some(found));
        Self { offset, expected, found, ..Self::new(message, kind) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let (bare, path) = (error.without_path(), error.path().map(Path::to_owned));
        if let Error::Limit { what: "output of one cursor", offset, limit, .. } = bare {
            return Self { path, ..Self::over_limit(*offset, *limit) };
        }
        let (offset, expected, found) = match bare {
            Error::Io { offset, source, .. } => (Some(*offset), None, Some(source.to_string())),
            Error::Corrupt { offset, expected, found, .. }
            | Error::Unsupported { offset, expected, found, .. } => {
                (Some(*offset), Some(expected.to_string()), Some(found.to_string()))
            }
            Error::Limit { offset, limit, found, .. } => {
                (Some(*offset), Some(format!("at most {limit} bytes")), Some(found.to_string()))
            }
            Error::InvalidOption { expected, found, .. } => {
                (None, Some(expected.to_string()), Some(found.to_string()))
            }
            _ => (None, None, None),
        };
        Self { path, offset, expected, found, ..Self::new(bare.to_string(), ErrorKind::of(error)) }
    }
}

/// A source of entries.
pub trait Rows {
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
