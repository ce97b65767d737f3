//! The numbers of a table that can be had without reading it all: from index, metaindex and filter
//! block, the trailers of the data blocks, and a few data blocks.

pub mod blocks;
pub mod clusters;
pub mod dialect;
pub mod encoding;
pub mod filter;
pub mod filter_cost;
pub mod filters;
pub mod key_count;
pub mod metaindex;
pub mod offsets;
pub mod ranges;
pub mod sample;
pub mod table;

pub use blocks::Blocks;
pub use clusters::Clusters;
pub use dialect::OLD_NAME;
pub use encoding::encoding_of;
pub use filter::{Filter, State};
pub use filter_cost::USUAL_BITS_PER_KEY;
pub use filters::{FilterStats, Summary};
pub use metaindex::Metaindex;
pub use offsets::Offsets;
pub use ranges::{OFFSET_ENTRY_LEN, Ranges};
pub use sample::Sample;
pub use table::TableStats;
