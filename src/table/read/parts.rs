//! The parts of an open table that a cache can hold.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::filters::Filters;
use super::options::ReadOptions;
use crate::table::block::Block;
use crate::table::format::Footer;
use crate::{Error, KeyFormat, Origin};

/// A part of an open table.
///
/// A table owns the parts that it has read itself, since counting references would take a quarter of the time to open
/// it. A cache is given a copy, which shares the bytes of the blocks.
pub(in crate::table) enum Part<T> {
    Own(T),
    Shared(Arc<T>),
}

impl<T> Part<T> {
    /// The part for a cache to hold, copied by `copy` unless it is shared already.
    pub(super) fn share(&self, copy: impl FnOnce(&T) -> T) -> Arc<T> {
        match self {
            Self::Own(part) => Arc::new(copy(part)),
            Self::Shared(part) => Arc::clone(part),
        }
    }

    /// The share of `usage`, the memory that this part keeps, that is outside the table itself.
    pub(super) fn held(&self, usage: usize) -> usize {
        match self {
            Self::Own(_) => usage.saturating_sub(size_of::<T>()),
            Self::Shared(_) => usage,
        }
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Own(part) => part,
            Self::Shared(part) => part,
        }
    }
}

/// The index of an open table, with all that a table needs except its source, its path and its
/// filters: footer, metaindex, file size, and the options that the table was opened with.
///
/// A cache may keep the index after the table has been dropped: see
/// [`Table::index_part`](super::Table::index_part) and [`Table::from_parts`](super::Table::from_parts).
pub struct TableIndex {
    pub(super) file_len: u64,
    pub(super) options: ReadOptions,
    pub(super) footer: Footer,
    pub(super) block: Block,
    /// The metaindex; `None` if the table has none. Also `None` if the metaindex cannot be read: then the filters'
    /// error gives the reason.
    pub(super) metaindex: Option<Block>,
    pub(super) origin: Option<Origin>,
    /// Why the origin is not known, if the metaindex cannot be read.
    pub(super) doubt: Option<Arc<Error>>,
    /// Identifies this opened table within the process.
    pub(super) identity: Identity,
}

impl TableIndex {
    /// The memory that the index keeps, in bytes, including views of the source's own memory.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>().saturating_add(self.blocks_len())
    }

    pub(super) fn key_format(&self) -> KeyFormat {
        let is_bashos = self.origin == Some(Origin::Basho) || self.doubt.is_some();
        if is_bashos { KeyFormat::Basho } else { KeyFormat::LevelDb }
    }

    /// The size of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.file_len
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            options: self.options.clone(),
            block: self.block.clone(),
            metaindex: self.metaindex.clone(),
            doubt: self.doubt.clone(),
            ..*self
        }
    }

    pub(super) fn blocks_len(&self) -> usize {
        self.block.size().saturating_add(self.metaindex.as_ref().map_or(0, Block::size))
    }
}

impl fmt::Debug for TableIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableIndex")
            .field("file_size", &self.file_len)
            .field("index", &self.footer.index)
            .field("metaindex", &self.footer.metaindex)
            .finish_non_exhaustive()
    }
}

/// The filters of an open table, if it has any, or why they are not used.
///
/// A cache may keep them after the table has been dropped: see
/// [`Table::filter_part`](super::Table::filter_part) and [`Table::from_parts`](super::Table::from_parts).
pub struct TableFilter {
    pub(super) filters: Filters,
    /// Equal to the identity of the index that these filters belong to. With the index of another
    /// table, these filters would hide keys that are in that table.
    pub(super) identity: Identity,
}

impl TableFilter {
    /// The memory that the filters keep, in bytes, including views of the source's own memory.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>().saturating_add(self.filters.contents_len())
    }

    pub(super) fn copy(&self) -> Self {
        Self { filters: self.filters.clone(), identity: self.identity }
    }
}

impl fmt::Debug for TableFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFilter")
            .field("filter", &self.filters.reader)
            .field("error", &self.filters.error)
            .finish_non_exhaustive()
    }
}

/// Identifies one opened table within the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64);

impl Identity {
    pub(super) fn new() -> Self {
        /// The number of identities that a thread takes at once, so that threads rarely compete for
        /// `NEXT`.
        const TAKEN: u64 = 1 << 16;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        thread_local! {
            static LEFT: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
        }
        let take = || {
            let first = NEXT.fetch_add(TAKEN, Ordering::Relaxed);
            (first, first.wrapping_add(TAKEN))
        };
        LEFT.with(|left| {
            let (next, end) = left.get();
            let (next, end) = if next == end { take() } else { (next, end) };
            left.set((next.wrapping_add(1), end));
            Self(next)
        })
    }
}
