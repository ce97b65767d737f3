//! The order of a table's keys.

use std::cmp::Ordering;

use crate::Result;
use crate::key::comparator::{Comparator, SharedComparator};
use crate::table::block::{Block, INTERNAL, Position, Restarts};

/// The order of the stored keys. The usual orders are variants of their own, so that comparing
/// takes no dynamic call.
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

    /// The restarts at which [`seek_from`](Self::seek_from) begins, for several keys.
    pub(in crate::table) fn restarts(&self, block: &Block, targets: &[&[u8]]) -> Restarts {
        match self {
            Self::Bytewise => block.restarts_bytewise(targets),
            Self::Internal => block.restarts_internal(targets),
            Self::Other(order) => block.restarts(targets, &**order),
        }
    }

    /// The restart at which [`seek_from`](Self::seek_from) begins. The entries between this restart
    /// and the next are prefetched.
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

    /// Like [`seek`](Self::seek), but from a restart that was found before.
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
