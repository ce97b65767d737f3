//! How blocks are compressed in writing.

use super::Codec;

/// How a table's blocks are to be compressed in writing. A table's blocks may differ in it.
///
/// What a block was compressed with is a [`Codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all: type 0.
    None,
    /// Snappy: type 1, LevelDB's default.
    Snappy,
}

impl Compression {
    /// What the type stored behind a block stands for wherever it is found, or `None` if that depends on the writer.
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::None),
            1 => Some(Self::Snappy),
            _ => None,
        }
    }

    /// The type stored behind a block.
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
        }
    }

    /// The name to show: lower case, without spaces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => Codec::None.name(),
            Self::Snappy => Codec::Snappy.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_numbers_and_names() {
        for id in 0..=u8::MAX {
            assert_eq!(Compression::from_id(id).map_or(id, Compression::id), id);
        }
        assert_eq!(Compression::from_id(1).map(Compression::name), Some("snappy"));
        assert_eq!(Compression::from_id(0).map(Compression::name), Some("none"));
        assert_eq!(Compression::from_id(2), None);
    }
}
