//! The kinds of faults, for programs to act upon.

use std::io::{Error as IoError, ErrorKind as IoErrorKind};

use filterblock::Error;

use super::strings::words;

words! {
    /// The kind of a fault.
    ErrorKind {
        /// The bytes read are not as they should be.
        Damaged = "damaged",
        /// The file could not be read or written, for a reason that no other kind names.
        Unreadable = "unreadable",
        /// The file was there when its folder was listed, and was gone when it was opened.
        Vanished = "vanished",
        /// The file was replaced between two requests, or since it was listed.
        Changed = "changed",
        /// The file or folder does not exist.
        Missing = "missing",
        /// The system does not permit access to the file.
        Denied = "denied",
        /// The file may be sound, but this program cannot read it, or cannot do so within its
        /// limits.
        Unsupported = "unsupported",
    }
}

impl ErrorKind {
    /// The kind of an error of the library.
    pub fn of(error: &Error) -> Self {
        match error.without_path() {
            Error::Io { source, .. } => Self::of_io(source),
            Error::Corrupt { .. } => Self::Damaged,
            Error::Unsupported { .. } | Error::OtherFormat { .. } | Error::Limit { .. } => Self::Unsupported,
            _ => Self::Unreadable,
        }
    }

    /// The kind of an I/O error.
    pub fn of_io(error: &IoError) -> Self {
        match error.kind() {
            IoErrorKind::NotFound => Self::Missing,
            IoErrorKind::PermissionDenied => Self::Denied,
            IoErrorKind::StaleNetworkFileHandle => Self::Changed,
            _ => Self::Unreadable,
        }
    }
}
