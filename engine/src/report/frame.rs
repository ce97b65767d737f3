//! The fields that all objects have.

use std::{borrow::Cow, path::Path};

use filterblock::escape_path;
use serde::Serialize;

use super::strings::{Hex, json_path};
use super::{error_kind::ErrorKind, subject::Subject};

/// The version of the format, raised when a field changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 2;

/// The first fields of each result, which name its kind and its subject.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame<'a> {
    /// Version of this format, raised when a field changes its meaning or is removed.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 2)))]
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
    /// Facts that are not faults but are good to know. They are also written to standard error.
    pub notes: Vec<String>,
}

impl<'a> Frame<'a> {
    /// The frame of an `object` about a subject.
    pub fn new(object: &'static str, subject: &Subject<'a>, error_kind: Option<ErrorKind>) -> Self {
        let notes = subject.remarks.iter().map(|remark| {
            if remark.about == subject.path {
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
            notes: notes.collect(),
        }
    }

    /// Adds `notes` after the notes that the frame has.
    #[must_use]
    pub fn note(mut self, notes: impl Iterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// The same frame, with owned strings.
    pub fn into_owned(self) -> Frame<'static> {
        let Self { schema_version, object, input, path, path_bytes, error_kind, notes } = self;
        let [input, path] = [input, path].map(|text| text.into_owned().into());
        Frame { schema_version, object, input, path, path_bytes, error_kind, notes }
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
