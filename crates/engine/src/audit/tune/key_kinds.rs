//! The keys for which the filters of one table are checked.

use std::ops::Range;

use filterblock::{FilterPolicy as _, KeyHash, SharedPolicy, table::Table};

use crate::report::SimilarKind;
use crate::{audit::key_encoding::KeyEncoding, audit::order::KeyOrder, audit::rates::SplitMix};

/// Kinds of keys that are not in a table.
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

impl KeyKind {
    /// The index in [`QUESTIONS`], and in [`LOOKUPS`] if it is among them.
    pub(super) const fn place(self) -> usize {
        match self {
            Self::Random => 0,
            Self::Similar(kind) => 1 + kind as usize,
            Self::Present => 5,
            Self::Own => 6,
            Self::Stranger(kind) => 7 + kind as usize,
        }
    }

    /// The element of `all` for this kind; the default if there is none, as for strangers.
    pub(super) fn of<T: Copy + Default>(self, all: &[T]) -> T {
        all.get(self.place()).copied().unwrap_or_default()
    }
}

pub(super) const KINDS: usize = LOOKUPS.len();
pub(super) const LOOKUPS: [KeyKind; 7] = [
    KeyKind::Random,
    KeyKind::Similar(SimilarKind::Changed),
    KeyKind::Similar(SimilarKind::Between),
    KeyKind::Similar(SimilarKind::CutShort),
    KeyKind::Similar(SimilarKind::Lengthened),
    KeyKind::Present,
    KeyKind::Own,
];
pub(super) const ASKED: usize = QUESTIONS.len();
/// Those of lookups, and strangers.
pub(super) const QUESTIONS: [KeyKind; 11] = [
    KeyKind::Random,
    KeyKind::Similar(SimilarKind::Changed),
    KeyKind::Similar(SimilarKind::Between),
    KeyKind::Similar(SimilarKind::CutShort),
    KeyKind::Similar(SimilarKind::Lengthened),
    KeyKind::Present,
    KeyKind::Own,
    KeyKind::Stranger(SimilarKind::Changed),
    KeyKind::Stranger(SimilarKind::Between),
    KeyKind::Stranger(SimilarKind::CutShort),
    KeyKind::Stranger(SimilarKind::Lengthened),
];

/// Made-up keys checked in one round.
pub(super) const ROUND: usize = 4096;

/// Successive questions for the same data block, none of which begins a [`ROUND`] but the first.
pub(super) struct AskedOfBlock {
    pub(super) offset: u64,
    /// The number of all questions up to the last of these.
    pub(super) end: usize,
}

/// Questions of one kind: for each, a data block and the hash of a key.
#[derive(Default)]
pub(super) struct AskedKeys {
    pub(super) blocks: Vec<AskedOfBlock>,
    hashes: Vec<KeyHash>,
}

impl AskedKeys {
    pub(super) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| last.end)
    }

    pub(super) fn push(&mut self, offset: u64, key: &[u8], policy: &SharedPolicy) {
        match self.blocks.last_mut() {
            Some(last) if last.offset == offset && last.end % ROUND != 0 => last.end += 1,
            _ => self.blocks.push(AskedOfBlock { offset, end: self.len() + 1 }),
        }
        self.hashes.extend(policy.hash_key(key));
    }

    /// How many of the keys may match by `filter`.
    pub(super) fn passed(&self, range: Range<usize>, policy: &SharedPolicy, filter: &[u8]) -> u64 {
        let mut answers = vec![true; range.len()];
        if let Some(hashes) = self.hashes.get(range) {
            policy.hashes_may_match(hashes, filter, &mut answers);
        }
        answers.into_iter().map(u64::from).sum()
    }

    pub(super) fn push_random(&mut self, offset: u64, random: &mut SplitMix, policy: &SharedPolicy) {
        let key = [random.next(), random.next()].map(u64::to_le_bytes);
        self.push(offset, key.as_flattened(), policy);
    }
}

/// Offsets of the data blocks for `keys`, which are in key order. Keys after the last entry have none.
pub(super) fn locate<'k, R>(
    table: &Table<R>,
    keys: impl Iterator<Item = &'k [u8]>,
    (encoding, order): (KeyEncoding, KeyOrder),
) -> filterblock::Result<Vec<u64>> {
    let mut keys = keys.peekable();
    let mut offsets = Vec::new();
    let mut index = table.index();
    while keys.peek().is_some() && index.next()? {
        let Some(last) = encoding.filtered(index.key()) else { break };
        let offset = index.handle()?.offset;
        while keys.next_if(|key| order.compare(key, last).is_le()).is_some() {
            offsets.push(offset);
        }
    }
    Ok(offsets)
}
