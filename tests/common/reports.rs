//! Small databases made after public bug reports, byte by byte: `CASES` names each with the report that it is from.

use std::fs;
use std::path::Path;

use super::databases::{BYTEWISE, Edit, internal_key, log};

/// The cases: a name, and the public report of it.
pub(crate) const CASES: [(&str, &str); 19] = [
    ("manifest-cut", "google/leveldb#160"),
    ("manifest-zero", "google/leveldb#161"),
    ("order", "google/leveldb#944"),
    ("swapped", "google/leveldb#944"),
    ("zero-tail-64k", "iq80's leveldb, which allocates files in units"),
    ("zero-tail-1m", "LevelDB before 1.15, which allocates files in units"),
    ("no-log", "databases in git without *.log"),
    ("copy-name", "copies that a browser or a cloud names"),
    ("copy-name-alone", "copies that a browser or a cloud names"),
    ("upper-case", "copies from a file system without lower case"),
    ("seq-twice", "heineiuo/rippledb#85"),
    ("short-key", "ethereum/go-ethereum#26445, syndtr/goleveldb#184"),
    ("deeper", "google/leveldb#320, google/leveldb#376"),
    ("conflict", "databases in git after a merge"),
    ("crlf", "pmmp/leveldb#3"),
    ("idb-without-manifest", "CherryHQ/cherry-studio#12681"),
    ("netease", "HiveGamesOSS/Chunker#1672"),
    ("netease-aes", "HiveGamesOSS/Chunker#1672"),
    ("marketplace", "HiveGamesOSS/Chunker#1672"),
];

type Entry = (Vec<u8>, Vec<u8>);

/// The internal key of a value, and the value.
pub(crate) fn put(key: &[u8], sequence: u64, value: &[u8]) -> Entry {
    (internal_key(key, sequence, 1), value.to_vec())
}

/// A table without filters, uncompressed, of these data blocks, whose entries may be in any order.
pub(crate) fn table(blocks: &[Vec<Entry>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut index = Vec::new();
    for entries in blocks {
        let handle = add_block(&mut file, entries);
        index.push((entries.last().unwrap().0.clone(), handle));
    }
    let mut footer = add_block(&mut file, &[]);
    footer.extend(add_block(&mut file, &index));
    footer.resize(40, 0);
    file.extend(footer);
    file.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    file
}

/// Appends a block, each entry with a restart point, and its trailer. Returns its handle.
fn add_block(file: &mut Vec<u8>, entries: &[Entry]) -> Vec<u8> {
    let (mut block, mut restarts) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        restarts.push(block.len() as u32);
        let lengths = Edit::default().varint(0).varint(key.len() as u64).varint(value.len() as u64);
        block.extend([&*lengths.0, key, value].concat());
    }
    if restarts.is_empty() {
        restarts.push(0);
    }
    restarts.iter().for_each(|at| block.extend(at.to_le_bytes()));
    block.extend((restarts.len() as u32).to_le_bytes());
    let handle = Edit::default().varint(file.len() as u64).varint(block.len() as u64);
    block.push(0);
    let crc = crc32c::crc32c(&block).rotate_right(15).wrapping_add(0xa282_ead8);
    file.extend(block);
    file.extend(crc.to_le_bytes());
    handle.0
}

/// A batch of values, as a record of a log has it.
pub(crate) fn batch(sequence: u64, writes: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut batch = [&sequence.to_le_bytes()[..], &(writes.len() as u32).to_le_bytes()].concat();
    for (key, value) in writes {
        batch.extend(Edit::default().varint(1).string(key).string(value).0);
    }
    batch
}

/// A table of a database: its level, its number, its file, and its first and last internal key.
pub(crate) struct Listed(pub(crate) u64, pub(crate) u64, pub(crate) Vec<u8>, pub(crate) [Vec<u8>; 2]);

impl Listed {
    /// A table of one block of these entries.
    pub(crate) fn new(level: u64, number: u64, entries: Vec<Entry>) -> Self {
        let ends = [entries.first().unwrap().0.clone(), entries.last().unwrap().0.clone()];
        Self(level, number, table(&[entries]), ends)
    }
}

