//! Writes of logs, and entries of damaged or unsorted tables, in sorted runs: the last in memory, the others in
//! temporary files.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use filterblock::KeyFormat;
use filterblock::table::{Compression, Cursor, Table, TableBuilder, WriteOptions};

use super::batch::Operation;
use super::order::KeyOrder;
use super::table::{options, split};
use crate::write::{Output, Scratch};

/// Bytes in memory that are written to a file as a run.
const RUN: usize = 128 << 20;
/// Before each value of a run on disk: the file's index among the members, 1 for a correct checksum or else 0, and the
/// length.
const PREFIX: usize = 9;

pub(super) struct Operations<'o> {
    order: KeyOrder,
    /// On whose file system runs are kept.
    output: &'o dyn Output,
    most: usize,
    /// Of `all`.
    bytes: Vec<u8>,
    all: Vec<Stored>,
    runs: Vec<Table<Box<dyn Scratch>>>,
}

struct Stored {
    key: Range<usize>,
    value: Option<Range<usize>>,
    sequence: u64,
    file: usize,
    is_checksummed: bool,
}

pub(super) struct LogEntry<'a> {
    pub(super) key: &'a [u8],
    pub(super) sequence: u64,
    pub(super) value: Option<&'a [u8]>,
    /// Of a log or a table among the members.
    pub(super) file: usize,
    pub(super) is_checksummed: bool,
}

impl LogEntry<'_> {
    pub(super) fn tag(&self) -> u64 {
        self.sequence << 8 | u64::from(self.value.is_some())
    }
}

impl<'o> Operations<'o> {
    pub(super) const fn new(order: KeyOrder, output: &'o dyn Output) -> Self {
        Self { order, output, most: RUN, bytes: Vec::new(), all: Vec::new(), runs: Vec::new() }
    }

    /// Fails if a run cannot be written.
    pub(super) fn add(
        &mut self,
        operation: Operation<'_>,
        file: usize,
        is_checksummed: bool,
    ) -> io::Result<()> {
        let entries = self.all.len().saturating_mul(size_of::<Stored>());
        if self.bytes.len().saturating_add(entries) > self.most {
            self.write_run()?;
        }
        let mut put = |part: &[u8]| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(part);
            start..self.bytes.len()
        };
        let (key, value) = (put(operation.key), operation.value.map(put));
        self.all.push(Stored { key, value, sequence: operation.sequence, file, is_checksummed });
        Ok(())
    }

    /// Leaves out a key that is not that of a database. Fails as [`add`](Self::add) does.
    pub(super) fn add_entry(
        &mut self,
        (key, value): (&[u8], &[u8]),
        file: usize,
        is_checksummed: bool,
    ) -> io::Result<()> {
        let Some((key, tag)) = split(key) else { return Ok(()) };
        let value = (tag & 0xff != 0).then_some(value);
        self.add(Operation { sequence: tag >> 8, key, value }, file, is_checksummed)
    }

    /// Sorts by key, then from the newest to the oldest. Of one key and sequence number in a file, the last added is
    /// first.
    pub(super) fn sort(&mut self) {
        let Self { order, bytes, all, .. } = self;
        let key = |stored: &Stored| bytes.get(stored.key.clone()).unwrap_or_default();
        all.sort_by(|a, b| {
            order
                .compare(key(a), key(b))
                .then(b.sequence.cmp(&a.sequence))
                .then(b.value.is_some().cmp(&a.value.is_some()))
                .then(b.is_checksummed.cmp(&a.is_checksummed))
                .then(b.file.cmp(&a.file))
                .then(b.key.start.cmp(&a.key.start))
        });
    }

    fn write_run(&mut self) -> io::Result<()> {
        self.sort();
        let write = WriteOptions::default().internal_keys(true).comparator(self.order.comparator());
        let write = write.compression(Compression::None).block_size(64 << 10);
        let mut builder = TableBuilder::new(self.output.scratch()?, write);
        let (mut key, mut value, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(first) = self.get(at) {
            key.clear();
            key.extend_from_slice(first.key);
            key.extend_from_slice(&first.tag().to_le_bytes());
            value.clear();
            let mut files = BTreeSet::new();
            while let Some(entry) = self.get(at).filter(|entry| {
                entry.tag() == first.tag() && self.order.compare(entry.key, first.key).is_eq()
            }) {
                at = at.saturating_add(1);
                // One file may be obsolete and another live. Of one file, only the first is ever used.
                if files.insert(entry.file) {
                    put(&mut value, &entry);
                }
            }
            builder.add(&key, &value).map_err(io::Error::other)?;
        }
        let (file, _) = builder.finish().map_err(|failed| io::Error::other(failed.into_error()))?;
        let read = options().comparator(self.order.comparator()).filter_policies(Vec::new());
        self.runs.push(Table::open(file, &read).map_err(io::Error::other)?);
        self.bytes.clear();
        self.all.clear();
        Ok(())
    }

    /// Reads from memory only.
    pub(super) fn get(&self, at: usize) -> Option<LogEntry<'_>> {
        let &Stored { ref key, ref value, sequence, file, is_checksummed } = self.all.get(at)?;
        let part = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
        Some(LogEntry { key: part(key), sequence, value: value.as_ref().map(part), file, is_checksummed })
    }

    /// Those in files, the last first: of two that are otherwise the same, the later counts.
    pub(super) fn runs(&self) -> impl Iterator<Item = RunCursor<'_>> {
        self.runs.iter().rev().map(|run| RunCursor { cursor: run.cursor(), at: 0 })
    }
}

