//! The losses in tables: ranges of keys that may have had more entries.

use std::ops::Range;

use filterblock::{FilterBlockReader, KeyFormat, SharedPolicy};

use super::order::KeyOrder;

/// Follows the user key when a filter is checked. Filters ignore it.
const ANY_TAG: [u8; 8] = [1, 0, 0, 0, 0, 0, 0, 0];
/// Of a separator that is no entry's key: entries of its user key, if any, come after it.
const SEEK_TAG: u64 = u64::MAX << 8 | 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    pub(crate) user_key: Vec<u8>,
    /// If not, only older versions of the key can be lost, if any.
    pub(crate) is_inclusive: bool,
}

#[derive(Clone, Debug)]
pub(super) struct LostRange {
    /// `None`: from the first key.
    pub(super) low: Option<Bound>,
    /// `None`: to the last key.
    pub(super) high: Option<Bound>,
    pub(super) bytes: Range<u64>,
    /// Offsets to check filters at: of lost blocks or, if unknown, one in the range of each filter that may cover them.
    pub(super) blocks: Vec<u64>,
    pub(super) why: String,
}

impl Bound {
    pub(super) fn including(user_key: &[u8]) -> Self {
        Self { user_key: user_key.to_vec(), is_inclusive: true }
    }

    /// Begins after an entry that was read: only older versions of its key can follow. `None`: no internal key.
    pub(super) fn behind(internal_key: &[u8]) -> Option<Self> {
        let user_key = KeyFormat::LevelDb.user_key(internal_key)?;
        Some(Self { user_key: user_key.to_vec(), is_inclusive: false })
    }

    /// The entries up to a separator of the index. `None`: no internal key.
    pub(super) fn up_to(separator: &[u8]) -> Option<Self> {
        let (user_key, tag) = KeyFormat::LevelDb.split(separator)?;
        Some(Self { user_key: user_key.to_vec(), is_inclusive: tag != SEEK_TAG })
    }
}

impl LostRange {
    pub(super) fn begins_at_or_before(&self, user_key: &[u8], order: &KeyOrder) -> bool {
        self.low.as_ref().is_none_or(|low| match order.compare(&low.user_key, user_key) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => low.is_inclusive,
            std::cmp::Ordering::Greater => false,
        })
    }

    pub(super) fn ends_before(&self, user_key: &[u8], order: &KeyOrder) -> bool {
        self.high.as_ref().is_some_and(|high| match order.compare(&high.user_key, user_key) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => !high.is_inclusive,
            std::cmp::Ordering::Greater => false,
        })
    }
}

pub(super) struct Loss {
    pub(super) range: LostRange,
    /// Among the members.
    pub(super) file: usize,
    pub(super) place: Place,
    /// Over the lost blocks, if sound.
    pub(super) filter: Option<FilterBlockReader<SharedPolicy>>,
    /// Keys that may be stale because of this loss.
    pub(super) maybe_stale: u64,
    /// Stale keys whose newest remaining version is from an obsolete file.
    pub(super) from_obsolete: u64,
    /// Keys of which a filter rules out that a version is lost here.
    pub(super) ruled_out: u64,
}

impl Loss {
    /// False, and counted, if the filters rule out that the lost blocks held the key.
    pub(super) fn may_hold(&mut self, user_key: &[u8]) -> bool {
        let Some(filter) = self.filter.as_ref().filter(|_| !self.range.blocks.is_empty()) else {
            return true;
        };
        let key = [user_key, &ANY_TAG].concat();
        let may = self.range.blocks.iter().any(|&offset| filter.key_may_match(offset, &key));
        self.ruled_out = self.ruled_out.saturating_add(u64::from(!may));
        may
    }
}

/// Keys are looked up in ascending order.
pub(super) struct Losses {
    order: KeyOrder,
    /// By lower bound.
    pub(super) all: Vec<Loss>,
    next: usize,
    active: Vec<usize>,
}

