//! The order of a table's keys.

use std::cmp::Ordering;

use crate::Result;
use crate::key::comparator::{Comparator, SharedComparator};
use crate::table::block::{Block, INTERNAL, Position, Restarts};

/// The order of the stored keys. The usual ones are known here, so that they are compared without
/// calls.
pub(in crate::table) enum KeyOrder {
    Bytewise,
    /// Internal keys, whose user keys are in bytewise order.
    Internal,
    Other(SharedComparator),
}

impl KeyOrder {
    #[inline]
    pub(in crate::table) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Bytewise => a.cmp(b),
            Self::Internal => INTERNAL.compare(a, b),
            Self::Other(order) => order.compare(a, b),
        }
    }

    /// Moves `at` to the first entry of `block` whose key is at or after `target`. Returns false if
    /// there is none.
    #[inline]
    pub(in crate::table) fn seek(
        &self,
        at: &mut Position,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
    ) -> Result<bool> {
        match self {
            Self::Bytewise => at.seek_bytewise(block, target),
            Self::Internal => at.seek_internal(block, target),
            Self::Other(order) => at.seek(block, target, &**order),
        }
    }

    /// The restarts from which [`seek_from`](Self::seek_from) goes on, for several keys.
    pub(in crate::table) fn restarts(&self, block: &Block, targets: &[&[u8]]) -> Restarts {
        match self {
            Self::Bytewise => block.restarts_bytewise(targets),
            Self::Internal => block.restarts_internal(targets),
            Self::Other(order) => block.restarts(targets, &**order),
        }
    }

    /// The restart from which [`seek_from`](Self::seek_from) goes on. The entries from there are
    /// prefetched.
    #[inline]
    pub(in crate::table) fn restart_of(
        &self,
        block: &Block<impl AsRef<[u8]>>,
        target: &[u8],
    ) -> Result<usize> {
        match self {
            Self::Bytewise => block.restart_of_bytewise(target),
            Self::Internal => block.restart_of_internal(target),
            Self::Other(order) => block.restart_of(target, &**order),
        }
    }

    /// As [`seek`](Self::seek), from the restart found.
    #[inline]
    pub(in crate::table) fn seek_from(
        &self,
        at: &mut Position,
        block: &Block<impl AsRef<[u8]>>,
        restart: usize,
        target: &[u8],
    ) -> Result<bool> {
        match self {
            Self::Bytewise => at.seek_bytewise_from(block, restart, target),
            Self::Internal => at.seek_from(block, restart, target, &INTERNAL),
            Self::Other(order) => at.seek_from(block, restart, target, &**order),
        }
    }
}
