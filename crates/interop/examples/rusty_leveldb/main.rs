//! A database of the crate `rusty-leveldb` with filters of `filterblock`.
//!
//! ```text
//! cargo run -p filterblock-interop --example rusty_leveldb
//! ```

mod adapter;

use std::rc::Rc;
use std::sync::Arc;

use filterblock::BloomFilterPolicy;
use filterblock_interop::counting::CountingPolicy;
use rusty_leveldb::{DB, Options};

fn main() -> anyhow::Result<()> {
    let counting = Arc::new(CountingPolicy::new(BloomFilterPolicy::new(10)));
    let options = Options {
        filter_policy: Rc::new(Box::new(adapter::Policy::new(counting.clone()))),
        ..Options::default()
    };
    let folder = tempfile::tempdir()?;
    let mut database = DB::open(folder.path(), options)?;
    for number in 0..10_000 {
        database.put(format!("key{number:05}").as_bytes(), b"value")?;
    }
    // Only tables have filters, so the memtable is written to one.
    database.compact_range(b"key00000", b"key99999")?;

    let found = (0..10_000).filter(|number| database.get(format!("key{number:05}").as_bytes()).is_some());
    println!("{} of 10000 keys found", found.count());
    let absent = (0..10_000).filter(|number| database.get(format!("key{number:05}x").as_bytes()).is_none());
    println!("{} of 10000 absent keys not found, {} of them by filters", absent.count(), counting.denied());
    Ok(())
}
