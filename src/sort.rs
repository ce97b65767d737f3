//! Sorting and collecting where there are few items. The standard library compiles a sort anew for each type and
//! order, several kilobytes each time. The sort here is compiled once.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts like [`slice::sort_by`]: equal items keep their order. In hot code, `slice::sort_by` is better.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut from: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut from, &mut |a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    // Follows each circle of items that take each other's places. A place that is done takes its own item.
    for start in 0..from.len() {
        let mut to = start;
        while let Some(place) = from.get_mut(to) {
            let next = std::mem::replace(place, to);
            if next == start {
                break;
            }
            items.swap(to, next);
            to = next;
        }
    }
}

fn sort_places(places: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    places.sort_by(|a, b| compare(*a, *b));
}

/// Makes a map of these pairs. Of pairs with the same key, the last counts. `collect` would sort the pairs first, with
/// code of its own for each type.
pub fn map_of<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// Makes a set of these items, as [`map_of`] makes a map.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn order_is_that_of_the_standard_library(keys in proptest::collection::vec(0_u8..20, 0..60)) {
            let items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let (mut found, mut expected) = (items.clone(), items.clone());
            sort_by(&mut found, |(one, _), (other, _)| other.cmp(one));
            expected.sort_by(|(one, _), (other, _)| other.cmp(one));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(map_of(items.clone()), items.into_iter().collect());
        }
    }
}
