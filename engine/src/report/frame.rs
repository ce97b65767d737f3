//! The fields that all objects have.

use std::borrow::Cow;
use std::path::Path;

use filterblock::escape_path;
use serde::Serialize;

use super::error_kind::ErrorKind;
use super::strings::{Hex, json_path};
use super::subject::Subject;

/// Raised when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

/// What each result says first: what it is, and of which path.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame<'a> {
    /// Raised when a field changes its meaning or goes.
    pub schema_version: u32,
    /// The kind of object, which decides its other fields.
    pub object: &'static str,
    /// The path as the user gave it. Bytes that are not UTF-8 are escaped.
    pub input: Cow<'a, str>,
    /// The path that the result is about.
    pub path: Cow<'a, str>,
    /// The path in hexadecimal, if it is not UTF-8.
    pub path_bytes: Option<String>,
    /// The kind of the first of all that is wrong.
    pub error_kind: Option<ErrorKind>,
    /// Facts that are good to know and no faults.
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

    /// Adds to the notes.
    #[must_use]
    pub fn note(mut self, notes: impl Iterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// The same with strings of its own.
    pub fn into_owned(self) -> Frame<'static> {
        let Self { schema_version, object, input, path, path_bytes, error_kind, notes } = self;
        let [input, path] = [input, path].map(|text| text.into_owned().into());
        Frame { schema_version, object, input, path, path_bytes, error_kind, notes }
    }
}
