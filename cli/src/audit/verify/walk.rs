//! The way through a table: its index, and every entry of every data block.

use bytes::Bytes;
use filterblock::table::{BlockCursor, BlockHandle, Table};
use filterblock::{Error, SharedPolicy, quote};

use super::batch::{BATCH, Batch, Entry};
use super::budget::{Budget, Exceeded};
use super::denials::Stored;
use super::extents::Places;
use super::finding::{Code, Finding};
use super::fpr_sampler::Absent;
use super::order::Order;
use super::verdict::Verdict;
use crate::audit::key_encoding::Reading;
use crate::audit::stats::Offsets;
use crate::io::read_ahead::ReadAhead;

/// What names in the metaindex begin with whose values are handles: of filters, and of Basho's counters.
const HANDLES: [&[u8]; 2] = [b"filter.", b"stats."];

/// The way through index and data blocks.
pub(crate) struct Walk<'a, 'v> {
    pub(crate) table: &'a Table<ReadAhead>,
    pub(crate) order: Order,
    pub(crate) stored: Option<Stored<'a>>,
    pub(crate) absent: Option<Absent<'a, SharedPolicy, Bytes>>,
    /// The first of the readings: how keys are read to make others from.
    pub(crate) reading: Reading,
    pub(crate) is_internal: bool,
    pub(crate) first_key: Option<Vec<u8>>,
    pub(crate) places: Places,
    /// The data blocks gone through, where the index may name one twice.
    pub(crate) seen: Option<Offsets>,
    /// What went through the data block before. Its memory serves again.
    pub(crate) cursor: Option<BlockCursor<'a>>,
    pub(crate) batch: Batch,
    pub(crate) budget: Budget,
    /// Whether all entries of all blocks have been seen.
    pub(crate) complete: bool,
    pub(crate) verdict: &'v mut Verdict,
}

impl Walk<'_, '_> {
    pub(crate) fn all(&mut self, progress: &dyn Fn(u64)) {
        self.data_blocks(progress);
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
    }

    fn data_blocks(&mut self, progress: &dyn Fn(u64)) {
        let mut index = self.table.index();
        loop {
            match index.next() {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.damage(&error),
            }
            match index.handle() {
                Ok(handle) => {
                    if let Err(exceeded) = self.block(handle) {
                        return self.over_budget(exceeded, handle.offset);
                    }
                    progress(handle.size);
                }
                Err(error) => self.damage(&error),
            }
            self.order.separator(index.key(), self.table.index_handle().offset);
            self.budget.spend_keys(index.key().len());
            if let Err(exceeded) = self.budget.check() {
                return self.over_budget(exceeded, self.table.index_handle().offset);
            }
        }
    }

    /// A data block. Fails where the budget does not allow for more.
    fn block(&mut self, handle: BlockHandle) -> Result<(), Exceeded> {
        if self.seen.as_ref().is_some_and(|seen| seen.contains(handle.offset)) {
            self.complete = false;
            self.verdict.findings.add(Code::RepeatedBlock, || {
                let expected = format!("an index that names the data block at {} once", handle.offset);
                Finding::new(Code::RepeatedBlock, self.table.index_handle().offset, expected, "it again")
            });
            return Ok(());
        }
        // Before it is read: what is damaged is not looked at twice either.
        if let Some(seen) = &mut self.seen {
            seen.insert(handle.offset);
        }
        if handle.end().is_some_and(|end| end <= self.table.file_size()) {
            self.budget.allows_reading(handle.size)?;
        }
        let entries = match self.cursor.take() {
            Some(mut cursor) => cursor.enter(self.table, handle).map(|()| cursor),
            None => self.table.block_cursor(handle),
        };
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                self.damage(&error);
                return self.budget.check();
            }
        };
        self.places.add(handle);
        let mut within = self.budget.check();
        if let Some(stored) = &mut self.stored {
            stored.begin_block(handle.offset);
        }
        if let Some(absent) = &mut self.absent {
            absent.begin_block(handle.offset);
        }
        let mut result = Ok(());
        while within.is_ok() {
            match entries.next() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
            self.batch.push(entries.key());
            if self.batch.is_full(self.budget.left()) {
                within = self.keys(handle.offset);
            }
        }
        within = within.and(self.keys(handle.offset));
        self.cursor = Some(entries);
        if let Err(error) = result {
            self.damage(&error);
        }
        if let Some(stored) = &mut self.stored {
            stored.end_block();
        }
        if let Some(absent) = &mut self.absent {
            absent.end_block();
        }
        within
    }

    /// Looks at the keys that have been collected, of the data block at `offset`. Fails where the budget does not allow
    /// for more.
    fn keys(&mut self, offset: u64) -> Result<(), Exceeded> {
        let reading = self.reading;
        let mut entries = [Entry::default(); BATCH];
        debug_assert!(self.batch.keys.len() <= BATCH, "no key is left out");
        for (entry, key) in entries.iter_mut().zip(self.batch.keys.as_keys().iter()) {
            *entry = Entry { key, filtered: reading.filtered(key) };
        }
        let entries = entries.get(..self.batch.keys.len()).unwrap_or_default();
        self.verdict.keys += entries.len() as u64;
        if self.first_key.is_none() {
            self.first_key = entries.first().map(|entry| entry.key.to_vec());
        }
        self.order.keys(entries, offset);
        if let Some(stored) = &mut self.stored {
            stored.keys(entries);
        }
        if let Some(absent) = self.absent.as_mut().filter(|absent| absent.is_listening()) {
            entries.iter().filter_map(|entry| entry.filtered).for_each(|key| absent.key(key));
        }
        if self.is_internal {
            for Entry { key, .. } in entries.iter().filter(|entry| entry.filtered.is_none()) {
                self.verdict.findings.add(Code::ShortKey, || {
                    let expected = "an internal key of at least 8 bytes, or 16 with an expiry";
                    let found = format!("{}, of {} bytes", quote(key), key.len());
                    Finding::new(Code::ShortKey, offset, expected, found)
                });
            }
        }
        self.budget.spend_keys(self.batch.bytes);
        self.batch.clear();
        self.budget.check()
    }

    fn damage(&mut self, error: &Error) {
        self.complete = false;
        let finding = Finding::of(error);
        self.verdict.findings.add(finding.code, || finding);
    }

    fn over_budget(&mut self, exceeded: Exceeded, offset: u64) {
        self.complete = false;
        self.verdict.findings.push(Finding::new(Code::Limit, offset, exceeded.expected(), "more"));
    }
}

/// The handles that the metaindex holds, as far as it can be read.
fn handles(mut metaindex: BlockCursor<'_>) -> impl Iterator<Item = BlockHandle> {
    std::iter::from_fn(move || {
        while let Ok(true) = metaindex.next() {
            if HANDLES.iter().any(|prefix| metaindex.key().starts_with(prefix))
                && let Ok(handle) = metaindex.handle()
            {
                return Some(handle);
            }
        }
        None
    })
}
