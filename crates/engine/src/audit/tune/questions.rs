//! The keys that the filters of one table are asked for.

use std::ops::Range;

use filterblock::{FilterPolicy as _, KeyBuf, KeyHash, SharedPolicy, table::Table};

use super::entries::push_hashes;
use crate::report::NearKind;
use crate::{audit::key_encoding::KeyEncoding, audit::order::Order, audit::rates::SplitMix};

/// The kinds of keys that are not in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Keys that do not resemble stored ones.
    Random,
    /// Keys made from stored ones.
    Near(NearKind),
    /// Keys that a lookup finds in a later table.
    Present,
    /// Keys of the user's lookups that find no value.
    Own,
    /// Keys made from keys stored in other tables. They count as [`Near`](Self::Near).
    Stranger(NearKind),
}

impl Question {
    /// The index of this kind in [`QUESTIONS`], and in [`LOOKUPS`] if it is among them.
    pub(super) const fn place(self) -> usize {
        match self {
            Self::Random => 0,
            Self::Near(kind) => 1 + kind as usize,
            Self::Present => 5,
            Self::Own => 6,
            Self::Stranger(kind) => 7 + kind as usize,
        }
    }

    /// The element of `all` for this kind, or the default if `all` has no such element, as for
    /// strangers.
    pub(super) fn of<T: Copy + Default>(self, all: &[T]) -> T {
        all.get(self.place()).copied().unwrap_or_default()
    }
}

/// The number of kinds of lookups.
pub(super) const KINDS: usize = LOOKUPS.len();
/// The kinds of lookups.
pub(super) const LOOKUPS: [Question; 7] = [
    Question::Random,
    Question::Near(NearKind::Changed),
    Question::Near(NearKind::Between),
    Question::Near(NearKind::Cut),
    Question::Near(NearKind::Longer),
    Question::Present,
    Question::Own,
];
/// The number of kinds of questions.
pub(super) const ASKED: usize = QUESTIONS.len();
/// The kinds of questions: those of lookups, and strangers.
pub(super) const QUESTIONS: [Question; 11] = [
    Question::Random,
    Question::Near(NearKind::Changed),
    Question::Near(NearKind::Between),
    Question::Near(NearKind::Cut),
    Question::Near(NearKind::Longer),
    Question::Present,
    Question::Own,
    Question::Stranger(NearKind::Changed),
    Question::Stranger(NearKind::Between),
    Question::Stranger(NearKind::Cut),
    Question::Stranger(NearKind::Longer),
];

/// The number of made-up keys that are asked for in one round.
pub(super) const ROUND: usize = 4096;

/// Successive questions for the same data block, none of which begins a [`ROUND`] but the first.
pub(super) struct BlockQuestions {
    pub(super) offset: u64,
    /// The number of all questions up to the last of these.
    pub(super) end: usize,
}

/// Questions of one kind: for each, a data block, and the hashes of a key or the key itself.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) blocks: Vec<BlockQuestions>,
    /// The hashes of the keys, by policy. Empty for a policy that needs the keys.
    hashes: Vec<Vec<KeyHash>>,
    /// The keys, if a policy needs them; otherwise empty.
    keys: KeyBuf,
}

impl Questions {
    pub(super) fn new(policies: usize) -> Self {
        Self { blocks: Vec::new(), hashes: vec![Vec::new(); policies], keys: KeyBuf::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| last.end)
    }

    pub(super) fn push(&mut self, offset: u64, key: &[u8], policies: &[SharedPolicy]) {
        match self.blocks.last_mut() {
            Some(last) if last.offset == offset && last.end % ROUND != 0 => last.end += 1,
            _ => self.blocks.push(BlockQuestions { offset, end: self.len() + 1 }),
        }
        if !push_hashes(key, policies, &mut self.hashes) {
            self.keys.push(key);
        }
    }

    /// The number of the questions in this range whose keys `filter`, of the policy at the index `of_policy`, lets pass.
    pub(super) fn passed(
        &self,
        range: Range<usize>,
        policy: &SharedPolicy,
        of_policy: usize,
        filter: &[u8],
    ) -> u64 {
        let mut answers = vec![true; range.len()];
        match self.hashes.get(of_policy).and_then(|hashes| hashes.get(range.clone())) {
            Some(hashes) => policy.hashes_may_match(hashes, filter, &mut answers),
            None => {
                let keys = self.keys.as_keys();
                for (at, answer) in range.zip(&mut answers) {
                    *answer = keys.get(at).is_none_or(|key| policy.key_may_match(key, filter));
                }
            }
        }
        answers.into_iter().map(u64::from).sum()
    }

    /// Adds a random key of 16 bytes.
    pub(super) fn push_random(&mut self, offset: u64, random: &mut SplitMix, policies: &[SharedPolicy]) {
        let key = [random.next(), random.next()].map(u64::to_le_bytes);
        self.push(offset, key.as_flattened(), policies);
    }
}

/// The offset of the data block that the index names for each of `keys`, which are in the order
/// of the table. Keys after the last entry have no offset.
pub(super) fn locate<'k, R>(
    table: &Table<R>,
    keys: impl Iterator<Item = &'k [u8]>,
    (encoding, order): (KeyEncoding, Order),
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
