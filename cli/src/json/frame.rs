//! The fields that all objects have.

use std::borrow::Cow;
use std::path::Path;

use filterblock::escape_path;
use serde::Serialize;

use super::strings::{Hex, json_path};
use filterblock_engine::audit::error_kind::ErrorKind;
use filterblock_engine::report::subject::Subject;

/// Raised when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
pub(super) struct Frame<'a> {
    schema_version: u32,
    /// The kind of object, which decides its other fields.
    object: &'static str,
    input: Cow<'a, str>,
    path: Cow<'a, str>,
    /// In hexadecimal, if the path is not UTF-8.
    path_bytes: Option<String>,
    error_kind: Option<&'static str>,
    notes: Vec<String>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(object: &'static str, subject: &Subject<'a>, error_kind: Option<ErrorKind>) -> Self {
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
            error_kind: error_kind.map(ErrorKind::name),
            notes: notes.collect(),
        }
    }

    /// Adds to the notes.
    pub(super) fn note(mut self, notes: impl Iterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}
