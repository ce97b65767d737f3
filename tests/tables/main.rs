//! Tables: read, written, compressed, damaged, from any source, and what they take.
#![cfg(feature = "table")]

mod compression;
mod corruption;
#[path = "../common/counting.rs"]
mod counting;
mod dialects;
#[path = "../common/encode.rs"]
mod encode;
#[path = "../common/interpreted.rs"]
mod interpreted;
mod large_values;
mod memory;
mod parts;
mod reader;
mod reference;
mod rewriter;
mod round_trip;
mod sources;
#[path = "../common/tables.rs"]
mod tables;
mod threads;
mod writer;
