//! The kinds of reasons why something is not as it should be, for programs to act upon.

use std::io::{Error as IoError, ErrorKind as IoErrorKind};

use filterblock::Error;
use serde::Serialize;

/// The kind of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The bytes read are not as they should be.
    Damaged,
    /// The system could not read it, for a reason that is not told apart here.
    Unreadable,
    /// It was there when its folder was listed, and was gone when it was opened.
    Vanished,
    /// It became another between two requests, or since it was listed.
    Changed,
    /// It is not there.
    Missing,
    /// The system does not allow it to be read.
    Denied,
    /// It may be sound, but this program cannot read it, or not within its limits.
    Unsupported,
}

impl ErrorKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
            Self::Vanished => "vanished",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Denied => "denied",
            Self::Unsupported => "unsupported",
        }
    }

    /// The kind of an error of the library.
    pub fn of(error: &Error) -> Self {
        match error.without_path() {
            Error::Io { source, .. } => Self::of_io(source),
            Error::Corrupt { .. } => Self::Damaged,
            Error::Unsupported { .. } | Error::Limit { .. } => Self::Unsupported,
            _ => Self::Unreadable,
        }
    }

    /// The kind of an error of the system.
    pub fn of_io(error: &IoError) -> Self {
        match error.kind() {
            IoErrorKind::NotFound => Self::Missing,
            IoErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Unreadable,
        }
    }
}
