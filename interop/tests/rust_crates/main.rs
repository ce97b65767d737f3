//! The Rust crates `rusty-leveldb` and `sstable` with our policies, through the adapters of the
//! examples: LevelDB reads what they write.

mod databases;
mod filters;
#[path = "../../examples/rusty_leveldb/adapter.rs"]
mod rusty_leveldb_adapter;
#[path = "../../examples/sstable/adapter.rs"]
mod sstable_adapter;
mod tables;
