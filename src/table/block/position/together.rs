//! Seeking several keys together, so that their cache misses overlap.

use std::hint::select_unpredictable;

use super::Position;
use super::seek::{Found, INTERNAL, middle};
use crate::Result;
use crate::key::comparator::Comparator;
use crate::key::parts::TAG_LEN;
use crate::table::block::Block;
use crate::table::block::prefix::LongStart;

/// The greatest number of keys looked up together. The cache lines that they need fit even in the
/// smallest caches.
pub(in crate::table) const TOGETHER: usize = 32;
/// The first steps of all searches of a block read the same few restarts, fewer than this number. These
/// restarts are assumed to be in the cache.
const CACHED_STEPS: usize = 1 << 9;

/// For each of several keys, the restart at which a seek begins. `None` if the block has no entries, or is
/// damaged where the search has read it.
pub(in crate::table) type Restarts = [Option<usize>; TOGETHER];

/// A key that is looked up between two restarts.
#[derive(Clone, Copy)]
struct Sought<'k> {
    key: &'k [u8],
    start: LongStart,
    left: usize,
    /// The last restart of the range, or less than `left` if the block is damaged where the search has read it.
    right: usize,
}

impl<B: AsRef<[u8]>> Block<B> {
    /// Finds the restarts at which seeks for `keys` begin. There may be at most [`TOGETHER`] keys.
    pub(in crate::table) fn restarts<C>(&self, keys: &[&[u8]], comparator: &C) -> Restarts
    where
        C: Comparator + ?Sized,
    {
        self.search(keys, LongStart::of, |restart, sought| {
            let found = self.any_restart_key(restart)?;
            Ok(comparator.compare(self.bytes(found), sought.key).is_lt())
        })
    }

    /// Like [`restarts`](Self::restarts), but for keys in bytewise order.
    pub(in crate::table) fn restarts_bytewise(&self, keys: &[&[u8]]) -> Restarts {
        self.restarts_by_starts::<0>(keys, |found, key| found < key)
    }

    /// Like [`restarts`](Self::restarts), but for internal keys whose user keys are in bytewise order.
    pub(in crate::table) fn restarts_internal(&self, keys: &[&[u8]]) -> Restarts {
        if keys.iter().any(|key| key.len() < TAG_LEN) {
            return self.restarts(keys, &INTERNAL);
        }
        self.restarts_by_starts::<TAG_LEN>(keys, |found, key| INTERNAL.compare(found, key).is_lt())
    }

