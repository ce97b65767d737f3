//! The reasons why a rebuild does not come about.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

use filterblock::{Error, escape_path};

/// The reason why a database was not rebuilt. It is as it was before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// What was found or asked for does not allow it.
    Refused(String),
    /// Another program has the database open.
    InUse(String),
    /// The system, or a file that cannot be read.
    Failed(String),
    /// A signal asked the program to stop.
    Interrupted(String),
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A refusal for what was found at `path`.
    pub(super) fn refused(path: &Path, why: impl Display) -> Self {
        Self::Refused(format!("{}: {why}", escape_path(path)))
    }

    /// The system refused `action` at `path`.
    pub(super) fn system(action: &str, path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("{}: {action}: {error}{}", escape_path(path), advice(error.kind())))
    }

    /// An error of the library's about the file at `path`.
    pub(super) fn of(error: Error, path: &Path) -> Self {
        let error = if error.path().is_some() { error } else { error.with_path(path) };
        match error.without_path() {
            _ if error.is_in_use() => Self::InUse(error.to_string()),
            Error::Io { source, .. } => Self::Failed(format!("{error}{}", advice(source.kind()))),
            Error::OutOfMemory { .. } => Self::Failed(error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }

    /// Adds to the message.
    pub(super) fn and(self, more: &str) -> Self {
        let add = |text: String| format!("{text}; {more}");
        match self {
            Self::Refused(text) => Self::Refused(add(text)),
            Self::InUse(text) => Self::InUse(add(text)),
            Self::Failed(text) => Self::Failed(add(text)),
            Self::Interrupted(text) => Self::Interrupted(add(text)),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(text) | Self::InUse(text) | Self::Failed(text) | Self::Interrupted(text) => {
                f.write_str(text)
            }
        }
    }
}

/// What may help, if anything.
const fn advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => "; run this as the user that the database belongs to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or let --batch and --no-undo do with less"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; --to makes a copy elsewhere",
        _ => "",
    }
}

/// Tells whether the system is at fault, and not the file.
pub(super) fn is_system(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { .. } | Error::OutOfMemory { .. })
}
