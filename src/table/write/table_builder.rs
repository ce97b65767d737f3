//! Writing a table (LevelDB's `table/table_builder.cc`).

use std::fmt;
use std::io::Write;
use std::mem;

use bytes::Bytes;

use super::block_writer::BlockWriter;
use super::summary::{FilterBuilder, write_filters};
use super::{FinishError, TableSummary, WriteOptions};
use crate::bytes::coding::varint_len;
use crate::key::comparator::{Comparator, SharedComparator};
use crate::key::parts::TAG_LEN;
use crate::table::block::{BlockBuilder, shared_prefix_len};
use crate::table::format::{BlockHandle, FILTER_PREFIX, Footer, TRAILER_LEN};
use crate::{Error, Result};

/// Writes a table, key by key in ascending order, to any writer.
///
/// Uncompressed, the bytes are those that LevelDB's `TableBuilder` writes. With Snappy, LevelDB
/// reads the table, but its bytes depend on the encoder and may differ.
///
/// ```
/// use filterblock::BloomFilterPolicy;
/// use filterblock::table::{TableBuilder, WriteOptions};
///
/// let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10));
/// let mut table = TableBuilder::new(Vec::new(), options); // or a File
/// table.add(b"apple", b"green")?;
/// table.add(b"pear", b"yellow")?;
/// let (file, summary) = table.finish()?; // a File is yet to be synced
/// assert_eq!(summary.file_size, file.len() as u64);
/// # Ok::<(), filterblock::Error>(())
/// ```
///
/// # The writer
///
/// Each block is handed over in one call of `write`, so a `File` needs no buffer around it unless
/// blocks are very small. Interrupted calls are repeated and partial ones continued.
/// [`finish`](Self::finish) flushes the writer and returns it. Making a file durable
/// (`File::sync_all`, and its folder) is left to the caller.
///
/// # Memory
///
/// A builder holds one data block, the index and the filters, never the whole table:
///
/// - the current data block, and a second buffer to compress it: `block_size` and the largest entry
///   each;
/// - the index: for each data block a key, shortened if the next key allows that, and up to 31
///   bytes;
/// - for each filter policy its filters (at 10 bits per key, 1.25 bytes for each key) and 16 bytes a
///   filter. While [`finish`](Self::finish) writes them, there is a second copy, with 4 bytes for
///   every range of `1 << base_lg` bytes;
/// - for each filter policy the keys of the current range or their hashes, and at most 8 more bytes
///   for each key. With the default range of 2 KiB these are the keys of one data block or a few.
///   Larger ranges have more keys, and with `base_lg` 63 the one range has all keys of the table.
///
/// A growing buffer can have twice the size it needs. Measured for 1 GB of data (16-byte keys,
/// 100-byte values, 10 bits per key): 36 MB with `base_lg` 11, of which the filters take two thirds,
/// 31 MB with 20, and 243 MB with 63.
#[must_use = "a table is complete only once it is finished"]
pub struct TableBuilder<W: Write> {
    state: State,
    out: BlockWriter<W>,
    comparator: SharedComparator,
    /// True if keys are known to be in bytewise order.
    is_bytewise: bool,
    internal_keys: bool,
    block_size: usize,
    restart_interval: u32,
    /// The builders of filters, in ascending order of the policies' names.
    filters: Vec<FilterBuilder>,
    data: BlockBuilder,
    index: BlockBuilder,
    /// The data block just written. Its index entry waits for the next key, so that the entry can
    /// use a short key between the block's last key and the next key.
    pending: Option<BlockHandle>,
    /// Buffers for the key and the handle of an index entry.
    scratch: (Vec<u8>, Vec<u8>),
    num_entries: u64,
    data_blocks: u64,
    smallest_key: Bytes,
}

/// The state of the table.
enum State {
    Ready,
    /// The options are invalid, which is still to be reported.
    Refused(Error),
    /// An error, with this message, left the file incomplete.
    Abandoned(String),
}

