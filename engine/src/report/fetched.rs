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
    /// The parts that were read.
    pub depth: Option<Depth>,
    /// The store's tag for this version of the object, as it was sent; `None` also if the store has none.
    #[serde(serialize_with = "tag")]
    pub e_tag: Option<String>,
    /// The number of requests for the object. Repetitions by the client are not counted.
    pub requests: Option<u64>,
    /// The bytes of the object that were received.
    pub bytes_read: Option<u64>,
}

fn tag<S: Serializer>(tag: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    tag.as_ref().map(|tag| json_name(tag.as_bytes())).serialize(serializer)
}
