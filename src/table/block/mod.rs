//! Blocks of entries: building, decoding and searching them.

mod builder;
mod contents;
mod layout;
mod position;
mod prefix;
mod probes;
mod trailer;

pub(in crate::table) use builder::BlockBuilder;
pub(in crate::table) use contents::{Block, Contents};
pub(in crate::table) use layout::Layout;
pub(in crate::table) use position::{Back, INTERNAL, Position, Restarts, TOGETHER};
pub(in crate::table) use prefix::shared_prefix_len;
pub(in crate::table) use trailer::{split_trailer, trailer};
