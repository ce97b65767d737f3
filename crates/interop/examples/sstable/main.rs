//! A table of the crate `sstable` with filters of `filterblock`.
//!
//! ```text
//! cargo run -p filterblock-interop --example sstable
//! ```

mod adapter;

use std::sync::Arc;

use filterblock::BloomFilterPolicy;
use filterblock_interop::counting::CountingPolicy;
use sstable::{Options, Table, TableBuilder};

fn main() -> anyhow::Result<()> {
    let counting = Arc::new(CountingPolicy::new(BloomFilterPolicy::new(10)));
    let options = Options {
        filter_policy: Arc::new(Box::new(adapter::Policy::new(counting.clone()))),
        ..Options::default()
    };
    let mut file = Vec::new();
    let mut table = TableBuilder::new(options.clone(), &mut file);
    for number in 0..10_000 {
        table.add(format!("key{number:05}").as_bytes(), b"value")?;
    }
    table.finish()?;

    let len = file.len();
    let table = Table::new(options, Box::new(file), len)?;
    let (mut found, mut absent) = (0, 0);
    for number in 0..10_000 {
        found += u32::from(table.get(format!("key{number:05}").as_bytes())?.is_some());
        absent += u32::from(table.get(format!("key{number:05}x").as_bytes())?.is_none());
    }
    println!("{found} of 10000 keys found");
    println!("{absent} of 10000 absent keys not found, {} of them by filters", counting.denied());
    Ok(())
}
