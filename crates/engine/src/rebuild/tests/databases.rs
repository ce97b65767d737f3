//! The databases on which rebuilds are tested.

use std::{fs, path::Path, sync::Arc};

use filterblock::database::{LiveTable, LogWriter, VersionEdit};
use filterblock::table::{TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, SharedPolicy};

/// The databases: an ordinary one with several levels; one with level 0 alone, whose tables are named `.sst` and have
/// no filters, and whose log is empty; and one with a table that cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sample {
    Levels,
    Level0,
    Damaged,
}

pub(crate) const NEW_NAME: &str = "leveldb.BuiltinBloomFilter2";
const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";
const LOG: u64 = 41;
const MANIFEST: u64 = 40;

/// Level, number and keys of a table. Every seventh key is deleted.
type Spec = (u8, u64, std::ops::Range<u32>);

impl Sample {
    fn specs(self) -> &'static [Spec] {
        match self {
            Self::Levels => &[(0, 33, 20..50), (0, 30, 0..40), (1, 12, 0..30), (2, 20, 30..60)],
            Self::Level0 => &[(0, 31, 10..40), (0, 22, 0..30), (0, 9, 0..60)],
            Self::Damaged => &[(0, 35, 0..20), (1, 20, 0..30), (2, 12, 0..60)],
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Level0 => "sst",
            _ => "ldb",
        }
    }

    /// The contents of CURRENT.
    pub(crate) fn current() -> String {
        format!("MANIFEST-{MANIFEST:06}\n")
    }

    /// Makes the database in `dir`, which must not contain another one.
    pub(crate) fn make(self, dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        let mut edit = VersionEdit::default();
        edit.comparator = Some(BYTEWISE.into());
        (edit.log_number, edit.prev_log_number) = (Some(LOG), Some(0));
        (edit.next_file_number, edit.last_sequence) = (Some(LOG + 1), Some(100));
        for spec in self.specs() {
            let (table, bytes) = self.table(spec);
            fs::write(dir.join(format!("{:06}.{}", spec.1, self.extension())), bytes).unwrap();
            edit.new_tables.push(table);
        }
        let mut record = Vec::new();
        edit.encode(&mut record).unwrap();
        write_log(&dir.join(format!("MANIFEST-{MANIFEST:06}")), &[record]);
        fs::write(dir.join("CURRENT"), Self::current()).unwrap();
        fs::write(dir.join("LOCK"), "").unwrap();
        let writes =
            if self == Self::Level0 { vec![] } else { vec![batch(101, &[(5, "new"), (70, "newest")])] };
        write_log(&dir.join(format!("{LOG:06}.log")), &writes);
    }

    fn table(self, (level, number, keys): &Spec) -> (LiveTable, Vec<u8>) {
        let policy: SharedPolicy = Arc::new(BloomFilterPolicy::new(10));
        let mut options = WriteOptions::default().internal_keys(true).block_size(256);
        if self != Self::Level0 {
            options = options.filter_policies(vec![policy]);
        }
        let mut builder = TableBuilder::new(Vec::new(), options);
        let internal = |key: u32| internal_key(key, *number, u8::from(!key.is_multiple_of(7)));
        for key in keys.clone() {
            let value = format!("{key} of table {number}");
            let value = if key.is_multiple_of(7) { "" } else { &value };
            builder.add(&internal(key), value.as_bytes()).unwrap();
        }
        let mut bytes = builder.finish().unwrap().0;
        if self == Self::Damaged && *number == 20 {
            // The byte is in the first data block.
            bytes[30] ^= 1;
        }
        let table =
            LiveTable::new(*level, *number, bytes.len() as u64, internal(keys.start), internal(keys.end - 1));
        (table, bytes)
    }
}

fn internal_key(key: u32, sequence: u64, kind: u8) -> Vec<u8> {
    let tag = (sequence << 8 | u64::from(kind)).to_le_bytes();
    [format!("key{key:04}").as_bytes(), &tag].concat()
}

/// A batch of writes (`db/write_batch.cc`).
fn batch(sequence: u64, writes: &[(u32, &str)]) -> Vec<u8> {
    let mut bytes = sequence.to_le_bytes().to_vec();
    bytes.extend((writes.len() as u32).to_le_bytes());
    for (key, value) in writes {
        let key = format!("key{key:04}");
        bytes.extend([1, key.len() as u8]);
        bytes.extend(key.as_bytes());
        bytes.push(value.len() as u8);
        bytes.extend(value.as_bytes());
    }
    bytes
}

fn write_log(path: &Path, records: &[Vec<u8>]) {
    let mut log = LogWriter::new(Vec::new());
    records.iter().for_each(|record| log.add_record(record).unwrap());
    fs::write(path, log.into_writer()).unwrap();
}
