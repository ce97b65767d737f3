//! The costs of a scan: work, memory and open files, whatever the tables are.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use filterblock::Error;
use filterblock::database::{Database, EntryFile, Scan};
use filterblock::table::{Comparator, ReadOptions};

use crate::counting::peak;
use crate::databases::{Edit, internal_key, log, value_key};
use crate::scan::{manifest, table};
use crate::tables::{Crafted, handle, varint};

/// Moves to the next entry. Returns the number of its table and its user key, or `None` at the end.
fn step(scan: &mut Scan<'_>) -> filterblock::Result<Option<(u64, Vec<u8>)>> {
    if !scan.next()? {
        return Ok(None);
    }
    let entry = scan.entry().unwrap();
    let EntryFile::Table(table) = entry.file else { panic!("in a table") };
    Ok(Some((table.number, entry.key.user_key.to_vec())))
}

/// Reads the rest of a scan. Returns the number of entries of each table, and the errors.
fn rest(scan: &mut Scan<'_>) -> (BTreeMap<u64, usize>, Vec<Error>) {
    let (mut entries, mut errors) = (BTreeMap::new(), Vec::new());
    loop {
        match step(scan) {
            Ok(Some((table, _))) => *entries.entry(table).or_default() += 1,
            Ok(None) => return (entries, errors),
            Err(error) => errors.push(error),
        }
    }
}

/// A block whose first entry has a key of `key_len` bytes. `entries` more entries share all of this key.
fn sharing(key_len: usize, entries: usize) -> Vec<u8> {
    let key = internal_key(&vec![b'k'; key_len - 8], 7, 1);
    let mut block = [&[0][..], &varint(key_len as u64), &[0], &key].concat();
    (0..entries).for_each(|_| block.extend([&varint(key_len as u64)[..], &[0, 0]].concat()));
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// The entries of two tables share a long key, so both end at their limits. A third table is shown.
#[test]
fn shared_keys_count_against_the_limit_of_each_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut edit = Edit::default();
    let block = sharing(1000, 1000);
    for number in [5, 6] {
        let mut crafted = Crafted::default();
        let place = crafted.block(&block);
        let file = crafted.finish(&[(&value_key("l"), place)], &[]);
        fs::write(folder.path().join(format!("{number:06}.ldb")), &file).unwrap();
        edit = edit.add(0, number, file.len() as u64, &value_key("k"), &value_key("l"));
    }
    let (smallest, largest, size) = table(folder.path(), 7, &[("a", 5, 1), ("z", 6, 1)]);
    manifest(folder.path(), edit.add(1, 7, size, &smallest, &largest));
    let database = Database::open(folder.path()).unwrap();
    let options = ReadOptions::default().max_output(100_000);
    let (entries, errors) = rest(&mut database.scan_versions(&options).unwrap());
    // The first key lies whole in the block.
    let fit = 1 + (100_000 - block.len()) / 1000;
    assert_eq!(entries, BTreeMap::from([(5, fit), (6, fit), (7, 2)]));
    assert_eq!(errors.len(), 2);
    assert!(
        errors.iter().all(|error| error.path().is_some()
            && matches!(error.without_path(), Error::Limit { limit: 100_000, .. }))
    );
    let unlimited = rest(&mut database.scan_versions(&ReadOptions::default()).unwrap());
    assert_eq!(unlimited.0, BTreeMap::from([(5, 1001), (6, 1001), (7, 2)]));
}

