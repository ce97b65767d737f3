//! Reads a table in an object store: fetches the ranges that are needed, asynchronously, and
//! nothing else.
//!
//!     cargo run --example object_store

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::{fs, io};

use bytes::Bytes;
use filterblock::table::{FetchedRanges, ReadOptions, Table};
use filterblock::{Error, Result};

/// A stand-in for a store that returns ranges of an object, each at the price of a round trip.
struct ObjectStore {
    object: Bytes,
    fetched: Vec<(u64, usize)>,
}

impl ObjectStore {
    fn size(&self) -> u64 {
        self.object.len() as u64
    }

    async fn get_range(&mut self, offset: u64, len: usize) -> Bytes {
        self.fetched.push((offset, len));
        let start = offset as usize;
        self.object.slice(start..start + len)
    }
}

/// Opens the table: one round trip for most tables, three for the largest.
async fn open(store: &mut ObjectStore, options: &ReadOptions) -> Result<Table<FetchedRanges>> {
    let fetched = FetchedRanges::new(store.size(), 0, Bytes::new());
    loop {
        match Table::open(fetched.clone(), options) {
            Err(Error::NeedRange { offset, len }) => {
                fetched.insert(offset, store.get_range(offset, len).await)
            }
            result => return result,
        }
    }
}

/// Looks a key up. Takes one round trip for the unknown parts of the data block, and none if the
/// filter denies the key.
async fn get(store: &mut ObjectStore, table: &Table<FetchedRanges>, key: &[u8]) -> Result<Option<Bytes>> {
    loop {
        match table.get(key) {
            Err(Error::NeedRange { offset, len }) => {
                let bytes = store.get_range(offset, len).await;
                table.source().insert(offset, bytes);
            }
            result => return result,
        }
    }
}

async fn run(mut store: ObjectStore) -> Result<()> {
    let table = open(&mut store, &ReadOptions::default()).await?;
    println!("opened {} bytes with {} round trip(s)", table.file_size(), store.fetched.len());

    for key in ["object-0003", "object-0004", "object-0074", "nothing"] {
        let before = store.fetched.len();
        let value = get(&mut store, &table, key.as_bytes()).await?;
        let found = value.map_or("not there".to_owned(), |value| format!("{} bytes", value.len()));
        println!("{key}: {found}, {} round trip(s)", store.fetched.len() - before);
    }

    // The data blocks can be dropped: the table itself holds its index and filters.
    table.source().clear();
    Ok(())
}

/// Runs a future that never waits. A real program has a runtime for this.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

fn main() -> io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/tables/large-65536-bloom10.ldb");
    let store = ObjectStore { object: fs::read(path)?.into(), fetched: Vec::new() };
    block_on(run(store)).map_err(io::Error::other)
}
