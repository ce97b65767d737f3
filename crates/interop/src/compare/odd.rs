//! Files that no database writes, but that faults of programs and of memory made: tables out of order or with keys that
//! are none, and two writes of one sequence number.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use filterblock::database::{FileKind, LiveTable, LogReader, LogWriter, Manifest};
use filterblock::table::{Comparator, ReadOptions, Table, TableBuilder, WriteOptions};

use crate::random::Random;

/// The entries of a table, with internal keys.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Lets a table be written in any order.
#[derive(Debug)]
struct AnyOrder;

impl Comparator for AnyOrder {
    fn name(&self) -> &str {
        "any order"
    }

    fn compare(&self, _: &[u8], _: &[u8]) -> Ordering {
        Ordering::Greater
    }
}

/// Exchanges two entries, or moves the last entries of the table to its beginning.
pub(super) fn reorder(entries: &mut Entries, random: &mut Random) {
    if random.one_in(2) {
        let [a, b] = [random.index(entries.len()), random.index(entries.len())];
        entries.swap(a, b);
    } else {
        let count = random.index(entries.len() / 4);
        entries.rotate_right(count);
    }
}

/// Adds an entry whose key is too short, or has an unknown type.
pub(super) fn add_odd_key(entries: &mut Entries, random: &mut Random) {
    let at = 1 + random.index(entries.len() - 2);
    let mut key = entries[at].0.clone();
    match random.one_in(2) {
        true => key.truncate(random.index(8)),
        false => {
            let tag = key.len() - 8;
            key[tag] = 7;
        }
    }
    entries.insert(at, (key, b"odd".to_vec()));
}

/// Writes a table anew after a change of its entries, and the MANIFEST with its size, first and last key.
pub(super) fn rewrite(path: &Path, random: &mut Random, change: fn(&mut Entries, &mut Random)) -> Result<()> {
    let file = fs::read(path)?;
    let mut cursor = Table::open(&file[..], &ReadOptions::default())?.into_cursor();
    let mut entries = Entries::new();
    while cursor.next()? {
        entries.push((cursor.key().to_vec(), cursor.value().to_vec()));
    }
    change(&mut entries, random);
    let options = WriteOptions::default().comparator(Arc::new(AnyOrder)).block_size(1024);
    let mut builder = TableBuilder::new(Vec::new(), options);
    entries.iter().try_for_each(|(key, value)| builder.add(key, value))?;
    let file = builder.finish().map_err(|failed| failed.into_error())?.0;
    fs::write(path, &file)?;
    let dir = path.parent().context("a folder")?;
    let name = path.file_name().and_then(|name| name.to_str()).context("a name")?;
    let (_, number) = FileKind::parse(name).context("a number")?;
    let mut edit = Manifest::read(dir)?.snapshot();
    for table in edit.new_tables.iter_mut().filter(|table| table.number == number) {
        let [(first, _), .., (last, _)] = &entries[..] else { continue };
        *table = LiveTable::new(table.level, number, file.len() as u64, first.clone(), last.clone());
    }
    let mut record = Vec::new();
    edit.encode(&mut record)?;
    let mut log = LogWriter::new(Vec::new());
    log.add_record(&record)?;
    fs::write(dir.join(fs::read_to_string(dir.join("CURRENT"))?.trim_end()), log.into_writer())?;
    Ok(())
}

/// Puts a write with another value, but of the same sequence number, before one of the last writes of a log.
pub(super) fn write_twice(path: &Path) -> Result<()> {
    let file = fs::read(path)?;
    let (mut reader, mut records) = (LogReader::new(&file[..]), Vec::new());
    while let Some(record) = reader.read_record()? {
        records.push(record.data.to_vec());
    }
    let at = records.iter().rposition(|record| ends_in_value(record)).context("a value in the log")?;
    let mut other = records[at].clone();
    *other.last_mut().context("a batch")? ^= 0xff;
    records.insert(at, other);
    let mut log = LogWriter::new(Vec::new());
    records.iter().try_for_each(|record| log.add_record(record))?;
    fs::write(path, log.into_writer())?;
    Ok(())
}

/// Whether the last operation of a batch is a value that is not empty.
fn ends_in_value(batch: &[u8]) -> bool {
    let (mut at, mut last) = (12, None);
    let len = |at: &mut usize| {
        let (mut len, mut shift) = (0, 0);
        loop {
            let byte = *batch.get(*at)?;
            *at += 1;
            len |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return Some(len);
            }
        }
    };
    while let Some(&kind) = batch.get(at) {
        at += 1;
        let Some(key) = len(&mut at) else { return false };
        at += key;
        last = None;
        if kind == 1 {
            let Some(value) = len(&mut at) else { return false };
            at += value;
            last = Some(value);
        }
    }
    last.is_some_and(|value| value > 0)
}
