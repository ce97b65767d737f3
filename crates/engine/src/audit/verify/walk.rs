//! The walk through a table: its index, and every entry of every data block.

use filterblock::table::{BlockCursor, BlockHandle, ReadAt, Table};
use filterblock::{Error, Structure, quote};

use super::false_negatives::{BATCH_KEYS, Batch, StoredKey};
use super::stretches::TableStretches;
use super::{extents::BlockExtents, false_negatives::FalseNegativeCheck, order::OrderCheck};
use crate::audit::correct::key_orders::{CandidateOrders, KeyBounds};
use crate::audit::correct::{Budget, corrected, patched};
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::lost_keys::LostKeys;
use crate::audit::read_options;
use crate::audit::stats::{KeyCounter, Offsets};
use crate::report::{Checked, Code, Problem};

/// Of names in the metaindex with handles as values: filters, and Basho's counters.
const HANDLE_PREFIXES: [&[u8]; 2] = [b"filter.", b"stats."];

pub(super) struct Walk<'a, 'v, R> {
    table: &'a Table<R>,
    pub(super) order: OrderCheck,
    pub(super) false_negatives: FalseNegativeCheck<'a>,
    /// The first of the possible ones.
    encoding: KeyEncoding,
    /// All keys have to be internal keys.
    is_internal: bool,
    /// Blocks visited so far, if the index may list one twice.
    pub(super) seen: Option<Offsets>,
    /// Of the entries, if wanted.
    pub(super) stretches: Option<TableStretches>,
    pub(super) first_key: Option<Vec<u8>>,
    pub(super) counter: KeyCounter,
    pub(super) extents: BlockExtents,
    /// Of the last data block: its memory is reused.
    cursor: Option<BlockCursor<'a>>,
    batch: Batch,
    budget: Budget,
    /// Damaged blocks searched for a wrong bit.
    tried_bits: u32,
    /// No entry has been missed so far.
    pub(super) complete: bool,
    pub(super) verdict: &'v mut Checked,
}

/// Damaged blocks to search for one wrong bit.
const MAX_TRIED_BITS: u32 = 4;
/// In bytes, to search for one wrong bit.
const MAX_TRIED_BLOCK: usize = 1 << 20;

impl<'a, 'v, R: ReadAt> Walk<'a, 'v, R> {
    /// Checks the order of the keys by `comparator`, and the filters. Other checks can be added.
    pub(super) fn new(
        table: &'a Table<R>,
        comparator: Option<&[u8]>,
        encodings: &[KeyEncoding],
        budget: Budget,
        verdict: &'v mut Checked,
    ) -> Self {
        Self {
            table,
            order: OrderCheck::new(comparator, encodings),
            false_negatives: FalseNegativeCheck::new(table, encodings),
            encoding: encodings.first().copied().unwrap_or(KeyEncoding::Whole),
            is_internal: encodings == [KeyEncoding::Internal],
            seen: None,
            stretches: None,
            first_key: None,
            counter: KeyCounter::of_all(false),
            extents: BlockExtents::default(),
            cursor: None,
            batch: Batch::default(),
            budget,
            tried_bits: 0,
            complete: true,
            verdict,
        }
    }

    pub(super) fn all(&mut self, progress: &dyn Fn(u64)) {
        self.data_blocks(progress);
        self.extents.add(self.table.index_handle());
        if self.table.metaindex().is_some() {
            self.extents.add(self.table.metaindex_handle());
        }
        let metaindex = self.table.metaindex();
        for handle in metaindex.into_iter().flat_map(handles) {
            // A value that is not a handle may happen to look like one.
            if handle.end().is_some_and(|end| end <= self.table.file_size()) {
                self.extents.add(handle);
            }
        }
    }

