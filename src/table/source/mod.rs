//! Sources of a table's bytes.

mod fetched_ranges;
mod open_file;
mod read_at;

pub use fetched_ranges::FetchedRanges;
pub(crate) use open_file::{open_file, try_open};
pub use read_at::ReadAt;
pub(in crate::table) use read_at::beyond_end;