/// A table has 50,000 handles that lead nowhere, and 5,000 tables are missing.
#[test]
fn errors_are_not_gathered() {
    const COUNT: u64 = 50_000;
    let folder = tempfile::tempdir().unwrap();
    let handles = (0..COUNT).map(|at| handle((u64::MAX - at, at)));
    let entries: Vec<_> =
        handles.enumerate().map(|(at, handle)| (value_key(&format!("{at:08}")), handle)).collect();
    let mut crafted = Crafted::default();
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&entries);
    let file = crafted.footer(metaindex, index);
    fs::write(folder.path().join("000005.ldb"), &file).unwrap();
    let mut edit = Edit::default().add(1, 5, file.len() as u64, &entries[0].0, &value_key("9"));
    for number in 0..COUNT / 10 {
        edit = edit.add(2, 10 + number, 1000, &value_key("a"), &value_key("b"));
    }
    manifest(folder.path(), edit);
    let database = Database::open(folder.path()).unwrap();
    for newest in [false, true] {
        let options = ReadOptions::default();
        let (bytes, errors) = peak(|| {
            let scan = if newest { database.scan(&options) } else { database.scan_versions(&options) };
            let mut scan = scan.unwrap();
            std::iter::from_fn(|| step(&mut scan).transpose()).filter(Result::is_err).count() as u64
        });
        assert_eq!(errors, COUNT + COUNT / 10);
        // Opening holds the table twice.
        assert!(bytes < 2 * file.len() + 300_000, "{bytes} bytes for a table of {}", file.len());
    }
}

/// Bytewise order. Counts the bytes that its comparisons may have read at most.
struct Counted(Arc<AtomicUsize>);

impl Comparator for Counted {
    fn name(&self) -> &str {
        "leveldb.BytewiseComparator"
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.0.fetch_add(1 + a.len().min(b.len()), Relaxed);
        a.cmp(b)
    }
}

#[test]
fn long_keys_that_wait_are_not_compared_for_each_short_one_that_passes() {
    let folder = tempfile::tempdir().unwrap();
    let long: Vec<String> = (0..4).map(|at| format!("{}{at}", "k".repeat(50_000))).collect();
    let short: Vec<String> = (0..3000).map(|at| format!("a{at:05}")).collect();
    let (mut edit, mut all) = (Edit::default(), 0);
    for number in 5..10 {
        let keys: Vec<(&str, u64, u8)> = match number {
            5 => short.iter().map(|key| (&**key, number, 1)).collect(),
            _ => long.iter().map(|key| (&**key, number, 1)).collect(),
        };
        let (smallest, largest, size) = table(folder.path(), number, &keys);
        edit = edit.add(0, number, size, &smallest, &largest);
        all += keys.iter().map(|(key, ..)| key.len() + 1).sum::<usize>();
    }
    manifest(folder.path(), edit);
    let database = Database::open(folder.path()).unwrap();
    let compared = Arc::new(AtomicUsize::new(0));
    let options = ReadOptions::default().comparator(Counted(Arc::clone(&compared)));
    let (entries, errors) = rest(&mut database.scan_versions(&options).unwrap());
    assert!(errors.is_empty() && entries.values().sum::<usize>() == 3000 + 4 * 4);
    let compared = compared.load(Relaxed);
    assert!(compared < 10 * all, "{compared} bytes compared of {all}");
}

/// A database of twice as many tables as may be open at a time. Each has four keys, which lie between those of all
/// others, and each key is in a block of its own. Returns the folder and the tables' paths.
pub(crate) fn many(level: u64) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let mut edit = Edit::default();
    let mut paths = Vec::new();
    for number in 10..10 + 2 * Scan::MAX_OPEN_FILES as u64 {
        let keys: Vec<String> = (0..4).map(|at| format!("{at}{number:04}")).collect();
        let keys: Vec<_> = keys.iter().map(|key| (&**key, number, 1)).collect();
        let (smallest, largest, size) = table(folder.path(), number, &keys);
        edit = edit.add(level, number, size, &smallest, &largest);
        paths.push(folder.path().join(format!("{number:06}.ldb")));
    }
    manifest(folder.path(), edit);
    (folder, paths)
}

/// The number of files of this folder that the process has open.
#[cfg(target_os = "linux")]
fn open_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let handles = fs::read_dir("/proc/self/fd").unwrap().flatten();
    handles.filter(|handle| fs::read_link(handle.path()).is_ok_and(|path| path.starts_with(&folder))).count()
}

#[cfg(not(target_os = "linux"))]
fn open_in(_: &Path) -> usize {
    0
}

