//! The Rust crates `rusty-leveldb` and `sstable` with our policies, through the adapters of the
//! examples: LevelDB reads what they write.

mod databases;
#[path = "../../examples/rusty_leveldb/adapter.rs"]
mod rusty_leveldb_adapter;
#[path = "../../examples/sstable/adapter.rs"]
mod sstable_adapter;
mod tables;

use filterblock::table::{ReadOptions, Table};
use filterblock_interop::leveldb::BlockScript;

/// Checks that the filter block of `table` equals the one that LevelDB's own builder makes for the
/// same data blocks. Returns the number of filters.
fn assert_leveldbs(table: &[u8], bits_per_key: u32, internal_keys: bool) -> usize {
    let table = Table::open(table, &ReadOptions::default().internal_keys(internal_keys)).unwrap();
    let tag_len = if internal_keys { 8 } else { 0 };
    let mut script = BlockScript::new();
    script.begin(bits_per_key);
    script.start_block(0);
    for handle in table.data_blocks() {
        let handle = handle.unwrap();
        let mut block = table.block_cursor(handle).unwrap();
        while block.next().unwrap() {
            let key = block.key();
            script.add_key(&key[..key.len() - tag_len]);
        }
        script.start_block(handle.end().unwrap());
    }
    script.finish();
    let filter = table.filter().expect("a filter block under LevelDB's name");
    assert!(filter.contents() == script.build()[0]);
    filter.num_filters()
}
