//! How deep a table was looked into, and what reading it from object storage took.

use serde::{Serialize, Serializer};

use super::strings::json_name;

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
