//! Tables of many entries, or of more than 4 GiB, which LevelDB and we write and read.

use std::cell::RefCell;
use std::fmt;

use anyhow::{Result, ensure};
use filterblock::BloomFilterPolicy;
use filterblock::table::{self, ReadOptions, Table, TableBuilder, WriteOptions};

use crate::leveldb::{self, Compression, Entries, TableOptions};
use crate::sparse::SparseFile;

const BITS_PER_KEY: u32 = 10;
/// Approximate number of keys that are looked up, spread over the table.
const LOOKUPS: u64 = 1000;

/// The counts of a comparison without differences.
#[derive(Debug, Default)]
pub struct Report {
    /// Entries of the table.
    pub entries: u64,
    /// The table's size in bytes.
    pub file_size: u64,
    /// Offset of the table's last data block.
    pub last_block: u64,
    /// Keys looked up in each reader. All stored ones were found.
    pub lookups: u64,
    /// Keys that are not stored and that LevelDB's filter denied.
    pub denied: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "large table: {} entries, written by both, all bytes equal", self.entries)?;
        writeln!(f, "  {} bytes, last data block at {}", self.file_size, self.last_block)?;
        writeln!(f, "  all entries of each read by the other, with checksums")?;
        write!(f, "  {} lookups in each, all alike; LevelDB's filter denied {}", self.lookups, self.denied)
    }
}

/// Compares one table of this many entries with values of this many bytes, at least 8. The values
/// are mostly zeros, so that the table takes little memory.
pub fn run(entries: u64, value_size: usize) -> Result<Report> {
    let shape = Shape { entries, value_size: value_size.max(8), is_compressed: false };
    let ours = shape.write_ours()?;
    let theirs = shape.write_theirs()?;
    ensure!(ours == theirs, "bytes differ");
    shape.read(&ours, &theirs)
}

/// Does the same as [`run`] with a table compressed with Snappy. Our bytes may differ from
/// LevelDB's.
pub fn run_compressed(entries: u64, value_size: usize) -> Result<Report> {
    let shape = Shape { entries, value_size: value_size.max(8), is_compressed: true };
    shape.read(&shape.write_ours()?, &shape.write_theirs()?)
}

struct Shape {
    entries: u64,
    value_size: usize,
    /// True if the table is compressed with Snappy.
    is_compressed: bool,
}

impl Shape {
    /// Has LevelDB read our table, and reads LevelDB's.
    fn read(&self, ours: &SparseFile, theirs: &SparseFile) -> Result<Report> {
        let mut report = Report { entries: self.entries, file_size: ours.size(), ..Report::default() };
        self.read_by_leveldb(ours, &mut report)?;
        self.read_by_us(theirs, &mut report)?;
        Ok(report)
    }

    fn key(number: u64) -> Vec<u8> {
        format!("{number:016}").into_bytes()
    }

    /// A key that is not stored.
    fn absent_key(number: u64) -> Vec<u8> {
        format!("{number:016}x").into_bytes()
    }

    fn value(&self, number: u64) -> Vec<u8> {
        let mut value = number.to_le_bytes().to_vec();
        value.resize(self.value_size, 0);
        value
    }

    fn is_entry(&self, number: u64, key: &[u8], value: &[u8]) -> bool {
        let Some((start, zeros)) = value.split_first_chunk() else { return false };
        key == Self::key(number)
            && u64::from_le_bytes(*start) == number
            && value.len() == self.value_size
            && zeros.iter().all(|&byte| byte == 0)
    }

    /// Returns the numbers of the keys to look up, including the first and the last.
    fn samples(&self) -> impl Iterator<Item = u64> {
        let step = (self.entries / LOOKUPS).max(1) as usize;
        (0..self.entries).step_by(step).chain(self.entries.checked_sub(1))
    }

    fn options(&self) -> TableOptions {
        TableOptions {
            compression: if self.is_compressed { Compression::Snappy } else { Compression::None },
            bits_per_key: Some(BITS_PER_KEY),
            ..TableOptions::default()
        }
    }

    fn write_ours(&self) -> Result<SparseFile> {
        let options = WriteOptions::default()
            .compression(match self.is_compressed {
                true => table::Compression::Snappy,
                false => table::Compression::None,
            })
            .filter_policy(BloomFilterPolicy::new(BITS_PER_KEY));
        let mut builder = TableBuilder::new(SparseFile::new(), options);
        for number in 0..self.entries {
            builder.add(&Self::key(number), &self.value(number))?;
        }
        Ok(builder.finish()?.0)
    }

    fn write_theirs(&self) -> Result<SparseFile> {
        let file = RefCell::new(SparseFile::new());
        let append = |piece: &[u8]| file.borrow_mut().append(piece);
        let mut builder = leveldb::TableBuilder::new(&self.options(), append);
        let mut entries = Entries::new();
        for number in 0..self.entries {
            entries.clear();
            entries.push(&Self::key(number), &self.value(number));
            builder.add(&entries);
        }
        builder.finish()?;
        Ok(file.into_inner())
    }

    fn read_by_leveldb(&self, file: &SparseFile, report: &mut Report) -> Result<()> {
        let table =
            leveldb::Table::open_source(&self.options(), file.size(), |offset, to| file.read(offset, to))?;
        let mut number = 0;
        table.scan(|key, value| {
            let expected = self.is_entry(number, key, value);
            number += u64::from(expected);
            expected
        })?;
        ensure!(number == self.entries, "LevelDB reads entry {number} otherwise");
        for number in self.samples() {
            let found = table.internal_get(&Self::key(number))?;
            let found = found.is_some_and(|(key, value)| self.is_entry(number, &key, &value));
            ensure!(found, "LevelDB finds entry {number} otherwise");
            table.internal_get(&Self::absent_key(number))?;
            report.lookups += 2;
        }
        report.denied = table.filter_counts().1;
        Ok(())
    }

    fn read_by_us(&self, file: &SparseFile, report: &mut Report) -> Result<()> {
        let table = Table::open(file, &ReadOptions::default())?;
        ensure!(table.filter().is_some(), "no filter: {:?}", table.filter_error());
        let mut cursor = table.cursor();
        let mut number = 0;
        while cursor.next()? {
            ensure!(self.is_entry(number, cursor.key(), cursor.value()), "we read entry {number} otherwise");
            report.last_block = cursor.block_handle().map_or(0, |handle| handle.offset);
            number += 1;
        }
        ensure!(number == self.entries, "we read {number} entries");
        let mut denied = 0;
        for number in self.samples() {
            let found = table.get(&Self::key(number))?;
            ensure!(
                found.is_some_and(|value| value == self.value(number)),
                "we find entry {number} otherwise"
            );
            denied += u64::from(!table.may_contain(&Self::absent_key(number))?);
        }
        ensure!(denied == report.denied, "LevelDB denies {} keys, we {denied}", report.denied);
        Ok(())
    }
}
