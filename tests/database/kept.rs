//! Scans and lookups over writes and indexes that are kept, compared with scans and lookups that
//! read writes and indexes anew.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use filterblock::database::{Database, EntryFile, FileOpener, LogWriter, Opener, Scan};
use filterblock::table::{Lookup, ReadAt, ReadOptions, Table, TableIndex};

use crate::databases::{copy_of, testdata};

type Found = Vec<(Vec<u8>, u64, Vec<u8>, PathBuf, u64)>;

fn all<O: Opener>(mut scan: Scan<'_, O>) -> Found {
    let mut found = Vec::new();
    while scan.next().unwrap() {
        let entry = scan.entry().unwrap();
        let path = entry.file.path().unwrap().to_owned();
        found.push((
            entry.key.user_key.to_vec(),
            entry.key.sequence,
            entry.value.to_vec(),
            path,
            entry.offset,
        ));
    }
    found
}

/// A file with its path, which counts the reads.
struct Named(PathBuf, File, Arc<std::sync::atomic::AtomicU64>);

impl ReadAt for Named {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(&self.1)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.2.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.1.read_at(offset, len)
    }
}

/// An opener that keeps the indexes of all tables.
#[derive(Default)]
struct Keeping {
    indexes: BTreeMap<PathBuf, Arc<TableIndex>>,
    reads: Arc<std::sync::atomic::AtomicU64>,
}

impl Opener for Keeping {
    type Table = Named;
    type Log = io::Empty;

    fn open_table(&mut self, path: &Path) -> io::Result<Named> {
        Ok(Named(path.to_owned(), FileOpener.open_table(path)?, Arc::clone(&self.reads)))
    }

    fn open_log(&mut self, path: &Path) -> io::Result<io::Empty> {
        panic!("{} is read again", path.display())
    }

    fn index(&mut self, table: &Named) -> Option<Arc<TableIndex>> {
        self.indexes.get(&table.0).cloned()
    }
}

#[test]
fn what_is_kept_gives_the_same_entries_with_fewer_reads() {
    for name in ["levels", "unfiltered"] {
        let options = ReadOptions::default();
        let database = Database::open(testdata("databases").join(name)).unwrap();
        let expected = all(database.scan(&options).unwrap());
        let writes = database.live_writes(&options, FileOpener).unwrap();
        let mut reads = Vec::new();
        for is_kept in [false, true] {
            let mut opener = Keeping::default();
            if is_kept {
                for table in database.tables() {
                    let path = table.file.path().unwrap();
                    let table = Table::open_path(path, &options.clone().internal_keys(true)).unwrap();
                    opener.indexes.insert(path.to_owned(), table.index_part());
                }
            }
            for writes in [&writes, &writes.clone()] {
                assert_eq!(all(database.scan_over(&options, &mut opener, writes).unwrap()), expected);
            }
            reads.push(opener.reads.load(std::sync::atomic::Ordering::Relaxed));
        }
        // Kept indexes save at least one read for each table and scan.
        assert!(reads[0] >= reads[1] + 2 * database.tables().count() as u64, "{reads:?}");
    }
}

#[test]
fn writes_that_are_kept_tell_the_newest_of_each_key() {
    let folder = copy_of(&testdata("databases/levels"));
    let mut log = LogWriter::new(Vec::new());
    let value = |key: &[u8]| [&[1, key.len() as u8], key, &[1, b'v']].concat();
    let deletion = |key: &[u8]| [&[0, key.len() as u8], key].concat();
    for (number, write) in (1 << 40_u64..).zip([
        deletion(b"item/0005/595"),
        value(b"a"),
        deletion(b"b"),
        value(b"b"),
        deletion(b"a"),
    ]) {
        log.add_record(&[&u64::to_le_bytes(number)[..], &[1, 0, 0, 0], &write].concat()).unwrap();
    }
    std::fs::write(folder.path().join("000011.log"), log.into_writer()).unwrap();
    let (database, options) = (Database::open(folder.path()).unwrap(), ReadOptions::default());
    let writes = database.live_writes(&options, FileOpener).unwrap();
    let (mut scan, mut newest, mut count) = (database.scan_versions(&options).unwrap(), BTreeMap::new(), 0);
    while scan.next().unwrap() {
        let entry = scan.entry().unwrap();
        let value = (entry.key.kind == 1).then(|| entry.value.to_vec());
        if matches!(entry.file, EntryFile::Log(_)) {
            count += 1;
            newest.entry(entry.key.user_key.to_vec()).or_insert(value);
        } else {
            // The key of a table's entry is among the writes only if a log has it, too.
            let is_found = writes.get(entry.key.user_key).is_some();
            assert_eq!(is_found, newest.contains_key(entry.key.user_key));
        }
    }
    assert!(count > 0);
    for (key, value) in &newest {
        match (writes.get(key), value) {
            (Some(Lookup::Value(found)), Some(value)) => assert_eq!(found, value[..]),
            (Some(Lookup::Deleted), None) => {}
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }
    assert!(newest.values().any(Option::is_none) && newest.values().any(Option::is_some));
    assert!(writes.get(b"").is_none() && writes.get(b"\xff\xff").is_none());
}

#[test]
fn damaged_logs_are_not_kept() {
    let folder = copy_of(&testdata("databases/levels"));
    let path = folder.path().join("000010.log");
    let mut log = std::fs::read(&path).unwrap();
    log[20] ^= 1;
    std::fs::write(&path, log).unwrap();
    let database = Database::open(folder.path()).unwrap();
    let error = database.live_writes(&ReadOptions::default(), FileOpener).unwrap_err();
    assert_eq!(error.path(), Some(&*path));
}