impl<W: Write> TableBuilder<W> {
    /// Starts a new table. `writer` has to be at the beginning of its file. This writes nothing yet
    /// and never fails: invalid options are reported by the first [`add`](Self::add),
    /// [`flush`](Self::flush) or [`finish`](Self::finish).
    pub fn new(writer: W, options: WriteOptions) -> Self {
        let (state, filters) = match options.filter_builders() {
            Ok(filters) => (State::Ready, filters),
            Err(error) => (State::Refused(error), Vec::new()),
        };
        // A table with invalid options writes nothing, so any interval will do.
        let restart_interval = options.restart_interval.max(1);
        Self {
            state,
            out: BlockWriter::new(writer, options.compression),
            comparator: options.key_order(),
            is_bytewise: options.in_bytewise_order(),
            internal_keys: options.internal_keys,
            block_size: options.block_size,
            restart_interval,
            filters,
            data: BlockBuilder::new(restart_interval),
            index: BlockBuilder::new(1),
            pending: None,
            scratch: (Vec::new(), Vec::new()),
            num_entries: 0,
            data_blocks: 0,
            smallest_key: Bytes::new(),
        }
    }

    /// Adds an entry. Its key has to come after all keys added before, in the comparator's order.
    ///
    /// # Errors
    ///
    /// After these errors the entry is not added, and the table can go on without it:
    ///
    /// - [`Error::KeyOrder`] if the key does not come after the previous one,
    /// - [`Error::ShortInternalKey`] if the key should be an internal key and has fewer than eight
    ///   bytes,
    /// - [`Error::Limit`] if the entry could make its block longer than 4 GiB.
    ///
    /// After these errors the table is lost, and every further call returns
    /// [`Error::TableAbandoned`]:
    ///
    /// - [`Error::InvalidOption`] if the options were invalid,
    /// - [`Error::Io`] if the writer fails, or takes no bytes,
    /// - any error of a filter policy,
    /// - [`Error::Limit`] if a filter block or the index outgrows its limit.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.check_usable()?;
        let shared = self.check_entry(key, value)?;
        let result = self.add_checked(shared, key, value);
        self.or_abandon(result)
    }

    /// Ends the current data block and writes it, even if it is not full: the next key begins another block
    /// (LevelDB's `TableBuilder::Flush`). Then flushes the writer. This lets a caller lay out entries as it
    /// wants, for example the entries of one prefix in blocks of their own.
    ///
    /// If no entry was added since the last block, this does nothing. Small blocks make a larger index.
    ///
    /// # Errors
    ///
    /// Those of [`add`](Self::add) after which the table is lost.
    pub fn flush(&mut self) -> Result<()> {
        self.check_usable()?;
        if self.data.is_empty() {
            return Ok(());
        }
        let result = self.end_data_block().and_then(|()| self.out.flush());
        self.or_abandon(result)
    }

    /// The number of bytes written so far, without those of the current data block.
    pub fn file_size(&self) -> u64 {
        self.out.offset()
    }

    /// The number of entries added so far.
    pub fn num_entries(&self) -> u64 {
        self.num_entries
    }

    /// Writes the rest of the table: the last data block, filter blocks, metaindex, index and
    /// footer. Then flushes the writer and returns it with a summary. Syncing is left to the
    /// caller.
    ///
    /// # Errors
    ///
    /// Those of [`add`](Self::add) after which the table is lost. The error gives the writer back; `?`
    /// keeps the [`Error`] alone.
    pub fn finish(mut self) -> std::result::Result<(W, TableSummary), FinishError<W>> {
        match self.finish_file() {
            Ok(summary) => Ok((self.out.into_writer(), summary)),
            Err(error) => Err(FinishError { error, writer: self.out.into_writer() }),
        }
    }

    fn finish_file(&mut self) -> Result<TableSummary> {
        self.check_usable()?;
        self.end_data_block()?;
        let data_size = self.out.offset();
        let (metaindex, filters) =
            write_filters(&mut self.out, self.filters.drain(..), self.restart_interval)?;
        if let Some(handle) = self.pending.take() {
            self.add_index_entry(handle, None)?;
        }
        let index = self.out.write_block(&mut self.index)?;
        self.out.finish(&Footer { metaindex, index })?;
        let largest_key = || Bytes::copy_from_slice(self.data.last_key());
        Ok(TableSummary {
            file_size: self.out.offset(),
            num_entries: self.num_entries,
            data_blocks: self.data_blocks,
            data_size,
            index_size: index.size,
            key_range: (self.num_entries > 0).then(|| (self.smallest_key.clone(), largest_key())),
            filters,
        })
    }

    fn or_abandon(&mut self, result: Result<()>) -> Result<()> {
        result.inspect_err(|error| self.state = State::Abandoned(error.to_string()))
    }

    #[inline]
    fn check_usable(&mut self) -> Result<()> {
        if matches!(self.state, State::Ready) { Ok(()) } else { self.refuse() }
    }

    #[cold]
    fn refuse(&mut self) -> Result<()> {
        let shown = match &self.state {
            State::Ready => return Ok(()),
            State::Refused(error) => error.to_string(),
            State::Abandoned(shown) => shown.clone(),
        };
        Err(match mem::replace(&mut self.state, State::Abandoned(shown.clone())) {
            State::Refused(error) => error,
            _ => Error::TableAbandoned { error: shown },
        })
    }

    /// Checks everything that can be wrong with an entry, before anything is changed. Returns the length of the
    /// beginning that its key shares with the previous key.
    #[inline]
    fn check_entry(&self, key: &[u8], value: &[u8]) -> Result<usize> {
        if self.internal_keys && key.len() < TAG_LEN {
            return Err(Error::ShortInternalKey {
                index: self.num_entries,
                expected: TAG_LEN,
                found: key.len(),
            });
        }
        let previous = self.data.last_key();
        let shared = shared_prefix_len(previous, key);
        let is_after = if self.is_bytewise {
            // The first byte that differs decides both the order and the length of the prefix.
            key.get(shared) > previous.get(shared)
        } else {
            self.comparator.compare(key, previous).is_gt()
        };
        if self.num_entries > 0 && !is_after {
            return Err(Error::KeyOrder {
                index: self.num_entries,
                previous: Bytes::copy_from_slice(previous),
                key: Bytes::copy_from_slice(key),
            });
        }
        self.data.check_room(key.len(), value.len(), "data block", self.out.offset())?;
        Ok(shared)
    }

    fn add_checked(&mut self, shared: usize, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(handle) = self.pending.take() {
            self.add_index_entry(handle, Some(key))?;
        }
        for (_, filter) in &mut self.filters {
            filter.add_key(key);
        }
        if self.num_entries == 0 {
            self.smallest_key = Bytes::copy_from_slice(key);
        }
        self.num_entries = self.num_entries.saturating_add(1);
        self.data.add_sharing(shared, key, value);
        if self.data.size_estimate() >= self.block_size {
            self.end_data_block()?;
        }
        Ok(())
    }

    fn end_data_block(&mut self) -> Result<()> {
        if self.data.is_empty() {
            return Ok(());
        }
        self.pending = Some(self.out.write_block(&mut self.data)?);
        self.data_blocks = self.data_blocks.saturating_add(1);
        let offset = self.out.offset();
        self.filters.iter_mut().try_for_each(|(_, filter)| filter.start_block(offset))
    }

    /// Adds the index entry of the data block at `handle`, which ends with the last key added. The
    /// entry's key is a short key at or after that last key and, if there is a next key, before
    /// `next`.
    fn add_index_entry(&mut self, handle: BlockHandle, next: Option<&[u8]>) -> Result<()> {
        let (name, value) = &mut self.scratch;
        let last_key = self.data.last_key();
        name.clear();
        name.extend_from_slice(last_key);
        match next {
            Some(next) => self.comparator.find_shortest_separator(name, next),
            None => self.comparator.find_short_successor(name),
        }
        // A key that the comparator has shortened wrongly is replaced by the full key: that costs
        // space, while the wrong key would hide entries.
        let order = &self.comparator;
        if order.compare(name, last_key).is_lt() || next.is_some_and(|next| order.compare(name, next).is_ge())
        {
            name.clear();
            name.extend_from_slice(last_key);
        }
        value.clear();
        handle.encode(value);
        self.index.check_room(name.len(), value.len(), "index", self.out.offset())?;
        self.index.add(name, value);
        Ok(())
    }
}

