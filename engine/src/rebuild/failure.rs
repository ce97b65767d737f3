//! The reasons why a rebuild does not come about.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

use filterblock::{Error, escape_path};

use crate::report::error_kind::ErrorKind;

/// The reason why a database was not rebuilt. It is as it was before.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// What was found or asked for does not allow it.
    Refused(Fault),
    /// Another program has the database open.
    InUse(String),
    /// The system, or a file that cannot be read.
    Failed(Fault),
    /// A signal asked the program to stop.
    Interrupted(String),
}

/// What is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub text: String,
    /// The kind of fault in the files; `None`: there is none, only other options are needed.
    pub kind: Option<ErrorKind>,
}

/// What does not allow it, where only errors of the system can be returned: the payload of an [`io::Error`].
#[derive(Debug)]
pub(super) struct Refusal(pub(super) String);

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A refusal for what was found at `path`.
    pub(super) fn refused(path: &Path, why: impl Display) -> Self {
        Self::Refused(Fault { text: format!("{}: {why}", escape_path(path)), kind: None })
    }

    /// The system refused `action` at `path`; or this program did, if the error is a [`Refusal`].
    pub(super) fn system(action: &str, path: &Path, error: &io::Error) -> Self {
        if let Some(Refusal(why)) = error.get_ref().and_then(|error| error.downcast_ref()) {
            return Self::refused(path, why);
        }
        let text = format!("{}: {action}: {error}{}", escape_path(path), advice(error.kind()));
        Self::Failed(Fault { text, kind: Some(ErrorKind::of_io(error)) })
    }

    /// An error of the library's about the file at `path`.
    pub(super) fn of(error: Error, path: &Path) -> Self {
        let error = if error.path().is_some() { error } else { error.with_path(path) };
        let fault = |advice| Fault { text: format!("{error}{advice}"), kind: Some(ErrorKind::of(&error)) };
        match error.without_path() {
            _ if error.is_in_use() => Self::InUse(error.to_string()),
            Error::Io { source, .. } => Self::Failed(fault(advice(source.kind()))),
            Error::OutOfMemory { .. } => Self::Failed(fault("")),
            _ => Self::Refused(fault("")),
        }
    }

    /// Says what kind of fault in the files it is.
    pub(super) fn of_kind(self, kind: ErrorKind) -> Self {
        let with = |fault| Fault { kind: Some(kind), ..fault };
        match self {
            Self::Refused(fault) => Self::Refused(with(fault)),
            Self::Failed(fault) => Self::Failed(with(fault)),
            other => other,
        }
    }

    /// The kind of fault in the files, if there is one.
    pub const fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Refused(fault) | Self::Failed(fault) => fault.kind,
            Self::InUse(_) | Self::Interrupted(_) => None,
        }
    }

    /// Adds to the message.
    pub(super) fn and(self, more: &str) -> Self {
        let add = |text: String| format!("{text}; {more}");
        match self {
            Self::Refused(Fault { text, kind }) => Self::Refused(Fault { text: add(text), kind }),
            Self::InUse(text) => Self::InUse(add(text)),
            Self::Failed(Fault { text, kind }) => Self::Failed(Fault { text: add(text), kind }),
            Self::Interrupted(text) => Self::Interrupted(add(text)),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(Fault { text, .. })
            | Self::InUse(text)
            | Self::Failed(Fault { text, .. })
            | Self::Interrupted(text) => f.write_str(text),
        }
    }
}

/// What may help, if anything.
const fn advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => "; run this as the user that the database belongs to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space; in place, --batch and --no-undo do with less"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; --to makes a copy elsewhere",
        _ => "",
    }
}

/// Tells whether the system is at fault, and not the file.
pub(super) fn is_system(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { .. } | Error::OutOfMemory { .. })
}
