//! The fields that all objects have, the subject of a result, and the kinds of faults, for programs to act upon.

use std::fmt::Display;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};
use std::path::PathBuf;
use std::{borrow::Cow, path::Path};

use filterblock::{Error, escape_path};
use serde::{Serialize, Serializer};

use super::strings::{Hex, json_path, words};

/// Raised when a field changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// What every result begins with: its kind, what it is about, its fault, and notes.
#[derive(Clone, Default, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Head"))]
pub struct Frame<'a> {
    /// The kind of object.
    pub object: &'static str,
    /// The path as it was given.
    pub input: Cow<'a, Path>,
    /// The path that the result is about.
    pub path: Cow<'a, Path>,
    /// The kind of the first fault. `None`: there is no fault.
    pub error_kind: Option<ErrorKind>,
    /// The fault that `error_kind` is of, in words.
    pub error: Option<Cow<'a, str>>,
    /// Facts that are not faults.
    pub notes: Vec<Remark>,
}

/// The first fields of each object.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Head<'a> {
    /// Version of this format, raised when a field changes its meaning or is removed.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    schema_version: u32,
    /// Kind of object, which decides its other fields.
    object: &'static str,
    /// Path as it was given as an argument or in the list of `--files-from`; for a list that cannot be read,
    /// the path of the list. Every input has at least one object.
    input: Cow<'a, str>,
    /// Path that the object is about: the input, or a path found in or below it.
    path: Cow<'a, str>,
    /// Bytes of `path` in lowercase hexadecimal. `None`: `path` is UTF-8.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    path_bytes: Option<Hex<'a>>,
    /// Kind of the first fault. `damaged`: the file was read and is not as it should be. `missing`: it does
    /// not exist. `vanished`: it was there when its folder was listed, but is gone. `changed`: it was
    /// replaced while it was being read, or since it was listed. `denied`: the system does not permit access
    /// to it. `unsupported`: this program cannot read it, or cannot do so within its limits. `unreadable`: it
    /// could not be read or written, for a reason that no other kind names. `None`: there is no fault.
    error_kind: Option<ErrorKind>,
    /// The fault that `error_kind` is of, in words.
    error: Option<&'a str>,
    /// Facts that are not faults.
    notes: Vec<Cow<'a, str>>,
}

impl Serialize for Frame<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.path.as_os_str().as_encoded_bytes();
        let head = Head {
            schema_version: SCHEMA_VERSION,
            object: self.object,
            input: json_path(&self.input),
            path: json_path(&self.path),
            path_bytes: str::from_utf8(bytes).is_err().then_some(Hex(bytes)),
            error_kind: self.error_kind,
            error: self.error.as_deref(),
            notes: self.notes.iter().map(|note| note.beside(&self.path)).collect(),
        };
        head.serialize(serializer)
    }
}

impl<'a> Frame<'a> {
    /// The frame of an `object` about a subject.
    pub fn new(object: &'static str, subject: &Subject<'a>, error_kind: Option<ErrorKind>) -> Self {
        let (input, path) = (subject.input.into(), subject.path.into());
        Self { object, input, path, error_kind, error: None, notes: subject.remarks.to_vec() }
    }

    /// Sets the fault in words.
    #[must_use]
    pub fn error(self, error: Option<impl Into<Cow<'a, str>>>) -> Self {
        Self { error: error.map(Into::into), ..self }
    }

    /// Adds `notes` after the notes that the frame has.
    #[must_use]
    pub fn note(mut self, notes: impl Iterator<Item = String>) -> Self {
        self.notes.extend(notes.map(Remark::remedy));
        self
    }

    /// The same frame, with owned strings.
    pub fn into_owned(self) -> Frame<'static> {
        let Self { object, input, path, error_kind, error, notes } = self;
        let [input, path] = [input, path].map(|path| path.into_owned().into());
        let error = error.map(|text| text.into_owned().into());
        Frame { object, input, path, error_kind, error, notes }
    }
}

/// A result with its frame: a line of JSON.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line<'a, T> {
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The path that the remark is about. Empty: that of the result, or none, as it is a command to run.
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

    /// The remark as a line about `path`: after a name, if it is about another file.
    fn beside(&self, path: &Path) -> Cow<'_, str> {
        if self.about == path || self.about.as_os_str().is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let name = self.about.file_name().map_or(&*self.about, Path::new);
        format!("{}: {}", escape_path(name), self.text).into()
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
