//! The subject of a result, and what reading it took.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::strings::json_name;

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

/// The parts of a table that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Index, metaindex and filters.
    Tail,
    /// Also up to 16 data blocks, in three places.
    Sample,
    /// Whatever the command asks for.
    All,
}

/// What is known of an object in storage elsewhere besides its contents. Of a file, nothing is.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fetched {
    /// How much is read of a table in object storage. `tail`: index, metaindex and filters. `sample`: also up
    /// to 16 data blocks. `all`: as much as of a file. `None`: it is a file, or could not be asked for.
    pub depth: Option<Depth>,
    /// The store's tag for the version of the object that was read. `None`: there is none, or it is a file.
    #[serde(serialize_with = "tag")]
    pub e_tag: Option<String>,
    /// Requests made for the object; repetitions after a failure are not counted. `None`: it is a file, or
    /// could not be asked for.
    pub requests: Option<u64>,
    /// Bytes of the object that were received. `None`: it is a file, or could not be asked for.
    pub bytes_read: Option<u64>,
}

fn tag<S: Serializer>(tag: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    tag.as_ref().map(|tag| json_name(tag.as_bytes())).serialize(serializer)
}
