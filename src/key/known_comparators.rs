//! The comparators whose order is known, found by the names that databases store.

use std::sync::Arc;

use super::comparator::{BytewiseComparator, Comparator as _, SharedComparator};
use super::idb_comparator::IdbComparator;

/// Returns the comparator with this name, if its order is known here: [`BytewiseComparator`] or
/// [`IdbComparator`]. Databases store the name:
/// [`Manifest::comparator`](crate::database::Manifest::comparator).
///
/// ```
/// use filterblock::table::known_comparator;
///
/// assert!(known_comparator(b"idb_cmp1").is_some());
/// assert!(known_comparator(b"rocksdb.ReverseBytewiseComparator").is_none());
/// ```
pub fn known_comparator(name: &[u8]) -> Option<SharedComparator> {
    let known: [SharedComparator; 2] = [Arc::new(BytewiseComparator), Arc::new(IdbComparator)];
    known.into_iter().find(|comparator| comparator.name().as_bytes() == name)
}
