//! Estimates of the size of an unfinished table.

use std::io::Write;

use super::TableBuilder;
use crate::bytes::coding::varint_len;
use crate::table::block::{BlockBuilder, shared_prefix_len};
use crate::table::format::{FILTER_PREFIX, FOOTER_LEN, TRAILER_LEN};

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
        Some(end.saturating_add(ends).saturating_add(FOOTER_LEN as u64))
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
