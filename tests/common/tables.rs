//! Helpers that the tests of tables share: the test data with its contents, and sources that record or misbehave.
#![allow(dead_code, reason = "no test file uses all of it")]

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, io};

use bytes::Bytes;
use filterblock::table::{Comparator, ReadAt, ReadOptions, Table};

pub(crate) fn testdata() -> PathBuf {
    // The tool's tests use this too, from a folder further down.
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join("testdata")).find(|folder| folder.is_dir()).expect("test data")
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The value that the test data has for a key: the key in hexadecimal and a semicolon, repeated and cut.
pub(crate) fn value_of(user_key: &[u8], len: usize) -> Vec<u8> {
    let hex: String = user_key.iter().map(|byte| format!("{byte:02x}")).collect();
    (hex + ";").bytes().cycle().take(len).collect()
}

/// The lines of a listing in the test data, each split into its fields.
pub(crate) fn listing(path: impl AsRef<Path>) -> Vec<Vec<String>> {
    let text = fs::read_to_string(testdata().join(path)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// A key and its value.
pub(crate) type Entry = (Vec<u8>, Vec<u8>);

/// A table of the test data, and everything that is in it.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) file: Bytes,
    pub(crate) options: ReadOptions,
    pub(crate) entries: Vec<Entry>,
    pub(crate) filtered: bool,
}

impl Sample {
    pub(crate) fn open(&self) -> Table<Bytes> {
        Table::open(self.file.clone(), &self.options).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// One table of `testdata/tables`.
pub(crate) fn sample(name: &str) -> Sample {
    let set = name.split('-').next().unwrap();
    let internal = set == "versions";
    let entry = |fields: Vec<String>| {
        let (key, len) = (unhex(&fields[0]), fields[1].parse().unwrap());
        let user_key = if internal { &key[..key.len() - 8] } else { &key };
        let value = value_of(user_key, len);
        (key, value)
    };
    Sample {
        name: name.to_owned(),
        file: fs::read(testdata().join("tables").join(name)).unwrap().into(),
        options: ReadOptions::default().internal_keys(internal),
        entries: listing(format!("tables/{set}.keys")).into_iter().map(entry).collect(),
        filtered: name.contains("bloom"),
    }
}

/// All tables of `testdata/tables`.
pub(crate) fn samples() -> Vec<Sample> {
    let names = fs::read_dir(testdata().join("tables")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".ldb")).collect();
    names.sort();
    assert!(names.len() >= 20, "test data is missing");
    names.iter().map(|name| sample(name)).collect()
}

/// The order of the keys in the database `reversed`.
pub(crate) struct Reversed;

impl Comparator for Reversed {
    fn name(&self) -> &str {
        "filterblock.testdata.Reversed"
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        b.cmp(a)
    }
}

/// A source that records its reads. It is one type for all test files, since the code that reads is compiled for each
/// type of source anew.
pub(crate) struct Recording {
    pub(crate) inner: Bytes,
    reads: Mutex<Vec<(u64, usize)>>,
}

impl Recording {
    pub(crate) fn new(inner: impl Into<Bytes>) -> Self {
        Self { inner: inner.into(), reads: Mutex::new(Vec::new()) }
    }

    /// The reads since the last call.
    pub(crate) fn take(&self) -> Vec<(u64, usize)> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

impl ReadAt for Recording {
    fn len(&self) -> io::Result<u64> {
        Ok(self.inner.len() as u64)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.reads.lock().unwrap().push((offset, len));
        self.inner.read_at(offset, len)
    }
}

/// Answers a read. It is given the number of reads before, the offset and the length.
type Answer<'a> = dyn Fn(usize, u64, usize) -> io::Result<Bytes> + 'a;

/// A source whose reads are answered by a function of the range and of the number of reads before.
pub(crate) struct Answering<'a> {
    pub(crate) len: u64,
    pub(crate) answer: Box<Answer<'a>>,
    asked: Mutex<usize>,
}

impl<'a> Answering<'a> {
    pub(crate) fn new(len: u64, answer: impl Fn(usize, u64, usize) -> io::Result<Bytes> + 'a) -> Self {
        Self { len, answer: Box::new(answer), asked: Mutex::new(0) }
    }

    pub(crate) fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

impl ReadAt for Answering<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let before = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked - 1
        };
        (self.answer)(before, offset, len)
    }
}

/// A table made by hand, of any blocks.
#[derive(Default)]
pub(crate) struct Crafted {
    pub(crate) file: Vec<u8>,
}

/// The place of a block: offset and size.
pub(crate) type Place = (u64, u64);

impl Crafted {
    /// Appends a block as it is, with this compression type and the right checksum. Returns its place.
    pub(crate) fn block_of_type(&mut self, contents: &[u8], compression: u8) -> Place {
        let place = (self.file.len() as u64, contents.len() as u64);
        self.file.extend_from_slice(contents);
        self.file.push(compression);
        let crc = crc32c::crc32c(&self.file[place.0 as usize..]);
        self.file.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
        place
    }

    pub(crate) fn block(&mut self, contents: &[u8]) -> Place {
        self.block_of_type(contents, 0)
    }

    /// Appends a block of these entries. Returns its place.
    pub(crate) fn entries<K: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, entries: &[(K, V)]) -> Place {
        self.block(&entry_block(entries))
    }

    /// Appends the footer. Returns the file.
    pub(crate) fn footer(mut self, metaindex: Place, index: Place) -> Bytes {
        let start = self.file.len();
        self.file.extend(handle(metaindex));
        self.file.extend(handle(index));
        self.file.resize(start + 40, 0);
        self.file.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
        self.file.into()
    }

    /// Appends an empty metaindex, an index of these handles under empty keys, and the footer. Returns the file.
    pub(crate) fn with_index(mut self, handles: impl Iterator<Item = Place>) -> Bytes {
        let metaindex = self.entries::<&[u8], &[u8]>(&[]);
        let mut index = Vec::new();
        for place in handles {
            let value = handle(place);
            index.extend([&[0, 0][..], &varint(value.len() as u64), &value].concat());
        }
        index.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        let index = self.block(&index);
        self.footer(metaindex, index)
    }

    /// Appends a metaindex of the entries `meta`, an index of the data blocks `data` with their keys, and the footer.
    /// Returns the file.
    pub(crate) fn finish(mut self, data: &[(&[u8], Place)], meta: &[(&[u8], Place)]) -> Bytes {
        let handles = |places: &[(&[u8], Place)]| {
            places.iter().map(|&(key, place)| (key.to_vec(), handle(place))).collect::<Vec<_>>()
        };
        let metaindex = self.entries(&handles(meta));
        let index = self.entries(&handles(data));
        self.footer(metaindex, index)
    }
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

pub(crate) fn handle((offset, size): Place) -> Vec<u8> {
    [varint(offset), varint(size)].concat()
}

/// The contents of a block in which every entry is a restart.
pub(crate) fn entry_block<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Vec<u8> {
    let (mut bytes, mut restarts) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        let (key, value) = (key.as_ref(), value.as_ref());
        restarts.extend((bytes.len() as u32).to_le_bytes());
        bytes.push(0);
        bytes.extend(varint(key.len() as u64));
        bytes.extend(varint(value.len() as u64));
        bytes.extend([key, value].concat());
    }
    bytes.extend(&restarts);
    bytes.extend((entries.len() as u32).to_le_bytes());
    bytes
}
