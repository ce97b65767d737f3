//! The subject of a result.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::Serialize;

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
    /// The path that the remark is about.
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
