//! The database that is measured.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use filterblock_interop::leveldb::{Store, StoreFilter, StoreOptions, WriteBatch};
use filterblock_interop::random::Random;

/// The number of bytes that an entry takes in a table besides its value, roughly.
const KEY: u64 = 25;

/// LevelDB's defaults, with filters of ten bits a key.
pub(crate) fn options_with_filters() -> StoreOptions {
    StoreOptions { filter: StoreFilter::BuiltIn(10), ..StoreOptions::default() }
}

/// Returns the key of a number. Keys of even numbers are stored; keys of odd numbers lie between them.
pub(crate) fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    // Multiplication by an odd number gives each number a different place.
    key[..8].copy_from_slice(&(number / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

/// Writes a database without filters, in random order, so that it has several levels. Returns the
/// number of different keys. `value`: bytes of a value, which Snappy halves.
pub(crate) fn write(folder: &Path, bytes: u64, value: usize) -> Result<u64> {
    let mut store = Store::open(folder, &StoreOptions::default())?;
    let mut random = Random::new(1);
    let noise = random.bytes(1 << 20);
    let keys = bytes / (value as u64 / 2 + KEY);
    let mut number = 0;
    while number < keys {
        let mut batch = WriteBatch::new();
        for _ in 0..1000.min(keys - number) {
            let half = &noise[random.index(noise.len() - value / 2)..][..value / 2];
            batch.put(&key(2 * number), &[half, half].concat());
            number += 1;
        }
        store.write(&batch)?;
    }
    drop(store);
    // Opening makes tables of the log, and starts the compactions that are due.
    let mut store = Store::open(folder, &StoreOptions::default())?;
    wait_for_compactions(&store)?;
    // Some keys from the whole range, newer than the others: `CompactRange` rewrites only tables
    // that overlap those of another level.
    let mut batch = WriteBatch::new();
    for number in (0..keys).step_by(1 + keys as usize / 5000) {
        batch.put(&key(2 * number), b"new");
    }
    store.write(&batch)?;
    drop(store);
    // Makes a table of the new keys, and removes tables that the last compaction replaced.
    wait_for_compactions(&Store::open(folder, &StoreOptions::default())?)?;
    drop(Store::open(folder, &StoreOptions::default())?);
    Ok(keys)
}

/// Waits until the tables on all levels stay as they are.
fn wait_for_compactions(store: &Store) -> Result<()> {
    let mut before = None;
    loop {
        std::thread::sleep(std::time::Duration::from_secs(2));
        let now = store.property("leveldb.stats");
        if now == before {
            return Ok(());
        }
        before = now;
    }
}

/// The paths of the tables in a folder.
pub(crate) fn tables(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ldb"));
    paths.sort();
    Ok(paths)
}

/// Copies a database into a new folder.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}
