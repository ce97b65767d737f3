//! A small LSM store: a memtable, tables with filters, lookups over all of them, compaction.
//!
//! `cargo run --release --example lsm` counts the data blocks read by the same lookups with filters
//! and without, and the share of absent keys that filters let pass. Then it looks the same keys up
//! many at once. There is no log and no manifest: the contents of the memtable are lost with the
//! process.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{
    BytewiseComparator, Comparator, FilterMeter, InternalKeyComparator, Lookup, ReadAt, ReadOptions, Table,
    TableBuilder, WriteOptions,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const MEMTABLE_ENTRIES: usize = 10_000;
const VALUE: u8 = 1;
const KEY_ORDER: InternalKeyComparator = InternalKeyComparator::new(BytewiseComparator);

/// A file that counts its reads.
struct CountedFile {
    file: File,
    reads: Rc<Cell<u64>>,
}

impl ReadAt for CountedFile {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(&self.file)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.reads.set(self.reads.get() + 1);
        ReadAt::read_at(&self.file, offset, len)
    }

    /// Passes the ranges on, so that with the feature `advise` the system reads them ahead for `get_many`.
    fn will_need(&self, ranges: &[Range<u64>]) {
        self.file.will_need(ranges);
    }
}

struct Store {
    dir: PathBuf,
    /// The latest writes, by user key. `None`: deleted.
    memtable: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// The tables, newest first.
    tables: Vec<Table<CountedFile>>,
    reads: Rc<Cell<u64>>,
    filters: FilterMeter,
    next_number: u64,
}

impl Store {
    fn new(dir: &Path) -> Self {
        let reads = Rc::new(Cell::new(0));
        Self {
            dir: dir.to_owned(),
            memtable: BTreeMap::new(),
            tables: Vec::new(),
            reads,
            filters: FilterMeter::default(),
            next_number: 1,
        }
    }

    /// Stores a value, or deletes the key.
    fn put(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) -> Result<()> {
        self.memtable.insert(key, value);
        if self.memtable.len() >= MEMTABLE_ENTRIES { self.flush() } else { Ok(()) }
    }

    /// Looks a key up. Its newest entry decides: the one in the memtable, or else the one in the newest table that
    /// has the key.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some(value) = self.memtable.get(key) {
            return Ok(value.as_ref().map(|value| Bytes::copy_from_slice(value)));
        }
        for table in &self.tables {
            match table.get_at_metered(key, u64::MAX, &self.filters)? {
                Lookup::Value(value) => return Ok(Some(value)),
                Lookup::Absent => {}
                // Deleted, so older tables need not be asked.
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Looks many keys up, each as [`get`](Self::get) does. Every table is asked once, for the keys that no newer
    /// table has.
    fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Bytes>>> {
        let in_memory = keys.iter().map(|key| self.memtable.get(key)?.as_deref().map(Bytes::copy_from_slice));
        let mut values: Vec<_> = in_memory.collect();
        let mut open: Vec<_> = (0..keys.len()).filter(|&at| !self.memtable.contains_key(&keys[at])).collect();
        // Keys in one data block then follow each other, so that most of them share one read of the block.
        open.sort_by_key(|&at| &keys[at]);
        let mut lookups = Vec::new();
        for table in &self.tables {
            let asked: Vec<&[u8]> = open.iter().map(|&at| &keys[at][..]).collect();
            table.get_many_at(&asked, u64::MAX, &mut lookups);
            let mut absent = Vec::new();
            for (at, lookup) in open.into_iter().zip(lookups.drain(..)) {
                match lookup? {
                    Lookup::Value(value) => values[at] = Some(value),
                    Lookup::Absent => absent.push(at),
                    _ => {}
                }
            }
            open = absent;
        }
        Ok(values)
    }

    /// Writes the memtable as a table. The number of the table is the sequence number of its
    /// entries.
    fn flush(&mut self) -> Result<()> {
        let table = self.write_table(|table| {
            self.memtable.iter().try_for_each(|(user_key, value)| {
                let tag = self.next_number << 8 | u64::from(value.is_some());
                let key = [user_key, &tag.to_le_bytes()[..]].concat();
                table.add(&key, value.as_deref().unwrap_or_default())
            })
        })?;
        self.memtable.clear();
        self.tables.insert(0, table);
        self.next_number += 1;
        Ok(())
    }

    /// Merges all tables into one that holds the newest value of each key and no deletions.
    fn compact(&mut self) -> Result<()> {
        let table = self.write_table(|table| {
            let mut cursors = self.tables.iter().map(Table::cursor).collect::<Vec<_>>();
            for cursor in &mut cursors {
                cursor.next()?;
            }
            let mut last_key = None;
            loop {
                cursors.retain(|cursor| cursor.valid());
                // Among equal user keys, the newest entry comes first.
                let least = cursors.iter_mut().min_by(|a, b| KEY_ORDER.compare(a.key(), b.key()));
                let Some(cursor) = least else { return Ok(()) };
                if let Some((user_key, tag)) = cursor.key().split_last_chunk::<8>()
                    && last_key.as_deref() != Some(user_key)
                {
                    if tag[0] == VALUE {
                        table.add(cursor.key(), cursor.value())?;
                    }
                    last_key = Some(user_key.to_vec());
                }
                cursor.next()?;
            }
        })?;
        self.tables = vec![table];
        for number in (1..self.next_number).filter(|&number| self.path(number).exists()) {
            fs::remove_file(self.path(number))?;
        }
        self.next_number += 1;
        Ok(())
    }

    /// Writes the next table and opens it.
    fn write_table(
        &self,
        fill: impl FnOnce(&mut TableBuilder<File>) -> filterblock::Result<()>,
    ) -> Result<Table<CountedFile>> {
        let path = self.path(self.next_number);
        let options = WriteOptions::default().internal_keys(true).filter_policy(BloomFilterPolicy::new(10));
        let mut table = TableBuilder::new(File::create(&path)?, options);
        fill(&mut table)?;
        let (file, _) = table.finish()?;
        file.sync_all()?;
        self.open_table(&path, true)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:06}.ldb"))
    }

    fn open_table(&self, path: &Path, filters: bool) -> Result<Table<CountedFile>> {
        let mut options = ReadOptions::default().internal_keys(true);
        if !filters {
            options = options.filter_policies(Vec::new());
        }
        let source = CountedFile { file: File::open(path)?, reads: Rc::clone(&self.reads) };
        Ok(Table::open(source, &options)?.with_path(path))
    }

    /// Opens all tables again, with their filters or without.
    fn reopen(&mut self, filters: bool) -> Result<()> {
        let paths = (1..self.next_number).rev().map(|number| self.path(number)).filter(|path| path.exists());
        self.tables = paths.map(|path| self.open_table(&path, filters)).collect::<Result<_>>()?;
        Ok(())
    }
}

