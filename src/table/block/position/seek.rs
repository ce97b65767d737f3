//! Seeking within a block (`Iter::Seek` of LevelDB's `table/block.cc`).

use std::cmp::Ordering;
use std::hint::select_unpredictable;
use std::ops::Range;

use super::{Position, State};
use crate::Result;
use crate::key::comparator::{BytewiseComparator, Comparator};
use crate::key::internal_comparator::InternalKeyComparator;
use crate::key::parts::TAG_LEN;
use crate::table::block::Block;
use crate::table::block::contents::Entry;
use crate::table::block::prefix::{LongStart, Start, shared_prefix_len};

pub(in crate::table) const INTERNAL: InternalKeyComparator = InternalKeyComparator::new(BytewiseComparator);

/// The first steps of all searches of a block read the same few restarts, fewer than this number. These restarts are
/// assumed to be in the cache.
pub(super) const CACHED_STEPS: usize = 1 << 6;

/// The key of an entry found bytewise: the first `shared` bytes of the target, then the bytes
/// in the range `rest` of the block.
pub(in crate::table) struct Found {
    shared: usize,
    rest: Range<usize>,
    /// True if the key is the target itself.
    pub(in crate::table) is_equal: bool,
}

impl Position {
    /// Moves to the first entry whose key is at or after `target`. Returns false if there is none.
    pub(in crate::table) fn seek<C>(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
        comparator: &C,
    ) -> Result<bool>
    where
        C: Comparator + ?Sized,
    {
        block.prefetch_restarts();
        if !self.enter(block, |key| comparator.compare(block.bytes(key), target).is_lt())? {
            return Ok(false);
        }
        self.go_on(block, |key| comparator.compare(key, target).is_ge())
    }

    /// Like [`seek`](Self::seek), but for internal keys whose user keys are in bytewise order.
    pub(in crate::table) fn seek_internal(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
    ) -> Result<bool> {
        let Some((user_key, _)) = target.split_last_chunk::<TAG_LEN>() else {
            return self.seek(block, target, &INTERNAL);
        };
        block.prefetch_restarts();
        let is_before = |key: &[u8]| INTERNAL.compare(key, target).is_lt();
        if !self.enter_by_starts::<TAG_LEN>(block, LongStart::of(user_key), is_before)? {
            return Ok(false);
        }
        self.go_on(block, |key| !is_before(key))
    }

