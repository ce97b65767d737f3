//! Makes database folders of any size with a great many tables, or with large MANIFESTs and logs.

use std::fs;
use std::path::Path;

use crate::growth::Hostile;
use crate::tables::{Crafted, varint};

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;
const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

/// Appends a fragment: `[masked CRC-32C: fixed32][length: fixed16][type: 1][data]`.
fn fragment(file: &mut Vec<u8>, kind: u8, data: &[u8]) {
    let left = BLOCK - file.len() % BLOCK;
    if left < HEADER {
        file.resize(file.len() + left, 0);
    }
    let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), data);
    file.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    file.extend((data.len() as u16).to_le_bytes());
    file.push(kind);
    file.extend(data);
}

/// Appends a record, in as many fragments as it needs.
fn record(file: &mut Vec<u8>, mut data: &[u8]) {
    let mut first = true;
    loop {
        let mut left = BLOCK - file.len() % BLOCK;
        if left < HEADER {
            left = BLOCK;
        }
        let (now, behind) = data.split_at(data.len().min(left - HEADER));
        let kind = match (first, behind.is_empty()) {
            (true, true) => FULL,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        fragment(file, kind, now);
        (data, first) = (behind, false);
        if behind.is_empty() {
            return;
        }
    }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// The version edit with which `records` and `fragments` begin a MANIFEST: comparator, log number, next file number,
/// last sequence.
fn sound_edit() -> Vec<u8> {
    let mut edit = vec![1];
    edit.extend(string(b"leveldb.BytewiseComparator"));
    edit.extend([2, 4, 3]);
    edit.extend(varint(100_000_000));
    edit.extend([4, 100]);
    edit
}

fn internal(key: &[u8]) -> Vec<u8> {
    [key, &(7_u64 << 8 | 1).to_le_bytes()].concat()
}

/// The part of a version edit that adds a table to a level.
fn add(level: u8, number: usize, smallest: &[u8], largest: &[u8]) -> Vec<u8> {
    add_sized(level, number, 1000, smallest, largest)
}

/// The part of a version edit that adds a table of this size to a level.
fn add_sized(level: u8, number: usize, size: u64, smallest: &[u8], largest: &[u8]) -> Vec<u8> {
    let mut edit = vec![7, level];
    edit.extend(varint(number as u64));
    edit.extend(varint(size));
    edit.extend(string(&internal(smallest)));
    edit.extend(string(&internal(largest)));
    edit
}

/// Makes the folder `database`, a database whose only table is `table`.
pub(crate) fn around(table: &Path, database: &Path) {
    fs::create_dir(database).unwrap();
    fs::hard_link(table, database.join("000005.ldb")).unwrap();
    fs::write(database.join("CURRENT"), "MANIFEST-000002\n").unwrap();
    let size = fs::metadata(table).unwrap().len();
    let edit = add_sized(1, 5, size, b"", &[0xff; 20]);
    fs::write(database.join("MANIFEST-000002"), records([edit].into_iter())).unwrap();
}

/// Makes a database with this MANIFEST and this number of small tables. Returns the tables' paths, each with a line
/// break.
fn database(database: &Path, manifest: &[u8], tables: usize) -> Vec<String> {
    fs::create_dir(database).unwrap();
    fs::write(database.join("CURRENT"), "MANIFEST-000002\n").unwrap();
    fs::write(database.join("MANIFEST-000002"), manifest).unwrap();
    let mut crafted = Crafted::default();
    let place = crafted.entries(&[(internal(b"k"), b"")]);
    let table = crafted.finish(&[(&internal(b"l"), place)], &[]);
    let write = |number| {
        let path = database.join(format!("{number:06}.ldb"));
        fs::write(&path, &table).unwrap();
        format!("{}\n", path.to_str().unwrap())
    };
    (10..10 + tables).map(write).collect()
}

/// Makes a database with this MANIFEST and this number of small tables in `folder`, and beside it a file `list` of the
/// tables' paths.
fn write(folder: &Path, manifest: &[u8], tables: usize) {
    let list = database(&folder.join("000005.ldb"), manifest, tables);
    fs::write(folder.join("list"), list.concat()).unwrap();
}

/// A folder with the MANIFEST that `manifest` makes for a size, and with the number of tables that `tables` returns.
fn folder(
    name: &str,
    tables: impl Fn(usize) -> usize + 'static,
    manifest: impl Fn(usize) -> Vec<u8> + 'static,
) -> Hostile {
    let make = move |size: usize, path: &Path| write(path, &manifest(size), tables(size));
    Hostile { name: name.to_owned(), make: Box::new(make) }
}

/// A MANIFEST of a sound record and a record for each of `edits`.
fn records(edits: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    record(&mut file, &sound_edit());
    edits.for_each(|edit| record(&mut file, &edit));
    file
}

/// A MANIFEST of a sound record and a record that holds all these edits.
fn one_record(edits: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    records([edits.flatten().collect()].into_iter())
}

/// A MANIFEST of a sound record and fragments of these types and contents.
fn fragments(fragments: impl Iterator<Item = (u8, Vec<u8>)>) -> Vec<u8> {
    let mut file = Vec::new();
    record(&mut file, &sound_edit());
    fragments.for_each(|(kind, data)| fragment(&mut file, kind, &data));
    file
}

/// A folder with a sound MANIFEST and the log that `log` makes for a size. The log's writes are in no table yet.
fn log(name: &str, log: impl Fn(usize) -> Vec<u8> + 'static) -> Hostile {
    let make = move |size: usize, path: &Path| {
        write(path, &records([].into_iter()), 1);
        fs::write(path.join("000005.ldb/000009.log"), log(size)).unwrap();
    };
    Hostile { name: name.to_owned(), make: Box::new(make) }
}

/// A batch of writes, which are given as stored. The batch's header says that there are `count` writes.
fn batch(count: usize, writes: &[u8]) -> Vec<u8> {
    [&7_u64.to_le_bytes()[..], &(count as u32).to_le_bytes(), writes].concat()
}

fn key(number: usize) -> Vec<u8> {
    format!("k{number:08}").into_bytes()
}

/// All folders of this file. Each has a great many of one thing, or one thing of great length.
pub(crate) fn all() -> Vec<Hostile> {
    let table = |at: usize| add(2, 10 + at, &key(2 * at), &key(2 * at + 1));
    let nested = |at: usize| add(2, 10 + at, &key(at), &key(99_999_999 - at));
    vec![
        folder(
            "many tables that the MANIFEST lists",
            |size| size / 1024,
            move |size| records((0..size / 1024).map(table)),
        ),
        folder(
            "many tables that all overlap",
            |size| size / 1024,
            move |size| one_record((0..size / 1024).map(nested)),
        ),
        folder(
            "many tables that the MANIFEST does not list",
            |size| size / 1024,
            |_| records([].into_iter()),
        ),
        folder("many tables and a MANIFEST that cannot be read", |size| size / 1024, |size| vec![1; size]),
        folder(
            "many tables and a long key in the MANIFEST",
            |size| size / 1024,
            |size| records([add(2, 10, b"a", &vec![b'k'; size])].into_iter()),
        ),
        folder(
            "many tables in level 0",
            |size| size / 1024,
            |size| records((0..size / 1024).map(|at| add(0, 10 + at, &key(0), &key(9)))),
        ),
        folder("many edits that add missing tables", |_| 1, move |size| records((0..size / 60).map(table))),
        folder(
            "one record that adds many missing tables",
            |_| 1,
            move |size| one_record((0..size / 50).map(table)),
        ),
        folder("missing tables that all overlap", |_| 1, move |size| one_record((0..size / 50).map(nested))),
        folder(
            "missing tables of long keys",
            |_| 1,
            |size| one_record((0..size / 4040).map(|at| add(2, 20 + at, &vec![b'a'; 2000], &vec![1; 2000]))),
        ),
        folder(
            "edits that add and delete one table",
            |_| 1,
            |size| {
                records((0..size / 70).map(|at| [add(2, 20, &key(at), &key(at)), vec![6, 2, 20]].concat()))
            },
        ),
        folder(
            "edits that add one table again and again",
            |_| 1,
            |size| records((0..size / 60).map(|at| add((at % 7) as u8, 20, &key(at), &key(at)))),
        ),
        folder(
            "tables deleted that never were",
            |_| 1,
            |size| one_record((0..size / 6).map(|at| [vec![6, 2], varint(20 + at as u64)].concat())),
        ),
        folder(
            "compact pointers",
            |_| 1,
            |size| one_record((0..size / 20).map(|at| [vec![5, 2], string(&internal(&key(at)))].concat())),
        ),
        folder(
            "long names of comparators",
            |_| 1,
            |size| records([[vec![1], string(&vec![1; size])].concat()].into_iter()),
        ),
        folder(
            "a MANIFEST of empty fragments",
            |_| 1,
            |size| fragments((0..size / 7).map(|at| (if at == 0 { FIRST } else { MIDDLE }, vec![]))),
        ),
        folder("a MANIFEST of empty records", |_| 1, |size| fragments((0..size / 7).map(|_| (FULL, vec![])))),
        folder(
            "a MANIFEST of fragments of unknown type",
            |_| 1,
            |size| fragments((0..size / 7).map(|at| (7 + (at % 100) as u8, vec![]))),
        ),
        folder(
            "a MANIFEST of fragments that begin anew",
            |_| 1,
            |size| fragments((0..size / 8).map(|_| (FIRST, vec![0]))),
        ),
        folder("a MANIFEST of one long record", |_| 1, |size| records([vec![5; size]].into_iter())),
        log("a log of empty fragments", |size| {
            fragments((0..size / 7).map(|at| (if at == 0 { FIRST } else { MIDDLE }, vec![])))
        }),
        log("a log of fragments that begin anew", |size| fragments((0..size / 8).map(|_| (FIRST, vec![0])))),
        log("a log of fragments of unknown type", |size| fragments((0..size / 7).map(|_| (9, vec![])))),
        log("a log of one batch of empty deletions", |size| {
            let mut file = Vec::new();
            record(&mut file, &batch(size / 2, &vec![0; size / 2 * 2]));
            file
        }),
        log("a log of batches of one long key each", |size| {
            let writes =
                |at: usize| [&[0][..], &string(&[&vec![b'k'; 2000][..], &key(at)].concat())].concat();
            let mut file = Vec::new();
            (0..size / 2048).for_each(|at| record(&mut file, &batch(1, &writes(at))));
            file
        }),
        log("a log of batches of other numbers of writes than they say", |size| {
            let mut file = Vec::new();
            (0..size / 30).for_each(|at| record(&mut file, &batch(at, &[0, 1, b'k', 0, 1, b'l'])));
            file
        }),
        log("a log of empty records", |size| fragments((0..size / 7).map(|_| (FULL, vec![])))),
        Hostile {
            name: "tables of two databases in turn".to_owned(),
            make: Box::new(move |size, path| {
                let manifest = records((0..size / 2048).map(table));
                let [one, other] =
                    ["000005.ldb", "another"].map(|name| database(&path.join(name), &manifest, size / 2048));
                let list: Vec<_> = one.iter().zip(&other).flat_map(|(one, other)| [&**one, other]).collect();
                fs::write(path.join("list"), list.concat()).unwrap();
            }),
        },
        Hostile {
            name: "many logs".to_owned(),
            make: Box::new(|size, path| {
                write(path, &records([].into_iter()), 1);
                for number in 0..size / 1024 {
                    let name = format!("000005.ldb/{:06}.log", 20 + number);
                    fs::write(path.join(name), [0; 3]).unwrap();
                }
            }),
        },
        Hostile {
            name: "many folders with the names of live tables".to_owned(),
            make: Box::new(move |size, path| {
                write(path, &records((0..size / 1024).map(table)), 1);
                for number in 11..10 + size / 1024 {
                    fs::create_dir(path.join(format!("000005.ldb/{number:06}.ldb"))).unwrap();
                }
            }),
        },
        Hostile {
            name: "many MANIFESTs and other files".to_owned(),
            make: Box::new(|size, path| {
                write(path, &records([].into_iter()), 1);
                for number in 0..size / 2048 {
                    fs::write(path.join(format!("000005.ldb/MANIFEST-{:06}", 3 + number)), "").unwrap();
                    fs::write(path.join(format!("000005.ldb/name{number}.sst")), "").unwrap();
                }
            }),
        },
    ]
}
