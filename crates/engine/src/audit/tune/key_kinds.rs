//! The kinds of keys for which the filters of a table are checked.

use std::ops::{Index, IndexMut};

use crate::report::SimilarKind;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyKind {
    /// Keys that do not resemble stored ones.
    Random,
    /// Made from stored ones.
    Similar(SimilarKind),
    /// Found by lookups in a later table.
    Present,
    /// Of the user's lookups that find no value.
    Own,
    /// Made from keys stored in other tables. Count as [`Similar`](Self::Similar).
    Stranger(SimilarKind),
}

pub(super) const SIMILAR: [SimilarKind; 4] =
    [SimilarKind::Changed, SimilarKind::Between, SimilarKind::CutShort, SimilarKind::Lengthened];

impl KeyKind {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let similar = SIMILAR.into_iter().map(Self::Similar);
        let strangers = SIMILAR.into_iter().map(Self::Stranger);
        [Self::Random].into_iter().chain(similar).chain([Self::Present, Self::Own]).chain(strangers)
    }
}

/// A value for each kind.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct ByKind<T>([T; 11]);

#[cfg(test)]
impl<T: Copy> ByKind<T> {
    pub(super) fn all(value: T) -> Self {
        Self([value; 11])
    }
}

impl<T> Index<KeyKind> for ByKind<T> {
    type Output = T;

    fn index(&self, kind: KeyKind) -> &T {
        &self.0[place(kind)]
    }
}

impl<T> IndexMut<KeyKind> for ByKind<T> {
    fn index_mut(&mut self, kind: KeyKind) -> &mut T {
        &mut self.0[place(kind)]
    }
}

const fn place(kind: KeyKind) -> usize {
    match kind {
        KeyKind::Random => 0,
        KeyKind::Similar(kind) => 1 + kind as usize,
        KeyKind::Present => 5,
        KeyKind::Own => 6,
        KeyKind::Stranger(kind) => 7 + kind as usize,
    }
}
