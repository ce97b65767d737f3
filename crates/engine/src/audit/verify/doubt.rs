//! Ranges of keys where a lookup may not find the newest version first, by the sequence numbers of tables and logs.

use std::cmp::Ordering;

use super::stretches::Stretch;
use crate::audit::order::KeyOrder;

/// A place in the order of a lookup: the first one is the least.
pub(super) type Place = (u8, u64);

/// User keys, both inclusive.
pub(super) type Range<'a> = (&'a [u8], &'a [u8]);

/// Finds where something may be newer than what a lookup reaches before it. `items`: places, file numbers, stretches.
pub(super) fn doubtful<'a>(mut items: Vec<(Place, u64, &'a Stretch)>, order: KeyOrder) -> Vec<Range<'a>> {
    items.retain(|(.., stretch)| {
        let [first, last] = &stretch.ends;
        order.compare(first, last) != Ordering::Greater
    });
    // At one place, the file with the highest number most likely has the newest versions.
    items.sort_by(|(a, a_number, _), (b, b_number, _)| (a, b_number).cmp(&(b, a_number)));
    // In key order, starts before ends.
    let mut ends = Vec::with_capacity(items.len().saturating_mul(2));
    for (at, (.., stretch)) in items.iter().enumerate() {
        let [first, last] = &stretch.ends;
        ends.extend([(&**first, false, at), (&**last, true, at)]);
    }
    ends.sort_by(|a, b| order.compare(a.0, b.0).then(a.1.cmp(&b.1)));
    let (mut active, mut ranges, mut start) = (Active::new(items.len()), Vec::new(), None);
    for (key, is_end, at) in ends {
        let Some((.., stretch)) = items.get(at) else { continue };
        active.set(at, (!is_end).then_some((stretch.least, stretch.greatest)));
        match (active.is_doubtful(), start) {
            (true, None) => start = Some(key),
            (false, Some(from)) => {
                ranges.push((from, key));
                start = None;
            }
            _ => {}
        }
    }
    ranges
}

