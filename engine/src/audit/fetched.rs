//! How deep a table was looked into, and what reading it from object storage took.

/// The parts of a table that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Index, metaindex and filters.
    Tail,
    /// Also up to 16 data blocks, in three places.
    #[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "objects in storage elsewhere only"))]
    Sample,
    /// Whatever the command asks for.
    All,
}

impl Depth {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tail => "tail",
            Self::Sample => "sample",
            Self::All => "all",
        }
    }
}

/// What is known of an object besides its contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetched {
    pub depth: Depth,
    /// The store's tag for this version of the object, as it was sent.
    pub e_tag: Option<String>,
    /// The number of requests for the object. Repetitions by the client are not counted.
    pub requests: u64,
    /// The bytes of the object that were received.
    pub bytes_read: u64,
}
