//! Sources of a table's bytes.

mod fetched_ranges;
mod read_at;

pub use fetched_ranges::FetchedRanges;
pub use read_at::ReadAt;
pub(in crate::table) use read_at::beyond_end;
pub(crate) use read_at::{open_file, try_open};
