//! The sources of a scan as a heap, ordered in the direction in which the scan goes.

use std::cmp::Ordering;

use super::super::opener::Opener;
use super::super::scan_sources::{Source, Way};
use super::Scan;
use crate::Result;

impl<'o, O: Opener + 'o> Scan<'o, O> {
    pub(super) fn order_heap(&mut self) {
        (0..self.heap.len()).rev().for_each(|at| self.sift_down(at));
    }

    /// Moves the source on top to its next entry in the direction of the heap. Returns `false` if the
    /// source has no more entries, or if the heap is empty.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let Some(source) = self.heap.first().and_then(|&at| self.sources.get_mut(at)) else {
            return Ok(false);
        };
        let way = self.way.unwrap_or_default();
        let moved = source.go(way, self.start.as_ref(), &self.tables)?;
        if moved && self.heap.len() > 1 {
            self.sift_down(0);
        }
        Ok(moved)
    }

    pub(super) fn pop(&mut self) {
        if !self.heap.is_empty() {
            self.heap.swap_remove(0);
            self.sift_down(0);
        }
    }

    /// Sinks the entry at `at`. The second child is compared with the first only if the first comes before
    /// the entry, else with the entry itself. Long keys that wait in the heap are thus not compared again for
    /// each short key that passes them.
    fn sift_down(&mut self, mut at: usize) {
        loop {
            let child = at.saturating_mul(2).saturating_add(1);
            let sibling = child.saturating_add(1);
            let first = if self.is_before(child, at) { child } else { at };
            let first = if self.is_before(sibling, first) { sibling } else { first };
            if first == at {
                return;
            }
            self.heap.swap(at, first);
            at = first;
        }
    }

    /// Returns `true` if the entry at index `a` of the heap comes before the one at `b`, and `false` if
    /// either index is beyond the heap.
    fn is_before(&self, a: usize, b: usize) -> bool {
        let (Some(&a), Some(&b)) = (self.heap.get(a), self.heap.get(b)) else { return false };
        let key = |at: usize| self.sources.get(at).and_then(Source::key);
        match (key(a), key(b)) {
            (Some((a_key, a_tag)), Some((b_key, b_tag))) => {
                let order = self.order.compare(a_key, b_key).then_with(|| b_tag.cmp(&a_tag));
                self.on_the_way(order.then(a.cmp(&b))).is_lt()
            }
            // Keys that are too short come first, to be reported.
            (a_key, b_key) => a_key.is_some().cmp(&b_key.is_some()).then(a.cmp(&b)).is_lt(),
        }
    }

    /// Returns `order`, reversed if the heap goes back.
    pub(super) fn on_the_way(&self, order: Ordering) -> Ordering {
        if self.way == Some(Way::Back) { order.reverse() } else { order }
    }
}