fn main() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut store = Store::new(dir.path());
    for i in 0..100_000 {
        store.put(key(i), Some(format!("value {i}").into_bytes()))?;
        if i % 5 == 0 {
            store.put(key(i / 2), None)?;
        }
    }
    store.flush()?;
    report("flushed", &mut store)?;
    store.compact()?;
    report("compacted", &mut store)
}

/// Looks keys up, half of which were never stored, with filters and without.
fn report(state: &str, store: &mut Store) -> Result<()> {
    let mut look_up = |filters| -> Result<_> {
        store.reopen(filters)?;
        store.reads.set(0);
        store.filters = FilterMeter::default();
        let answers = (0..20_000).map(|i| store.get(&key(i * 10))).collect::<Result<Vec<_>>>()?;
        Ok((answers, store.reads.get()))
    };
    let (answers, without) = look_up(false)?;
    let (same, with) = look_up(true)?;
    assert!(answers == same, "filters change no answer");
    store.reads.set(0);
    let keys: Vec<_> = (0..20_000).map(|i| key(i * 10)).collect();
    let mut at_once = Vec::new();
    for keys in keys.chunks(256) {
        at_once.extend(store.get_many(keys)?);
    }
    assert!(answers == at_once, "many at once have the same answers");
    let shared = with - store.reads.get();
    let (tables, found) = (store.tables.len(), answers.iter().flatten().count());
    println!("{state}: {tables} tables, {} lookups, {found} keys found", answers.len());
    println!("  data blocks read without filters: {without}, with filters: {with}");
    let filters = &store.filters;
    let rate = 100.0 * filters.false_positive_rate().unwrap_or_default();
    println!("  filters checked {} times, false positives: {rate:.2} % of absent keys", filters.checks());
    println!("  256 keys at once: {shared} data blocks fewer, as neighbours share them");
    println!("  saved: {} ({:.1} %)", without - with, 100.0 * (without - with) as f64 / without as f64);
    Ok(())
}

fn key(i: u64) -> Vec<u8> {
    format!("key{:010}", i.wrapping_mul(0x9e37_79b9) % (1 << 32)).into_bytes()
}