/// Writes a database of these logs and tables, whose MANIFEST, of number 2, has the log number `log_number` and the last
/// sequence `last`.
pub(crate) fn database(
    folder: &Path,
    comparator: &[u8],
    (log_number, last): (u64, u64),
    logs: &[(u64, Vec<Vec<u8>>)],
    tables: &[Listed],
) {
    fs::create_dir_all(folder).unwrap();
    for (number, records) in logs {
        fs::write(folder.join(format!("{number:06}.log")), log(records).0).unwrap();
    }
    let edit = Edit::default().comparator(comparator).number(2, log_number);
    let mut edit = edit.number(3, 10).number(4, last);
    for Listed(level, number, file, [first, last]) in tables {
        fs::write(folder.join(format!("{number:06}.ldb")), file).unwrap();
        edit = edit.add(*level, *number, file.len() as u64, first, last);
    }
    fs::write(folder.join("MANIFEST-000002"), log(&[edit.number(9, 0).0]).0).unwrap();
    fs::write(folder.join("CURRENT"), "MANIFEST-000002\n").unwrap();
}

/// Makes the database of the case `name` in `folder`.
pub(crate) fn make(name: &str, folder: &Path) {
    let empty_log = || [(3, Vec::new())];
    match name {
        "manifest-cut" | "manifest-zero" => {
            let [old, new] = [
                Listed::new(1, 4, vec![put(b"old", 1, b"v")]),
                Listed::new(0, 5, vec![put(b"new", 9, b"v")]),
            ];
            let add = |edit: Edit, Listed(level, number, file, [first, last]): &Listed| {
                edit.add(*level, *number, file.len() as u64, first, last)
            };
            let first = Edit::default().comparator(BYTEWISE).number(2, 3).number(3, 6).number(4, 1);
            let edits = [
                add(first, &old).number(9, 0).0,
                add(Edit::default().number(2, 6).number(3, 7).number(4, 9), &new).0,
            ];
            let (mut manifest, offsets) = log(&edits);
            let len = manifest.len();
            match name {
                "manifest-cut" => manifest.truncate(len - 5),
                _ => manifest[offsets[1] as usize..].fill(0),
            }
            database(folder, BYTEWISE, (3, 9), &[(6, Vec::new())], &[old, new]);
            fs::write(folder.join("MANIFEST-000002"), manifest).unwrap();
        }
        "order" => {
            let good = |i: u64| put(format!("good{i:03}").as_bytes(), 100 + i, b"v");
            let good = Listed::new(1, 4, (0..100).map(good).collect());
            let bad: Vec<Vec<_>> = ["m", "b", "c"]
                .iter()
                .zip(1..)
                .map(|(key, at)| vec![put(key.as_bytes(), at, b"1")])
                .collect();
            let ends = [bad[0][0].0.clone(), bad[2][0].0.clone()];
            let bad = Listed(0, 5, table(&bad), ends);
            database(folder, BYTEWISE, (3, 1999), &empty_log(), &[good, bad]);
        }
        "swapped" => {
            let mut keys: Vec<_> = (0..20).map(|i| format!("k{i:02}")).collect();
            keys.swap(7, 8);
            let entries = keys.iter().zip(1..).map(|(key, at)| put(key.as_bytes(), at, b"v")).collect();
            database(folder, BYTEWISE, (3, 30), &empty_log(), &[Listed::new(1, 4, entries)]);
        }
        "zero-tail-64k" | "zero-tail-1m" => {
            let logs = [(3, vec![batch(2, &[(b"l", b"w")])])];
            database(folder, BYTEWISE, (3, 1), &logs, &[Listed::new(0, 4, vec![put(b"k", 1, b"v")])]);
            let unit = if name == "zero-tail-64k" { 1 << 16 } else { 1 << 20 };
            for file in ["MANIFEST-000002", "000003.log"] {
                let mut bytes = fs::read(folder.join(file)).unwrap();
                bytes.resize(unit, 0);
                fs::write(folder.join(file), bytes).unwrap();
            }
        }
        "no-log" => {
            database(folder, BYTEWISE, (3, 1), &[], &[Listed::new(0, 4, vec![put(b"k", 1, b"old")])]);
        }
        "copy-name" | "copy-name-alone" | "upper-case" => {
            let block = |i: u64| vec![put(format!("k{i:03}").as_bytes(), i + 1, b"v")];
            let blocks: Vec<_> = (0..100).map(block).collect();
            let ends = [blocks[0][0].0.clone(), blocks[99][0].0.clone()];
            let tables =
                [Listed(1, 4, table(&blocks), ends), Listed::new(0, 5, vec![put(b"new", 200, b"v")])];
            database(folder, BYTEWISE, (3, 300), &empty_log(), &tables);
            let copy = if name == "upper-case" { "000004.LDB" } else { "000004 (1).ldb" };
            fs::rename(folder.join("000004.ldb"), folder.join(copy)).unwrap();
            if name == "copy-name-alone" {
                fs::remove_file(folder.join("CURRENT")).unwrap();
                fs::remove_file(folder.join("MANIFEST-000002")).unwrap();
            }
        }
        "seq-twice" => {
            let logs = [(3, vec![batch(1, &[(b"k", b"first")]), batch(1, &[(b"k", b"second")])])];
            database(folder, BYTEWISE, (3, 0), &logs, &[]);
        }
        "short-key" => {
            let entries =
                vec![put(b"a", 1, b"1"), (b"lz\x04\xb4\x90".to_vec(), b"?".to_vec()), put(b"z", 1, b"2")];
            let writes: [(&[u8], &[u8]); 3] = [(b"apple", b"1"), (b"banana", b"2"), (b"cherry", b"3")];
            let logs = [(3, vec![batch(5, &writes)])];
            database(folder, BYTEWISE, (3, 4), &logs, &[Listed::new(1, 4, entries)]);
        }
        "deeper" => {
            let tables = [
                Listed::new(1, 4, vec![put(b"k", 5, b"older")]),
                Listed::new(2, 5, vec![put(b"k", 9, b"newer")]),
            ];
            database(folder, BYTEWISE, (3, 9), &empty_log(), &tables);
        }
        "idb-without-manifest" => {
            let key = |i: u8| [&[0, 1, 1, 1, 3][..], &[0; 7], &[i]].concat();
            let entries = (0..50).map(|i| put(&key(i), u64::from(i) + 1, b"v")).collect();
            database(folder, b"idb_cmp1", (3, 60), &empty_log(), &[Listed::new(1, 4, entries)]);
            fs::remove_file(folder.join("CURRENT")).unwrap();
            fs::remove_file(folder.join("MANIFEST-000002")).unwrap();
        }
        _ => {
            database(folder, BYTEWISE, (3, 1), &empty_log(), &[Listed::new(0, 4, vec![put(b"k", 1, b"v")])]);
            let marketplace = {
                let mut head = [&[0; 4][..], b"\xfc\xb9\xcf\x9b", &[0; 8], b"\x24", &[b'0'; 36]].concat();
                head.resize(256, 0);
                head
            };
            match name {
                "conflict" => {
                    let commit = "0123456789abcdef".repeat(2) + "01234567";
                    let text = format!(
                        "<<<<<<< HEAD\nMANIFEST-000002\n=======\nMANIFEST-000001\n>>>>>>> {commit}\n"
                    );
                    fs::write(folder.join("CURRENT"), text).unwrap();
                }
                "crlf" => fs::write(folder.join("CURRENT"), "MANIFEST-000002\r\n").unwrap(),
                "netease" => encrypt(folder, b"\x80\x1d\x30\x01", b"88329851"),
                "netease-aes" => encrypt(folder, b"\x90\x1d\x30\x01", b"not the real cipher"),
                "marketplace" => encrypt(folder, &marketplace, b"not the real cipher"),
                _ => panic!("no case {name}"),
            }
        }
    }
}

/// Replaces the files other than logs by `head` and their contents, combined with `pad`.
pub(crate) fn encrypt(folder: &Path, head: &[u8], pad: &[u8]) {
    for name in ["CURRENT", "MANIFEST-000002", "000004.ldb"] {
        let bytes = fs::read(folder.join(name)).unwrap();
        let bytes = bytes.iter().zip(pad.iter().cycle()).map(|(byte, pad)| byte ^ pad);
        fs::write(folder.join(name), head.iter().copied().chain(bytes).collect::<Vec<_>>()).unwrap();
    }
}
