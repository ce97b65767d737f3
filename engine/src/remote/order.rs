//! The order of results: that of the listing, or that of their arrival.

use std::collections::VecDeque;

/// Results that have been announced, and results that wait to be shown.
///
/// Between two marks, such as the beginning and the end of a folder, results may be shown as they
/// arrive, unless the order is strict. No result passes a mark.
pub(super) struct Order<T> {
    /// Results are shown in the order in which they were announced.
    is_strict: bool,
    slots: VecDeque<Slot<T>>,
    /// The number of the first slot.
    first: u64,
}

enum Slot<T> {
    Awaited,
    Ready { result: T, is_mark: bool },
    Shown,
}

impl<T> Order<T> {
    pub(super) const fn new(is_strict: bool) -> Self {
        Self { is_strict, slots: VecDeque::new(), first: 0 }
    }

    /// The number of results and marks not shown yet, plus the number of results shown before an
    /// earlier result.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Announces a result. Returns its number.
    pub(super) fn announce(&mut self) -> u64 {
        self.push(Slot::Awaited)
    }

    /// Adds a mark, which no other result passes.
    pub(super) fn mark(&mut self, mark: T) {
        self.push(Slot::Ready { result: mark, is_mark: true });
    }

    fn push(&mut self, slot: Slot<T>) -> u64 {
        self.slots.push_back(slot);
        self.first.saturating_add(self.slots.len() as u64).saturating_sub(1)
    }

    /// Stores the result that was announced with this number.
    pub(super) fn put(&mut self, number: u64, result: T) {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(slot) = at.and_then(|at| self.slots.get_mut(at)) {
            *slot = Slot::Ready { result, is_mark: false };
        }
    }

    /// The next result to show, if there is one.
    pub(super) fn next(&mut self) -> Option<T> {
        while let Some(Slot::Shown) = self.slots.front() {
            self.slots.pop_front();
            self.first = self.first.saturating_add(1);
        }
        let is_mark = |slot: &Slot<T>| matches!(slot, Slot::Ready { is_mark: true, .. });
        let passable = if self.is_strict { Some(1) } else { self.slots.iter().position(is_mark) };
        // The first result may be shown even if it is a mark.
        let mut slots = self.slots.iter_mut().take(passable.map_or(usize::MAX, |count| count.max(1)));
        let ready = slots.find(|slot| matches!(slot, Slot::Ready { .. }))?;
        match std::mem::replace(ready, Slot::Shown) {
            Slot::Ready { result, .. } => Some(result),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Announces two results, a mark and two more results, and has the results arrive in the order
    /// `coming`. Returns what is shown after each arrival.
    fn shown(is_strict: bool, coming: [u64; 4]) -> Vec<String> {
        let mut order = Order::new(is_strict);
        let mut numbers = vec![order.announce(), order.announce()];
        order.mark("|".to_owned());
        numbers.extend([order.announce(), order.announce()]);
        let mut show = |number: u64| {
            order.put(numbers[number as usize], number.to_string());
            std::iter::from_fn(|| order.next()).collect()
        };
        let shown = coming.map(&mut show).to_vec();
        assert_eq!(order.len(), 0);
        shown
    }

    #[test]
    fn no_result_passes_a_mark() {
        assert_eq!(shown(false, [1, 0, 3, 2]), ["1", "0|", "3", "2"]);
        assert_eq!(shown(false, [3, 1, 2, 0]), ["", "1", "", "0|23"]);
        assert_eq!(shown(true, [1, 0, 3, 2]), ["", "01|", "", "23"]);
        assert_eq!(shown(true, [3, 2, 1, 0]), ["", "", "", "01|23"]);
    }
}
