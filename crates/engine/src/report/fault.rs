//! The reason why something cannot be looked at.

use std::fmt::{self, Display};
use std::{io, path::Path};

use filterblock::Error;

use super::advice::Damage;
use super::frame::ErrorKind;
use super::state::StateFault;
use crate::audit::decode_limit_text;
use crate::text::{count, error_text};
use crate::walk::FoundFormat;

/// The reason why a path, a file or a part of one cannot be looked at. It displays as its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind of reason.
    pub kind: ErrorKind,
    /// The complete reason, without the path.
    pub text: String,
    /// The file at fault. `None`: what was asked for.
    pub path: Option<Box<Path>>,
    /// The offset in the file, in bytes. `None`: the fault has no offset.
    pub offset: Option<u64>,
    /// What was expected. `None`: the fault does not name it.
    pub expected: Option<Box<str>>,
    /// What was found instead. `None`: the fault does not name it.
    pub found: Option<Box<str>>,
    /// More about it, if more is known.
    pub detail: Option<Box<FaultDetail>>,
}

/// What more is known about a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultDetail {
    /// What an error of the library means, in place of what was expected and found.
    Meaning(String),
    /// A database of another format than LevelDB's, or something encrypted, was found.
    OtherFormat(FoundFormat),
    /// The database as a whole is damaged.
    Database(Damage),
}

impl Fault {
    pub(crate) const MISSING: &str = "no such file or folder";
    pub(crate) const REGULAR_FILE: &str = "a regular file";
    pub(crate) const LINK: &str = "a symbolic link (links are followed when named)";

    /// A fault with only a text.
    pub fn new(text: impl Into<String>, kind: ErrorKind) -> Self {
        let text = text.into();
        Self { kind, text, path: None, offset: None, expected: None, found: None, detail: None }
    }

    /// The fault of a path that leads to something other than expected.
    pub fn unexpected(expected: impl Into<Box<str>>, found: impl Into<Box<str>>) -> Self {
        let (expected, found) = (expected.into(), found.into());
        let fault = Self::new(format!("expected {expected}, found {found}"), ErrorKind::Unreadable);
        Self { expected: Some(expected), found: Some(found), ..fault }
    }

    /// The fault of a file that was listed and is gone now.
    pub fn vanished() -> Self {
        let text = "vanished: it was there when the folder was listed, and is gone now";
        Self::new(text, ErrorKind::Vanished)
    }

    /// Under a table's or a log's name, a folder has something other than a regular file.
    pub(crate) fn skipped(found: &str) -> Self {
        let fault = Self::unexpected(Self::REGULAR_FILE, found);
        Self { text: format!("skipped: {}", fault.text), ..fault }
    }

    /// `what` has the offset, too.
    pub(crate) fn damage(what: &str, offset: u64, expected: String, found: String) -> Self {
        let fault = Self::unexpected(expected, found);
        let text = format!("{what}: {}", fault.text);
        Self { kind: ErrorKind::Damaged, text, offset: Some(offset), ..fault }
    }

    pub(crate) fn over_limit(offset: u64, limit: u64) -> Self {
        let text = format!("would decode to more than {} bytes; --max-output allows more", count(limit));
        let fault = Self::unexpected(decode_limit_text(limit), "more");
        Self { kind: ErrorKind::Unsupported, text, offset: Some(offset), ..fault }
    }

    pub(crate) fn with_detail(self, detail: FaultDetail) -> Self {
        Self { detail: Some(Box::new(detail)), ..self }
    }

    /// The fault of an [`io::Error`]. `listed`: the name was found in a folder a moment ago.
    pub(crate) fn of_io(error: &io::Error, listed: bool) -> Self {
        if let Some(fault) = error.get_ref().and_then(|reason| reason.downcast_ref::<Self>()) {
            return fault.clone();
        }
        match error.kind() {
            io::ErrorKind::NotFound if listed => Self::vanished(),
            io::ErrorKind::NotFound => Self::new(Self::MISSING, ErrorKind::Missing),
            _ => Self::new(error.to_string(), ErrorKind::of_io(error)),
        }
    }

    /// The fault of an [`Error`], without its path. `listed`: the name was found in a folder a moment ago.
    pub(crate) fn of(error: &Error, listed: bool) -> Self {
        match error.without_path() {
            Error::Io { source, .. } => Self::of_io(source, listed),
            error => Self::new(error.to_string(), ErrorKind::of(error)),
        }
    }

    /// The reason for people. `None`: the fault consists of what was expected and what was found.
    pub(crate) fn in_words(&self) -> Option<String> {
        if self.expected.is_some() {
            return None;
        }
        Some(match self.kind {
            ErrorKind::Denied | ErrorKind::Unreadable => {
                let (reason, _) = self.text.split_once(" (os error ").unwrap_or((&self.text, ""));
                format!("cannot be read: {reason}")
            }
            _ => self.text.clone(),
        })
    }

    /// What an error of the library means; for other faults, the text.
    pub fn meaning(&self) -> &str {
        if let Some(FaultDetail::Meaning(meaning)) = self.detail.as_deref() { meaning } else { &self.text }
    }

    /// The other format, if that is the reason.
    pub fn other_format(&self) -> Option<&FoundFormat> {
        if let Some(FaultDetail::OtherFormat(found)) = self.detail.as_deref() { Some(found) } else { None }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}

impl From<FoundFormat> for Fault {
    fn from(found: FoundFormat) -> Self {
        Self::new(found.to_string(), ErrorKind::Unsupported).with_detail(FaultDetail::OtherFormat(found))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::of_io(&error, false)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// With the path of the error, what was expected and found, and what it means.
impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let (bare, path) = (error.without_path(), error.path().map(Into::into));
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
        let (expected, found) = (expected.map(Into::into), found.map(Into::into));
        let fault = Self::new(bare.to_string(), ErrorKind::of(error));
        Self { path, offset, expected, found, ..fault }.with_detail(FaultDetail::Meaning(error_text(error)))
    }
}

impl From<&StateFault> for Fault {
    fn from(fault: &StateFault) -> Self {
        Self::new(fault.in_scan(), ErrorKind::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use filterblock::database::{LogWriter, Manifest, VersionEdit};

    use super::*;

    /// LevelDB's names of comparators are short, so a name of more than 4 KiB is not read.
    #[test]
    fn a_limit_has_what_was_expected_and_found() {
        let mut edit = VersionEdit::default();
        edit.comparator = Some(vec![b'c'; 5000].into());
        let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
        edit.encode(&mut record).unwrap();
        log.add_record(&record).unwrap();
        let fault = Fault::from(Manifest::parse(&log.into_writer()).unwrap_err());
        let known = (fault.expected.as_deref(), fault.found.as_deref());
        assert_eq!(known, (Some("at most 4096 bytes"), Some("5000")), "{fault:?}");
    }
}