/// Joins neighbours until there are at most `most`, but at least one.
pub(super) fn joined(ranges: Vec<Range<'_>>, most: usize) -> Vec<Range<'_>> {
    let size = ranges.len().div_ceil(most.max(1)).max(1);
    let joined = ranges.chunks(size).filter_map(|chunk| Some((chunk.first()?.0, chunk.last()?.1)));
    joined.collect()
}

/// The stretches at some key, in the order of a lookup. Each node sums up the two below it.
struct Active {
    nodes: Vec<Node>,
    leaves: usize,
}

#[derive(Clone, Copy)]
struct Node {
    least: u64,
    greatest: u64,
    /// A greater number comes after a lesser one.
    is_doubtful: bool,
}

impl Node {
    const EMPTY: Self = Self { least: u64::MAX, greatest: 0, is_doubtful: false };

    fn of(first: Self, then: Self) -> Self {
        Self {
            least: first.least.min(then.least),
            greatest: first.greatest.max(then.greatest),
            is_doubtful: first.is_doubtful || then.is_doubtful || then.greatest > first.least,
        }
    }
}

impl Active {
    fn new(leaves: usize) -> Self {
        let leaves = leaves.next_power_of_two();
        Self { nodes: vec![Node::EMPTY; leaves.saturating_mul(2)], leaves }
    }

    fn set(&mut self, at: usize, numbers: Option<(u64, u64)>) {
        let leaf =
            numbers.map_or(Node::EMPTY, |(least, greatest)| Node { least, greatest, is_doubtful: false });
        let mut at = at.saturating_add(self.leaves);
        let mut node = leaf;
        while let Some(known) = self.nodes.get_mut(at) {
            *known = node;
            at /= 2;
            if at == 0 {
                break;
            }
            let below = |side: usize| self.nodes.get(at.saturating_mul(2).saturating_add(side)).copied();
            node = Node::of(below(0).unwrap_or(Node::EMPTY), below(1).unwrap_or(Node::EMPTY));
        }
    }

    fn is_doubtful(&self) -> bool {
        self.nodes.get(1).is_some_and(|root| root.is_doubtful)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(first: &str, last: &str, least: u64, greatest: u64) -> Stretch {
        let [mut stretch, end] = [first, last].map(|key| Stretch::new(key.as_bytes(), least));
        stretch.add_unsorted(&end.ends[1], greatest, KeyOrder::Bytewise);
        stretch
    }

    /// The doubtful ranges of stretches, each with its place and the number of its file.
    fn ranges(items: &[(Place, u64, Stretch)]) -> Vec<String> {
        let items = items.iter().map(|(place, number, stretch)| (*place, *number, stretch)).collect();
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        doubtful(items, KeyOrder::Bytewise).iter().map(|(a, b)| format!("{}-{}", text(a), text(b))).collect()
    }

    /// Only where keys overlap and numbers do not rule it out is anything read again.
    #[test]
    fn ranges_are_doubtful_only_where_numbers_contradict_the_order() {
        let (shallow, deep) = ((2, 0), (3, 0));
        let upper = [(shallow, 4, stretch("a", "f", 100, 200)), (shallow, 5, stretch("g", "p", 300, 400))];
        let with = |more: &[(Place, u64, Stretch)]| ranges(&[&upper[..], more].concat());
        assert_eq!(with(&[]), [""; 0]);
        assert_eq!(with(&[(deep, 6, stretch("a", "z", 1, 99))]), [""; 0]);
        assert_eq!(with(&[(deep, 6, stretch("a", "z", 1, 100))]), [""; 0]);
        assert_eq!(with(&[(deep, 6, stretch("a", "z", 1, 101))]), ["a-f"]);
        assert_eq!(with(&[(deep, 6, stretch("c", "h", 1, 500))]), ["c-f", "g-h"]);
        assert_eq!(with(&[(deep, 6, stretch("p", "z", 1, 500))]), ["p-p"]);
        assert_eq!(with(&[(deep, 6, stretch("q", "z", 1, 500))]), [""; 0]);
        // Two tables that each leave no doubt do not make one together, and two ranges that meet are one.
        assert_eq!(
            with(&[(deep, 6, stretch("a", "f", 1, 50)), (deep, 7, stretch("g", "z", 1, 250))]),
            [""; 0]
        );
        let joined = [(deep, 6, stretch("b", "d", 1, 500)), ((4, 0), 7, stretch("d", "e", 1, 500))];
        assert_eq!(with(&joined), ["b-e"]);
    }

    /// Logs and tables at one place come newest first: those of a sound database leave no doubt.
    #[test]
    fn files_at_one_place_come_by_their_numbers() {
        let logs = |older: u64, newer: u64| {
            [((1, 0), 8, stretch("a", "z", newer, newer)), ((1, 0), 6, stretch("a", "z", older, older))]
        };
        assert_eq!(ranges(&logs(1, 2)), [""; 0]);
        assert_eq!(ranges(&logs(2, 1)), ["a-z"]);
    }

    #[test]
    fn ranges_are_joined_to_a_number() {
        let ranges: Vec<Range<'_>> = vec![(b"a", b"b"), (b"c", b"d"), (b"e", b"f")];
        assert_eq!(joined(ranges.clone(), 3), ranges);
        assert_eq!(joined(ranges.clone(), 2), [(&b"a"[..], &b"d"[..]), (b"e", b"f")]);
        for most in [0, 1] {
            assert_eq!(joined(ranges.clone(), most), [(&b"a"[..], &b"f"[..])]);
        }
        assert!(joined(Vec::new(), 5).is_empty());
    }

    /// However many tables there are, each step costs little.
    #[test]
    fn a_hundred_thousand_tables_on_level_0_are_compared_at_once() {
        let items: Vec<_> = (0..100_000)
            .map(|number| ((1, u64::MAX - number), number, stretch("a", "z", number, number)))
            .collect();
        assert_eq!(ranges(&items), [""; 0]);
        let wrong = items.into_iter().map(|(place, number, mut stretch)| {
            (stretch.least, stretch.greatest) = (100_000 - number, 100_000 - number);
            (place, number, stretch)
        });
        assert_eq!(ranges(&wrong.collect::<Vec<_>>()), ["a-z"]);
    }
}
