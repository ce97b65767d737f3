//! The fields that all objects have, the subject of a result, and the kinds of faults, for programs to act upon.

use std::fmt::Display;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};
use std::path::PathBuf;
use std::{borrow::Cow, path::Path};

use filterblock::{Error, escape_path};
use serde::Serialize;

use super::strings::{Hex, json_path, words};

/// Raised when a field changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// The first fields of each result, which name its kind and its subject.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame<'a> {
    /// Version of this format, raised when a field changes its meaning or is removed.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    pub schema_version: u32,
    /// Kind of object, which decides its other fields.
    pub object: &'static str,
    /// Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
    /// the path of the list. Every input has at least one object.
    pub input: Cow<'a, str>,
    /// Path that the object is about: the input, or a path found in or below it.
    pub path: Cow<'a, str>,
    /// Bytes of `path` in lowercase hexadecimal. `None`: `path` is UTF-8.
    pub path_bytes: Option<String>,
    /// Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
    /// not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
    /// replaced while it was being read, or since it was listed. `denied`: the system does not permit access
    /// to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
    /// could not be read or written, for a reason that no other kind names. `None`: there is no fault.
    pub error_kind: Option<ErrorKind>,
    /// The fault that `error_kind` is of, in words.
    pub error: Option<Cow<'a, str>>,
    /// Facts that are not faults.
    pub notes: Vec<String>,
}

impl<'a> Frame<'a> {
    /// The frame of an `object` about a subject.
    pub fn new(object: &'static str, subject: &Subject<'a>, error_kind: Option<ErrorKind>) -> Self {
        let notes = subject.remarks.iter().map(|remark| {
            if remark.about == subject.path || remark.about.as_os_str().is_empty() {
                remark.text.clone()
            } else {
                let name = remark.about.file_name().map_or(&*remark.about, Path::new);
                format!("{}: {}", escape_path(name), remark.text)
            }
        });
        let bytes = subject.path.as_os_str().as_encoded_bytes();
        Self {
            schema_version: SCHEMA_VERSION,
            object,
            input: json_path(subject.input),
            path: json_path(subject.path),
            path_bytes: str::from_utf8(bytes).is_err().then(|| Hex(bytes).to_string()),
            error_kind,
            error: None,
            notes: notes.collect(),
        }
    }

    /// Sets the fault in words.
    #[must_use]
    pub fn error(self, error: Option<impl Into<Cow<'a, str>>>) -> Self {
        Self { error: error.map(Into::into), ..self }
    }

    /// Adds `notes` after the notes that the frame has.
    #[must_use]
    pub fn note(mut self, notes: impl Iterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// The same frame, with owned strings.
    pub fn into_owned(self) -> Frame<'static> {
        let Self { schema_version, object, input, path, path_bytes, error_kind, error, notes } = self;
        let [input, path] = [input, path].map(|text| text.into_owned().into());
        let error = error.map(|text| text.into_owned().into());
        Frame { schema_version, object, input, path, path_bytes, error_kind, error, notes }
    }
}

/// A result with its frame: a line of JSON.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Framed<'a, T> {
    /// The subject.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// The result.
    #[serde(flatten)]
    pub of: &'a T,
}

/// A path that a result is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The path as the user gave it, which led to `path`.
    pub input: &'a Path,
    /// The path that the result is about.
    pub path: &'a Path,
    /// Notes in addition to the result.
    pub remarks: &'a [Remark],
}

/// A fact about a path that is good to know.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The path that the remark is about. Empty: none, as it is a command to run.
    pub about: PathBuf,
    /// The text of the remark.
    pub text: String,
}

impl<'a> Subject<'a> {
    /// The subject that is the path as the user gave it.
    pub fn of(input: &'a Path) -> Self {
        Self { input, path: input, remarks: &[] }
    }

    /// The path of the table with this file name: in the folder that is the subject, or the subject itself.
    pub fn table_path(&self, name: &str) -> PathBuf {
        let is_own = self.path.file_name().is_some_and(|own| own == name);
        if is_own { self.path.to_owned() } else { self.path.join(name) }
    }
}

impl Remark {
    pub(crate) fn new(about: &Path, text: impl Display) -> Self {
        Self { about: about.to_owned(), text: text.to_string() }
    }

    /// The remark as a line: after its path, if it is about one.
    pub fn line(&self) -> String {
        match self.about.as_os_str().is_empty() {
            true => self.text.clone(),
            false => format!("{}: {}", escape_path(&self.about), self.text),
        }
    }

    /// A command to run, and what it is for.
    pub(crate) fn remedy(text: impl Display) -> Self {
        Self::new(Path::new(""), text)
    }
}

/// The parts of a table that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Index, metaindex and filters.
    Tail,
    /// Index, metaindex, filters, and some data blocks. In a file with at most 65 data blocks, all of them are read. In
    /// a larger file, one in 32 is read, but at least 17 and at most 1,025, spread over the table. Once 65 have been
    /// read, reading ends as soon as the number of entries can be estimated well.
    Sample,
    /// All parts that the command asks for. `inspect` decodes every data block.
    All,
}

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