#[test]
fn more_tables_than_may_be_open_show_each_entry_once() {
    for (level, newest) in [(0, true), (0, false), (1, false)] {
        let (folder, paths) = many(level);
        let database = Database::open(folder.path()).unwrap();
        let options = ReadOptions::default();
        let scan = if newest { database.scan(&options) } else { database.scan_versions(&options) };
        let mut scan = scan.unwrap();
        for start in [None, Some(b"2"), None] {
            if let Some(start) = start {
                scan.seek(start);
            }
            let (mut found, mut most) = (Vec::new(), 0);
            while let Some((table, key)) = step(&mut scan).unwrap() {
                found.push((key, table));
                most = most.max(open_in(folder.path()));
            }
            let numbers = || 10..10 + paths.len() as u64;
            let first = if start.is_some() { 2 } else { 0 };
            let expected =
                (first..4).flat_map(|at| numbers().map(move |number| (format!("{at}{number:04}"), number)));
            let expected: Vec<_> = expected.map(|(key, number)| (key.into_bytes(), number)).collect();
            assert!(
                found == expected || start.is_none() && found.is_empty(),
                "{level}: {} entries",
                found.len()
            );
            assert!(most <= Scan::MAX_OPEN_FILES, "{most} files are open");
            assert_eq!(open_in(folder.path()), 0, "at the end all are closed");
            if cfg!(target_os = "linux") && !found.is_empty() && level == 0 {
                assert_eq!(most, Scan::MAX_OPEN_FILES);
            }
        }
    }
}

/// A table that is removed or replaced while it is closed is one error, as if it had been gone before it was opened.
/// All others show all of their entries.
#[test]
fn tables_that_vanish_or_change_while_they_are_closed_are_one_error_each() {
    let (folder, paths) = many(0);
    let database = Database::open(folder.path()).unwrap();
    let mut scan = database.scan_versions(&ReadOptions::default()).unwrap();
    for number in 10..10 + paths.len() as u64 {
        assert_eq!(step(&mut scan).unwrap().unwrap(), (number, format!("0{number:04}").into_bytes()));
    }
    // The tables read last are open and stay readable, as far as the system lets them be removed.
    let (gone, other) = (&paths[3], &paths[5]);
    fs::remove_file(gone).unwrap();
    let replacement = folder.path().join("replacement");
    fs::write(&replacement, [&fs::read(other).unwrap()[..], b"longer"].concat()).unwrap();
    fs::rename(&replacement, other).unwrap();
    let (entries, errors) = rest(&mut scan);
    assert_eq!(errors.len(), 2, "{errors:?}");
    for (error, path) in errors.iter().zip([gone, other]) {
        assert_eq!(error.path(), Some(&**path));
        let Error::Io { source, .. } = error.without_path() else { panic!("{error}") };
        assert_eq!(source.kind(), ErrorKind::NotFound, "{error}");
    }
    assert!(errors[1].to_string().contains("replaced or changed while it was read"), "{}", errors[1]);
    // The second entries had been read before.
    let expected = |number| if [13, 15].contains(&number) { 1 } else { 3 };
    assert_eq!(entries, (10..10 + paths.len() as u64).map(|number| (number, expected(number))).collect());
}

/// A log has more defects than are reported one by one, and two tables are missing.
#[test]
fn errors_come_once_however_often_a_scan_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let edit = Edit::default().add(2, 10, 1, &value_key("a"), &value_key("b"));
    manifest(folder.path(), edit.add(2, 11, 1, &value_key("c"), &value_key("d")));
    fs::write(folder.path().join("000009.log"), log(&vec![b"no batch".to_vec(); 30]).0).unwrap();
    let (smallest, ..) = table(folder.path(), 12, &[("e", 5, 1)]);
    assert_eq!(smallest, internal_key(b"e", 5, 1));
    let database = Database::open(folder.path()).unwrap();
    let mut scan = database.scan_versions(&ReadOptions::default()).unwrap();
    let first = scan.next().unwrap_err();
    assert!(scan.entry().is_none() && first.path().is_some_and(|path| path.ends_with("000009.log")));
    scan.seek(b"");
    let (entries, errors) = rest(&mut scan);
    assert_eq!((entries, errors.len()), (BTreeMap::from([(12, 1)]), 16 + 2));
    scan.seek(b"");
    let (entries, errors) = rest(&mut scan);
    assert!(entries == BTreeMap::from([(12, 1)]) && errors.is_empty());
}