impl Losses {
    pub(super) fn new(mut all: Vec<Loss>, order: KeyOrder) -> Self {
        all.sort_by(|a, b| match (&a.range.low, &b.range.low) {
            (Some(a), Some(b)) => {
                order.compare(&a.user_key, &b.user_key).then(b.is_inclusive.cmp(&a.is_inclusive))
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        Self { order, all, next: 0, active: Vec::new() }
    }

    /// Returns the ranges that contain the key, as indexes in `all`.
    pub(super) fn at(&mut self, user_key: &[u8]) -> &[usize] {
        let Self { order, all, next, active } = self;
        while all.get(*next).is_some_and(|loss| loss.range.begins_at_or_before(user_key, order)) {
            active.push(*next);
            *next = next.saturating_add(1);
        }
        active.retain(|&at| all.get(at).is_some_and(|loss| !loss.range.ends_before(user_key, order)));
        active
    }
}

/// The lesser of two places holds the newer versions of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place(u8, u64);

impl Place {
    /// Within logs, sequence numbers decide.
    pub(super) const LOGS: Self = Self(0, 0);
    /// Without a chosen MANIFEST that lists it, no table is known to be newer.
    pub(super) const ANY_TABLE: Self = Self(2, 0);

    /// True if on a higher level. Logs are above all levels.
    pub(super) const fn is_above(self, other: Self) -> bool {
        self.0 < other.0
    }

    /// Ranks tables of level 0 by their numbers: higher ones are newer.
    pub(super) const fn of_table(level: u8, number: u64) -> Self {
        match level {
            0 => Self(1, u64::MAX - number),
            _ => Self(1 + level, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use filterblock::{BloomFilterPolicy, FilterBlockBuilder, InternalFilterPolicy};

    use super::*;

    fn bound(key: &str, is_inclusive: bool) -> Option<Bound> {
        Some(Bound { user_key: key.as_bytes().to_vec(), is_inclusive })
    }

    fn loss(low: Option<Bound>, high: Option<Bound>) -> Loss {
        let range = LostRange { low, high, bytes: 0..1, blocks: vec![], why: String::new() };
        Loss {
            range,
            file: 0,
            place: Place::ANY_TABLE,
            filter: None,
            maybe_stale: 0,
            from_obsolete: 0,
            ruled_out: 0,
        }
    }

    #[test]
    fn keys_lie_in_the_ranges_around_them() {
        let all = vec![
            loss(bound("c", false), bound("f", true)),
            loss(None, bound("b", false)),
            loss(bound("c", true), bound("c", true)),
            loss(bound("e", true), None),
        ];
        let mut losses = Losses::new(all, KeyOrder::Bytewise);
        let mut at = |key: &str| losses.at(key.as_bytes()).to_vec();
        assert_eq!(at("a"), [0]);
        assert_eq!(at("b"), [0; 0]);
        assert_eq!(at("c"), [1]);
        assert_eq!(at("d"), [2]);
        assert_eq!(at("e"), [2, 3]);
        assert_eq!(at("f"), [2, 3]);
        assert_eq!(at("g"), [3]);
    }

    /// A filter denies most keys that its blocks did not hold, and no key that they held.
    #[test]
    fn a_filter_over_lost_blocks_proves_what_they_did_not_hold() {
        let policy: SharedPolicy = Arc::new(InternalFilterPolicy::new(BloomFilterPolicy::new(10)));
        let mut builder = FilterBlockBuilder::new(Arc::clone(&policy));
        for (offset, key) in [(0, "first"), (5000, "other")] {
            builder.start_block(offset).unwrap();
            builder.add_key(&[key.as_bytes(), &ANY_TAG].concat());
        }
        let mut loss = loss(None, None);
        loss.filter = Some(FilterBlockReader::new(policy, builder.finish().unwrap()));
        // Without the offset of a block, there is no filter to ask.
        assert!(loss.may_hold(b"absent"));
        loss.range.blocks = vec![0];
        assert!(loss.may_hold(b"first") && !loss.may_hold(b"other") && !loss.may_hold(b"absent"));
        loss.range.blocks.push(5000);
        assert!(loss.may_hold(b"first") && loss.may_hold(b"other") && !loss.may_hold(b"absent"));
        assert_eq!(loss.ruled_out, 3);
    }

    #[test]
    fn a_separator_made_of_no_key_has_no_entries_before_it() {
        let key = |tag: u64| [b"k", &tag.to_le_bytes()[..]].concat();
        assert_eq!(Bound::up_to(&key(SEEK_TAG)), bound("k", false));
        assert_eq!(Bound::up_to(&key(7 << 8 | 1)), bound("k", true));
        assert_eq!(Bound::behind(&key(7 << 8 | 1)), bound("k", false));
        assert_eq!(Bound::up_to(b"short"), None);
    }

    #[test]
    fn newer_places_come_first() {
        let places = [
            Place::LOGS,
            Place::of_table(0, 9),
            Place::of_table(0, 5),
            Place::of_table(1, 3),
            Place::of_table(2, 99),
        ];
        assert!(places.is_sorted() && places[3] == Place::of_table(1, 7));
    }
}
