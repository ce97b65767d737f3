//! The compression that a table is written with.

use super::Codec;

/// The compression that a table is written with. A block that compression does not make small
/// enough is stored as it is.
///
/// The compression of a stored block is a [`Codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// No compression: type 0.
    None,
    /// Snappy: type 1, LevelDB's default.
    Snappy,
}

impl Compression {
    /// Returns the compression that this type, as stored after a block, stands for in all tables. `None` for all
    /// other types, whose meaning depends on the writer.
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::None),
            1 => Some(Self::Snappy),
            _ => None,
        }
    }

    /// Returns the type to store after a block.
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
        }
    }

    /// The name for display: lower case, without spaces.
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
