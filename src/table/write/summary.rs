//! What a [`TableBuilder`](crate::table::TableBuilder) has written.

use bytes::Bytes;

use crate::{FilterBlockReader, SharedPolicy};

/// What [`TableBuilder::finish`](crate::table::TableBuilder::finish) has written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableSummary {
    /// The table's size in bytes.
    pub file_size: u64,
    /// How many entries it has.
    pub num_entries: u64,
    /// How many data blocks they are in.
    pub data_blocks: u64,
    /// The size of all data blocks as stored, their trailers of five bytes included.
    pub data_size: u64,
    /// The size of the index as stored, without trailer.
    pub index_size: u64,
    /// The first and the last key; `None` in a table without entries.
    pub key_range: Option<(Bytes, Bytes)>,
    /// Each policy's filters, by the policies' names in ascending order.
    pub filters: Vec<FilterSummary>,
}

/// The filters that one policy made for a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterSummary {
    /// The policy's name, without `filter.`.
    pub policy: String,
    /// How many filters there are, empty ones included.
    pub filters: u64,
    /// How many of them are empty: no data block starts in their range.
    pub empty_filters: u64,
    /// The size of the filter block in bytes, without trailer.
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
