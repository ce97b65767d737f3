//! The subject of a result.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::fetched::Fetched;

/// A path that a result is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The path as the user gave it, from which `path` follows.
    pub input: &'a Path,
    /// The path that it is about.
    pub path: &'a Path,
    /// Facts to note besides the result.
    pub remarks: &'a [Remark],
    /// What reading it took, if it is in object storage.
    pub fetched: Option<&'a Fetched>,
}

/// A fact about a path that is good to know.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The path that it is about.
    pub about: PathBuf,
    /// What is to be said of it.
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
}

impl Remark {
    pub(crate) fn new(about: &Path, text: impl Display) -> Self {
        Self { about: about.to_owned(), text: text.to_string() }
    }
}
