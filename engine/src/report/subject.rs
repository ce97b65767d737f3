//! The subject of a result, and the cost of reading it.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::strings::json_name;

/// A path that a result is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The path as the user gave it, which led to `path`.
    pub input: &'a Path,
    /// The path that the result is about.
    pub path: &'a Path,
    /// Notes in addition to the result.
    pub remarks: &'a [Remark],
    /// The facts about reading the path, if it is in object storage. For a file, `inspect` gives only the depth.
    pub fetched: Option<&'a Fetched>,
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
        Self { input, path: input, remarks: &[], fetched: None }
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
    /// read, reading ends as soon as the number of entries can be estimated well. In an object, up to 16 data blocks
    /// are read, in up to three places.
    Sample,
    /// All parts that the command asks for. `inspect` decodes every data block.
    All,
}

/// The facts about reading a table. For a file, all of them but the depth are `None`.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fetched {
    /// Parts of a table that are read. `tail`: index, metaindex and filters, so that nothing is known of the entries.
    /// `sample`: also some data blocks, from which numbers are estimated. `all`: every part that the command asks for;
    /// `inspect` decodes every data block. `None`: the file or object could not be opened, the file is a bare filter
    /// block, or the path is that of a file and the command is not `inspect`.
    pub depth: Option<Depth>,
    /// The store's tag for the version of the object that was read. `None`: the store gave no tag, or the
    /// path is that of a file.
    #[serde(serialize_with = "tag")]
    pub e_tag: Option<String>,
    /// Number of requests made for the object, not counting retries after a failure. `None`: the path is that
    /// of a file, or the object could not be requested.
    pub requests: Option<u64>,
    /// Number of bytes of the object that were received. `None`: the path is that of a file, or the object
    /// could not be requested.
    pub bytes_read: Option<u64>,
}

fn tag<S: Serializer>(tag: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    tag.as_ref().map(|tag| json_name(tag.as_bytes())).serialize(serializer)
}
