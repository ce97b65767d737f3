//! Helpers that the tests of databases share: logs and version edits, written as LevelDB's `db/log_writer.cc` and
//! `db/version_edit.cc` write them, internal keys, and copies of the test data.

use std::path::{Path, PathBuf};

pub(crate) const BLOCK: usize = 32 * 1024;
pub(crate) const HEADER: usize = 7;

pub(crate) const FULL: u8 = 1;
pub(crate) const FIRST: u8 = 2;
pub(crate) const MIDDLE: u8 = 3;
pub(crate) const LAST: u8 = 4;

pub(crate) const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";

pub(crate) fn testdata(path: &str) -> PathBuf {
    // The tool's tests use this too, from a folder further down.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("testdata"));
    folders.find(|folder| folder.is_dir()).expect("test data").join(path)
}

/// Copies the files of `source` to a new folder.
pub(crate) fn copy_of(source: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

/// A fragment of a record: `[masked CRC-32C: fixed32][length: fixed16][type: 1][data]`
pub(crate) fn fragment(kind: u8, data: &[u8]) -> Vec<u8> {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), data);
    let mut fragment = crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes().to_vec();
    fragment.extend(u16::try_from(data.len()).unwrap().to_le_bytes());
    fragment.push(kind);
    fragment.extend(data);
    fragment
}

/// A file of these records, and the offset of each.
pub(crate) fn log<T: AsRef<[u8]>>(records: &[T]) -> (Vec<u8>, Vec<u64>) {
    let mut file = Vec::new();
    let mut offsets = Vec::new();
    for record in records {
        let mut rest = record.as_ref();
        let mut first = true;
        loop {
            let left = BLOCK - file.len() % BLOCK;
            if left < HEADER {
                file.resize(file.len() + left, 0);
                continue;
            }
            if first {
                offsets.push(file.len() as u64);
            }
            let (data, behind) = rest.split_at(rest.len().min(left - HEADER));
            let kind = match (first, behind.is_empty()) {
                (true, true) => FULL,
                (true, false) => FIRST,
                (false, false) => MIDDLE,
                (false, true) => LAST,
            };
            file.extend(fragment(kind, data));
            (rest, first) = (behind, false);
            if rest.is_empty() {
                break;
            }
        }
    }
    (file, offsets)
}

/// A version edit, the contents of one of a MANIFEST's records, while it is put together.
#[derive(Clone, Default)]
pub(crate) struct Edit(pub(crate) Vec<u8>);

impl Edit {
    /// An edit with the comparator and the numbers that every MANIFEST needs: log number 0, which means none, next file
    /// number 9, last sequence 100.
    pub(crate) fn sound() -> Self {
        Self::default().comparator(BYTEWISE).number(2, 0).number(3, 9).number(4, 100)
    }

    pub(crate) fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    pub(crate) fn string(self, bytes: &[u8]) -> Self {
        let mut edit = self.varint(bytes.len() as u64);
        edit.0.extend(bytes);
        edit
    }

    /// Appends the comparator's name (tag 1).
    pub(crate) fn comparator(self, name: &[u8]) -> Self {
        self.varint(1).string(name)
    }

    /// Appends a number, of tag 2 (log), 3 (next file), 4 (last sequence) or 9 (previous log).
    pub(crate) fn number(self, tag: u64, number: u64) -> Self {
        self.varint(tag).varint(number)
    }

    /// Appends a deleted table (tag 6).
    pub(crate) fn delete(self, level: u64, number: u64) -> Self {
        self.varint(6).varint(level).varint(number)
    }

    /// Appends a new table (tag 7).
    pub(crate) fn add(self, level: u64, number: u64, size: u64, smallest: &[u8], largest: &[u8]) -> Self {
        self.varint(7).varint(level).varint(number).varint(size).string(smallest).string(largest)
    }
}

/// An internal key: `[user key][sequence << 8 | type: fixed64]`
pub(crate) fn internal_key(user_key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
    let mut key = user_key.to_vec();
    key.extend((sequence << 8 | u64::from(kind)).to_le_bytes());
    key
}

/// The internal key of a value with the sequence number 7.
pub(crate) fn value_key(user_key: &str) -> Vec<u8> {
    internal_key(user_key.as_bytes(), 7, 1)
}