    /// Goes on from a restart to the first entry whose key `is_sought` accepts. Returns false if there is no such
    /// entry.
    #[inline(always)]
    pub(super) fn go_on(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        is_sought: impl Fn(&[u8]) -> bool,
    ) -> Result<bool> {
        if self.pass_known(block) {
            return Ok(true);
        }
        block.prefetch_between(self.next, self.next_restart);
        self.state = State::Start;
        while self.next(block)? {
            if is_sought(self.key(block)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Like [`seek`](Self::seek), but for keys in bytewise order, which need not be put together to
    /// be compared.
    pub(in crate::table) fn seek_bytewise(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
    ) -> Result<bool> {
        if !self.enter_bytewise(block, target)? {
            return Ok(false);
        }
        self.leave_bytewise(block, target)
    }

    /// Goes on from a restart to the first entry at or after `target`. Returns false if there is no such entry.
    #[inline(always)]
    pub(super) fn leave_bytewise(&mut self, block: &Block<impl AsRef<[u8]>>, target: &[u8]) -> Result<bool> {
        if self.pass_known(block) {
            return Ok(true);
        }
        self.go_on_bytewise(block, target)
    }

    #[inline(never)]
    fn go_on_bytewise(&mut self, block: &Block<impl AsRef<[u8]>>, target: &[u8]) -> Result<bool> {
        let Some(Found { shared, rest, .. }) = self.scan_bytewise(block, target)? else { return Ok(false) };
        if shared == 0 {
            self.key = Some(rest);
        } else {
            self.key = None;
            self.copy_into_key(0, target, shared);
            self.append_rest(block, shared, rest);
        }
        self.state = State::Entry;
        Ok(true)
    }

    /// Finds the first entry whose key is at or after `target` in bytewise order, and its value.
    /// The position itself is then at no entry.
    pub(in crate::table) fn find_bytewise(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
    ) -> Result<Option<Found>> {
        if !self.enter_bytewise(block, target)? {
            return Ok(None);
        }
        self.scan_bytewise(block, target)
    }

    #[inline(always)]
    fn enter_bytewise(&mut self, block: &Block<impl AsRef<[u8]>>, target: &[u8]) -> Result<bool> {
        block.prefetch_restarts();
        self.enter_by_starts::<0>(block, LongStart::of(target), |key| key < target)
    }

    /// Does what [`enter`](Self::enter) does, for keys that are in bytewise order without their last `SUFFIX` bytes.
    /// `start` is the start of the target, without that key's last `SUFFIX` bytes. If starts are equal or not
    /// known, `is_before` decides.
    #[inline(always)]
    pub(super) fn enter_by_starts<const SUFFIX: usize>(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        start: LongStart,
        is_before: impl Fn(&[u8]) -> bool,
    ) -> Result<bool> {
        self.state = State::End;
        if block.is_empty() {
            return Ok(false);
        }
        let probes = block.probes();
        let (mut left, mut right) = (0, block.num_restarts.saturating_sub(1));
        let far = block.num_restarts / CACHED_STEPS;
        while left < right {
            let middle = middle(left, right);
            if right.wrapping_sub(left) < far {
                // The next step compares the key at one of these two restarts. Which of them is known only once this
                // step's key has arrived from memory.
                block.prefetch_restart(self::middle(left, middle.wrapping_sub(1)));
                block.prefetch_restart(self::middle(middle, right));
            }
            let before = match probes.is_before::<SUFFIX>(middle, start) {
                Some(before) => before,
                None => is_before(block.bytes(block.any_restart_key(middle)?)),
            };
            // Both outcomes are equally likely, so a branch would often be mispredicted.
            left = select_unpredictable(before, middle, left);
            right = select_unpredictable(before, right, middle.wrapping_sub(1));
        }
        self.stand_before(block, left)?;
        Ok(true)
    }

    /// Moves from a restart to the entry at the next restart, if no other entry is between the two, as in an index: the
    /// search has compared the keys of both, and the second key is not before the target. Otherwise does not move,
    /// and returns false.
    #[inline(always)]
    fn pass_known(&mut self, block: &Block<impl AsRef<[u8]>>) -> bool {
        // The search does not compare the key at the first restart, which may be at or after the
        // target.
        if self.next_restart == 0 {
            return false;
        }
        let Some((right, entry)) = self.known(block) else { return false };
        self.next = entry.value.end;
        self.set_next_restart(block, right.saturating_add(1));
        self.key = Some(entry.key);
        self.value = entry.value;
        self.state = State::Entry;
        true
    }

    /// The next restart and the entry there, if no other entry is between this restart and that one.
    #[inline(always)]
    fn known(&self, block: &Block<impl AsRef<[u8]>>) -> Option<(usize, Entry)> {
        let right = self.next_restart.checked_add(1)?;
        let at = block.restart(right)?;
        let before = block.entry(self.next)?;
        let entry = block.entry(at)?;
        ((before.shared | entry.shared) == 0 && before.value.end == at).then_some((right, entry))
    }

    /// Scans from here, which has to be a restart, for the first entry whose key is at or after
    /// `target`.
    #[inline(always)]
    fn scan_bytewise(&mut self, block: &Block<impl AsRef<[u8]>>, target: &[u8]) -> Result<Option<Found>> {
        block.prefetch_between(self.next, self.next_restart);
        self.scan_prefetched(block, target)
    }

    #[inline(always)]
    pub(super) fn scan_prefetched(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
    ) -> Result<Option<Found>> {
        match self.scan_starts(block, target) {
            Some(found) => Ok(Some(found)),
            None => self.scan_keys(block, target),
        }
    }

    /// Scans by the first eight bytes of keys, which distinguish nearly all keys from `target`. Returns `None`, and
    /// does not move, if `target` has fewer than eight bytes, or if all keys are before it. The same holds if an entry
    /// is damaged or has an unusually long header or key, or if a key would have to be put together to be compared.
    #[inline(always)]
    fn scan_starts(&mut self, block: &Block<impl AsRef<[u8]>>, target: &[u8]) -> Option<Found> {
        let sought = Start::of(target);
        let (_, target_rest) = target.split_first_chunk::<8>()?;
        let max_key = self.max_key.min(block.max_key);
        let (mut restart, mut restart_at) = (self.next_restart, self.next);
        let (mut at, mut start, mut len) = (self.next, Start::default(), 0);
        loop {
            if at >= restart_at {
                if at > restart_at {
                    return None;
                }
                // An entry at a restart shares nothing.
                len = 0;
                restart = restart.checked_add(1)?;
                restart_at = block.restart(restart).unwrap_or(usize::MAX);
            }
            let (Entry { shared, key, value }, rest_start) = block.entry_start(at)?;
            let before = std::mem::replace(&mut len, shared.wrapping_add(key.len()));
            if shared > before || (shared > 0 && len > max_key) {
                return None;
            }
            at = value.end;
            start = start.followed_by(shared, rest_start);
            if start < sought {
                continue;
            }
            let mut is_equal = false;
            if start == sought {
                // The key's bytes after the first eight, unless the entry shares some of these.
                let rest = block.bytes(key.clone()).get(8_usize.checked_sub(shared)?..)?;
                match rest.cmp(target_rest) {
                    Ordering::Less => continue,
                    order => is_equal = order.is_eq(),
                }
            }
            (self.next, self.value) = (at, value);
            (self.next_restart, self.next_restart_at) = (restart, restart_at);
            return Some(Found { shared, rest: key, is_equal });
        }
    }

    /// Finds the entry that [`scan_starts`](Self::scan_starts) looks for, but compares all bytes of the keys. Returns
    /// `None` only if all keys are before `target`.
    fn scan_keys(&mut self, block: &Block<impl AsRef<[u8]>>, target: &[u8]) -> Result<Option<Found>> {
        // The key of the last entry passed is before `target`, and begins with the first `matched`
        // bytes of `target`.
        let (mut matched, mut len) = (0, 0);
        while let Some((shared, rest)) = self.step(block, len)? {
            len = shared.saturating_add(rest.len());
            if shared > matched {
                // The key differs from `target` at the same byte and in the same way as the previous
                // key.
                continue;
            }
            let (key, target) = (block.bytes(rest.clone()), target.get(shared..).unwrap_or_default());
            let common = shared_prefix_len(key, target);
            match (key.get(common), target.get(common)) {
                (Some(byte), Some(sought)) if byte < sought => {}
                (None, Some(_)) => {}
                (byte, sought) => {
                    let is_equal = byte.is_none() && sought.is_none();
                    return Ok(Some(Found { shared, rest, is_equal }));
                }
            }
            matched = shared.saturating_add(common);
        }
        Ok(None)
    }

    /// Moves to just before the entry at the last restart whose key `is_before` accepts or, if there
    /// is no such restart, at the first restart. Returns false if the block has no entries.
    #[inline]
    pub(super) fn enter(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        is_before: impl Fn(Range<usize>) -> bool,
    ) -> Result<bool> {
        self.state = State::End;
        if block.is_empty() {
            return Ok(false);
        }
        let (mut left, mut right) = (0, block.num_restarts.saturating_sub(1));
        while left < right {
            let middle = middle(left, right);
            let before = is_before(block.any_restart_key(middle)?);
            // Both outcomes are equally likely, so a branch would often be mispredicted.
            left = select_unpredictable(before, middle, left);
            right = select_unpredictable(before, right, middle.wrapping_sub(1));
        }
        self.stand_before(block, left)?;
        Ok(true)
    }

    /// Moves to just before the entry at a restart. Returns false if the block has no entries.
    #[inline]
    pub(super) fn stand_at(&mut self, block: &Block<impl AsRef<[u8]>>, restart: usize) -> Result<bool> {
        self.state = State::End;
        if block.is_empty() {
            return Ok(false);
        }
        self.stand_before(block, restart)?;
        Ok(true)
    }

    #[inline]
    pub(super) fn stand_before(&mut self, block: &Block<impl AsRef<[u8]>>, restart: usize) -> Result<()> {
        self.next = block.restart_entry(restart)?;
        self.set_next_restart(block, restart);
        Ok(())
    }
}

/// The restart that LevelDB compares next. If `left < right`, the restart is above `left` and at most
/// `right`, and no operation here wraps.
#[inline(always)]
pub(super) fn middle(left: usize, right: usize) -> usize {
    left.wrapping_add(right.wrapping_sub(left).wrapping_add(1) / 2)
}
