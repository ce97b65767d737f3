//! The reasons why a path cannot be looked at.

use std::fmt::{self, Display};
use std::fs::FileType;
use std::{io, path::Path};

use filterblock::Error;

use super::format::FoundFormat;
use crate::report::ErrorKind;

/// The reason why a path cannot be looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathError {
    /// The path leads to something other than expected.
    Unexpected {
        /// What was expected.
        expected: String,
        /// What was found instead.
        found: String,
    },
    /// A folder holds something other than a regular file under a table's or a log's name.
    Skipped {
        /// What is there instead.
        found: &'static str,
    },
    /// A message of the system, or another message that does not say what was expected.
    Failed {
        /// The message.
        message: String,
        /// The kind of reason.
        kind: ErrorKind,
    },
    /// A database of another format than LevelDB's, or something encrypted.
    OtherFormat(FoundFormat),
    /// A folder without a database, and the message that says so.
    NoDatabase(String),
}

impl PathError {
    pub(crate) const MISSING: &str = "no such file or folder";
    pub(super) const REGULAR_FILE: &str = "a regular file";
    const LINK: &str = "a symbolic link (links are followed when named)";

    /// The error for something other than what was expected.
    pub fn unexpected(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Unexpected { expected: expected.into(), found: found.into() }
    }

    /// The error for a message that does not say what was expected.
    pub fn failed(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), kind }
    }

    /// The error for a file that was listed and is gone now.
    pub fn vanished() -> Self {
        let message = "vanished: it was there when the folder was listed, and is gone now";
        Self::failed(ErrorKind::Vanished, message)
    }

    /// The error for an [`io::Error`]. `listed`: the name was found in a folder a moment ago.
    pub(crate) fn of_io(error: &io::Error, listed: bool) -> Self {
        if let Some(reason) = error.get_ref().and_then(|reason| reason.downcast_ref::<Self>()) {
            return reason.clone();
        }
        match error.kind() {
            io::ErrorKind::NotFound if listed => Self::vanished(),
            io::ErrorKind::NotFound => Self::failed(ErrorKind::Missing, Self::MISSING),
            _ => Self::failed(ErrorKind::of_io(error), error.to_string()),
        }
    }

    /// The error for an [`Error`] without its path. `listed`: the name was found in a folder a moment ago.
    pub(crate) fn of(error: &Error, listed: bool) -> Self {
        match error.without_path() {
            Error::Io { source, .. } => Self::of_io(source, listed),
            error => Self::failed(ErrorKind::of(error), error.to_string()),
        }
    }

    /// The error for a link that was found in a folder under the name of a table or a log.
    pub(super) const fn skipped_link() -> Self {
        Self::Skipped { found: Self::LINK }
    }

    /// Returns what was expected and what was found. `wanted`: what the caller expected of the path.
    pub fn into_parts(self, wanted: &str) -> (String, String) {
        match self {
            Self::Unexpected { expected, found } => (expected, found),
            Self::Skipped { found } => (Self::REGULAR_FILE.to_owned(), found.to_owned()),
            Self::Failed { message, .. } if message == Self::MISSING => {
                (wanted.to_owned(), "nothing".to_owned())
            }
            Self::Failed { message, .. } | Self::NoDatabase(message) => (wanted.to_owned(), message),
            Self::OtherFormat(found) => (wanted.to_owned(), found.format().to_string()),
        }
    }

    /// The reason in words for people. `None`: the error consists of what was expected and what was found.
    pub(crate) fn in_words(&self) -> Option<String> {
        let (message, kind) = match self {
            Self::Failed { message, kind } => (message, kind),
            Self::OtherFormat(_) | Self::NoDatabase(_) => return Some(self.to_string()),
            Self::Unexpected { .. } | Self::Skipped { .. } => return None,
        };
        Some(match kind {
            ErrorKind::Denied | ErrorKind::Unreadable => {
                let (reason, _) = message.split_once(" (os error ").unwrap_or((message, ""));
                format!("cannot be read: {reason}")
            }
            _ => message.clone(),
        })
    }

    /// The other format, if that is the reason.
    pub const fn other_format(&self) -> Option<&FoundFormat> {
        if let Self::OtherFormat(found) = self { Some(found) } else { None }
    }

    /// The kind of reason.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Failed { kind, .. } => *kind,
            Self::OtherFormat(_) => ErrorKind::Unsupported,
            Self::Unexpected { .. } | Self::Skipped { .. } | Self::NoDatabase(_) => ErrorKind::Unreadable,
        }
    }
}

impl Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Skipped { found } => write!(f, "skipped: expected {}, found {found}", Self::REGULAR_FILE),
            Self::Failed { message, .. } | Self::NoDatabase(message) => f.write_str(message),
            Self::OtherFormat(found) => found.fmt(f),
        }
    }
}

impl std::error::Error for PathError {}

impl From<io::Error> for PathError {
    fn from(error: io::Error) -> Self {
        Self::of_io(&error, false)
    }
}

/// The name of a file type other than that of regular files.
pub(super) fn kind(file_type: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        match file_type {
            _ if file_type.is_fifo() => return "a named pipe",
            _ if file_type.is_socket() => return "a socket",
            _ if file_type.is_block_device() || file_type.is_char_device() => return "a device",
            _ => {}
        }
    }
    match file_type {
        _ if file_type.is_dir() => "a folder",
        _ if file_type.is_symlink() => PathError::LINK,
        _ => "something else",
    }
}

/// Fails for the URL of an object: a path was expected.
pub(super) fn refuse_url(path: &Path) -> Result<(), PathError> {
    let Some(scheme) = scheme(path) else { return Ok(()) };
    let found = format!("a URL ({scheme}:); copy the database to a folder, or mount it");
    Err(PathError::unexpected("a path", found))
}

/// The scheme of a URL. `None` for a path, and for a `file:` URL, which stands for a path.
fn scheme(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    // A single letter is considered a drive of Windows.
    let is_scheme = scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_scheme && scheme.chars().all(is_part) && scheme != "file").then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_refused_where_paths_are_expected() {
        let refused = refuse_url(Path::new("s3://bucket/db")).unwrap_err().to_string();
        assert_eq!(refused, "expected a path, found a URL (s3:); copy the database to a folder, or mount it");
        assert!(refuse_url(Path::new("file:///db")).is_ok());
    }

    #[test]
    fn urls_are_told_from_paths() {
        for (path, expected) in [
            ("s3://bucket/db/", Some("s3")),
            ("hdfs://name/db", Some("hdfs")),
            ("abfss://c@a.dfs.core.windows.net/x.ldb", Some("abfss")),
            ("file:///tmp/x.ldb", None),
            ("file:/tmp/x.ldb", None),
            ("C://x.ldb", None),
            ("./s3://bucket", None),
            ("s3:/bucket", None),
            ("://x", None),
            ("3s://x", None),
            ("db/000005.ldb", None),
        ] {
            assert_eq!(scheme(Path::new(path)), expected, "{path}");
        }
    }
}
