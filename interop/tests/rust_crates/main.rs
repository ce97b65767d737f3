//! The Rust crates `rusty-leveldb` and `sstable` with our policy, by the adapters of the examples: what they write, LevelDB reads.

mod databases;
mod filters;
#[path = "../../examples/rusty_leveldb/adapter.rs"]
mod rusty_leveldb_adapter;
#[path = "../../examples/sstable/adapter.rs"]
mod sstable_adapter;
mod tables;
