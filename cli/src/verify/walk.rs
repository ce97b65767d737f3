//! The way through a table: its index, and every entry of every data block.

use bytes::Bytes;
use filterblock::table::{BlockCursor, BlockHandle, Table};
use filterblock::{Error, SharedPolicy};

use super::absent::Absent;
use super::finding::{Code, Finding, key_text};
use super::order::Order;
use super::places::Places;
use super::read_ahead::ReadAhead;
use super::stored::Stored;
use super::verdict::Verdict;
use crate::reading::Reading;
use crate::survey::Offsets;

/// Without a limit of the user's: so many times the file's size, but not less than the second.
const MAX_EXPANSION: u64 = 100;
const MIN_OUTPUT: u64 = 1 << 30;

/// What is left of the bytes that may be decoded of one file.
pub(super) struct Budget {
    limit: u64,
    spent: u64,
}

impl Budget {
    pub(super) fn new(limit: Option<u64>, file_size: u64) -> Self {
        let limit = limit.unwrap_or_else(|| file_size.saturating_mul(MAX_EXPANSION).max(MIN_OUTPUT));
        Self { limit, spent: 0 }
    }

    /// Whether there is enough left for so many bytes more.
    #[inline]
    fn spend(&mut self, bytes: usize) -> bool {
        self.spent = self.spent.saturating_add(bytes as u64);
        self.spent <= self.limit
    }
}

/// The way through index and data blocks.
pub(super) struct Walk<'a, 'v> {
    pub(super) table: &'a Table<ReadAhead>,
    pub(super) order: Order,
    pub(super) stored: Option<Stored<'a>>,
    pub(super) absent: Option<Absent<'a, SharedPolicy, Bytes>>,
    /// The first of the readings: how keys are read to make others from.
    pub(super) reading: Reading,
    pub(super) is_internal: bool,
    pub(super) first_key: Option<Vec<u8>>,
    pub(super) places: Places,
    pub(super) seen: Offsets,
    pub(super) budget: Budget,
    /// Whether all entries of all blocks have been seen.
    pub(super) complete: bool,
    pub(super) verdict: &'v mut Verdict,
}

impl Walk<'_, '_> {
    pub(super) fn all(&mut self, progress: &dyn Fn(u64)) {
        self.places.add(self.table.index_handle());
        if self.table.metaindex().is_some() {
            self.places.add(self.table.metaindex_handle());
        }
        let metaindex = self.table.metaindex();
        for handle in metaindex.into_iter().flat_map(handles) {
            // What has another meaning than a handle may happen to look like one.
            if handle.end().is_some_and(|end| end <= self.table.file_size()) {
                self.places.add(handle);
            }
        }
        let mut index = self.table.index();
        loop {
            match index.next() {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.damage(&error),
            }
            match index.handle() {
                Ok(handle) => {
                    if !self.block(handle) {
                        return;
                    }
                    progress(handle.size);
                }
                Err(error) => self.damage(&error),
            }
            self.order.separator(index.key(), self.table.index_handle().offset);
            if !self.budget.spend(index.key().len()) {
                return self.over_budget(self.table.index_handle().offset);
            }
        }
    }

    /// A data block. False if the budget does not allow for more.
    fn block(&mut self, handle: BlockHandle) -> bool {
        if self.seen.contains(handle.offset) {
            self.complete = false;
            self.verdict.findings.add(Code::RepeatedBlock, || {
                let expected = format!("an index that names the data block at {} once", handle.offset);
                Finding::new(Code::RepeatedBlock, self.table.index_handle().offset, expected, "it again")
            });
            return true;
        }
        let mut entries = match self.table.block_cursor(handle) {
            Ok(entries) => entries,
            Err(error) => {
                self.damage(&error);
                return true;
            }
        };
        self.seen.insert(handle.offset);
        self.places.add(handle);
        let mut within = self.budget.spend(entries.size());
        if let Some(stored) = &mut self.stored {
            stored.begin_block(handle.offset);
        }
        if let Some(absent) = &mut self.absent {
            absent.begin_block(handle.offset);
        }
        while within {
            match entries.next() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.damage(&error);
                    break;
                }
            }
            let key = entries.key();
            within = self.budget.spend(key.len());
            self.entry(key, handle.offset);
        }
        if let Some(stored) = &mut self.stored {
            stored.end_block();
        }
        if let Some(absent) = &mut self.absent {
            absent.end_block();
        }
        if !within {
            self.over_budget(handle.offset);
        }
        within
    }

    #[inline]
    fn entry(&mut self, key: &[u8], offset: u64) {
        self.verdict.keys += 1;
        if self.first_key.is_none() {
            self.first_key = Some(key.to_vec());
        }
        let filtered = self.reading.filtered(key);
        self.order.key(key, filtered, offset);
        if let Some(stored) = &mut self.stored {
            stored.key(key, filtered);
        }
        if let (Some(absent), Some(filtered)) = (&mut self.absent, filtered) {
            absent.key(filtered);
        }
        if filtered.is_none() && self.is_internal {
            self.verdict.findings.add(Code::ShortKey, || {
                let expected = "an internal key of at least 8 bytes, or 16 with an expiry";
                let found = format!("{}, of {} bytes", key_text(key), key.len());
                Finding::new(Code::ShortKey, offset, expected, found)
            });
        }
    }

    fn damage(&mut self, error: &Error) {
        self.complete = false;
        let finding = Finding::of(error);
        self.verdict.findings.add(finding.code, || finding);
    }

    fn over_budget(&mut self, offset: u64) {
        self.complete = false;
        let expected =
            format!("at most {} bytes of blocks and keys to decode (--max-output)", self.budget.limit);
        self.verdict.findings.push(Finding::new(Code::Limit, offset, expected, "more"));
    }
}

/// The handles that the metaindex holds, as far as it can be read.
fn handles(mut metaindex: BlockCursor<'_>) -> impl Iterator<Item = BlockHandle> {
    std::iter::from_fn(move || {
        while let Ok(true) = metaindex.next() {
            if metaindex.key().starts_with(b"filter.")
                && let Ok(handle) = metaindex.handle()
            {
                return Some(handle);
            }
        }
        None
    })
}
