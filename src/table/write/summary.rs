//! Summaries of tables that were written.

use bytes::Bytes;

use crate::{FilterBlockReader, SharedPolicy};

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
