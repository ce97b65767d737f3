//! Blocks: what stands in one, how it is made, and how an entry in it is found.

mod builder;
mod contents;
mod position;
mod trailer;

pub(in crate::table) use builder::BlockBuilder;
pub(in crate::table) use contents::Block;
pub(in crate::table) use position::Position;
pub(in crate::table) use trailer::{split_trailer, trailer};
