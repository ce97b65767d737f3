//! The numbers of a table that can be had without reading it all: from index, metaindex and filter
//! block, the trailers of the data blocks, and a few data blocks.

pub(crate) mod blocks;
pub(crate) mod clusters;
pub(crate) mod dialect;
pub(crate) mod encoding;
pub(crate) mod filter;
pub(crate) mod filter_cost;
pub(crate) mod filters;
pub(crate) mod key_count;
pub(crate) mod metaindex;
pub(crate) mod offsets;
pub(crate) mod ranges;
pub(crate) mod sample;
pub(crate) mod table;