    fn data_blocks(&mut self, progress: &dyn Fn(u64)) {
        let mut index = self.table.index();
        let mut before: Option<Vec<u8>> = None;
        loop {
            match index.next() {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.damage(&error, None, KeyBounds { after: before.as_deref(), up_to: None });
                    return;
                }
            }
            let bounds = KeyBounds { after: before.as_deref(), up_to: Some(index.key()) };
            match index.handle() {
                Ok(handle) => {
                    if let Err(expected) = self.block(handle, bounds) {
                        self.over_budget(expected, handle.offset, bounds.after);
                        return;
                    }
                    progress(handle.size);
                }
                Err(error) => self.damage(&error, None, bounds),
            }
            self.order.separator(index.key(), self.table.index_handle().offset);
            self.budget.spend(index.key().len() as u64);
            if let Err(expected) = self.budget.check() {
                self.over_budget(expected, self.table.index_handle().offset, Some(index.key()));
                return;
            }
            let before = before.get_or_insert_default();
            before.clear();
            before.extend_from_slice(index.key());
        }
    }

    /// `bounds`: of the block's keys, by the index.
    fn block(&mut self, handle: BlockHandle, bounds: KeyBounds<'_>) -> Result<(), String> {
        if self.seen.as_ref().is_some_and(|seen| seen.contains(handle.offset)) {
            self.complete = false;
            self.verdict.problems.add(Code::RepeatedBlock, || {
                let expected = format!("an index that names the data block at {} once", handle.offset);
                Problem::new(Code::RepeatedBlock, self.table.index_handle().offset, expected, "it again")
            });
            return Ok(());
        }
        // Before the block is read, so that a damaged block that is listed twice is not read again.
        if let Some(seen) = &mut self.seen {
            seen.insert(handle.offset);
        }
        if handle.end().is_some_and(|end| end <= self.table.file_size()) {
            self.budget.allows_reading(handle.size, self.table.file_size())?;
        }
        let entered = match self.cursor.take() {
            Some(mut cursor) => cursor.enter(self.table, handle).map(|()| cursor),
            None => self.table.block_cursor(handle),
        };
        let mut entries = match entered {
            Ok(entries) => entries,
            Err(error) => {
                self.damage(&error, Some(handle), bounds);
                return self.budget.check();
            }
        };
        self.extents.add(handle);
        self.false_negatives.begin_block(handle.offset);
        let within = self.entries(&mut entries, handle.offset, bounds);
        self.cursor = Some(entries);
        within
    }

    fn entries(
        &mut self,
        entries: &mut BlockCursor<'_>,
        offset: u64,
        bounds: KeyBounds<'_>,
    ) -> Result<(), String> {
        let mut within = self.budget.check();
        while within.is_ok() {
            match entries.next() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    within = self.keys(offset);
                    self.damage(&error, None, bounds);
                    return within;
                }
            }
            self.batch.push(entries.key());
            if self.batch.is_full(self.budget.left()) {
                within = self.keys(offset);
            }
        }
        within.and(self.keys(offset))
    }

    fn keys(&mut self, offset: u64) -> Result<(), String> {
        let mut keys = [StoredKey::default(); BATCH_KEYS];
        let keys = self.batch.stored(self.encoding, &mut keys);
        for stored in keys {
            self.counter.add(stored.key, None);
        }
        if self.first_key.is_none() {
            self.first_key = keys.first().map(|stored| stored.key.to_vec());
        }
        self.order.keys(keys, offset);
        self.false_negatives.keys(keys);
        if let Some(stretches) = &mut self.stretches {
            stretches.add(keys, offset);
        }
        if self.is_internal {
            for key in keys.iter().filter(|stored| stored.filtered.is_none()).map(|stored| stored.key) {
                self.verdict.problems.add(Code::ShortKey, || {
                    let expected = "an internal key of at least 8 bytes, or 16 with an expiry";
                    let found = format!("{}, of {} bytes", quote(key), key.len());
                    Problem::new(Code::ShortKey, offset, expected, found)
                });
            }
        }
        self.budget.spend(self.batch.bytes as u64);
        self.batch.clear();
        self.budget.check()
    }

    /// The byte with the only wrong bit in the data block, if any. Reads a few blocks once more.
    fn wrong_bit(&mut self, error: &Error, handle: BlockHandle, bounds: KeyBounds<'_>) -> Option<u64> {
        let is_checksum = matches!(error.without_path(), Error::Corrupt { what: Structure::Checksum, .. });
        let len = usize::try_from(handle.end()?.checked_sub(handle.offset)?).ok()?;
        if !is_checksum || self.tried_bits >= MAX_TRIED_BITS || len > MAX_TRIED_BLOCK {
            return None;
        }
        self.tried_bits += 1;
        let bytes = self.table.source().read_at(handle.offset, len).ok()?;
        let (orders, budget) = (CandidateOrders::known(), &self.budget);
        let (_, at, _) = corrected(&bytes, |right| {
            let entries = patched::entries(&right, &read_options())?;
            orders.ascending(entries, bounds, |entry| {
                let bytes = entry.key().len() as u64;
                (bytes <= budget.left()).then(|| budget.spend(bytes))
            })
        })?;
        handle.offset.checked_add(at as u64)
    }

    /// `block`: a data block that cannot be read.
    fn damage(&mut self, error: &Error, block: Option<BlockHandle>, bounds: KeyBounds<'_>) {
        self.complete = false;
        let bit = block.and_then(|block| self.wrong_bit(error, block, bounds));
        let (mut problem, encoding) = (Problem::of(error).with_wrong_bit(bit), self.shown_encoding());
        // Where the block begins, not where its checksum is.
        let begin = block.filter(|_| problem.code == Code::Checksum).map(|block| block.offset);
        problem.offset = begin.or(problem.offset);
        let lost = || LostKeys::between(bounds.after, bounds.up_to, encoding).filter(|_| bit.is_none());
        self.verdict.problems.add(problem.code, || problem.with_lost(lost()));
    }

    /// Decides which part of a key is shown.
    fn shown_encoding(&self) -> KeyEncoding {
        if self.is_internal { self.encoding } else { KeyEncoding::Whole }
    }

    /// `after`: the last key of the index before the part left out.
    fn over_budget(&mut self, expected: String, offset: u64, after: Option<&[u8]>) {
        self.complete = false;
        let problem = Problem::new(Code::Limit, offset, expected, "more");
        self.verdict.problems.push(problem.with_lost(LostKeys::between(after, None, self.shown_encoding())));
    }
}

/// Reads the metaindex as far as it can be read.
fn handles(mut metaindex: BlockCursor<'_>) -> impl Iterator<Item = BlockHandle> {
    std::iter::from_fn(move || {
        while let Ok(true) = metaindex.next() {
            if HANDLE_PREFIXES.iter().any(|prefix| metaindex.key().starts_with(prefix))
                && let Ok(handle) = metaindex.handle()
            {
                return Some(handle);
            }
        }
        None
    })
}