impl<W: Write> fmt::Debug for TableBuilder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableBuilder")
            .field("file_size", &self.file_size())
            .field("num_entries", &self.num_entries)
            .field("data_blocks", &self.data_blocks)
            .field("comparator", &self.comparator.name())
            .field("filters", &self.filters)
            .finish()
    }
}

impl<W: Write> TableBuilder<W> {
    /// An upper bound on the size, in bytes, that the file would have if it were finished now. It is for
    /// writers that begin the next table when this one is large enough. Computing the bound takes hardly any
    /// time, and makes no filter.
    ///
    /// Blocks that have been written count with their stored size. The current data block, the metaindex and
    /// the index count uncompressed, and filters as in
    /// [`FilterBlockBuilder::estimated_len`](crate::FilterBlockBuilder::estimated_len). The bound is thus too
    /// high mainly by what compression saves in the current data block and in the index. (A comparator that
    /// makes the keys of the index longer than those of the table can break this bound.)
    ///
    /// `None` if the current range has keys and a policy does not know
    /// [how long](crate::FilterPolicy::filter_len) their filter is.
    pub fn estimated_file_size(&self) -> Option<u64> {
        let last = if self.data.is_empty() { 0 } else { block_size(self.data.size_estimate()) };
        let data_end = self.file_size().saturating_add(last);
        let (mut end, mut metaindex) = (data_end, BlockBuilder::EMPTY_LEN);
        let mut before: Option<&str> = None;
        for (number, (name, filter)) in (0_u32..).zip(&self.filters) {
            let len = filter.estimated_len_at(data_end)?;
            let name_len = FILTER_PREFIX.len().saturating_add(name.len());
            let is_restart = number.is_multiple_of(self.restart_interval);
            let shared = before.filter(|_| !is_restart).map_or(0, |before| {
                FILTER_PREFIX.len().saturating_add(shared_prefix_len(before.as_bytes(), name.as_bytes()))
            });
            let restart = if is_restart && number > 0 { 4 } else { 0 };
            let handle = varint_len(end).saturating_add(varint_len(len));
            metaindex = metaindex.saturating_add(entry_len(shared, name_len, handle)).saturating_add(restart);
            end = end.saturating_add(len).saturating_add(TRAILER_LEN as u64);
            before = Some(name);
        }
        let is_pending = self.pending.is_some() || !self.data.is_empty();
        let handle = varint_len(data_end).saturating_mul(2);
        let pending = if is_pending { entry_len(0, self.data.last_key().len(), handle) } else { 0 };
        // The estimate for an empty index includes the restart of its first entry.
        let restart = if is_pending && !self.index.is_empty() { 4 } else { 0 };
        let index = self.index.size_estimate().saturating_add(pending).saturating_add(restart);
        let ends = block_size(metaindex).saturating_add(block_size(index));
        Some(end.saturating_add(ends).saturating_add(Footer::LEN as u64))
    }
}

/// The size of a block of `len` bytes with its trailer.
fn block_size(len: usize) -> u64 {
    (len as u64).saturating_add(TRAILER_LEN as u64)
}

/// The length of an entry in index or metaindex, without a restart.
fn entry_len(shared: usize, key_len: usize, handle_len: usize) -> usize {
    let rest = key_len.saturating_sub(shared);
    let lens = varint_len(shared as u64).saturating_add(varint_len(rest as u64)).saturating_add(1);
    lens.saturating_add(rest).saturating_add(handle_len)
}
