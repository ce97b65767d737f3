//! The keys that the filters of one table are asked for.

use filterblock::{FilterPolicy as _, KeyHash, SharedPolicy, table::Table};

use crate::{audit::key_encoding::KeyEncoding, audit::rates::SplitMix};

/// The kinds of keys that are not in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Keys without any likeness to stored ones.
    Random,
    /// Stored keys that were changed.
    Neighbour,
    /// Keys that a lookup finds in a later table.
    Present,
    /// The user's lookups whose keys are nowhere.
    Own,
    /// Neighbours of keys in other tables. They count as [`Neighbour`](Self::Neighbour).
    Stranger,
}

impl Question {
    /// What belongs to this kind, of what there is for each. Strangers belong to none.
    pub(super) fn of<T: Copy + Default>(self, all: &[T]) -> T {
        all.get(self as usize).copied().unwrap_or_default()
    }
}

/// The kinds of lookups, and those of questions, to which strangers come.
pub(super) const KINDS: usize = LOOKUPS.len();
pub(super) const LOOKUPS: [Question; 4] =
    [Question::Random, Question::Neighbour, Question::Present, Question::Own];
pub(super) const ASKED: usize = QUESTIONS.len();
pub(super) const QUESTIONS: [Question; 5] =
    [Question::Random, Question::Neighbour, Question::Present, Question::Own, Question::Stranger];

/// Questions of one kind: the offset of a data block, and the hashes of a key by each policy.
#[derive(Default, Debug)]
pub(super) struct Questions {
    pub(super) offsets: Vec<u64>,
    pub(super) hashes: Vec<Vec<KeyHash>>,
}

impl Questions {
    pub(super) fn new(policies: usize) -> Self {
        Self { offsets: Vec::new(), hashes: vec![Vec::new(); policies] }
    }

    pub(super) fn push(&mut self, offset: u64, key: &[u8], policies: &[SharedPolicy]) {
        self.offsets.push(offset);
        for (hashes, policy) in self.hashes.iter_mut().zip(policies) {
            hashes.push(policy.hash_key(key).unwrap_or(KeyHash::new(0)));
        }
    }

    /// Adds a random key of 16 bytes.
    pub(super) fn push_random(&mut self, offset: u64, random: &mut SplitMix, policies: &[SharedPolicy]) {
        let key = [random.next(), random.next()].map(u64::to_le_bytes);
        self.push(offset, key.as_flattened(), policies);
    }
}

/// The offset of the data block that the index names for each of `keys`, which are in bytewise
/// order. Keys behind the last entry have none.
pub(super) fn locate<'k, R>(
    table: &Table<R>,
    keys: impl Iterator<Item = &'k [u8]>,
    encoding: KeyEncoding,
) -> filterblock::Result<Vec<u64>> {
    let mut keys = keys.peekable();
    let mut offsets = Vec::new();
    let mut index = table.index();
    while keys.peek().is_some() && index.next()? {
        let Some(last) = encoding.filtered(index.key()) else { break };
        let offset = index.handle()?.offset;
        while keys.next_if(|key| *key <= last).is_some() {
            offsets.push(offset);
        }
    }
    Ok(offsets)
}