    #[inline(always)]
    fn restarts_by_starts<const SUFFIX: usize>(
        &self,
        keys: &[&[u8]],
        is_before: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Restarts {
        let probes = self.probes();
        let start =
            |key: &[u8]| LongStart::of(key.get(..key.len().saturating_sub(SUFFIX)).unwrap_or_default());
        self.search(keys, start, |restart, sought| {
            Ok(match probes.is_before::<SUFFIX>(restart, sought.start) {
                Some(before) => before,
                None => is_before(self.bytes(self.any_restart_key(restart)?), sought.key),
            })
        })
    }

    /// Searches for all keys: each step is done for all of them before the next step.
    #[inline(always)]
    fn search(
        &self,
        keys: &[&[u8]],
        start: impl Fn(&[u8]) -> LongStart,
        is_before: impl Fn(usize, &Sought<'_>) -> Result<bool>,
    ) -> Restarts {
        let mut restarts = [None; TOGETHER];
        let Some(last) = self.num_restarts.checked_sub(1).filter(|_| !self.is_empty()) else {
            return restarts;
        };
        let mut all = [Sought { key: &[], start: LongStart::default(), left: 0, right: last }; TOGETHER];
        for (sought, &key) in all.iter_mut().zip(keys) {
            (sought.key, sought.start) = (key, start(key));
        }
        let sought = all.get_mut(..keys.len()).unwrap_or_default();
        let mut far = last;
        while far > 0 {
            // The first steps for all keys read the same few restarts, and the last steps stay within a cache line,
            // so only what the steps in between read is prefetched.
            let is_far = far < last / CACHED_STEPS && far > 4;
            if is_far {
                self.prefetch_middles(sought);
            }
            for sought in &mut *sought {
                let (left, right) = (sought.left, sought.right);
                if left >= right {
                    continue;
                }
                let middle = middle(left, right);
                let Ok(before) = is_before(middle, sought) else {
                    (sought.left, sought.right) = (1, 0);
                    continue;
                };
                // Both outcomes are equally likely, so a branch would often be mispredicted.
                sought.left = select_unpredictable(before, middle, left);
                sought.right = select_unpredictable(before, right, middle.wrapping_sub(1));
            }
            far /= 2;
        }
        for (restart, sought) in restarts.iter_mut().zip(sought) {
            *restart = (sought.left <= sought.right).then_some(sought.left);
        }
        restarts
    }

    /// Prefetches the bytes that the next step reads: first the restarts, then the entries there.
    fn prefetch_middles(&self, sought: &[Sought<'_>]) {
        let probes = self.probes();
        let middles = || sought.iter().map(|sought| middle(sought.left, sought.right.max(sought.left)));
        middles().for_each(|restart| probes.prefetch(restart));
        middles().for_each(|restart| self.prefetch_restart(restart));
    }

    /// Finds the restart at which a seek for a key begins, and prefetches the entries from there.
    pub(in crate::table) fn restart_of<C>(&self, key: &[u8], comparator: &C) -> Result<usize>
    where
        C: Comparator + ?Sized,
    {
        let mut at = Position::default();
        at.enter(self, |found| comparator.compare(self.bytes(found), key).is_lt())?;
        Ok(self.prefetch_from(&at))
    }

    /// Like [`restart_of`](Self::restart_of), but for keys in bytewise order.
    #[inline]
    pub(in crate::table) fn restart_of_bytewise(&self, key: &[u8]) -> Result<usize> {
        let mut at = Position::default();
        at.enter_by_starts::<0>(self, LongStart::of(key), |found| found < key)?;
        Ok(self.prefetch_from(&at))
    }

    /// Like [`restart_of`](Self::restart_of), but for internal keys whose user keys are in bytewise order.
    pub(in crate::table) fn restart_of_internal(&self, key: &[u8]) -> Result<usize> {
        let Some((user_key, _)) = key.split_last_chunk::<TAG_LEN>() else {
            return self.restart_of(key, &INTERNAL);
        };
        let mut at = Position::default();
        let is_before = |found: &[u8]| INTERNAL.compare(found, key).is_lt();
        at.enter_by_starts::<TAG_LEN>(self, LongStart::of(user_key), is_before)?;
        Ok(self.prefetch_from(&at))
    }

    #[inline(always)]
    fn prefetch_from(&self, at: &Position) -> usize {
        self.prefetch_between(at.next, at.next_restart);
        at.next_restart
    }
}

impl Position {
    /// Does what [`seek`](Self::seek) does, from `restart`, which was found before.
    pub(in crate::table) fn seek_from<C>(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        restart: usize,
        target: &[u8],
        comparator: &C,
    ) -> Result<bool>
    where
        C: Comparator + ?Sized,
    {
        Ok(self.stand_at(block, restart)?
            && self.go_on(block, |key| comparator.compare(key, target).is_ge())?)
    }

    /// Does what [`seek_bytewise`](Self::seek_bytewise) does, from `restart`, which was found before.
    #[inline]
    pub(in crate::table) fn seek_bytewise_from(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        restart: usize,
        target: &[u8],
    ) -> Result<bool> {
        Ok(self.stand_at(block, restart)? && self.leave_bytewise(block, target)?)
    }

    /// Does what [`find_bytewise`](Self::find_bytewise) does, from `restart`, which was found before.
    #[inline]
    pub(in crate::table) fn find_bytewise_from(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        restart: usize,
        target: &[u8],
    ) -> Result<Option<Found>> {
        if !self.stand_at(block, restart)? {
            return Ok(None);
        }
        self.scan_prefetched(block, target)
    }
}
