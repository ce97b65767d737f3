//! The subject of a result.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::fetched::Fetched;

/// A path that a result is about.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The path as the user gave it, from which `path` follows.
    pub input: &'a Path,
    pub path: &'a Path,
    /// Facts to note besides the result.
    pub remarks: &'a [Remark],
    /// What reading it took, if it is in object storage.
    pub fetched: Option<&'a Fetched>,
}

/// A subject to keep.
#[derive(Clone, Debug)]
pub struct OwnedSubject {
    pub input: PathBuf,
    pub path: PathBuf,
    remarks: Vec<Remark>,
    fetched: Option<Fetched>,
}

impl OwnedSubject {
    pub fn as_subject(&self) -> Subject<'_> {
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
pub struct Remark {
    pub about: PathBuf,
    pub text: String,
}

impl<'a> Subject<'a> {
    /// The path that the user gave.
    pub fn of(input: &'a Path) -> Self {
        Self { input, path: input, remarks: &[], fetched: None }
    }

    /// The path of a table of this file name, in the folder that the subject is, or the subject's own.
    pub fn table_path(&self, name: &str) -> PathBuf {
        let is_own = self.path.file_name().is_some_and(|own| own == name);
        if is_own { self.path.to_owned() } else { self.path.join(name) }
    }

    pub fn to_owned(self) -> OwnedSubject {
        let Self { input, path, remarks, fetched } = self;
        OwnedSubject {
            input: input.to_owned(),
            path: path.to_owned(),
            remarks: remarks.to_vec(),
            fetched: fetched.cloned(),
        }
    }
}

impl Remark {
    pub fn new(about: &Path, text: impl Display) -> Self {
        Self { about: about.to_owned(), text: text.to_string() }
    }
}