/// `run`: the value that holds all writes with the same key, sequence number and type.
fn put(run: &mut Vec<u8>, entry: &LogEntry<'_>) {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    let value = entry.value.unwrap_or_default();
    run.extend_from_slice(&number(entry.file));
    run.push(u8::from(entry.is_checksummed));
    run.extend_from_slice(&number(value.len()));
    run.extend_from_slice(value);
}

pub(super) struct RunCursor<'r> {
    cursor: Cursor<'r, Box<dyn Scratch>>,
    /// In the value, which holds all writes with the same key, sequence number and type.
    at: usize,
}

impl RunCursor<'_> {
    /// False at the end.
    pub(super) fn next(&mut self) -> io::Result<bool> {
        if let Some((_, _, end)) = self.parts()
            && end < self.cursor.value().len()
        {
            self.at = end;
            return Ok(true);
        }
        self.at = 0;
        self.cursor.next().map_err(io::Error::other)
    }

    /// File and whether the checksum is correct, value, and where the next write begins. `None`: the bytes end early.
    fn parts(&self) -> Option<((usize, bool), &[u8], usize)> {
        let (&[a, b, c, d, is_checksummed, len @ ..], rest) =
            self.cursor.value().get(self.at..)?.split_first_chunk::<PREFIX>()?;
        let file = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
        let len = usize::try_from(u32::from_le_bytes(len)).ok()?;
        let end = self.at.checked_add(PREFIX)?.checked_add(len)?;
        Some(((file, is_checksummed != 0), rest.get(..len)?, end))
    }

    pub(super) fn entry(&self) -> Option<LogEntry<'_>> {
        let (key, tag) = KeyFormat::LevelDb.split(self.cursor.key())?;
        let ((file, is_checksummed), value, _) = self.parts()?;
        let value = (tag & 0xff != 0).then_some(value);
        Some(LogEntry { key, sequence: tag >> 8, value, file, is_checksummed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::NoOutput;

    #[test]
    fn runs_in_files_hold_what_was_added() {
        let mut operations = Operations { most: 4000, ..Operations::new(KeyOrder::Bytewise, &NoOutput) };
        let key = |number: u64| format!("key{}", number * 7919 % 500).into_bytes();
        for number in 1..1000 {
            let (key, text) = (key(number), number.to_string());
            let value = (!number.is_multiple_of(5)).then_some(text.as_bytes());
            let operation = Operation { sequence: number, key: &key, value };
            operations.add(operation, number as usize % 3, !number.is_multiple_of(11)).unwrap();
        }
        operations.sort();
        assert!(operations.runs.len() > 5, "{}", operations.runs.len());
        let mut found = Vec::new();
        let mut add = |entry: LogEntry<'_>, last: &mut Vec<u8>| {
            let number = entry.sequence;
            assert_eq!((entry.key, entry.file), (&*key(number), number as usize % 3));
            assert_eq!(entry.value.is_some(), !number.is_multiple_of(5));
            assert!(entry.value.is_none_or(|value| value == number.to_string().as_bytes()));
            assert_eq!(entry.is_checksummed, !number.is_multiple_of(11));
            assert!(&**last <= entry.key);
            *last = entry.key.to_vec();
            found.push(number);
        };
        for mut run in operations.runs() {
            let mut last = Vec::new();
            while run.next().unwrap() {
                add(run.entry().unwrap(), &mut last);
            }
        }
        let mut last = Vec::new();
        (0..).map_while(|at| operations.get(at)).for_each(|entry| add(entry, &mut last));
        found.sort_unstable();
        assert_eq!(found, (1..1000).collect::<Vec<_>>());
    }

    /// An operation in several files is kept for each, as it is not known yet which of them is live.
    #[test]
    fn runs_in_files_hold_the_operation_of_each_file() {
        let mut operations = Operations { most: 2000, ..Operations::new(KeyOrder::Bytewise, &NoOutput) };
        for key in [b"one", b"two"] {
            for file in [3, 1, 2, 1] {
                let value = format!("of {file}");
                let operation = Operation { sequence: 7, key, value: Some(value.as_bytes()) };
                operations.add(operation, file, file != 3).unwrap();
            }
        }
        operations.write_run().unwrap();
        let (mut run, mut found) = (operations.runs().next().unwrap(), Vec::new());
        while run.next().unwrap() {
            let entry = run.entry().unwrap();
            assert_eq!((entry.sequence, entry.is_checksummed), (7, entry.file != 3));
            assert_eq!(entry.value, Some(format!("of {}", entry.file).as_bytes()));
            found.push((entry.key.to_vec(), entry.file));
        }
        let of = |key: &[u8]| [2, 1, 3].map(|file| (key.to_vec(), file));
        assert_eq!(found, [of(b"one"), of(b"two")].concat());
    }
}
