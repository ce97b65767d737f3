//! Blocks of entries: building, decoding and searching them.

mod builder;
mod contents;
mod position;
mod prefix;
mod trailer;

pub(in crate::table) use builder::BlockBuilder;
pub use contents::EntryHeader;
pub(in crate::table) use contents::{Block, Contents};
pub(in crate::table) use position::{Back, INTERNAL, Position, Restarts, TOGETHER};
pub(in crate::table) use prefix::shared_prefix_len;
pub(in crate::table) use trailer::{Layout, split_trailer, trailer};
