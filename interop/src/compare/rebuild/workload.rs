//! LevelDB goes on with a rebuilt database: writes, deletions, compactions, compared with a model.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::hex;
use crate::leveldb::{Order, Store, StoreOptions, WriteBatch};
use crate::random::Random;

/// Lets LevelDB use the database for this time. `entries`: the entries that the database has.
/// Returns the number of writes.
pub(super) fn run(
    folder: &Path,
    options: &StoreOptions,
    entries: &[(Vec<u8>, Vec<u8>)],
    time: Duration,
    random: &mut Random,
) -> Result<u64> {
    let options = StoreOptions { must_exist: true, write_buffer_size: 64 << 10, ..options.clone() };
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = entries.iter().cloned().collect();
    let mut keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    let (end, mut writes) = (Instant::now() + time, 0);
    let mut store = Store::open(folder, &options)?;
    loop {
        let mut batch = WriteBatch::new();
        for _ in 0..random.between(1, 200) {
            if keys.is_empty() || random.one_in(5) {
                let len = random.between(1, 20) as usize;
                keys.push(random.bytes(len));
            }
            let key = &keys[random.index(keys.len())];
            if random.one_in(3) {
                model.remove(key);
                batch.delete(key);
            } else {
                let len = random.skewed(10) as usize;
                let value = random.bytes(len);
                batch.put(key, &value);
                model.insert(key.clone(), value);
            }
            writes += 1;
        }
        store.write(&batch)?;
        for _ in 0..50 {
            let key = &keys[random.index(keys.len())];
            ensure!(store.get(key)?.as_ref() == model.get(key), "Get of {} after writes", hex(key));
        }
        match random.below(40) {
            0 => store.compact(None),
            1..=3 => {
                let mut ends = [0; 2].map(|_| keys[random.index(keys.len())].clone());
                ends.sort();
                if options.order == Order::Reversed {
                    ends.reverse();
                }
                store.compact(Some((&ends[0], &ends[1])));
            }
            4 => {
                drop(store);
                store = Store::open(folder, &options)?;
            }
            _ => {}
        }
        if Instant::now() >= end {
            break;
        }
    }
    let mut expected: Vec<_> = model.into_iter().collect();
    if options.order == Order::Reversed {
        expected.reverse();
    }
    ensure!(store.entries()? == expected, "after {writes} writes the entries are not those of the model");
    Ok(writes)
}
