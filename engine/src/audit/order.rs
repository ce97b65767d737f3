//! The order of user keys.

use std::cmp::Ordering;

use filterblock::KeyFormat;
use filterblock::table::{
    BytewiseComparator, Comparator as _, IdbComparator, SharedComparator, known_comparator,
};

/// An order that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Byte by byte, LevelDB's default.
    Bytewise,
    /// That of Chromium's IndexedDB, `idb_cmp1`.
    Idb,
}

impl Order {
    /// The order of the comparator of this name; `None`: the order is not known.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        match name {
            name if name == BytewiseComparator.name().as_bytes() => Some(Self::Bytewise),
            name if name == IdbComparator::NAME.as_bytes() => Some(Self::Idb),
            _ => None,
        }
    }

    /// The name of the comparator.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bytewise => "leveldb.BytewiseComparator",
            Self::Idb => IdbComparator::NAME,
        }
    }

    /// The comparator.
    pub fn comparator(&self) -> SharedComparator {
        known_comparator(self.name().as_bytes()).unwrap_or_else(|| std::sync::Arc::new(BytewiseComparator))
    }

    /// Compares user keys.
    #[inline]
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Bytewise => a.cmp(b),
            Self::Idb => IdbComparator.compare(a, b),
        }
    }

    /// Compares internal keys.
    #[inline]
    pub(crate) fn compare_internal(&self, a: &[u8], b: &[u8]) -> Ordering {
        KeyFormat::LevelDb.compare(a, b, |a, b| self.compare(a, b))
    }

    /// Returns true if the comparator treats only identical bytes as equal to the key. A filter
    /// made from the key then never denies a key that is equal to it.
    pub(crate) fn can_be_filtered(&self, user_key: &[u8]) -> bool {
        match self {
            Self::Bytewise => true,
            Self::Idb => IdbComparator::is_exact(user_key),
        }
    }
}
