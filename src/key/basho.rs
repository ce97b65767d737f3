//! The internal keys of Basho's LevelDB (`db/dbformat.h` there).
//!
//! ```text
//! [user key][sequence << 8 | type: fixed64]                     type 0: deletion, 1: value
//! [user key][time: fixed64][sequence << 8 | type: fixed64]      type 2: value and when it was written; 3: and when it expires
//! ```

use std::cmp::Ordering;

use super::comparator::{Comparator, SharedComparator};
use super::internal::split;

/// How long the time is.
const TIME_LEN: usize = 8;

/// The type of values with the time at which they were written.
pub(crate) const TIMED: u8 = 2;

/// The type of values with the time at which they expire: the greatest.
pub(crate) const EXPIRING: u8 = 3;

/// An internal key as user key and tag, or `None` if it is too short for what its type asks for.
#[inline]
pub(crate) fn split_basho(key: &[u8]) -> Option<(&[u8], u64)> {
    let (rest, tag) = split(key)?;
    let is_timed = [TIMED, EXPIRING].contains(&((tag & 0xff) as u8));
    let len = if is_timed { rest.len().checked_sub(TIME_LEN)? } else { rest.len() };
    Some((rest.get(..len)?, tag))
}

/// Basho's internal keys: by user key, then the newest first. What is no internal key comes before all others.
pub(crate) struct BashoKeyComparator {
    user: SharedComparator,
}

impl BashoKeyComparator {
    pub(crate) fn new(user: SharedComparator) -> Self {
        Self { user }
    }
}

impl Comparator for BashoKeyComparator {
    fn name(&self) -> &str {
        "leveldb.InternalKeyComparator"
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match (split_basho(a), split_basho(b)) {
            (Some((a_user, a_tag)), Some((b_user, b_tag))) => {
                self.user.compare(a_user, b_user).then_with(|| b_tag.cmp(&a_tag))
            }
            (None, None) => a.cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{BytewiseComparator, InternalKeyComparator};
    use std::sync::Arc;

    /// Basho changed the order and kept the name.
    #[test]
    fn the_order_bears_leveldbs_name() {
        let order = BashoKeyComparator::new(Arc::new(BytewiseComparator));
        assert_eq!(order.name(), InternalKeyComparator::new(BytewiseComparator).name());
    }

    #[test]
    fn what_is_no_internal_key_comes_first_byte_by_byte() {
        let order = BashoKeyComparator::new(Arc::new(BytewiseComparator));
        let tagged = |user_key: &[u8], kind: u8| [user_key, &[kind, 1, 0, 0, 0, 0, 0, 0]].concat();
        let ascending = [
            b"".to_vec(),
            b"1234567".to_vec(),
            // Too short for a time.
            tagged(b"1234567", TIMED),
            tagged(b"7654321", EXPIRING),
            tagged(b"", 1),
            tagged(b"", 0),
            tagged(b"a87654321", EXPIRING),
            tagged(b"a12345678", TIMED),
            tagged(b"a", 1),
            tagged(b"ab", 1),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(order.compare(a, b), i.cmp(&j), "{a:x?} {b:x?}");
            }
        }
    }
}
