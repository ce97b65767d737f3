//! Small sound databases to begin with.

use std::sync::OnceLock;

use filterblock::BloomFilterPolicy;
use filterblock::database::{LiveTable, VersionEdit};
use filterblock::table::{Compression, TableBuilder, WriteOptions};

use super::Files;
use crate::batch::{self, Write};
use crate::log::frame;

/// A database.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The database's files.
    pub files: Files,
    /// The database's files at an earlier time.
    pub older: Files,
}

/// A key, its sequence number, and its value, or `None` where it is deleted.
type Version = (Vec<u8>, u64, Option<Vec<u8>>);

/// Two small databases. The first has tables on two levels and a log. In its older state, the second
/// table is not yet written. The second database is that older state; in its own older state, there
/// is no table yet.
///
/// Keys and values of both are text. Level 1 of both has 40 keys. Level 0 and the log of the first, and the log of the
/// second, replace and delete some of them. One value in the log of the first is as long as a block of a log.
pub fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let before = Files::from([(current(2)), (manifest(2, &[snapshot(3, 4, 0)])), (log(3, &first()))]);
        let (first, second) = (table(5, 1, first()), table(7, 0, second()));
        let older = Files::from([
            current(4),
            manifest(4, &[snapshot(6, 7, 40), adding(&first, 6, 40)]),
            first.file.clone(),
            log(6, &self::second()),
        ]);
        let files = Files::from([
            current(4),
            manifest(4, &[snapshot(6, 7, 40), adding(&first, 6, 40), adding(&second, 8, 60)]),
            first.file,
            second.file,
            log(8, &third()),
        ]);
        vec![Sample { files, older: older.clone() }, Sample { files: older, older: before }]
    })
}

fn key(number: u64) -> Vec<u8> {
    format!("key{number:03}").into_bytes()
}

/// Entries of level 1, which a log held before.
fn first() -> Vec<Version> {
    (0..40).map(|number| (key(number), number + 1, Some(format!("first {number}").into_bytes()))).collect()
}

/// Entries of level 0, which a log held before: every second key anew, and some deleted.
fn second() -> Vec<Version> {
    let value = |number: u64| (!number.is_multiple_of(5)).then(|| format!("second {number}").into_bytes());
    (0..20).map(|number| (key(2 * number), 41 + number, value(number))).collect()
}

/// Entries that only the log holds.
fn third() -> Vec<Version> {
    let long = vec![b'x'; crate::log::BLOCK_LEN];
    vec![
        (key(1), 61, Some(b"third 1".to_vec())),
        (key(2), 62, None),
        (key(3), 63, Some(long)),
        (key(100), 64, Some(b"third 100".to_vec())),
    ]
}

fn current(manifest: u64) -> (String, Vec<u8>) {
    ("CURRENT".to_owned(), format!("MANIFEST-{manifest:06}\n").into_bytes())
}

fn manifest(number: u64, edits: &[VersionEdit]) -> (String, Vec<u8>) {
    let encoded = |edit: &VersionEdit| {
        let mut record = Vec::new();
        edit.encode(&mut record).expect("short keys");
        record
    };
    let records: Vec<_> = edits.iter().map(encoded).collect();
    (format!("MANIFEST-{number:06}"), frame(&records))
}

/// Makes the first record of a MANIFEST, before any table.
fn snapshot(log: u64, next_file: u64, last_sequence: u64) -> VersionEdit {
    let mut edit = VersionEdit::default();
    edit.comparator = Some(b"leveldb.BytewiseComparator"[..].into());
    (edit.log_number, edit.prev_log_number) = (Some(log), Some(0));
    (edit.next_file_number, edit.last_sequence) = (Some(next_file), Some(last_sequence));
    edit
}

/// Makes the record that adds a table.
fn adding(table: &MadeTable, log: u64, last_sequence: u64) -> VersionEdit {
    let mut edit = VersionEdit::default();
    (edit.log_number, edit.next_file_number) = (Some(log), Some(log + 1));
    edit.last_sequence = Some(last_sequence);
    edit.new_tables.push(table.live.clone());
    edit
}

struct MadeTable {
    file: (String, Vec<u8>),
    live: LiveTable,
}

fn table(number: u64, level: u8, versions: Vec<Version>) -> MadeTable {
    let options = WriteOptions::default().internal_keys(true).block_size(200).restart_interval(4);
    let options = options.compression(Compression::None).filter_policy(BloomFilterPolicy::new(10));
    let mut table = TableBuilder::new(Vec::new(), options);
    let mut keys = Vec::new();
    for (key, sequence, value) in versions {
        let tag = sequence << 8 | u64::from(value.is_some());
        let key = [&key[..], &tag.to_le_bytes()].concat();
        table.add(&key, &value.unwrap_or_default()).expect("keys in order");
        keys.push(key);
    }
    let file = table.finish().expect("a vector takes everything").0;
    let (smallest, largest) = (keys.first().cloned(), keys.last().cloned());
    let (smallest, largest) = (smallest.unwrap_or_default(), largest.unwrap_or_default());
    let live = LiveTable::new(level, number, file.len() as u64, smallest, largest);
    MadeTable { file: (format!("{number:06}.ldb"), file), live }
}

/// A log with up to three writes in each batch.
fn log(number: u64, versions: &[Version]) -> (String, Vec<u8>) {
    let batch = |versions: &[Version]| {
        let writes: Vec<Write<'_>> =
            versions.iter().map(|(key, _, value)| (&key[..], value.as_deref())).collect();
        batch::encode(versions.first().map_or(0, |(_, sequence, _)| *sequence), &writes)
    };
    let records: Vec<_> = versions.chunks(3).map(batch).collect();
    (format!("{number:06}.log"), frame(&records))
}
