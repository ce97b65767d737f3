//! The subject of a result.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::audit::fetched::Fetched;
use crate::io::console::Console;

/// A path that a result is about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The path as the user gave it, from which `path` follows.
    pub(crate) input: &'a Path,
    pub(crate) path: &'a Path,
    /// Facts to note besides the result.
    pub(crate) remarks: &'a [Remark],
    /// What reading it took, if it is in object storage.
    pub(crate) fetched: Option<&'a Fetched>,
}

/// A subject to keep.
#[derive(Clone, Debug)]
pub(crate) struct OwnedSubject {
    pub(crate) input: PathBuf,
    pub(crate) path: PathBuf,
    remarks: Vec<Remark>,
    fetched: Option<Fetched>,
}

impl OwnedSubject {
    pub(crate) fn as_subject(&self) -> Subject<'_> {
        Subject {
            input: &self.input,
            path: &self.path,
            remarks: &self.remarks,
            fetched: self.fetched.as_ref(),
        }
    }
}

/// A fact about a path that is good to know.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub(crate) about: PathBuf,
    pub(crate) text: String,
}

impl<'a> Subject<'a> {
    /// The path that the user gave.
    pub(crate) fn of(input: &'a Path) -> Self {
        Self { input, path: input, remarks: &[], fetched: None }
    }

    /// The path of a table of this file name, in the folder that the subject is, or the subject's own.
    pub(super) fn table_path(&self, name: &str) -> PathBuf {
        let is_own = self.path.file_name().is_some_and(|own| own == name);
        if is_own { self.path.to_owned() } else { self.path.join(name) }
    }

    pub(crate) fn to_owned(self) -> OwnedSubject {
        let Self { input, path, remarks, fetched } = self;
        OwnedSubject {
            input: input.to_owned(),
            path: path.to_owned(),
            remarks: remarks.to_vec(),
            fetched: fetched.cloned(),
        }
    }

    /// Writes the remarks to standard error.
    pub(super) fn write_remarks(&self, console: &mut Console) {
        self.remarks.iter().for_each(|remark| console.message_about(&remark.about, &remark.text));
    }
}

impl Remark {
    pub(crate) fn new(about: &Path, text: impl Display) -> Self {
        Self { about: about.to_owned(), text: text.to_string() }
    }
}
