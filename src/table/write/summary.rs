//! Summaries of tables that were written, the error of a table that could not be finished, and the writing
//! of the filter blocks of a table.

use std::fmt;
use std::io::Write;

use bytes::Bytes;

use super::block_writer::BlockWriter;
use crate::table::block::BlockBuilder;
use crate::table::format::{BlockHandle, FILTER_PREFIX};
use crate::{Error, FilterBlockBuilder, FilterBlockReader, Result, SharedPolicy};

/// A summary of the written table, returned by
/// [`TableBuilder::finish`](crate::table::TableBuilder::finish).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableSummary {
    /// The table's size in bytes.
    pub file_size: u64,
    /// The number of entries.
    pub num_entries: u64,
    /// The number of data blocks.
    pub data_blocks: u64,
    /// The size of all data blocks as stored, in bytes, including their five-byte trailers.
    pub data_size: u64,
    /// The size of the index as stored, in bytes, without its trailer.
    pub index_size: u64,
    /// The first and the last key, or `None` in a table without entries.
    pub key_range: Option<(Bytes, Bytes)>,
    /// The filters of each policy, in ascending order of the policies' names.
    pub filters: Vec<FilterSummary>,
}

/// A summary of the rewritten table, returned by
/// [`Rewriter::finish`](crate::table::Rewriter::finish).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteSummary {
    /// The table's size in bytes.
    pub file_size: u64,
    /// The size of all data blocks as stored, in bytes, including their five-byte trailers.
    pub data_size: u64,
    /// The number of data blocks.
    pub data_blocks: u64,
    /// The number of entries. `None` without filter policies: data blocks are not decoded then.
    pub num_entries: Option<u64>,
    /// The filters of each policy, in ascending order of the policies' names.
    pub filters: Vec<FilterSummary>,
}

/// The filters that one policy made for a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterSummary {
    /// The policy's name, without `filter.`.
    pub policy: String,
    /// The number of filters, including the empty ones.
    pub filters: u64,
    /// The number of empty filters, such as those of ranges in which no data block starts.
    pub empty_filters: u64,
    /// The size of the filter block in bytes, without its trailer.
    pub size: u64,
}

impl FilterSummary {
    pub(in crate::table) fn new(name: String, policy: &SharedPolicy, block: &[u8]) -> Self {
        let reader = FilterBlockReader::new(policy, block);
        let empty = reader.iter().filter(|(_, filter)| matches!(filter, Ok([]))).count();
        Self {
            policy: name,
            filters: reader.num_filters() as u64,
            empty_filters: empty as u64,
            size: block.len() as u64,
        }
    }
}

/// The builder of one policy's filters, with the policy's name.
pub(in crate::table) type FilterBuilder = (String, FilterBlockBuilder<SharedPolicy>);

/// Writes the filter blocks of `filters`, which are in ascending order of the policies' names, then
/// the metaindex. Returns the handle of the metaindex, and a summary of each filter block.
pub(super) fn write_filters<W: Write>(
    out: &mut BlockWriter<W>,
    filters: impl ExactSizeIterator<Item = FilterBuilder>,
    restart_interval: u32,
) -> Result<(BlockHandle, Vec<FilterSummary>)> {
    let mut metaindex = BlockBuilder::new(restart_interval);
    let mut summaries = Vec::with_capacity(filters.len());
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for (name, mut filter) in filters {
        let mut contents = Vec::new();
        filter.finish_into(&mut contents)?;
        let summary = FilterSummary::new(name, filter.policy(), &contents);
        let handle = out.write_raw(&mut contents)?;

        key.clear();
        key.extend_from_slice(FILTER_PREFIX);
        key.extend_from_slice(summary.policy.as_bytes());
        value.clear();
        handle.encode(&mut value);
        metaindex.check_room(key.len(), value.len(), "metaindex", out.offset())?;
        metaindex.add(&key, &value);
        summaries.push(summary);
    }
    Ok((out.write_block(&mut metaindex)?, summaries))
}

/// The error of [`TableBuilder::finish`](crate::table::TableBuilder::finish) and
/// [`Rewriter::finish`](crate::table::Rewriter::finish), with the writer: a file can then be
/// truncated or removed, and a buffer inspected.
///
/// `?` turns it into the [`Error`] alone.
#[must_use]
pub struct FinishError<W> {
    pub(super) error: Error,
    pub(super) writer: W,
}

impl<W> FinishError<W> {
    /// Returns the error.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Returns the error without the writer.
    pub fn into_error(self) -> Error {
        self.error
    }

    /// Returns the writer. Its contents are not a table.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// Returns the error and the writer.
    pub fn into_parts(self) -> (Error, W) {
        (self.error, self.writer)
    }
}

impl<W> From<FinishError<W>> for Error {
    fn from(failed: FinishError<W>) -> Self {
        failed.error
    }
}

impl<W> fmt::Debug for FinishError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<W> fmt::Display for FinishError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<W> std::error::Error for FinishError<W> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
