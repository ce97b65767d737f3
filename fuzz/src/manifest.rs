//! Any bytes as a MANIFEST or a log, also framed with correct checksums.

use filterblock::database::{LogReader, LogWrites, Manifest, batch_has_writes};
use filterblock::{Error, Result};

use filterblock_fuzz::Input;
use filterblock_fuzz::log::{HEADER_LEN, frame};

/// Limit on the length of a record and on the memory for a MANIFEST, in bytes. No record that is
/// framed here is longer.
const MEMORY: usize = 64 << 10;

/// Runs an input: a mode, then a file or the contents of its records.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    if input.byte() & 1 == 0 {
        let file = input.0;
        read_log(file);
        read_writes(file);
        read_manifest(file);
        return;
    }
    let mut records = Vec::new();
    while !input.is_empty() {
        // Makes some records longer than a block.
        let repeat = if input.byte() == 0xff { 150 } else { 1 };
        records.push(input.string().repeat(repeat));
    }
    let file = frame(&records);
    let (read, damage) = read_log(&file);
    assert!(!damage, "a sound log");
    assert_eq!(read, records, "every record comes back");
    read_writes(&file);
    read_manifest(&file);
}

/// Reads the writes of a log. They take no more bytes than the file, and errors are about the file.
fn read_writes(file: &[u8]) {
    let mut log = LogWrites::new(file);
    let (mut bytes, mut errors) = (0, 0);
    loop {
        match log.next() {
            Ok(true) => {
                let write = log.write().expect("it moved to a write");
                assert!(write.sequence < 1 << 56 && write.offset < file.len() as u64);
                bytes += 2 + write.key.len() + write.value.map_or(0, <[u8]>::len);
            }
            Ok(false) => break,
            Err(error) => {
                assert_is_of_the_file(&error, file);
                errors += 1;
            }
        }
        assert!(bytes <= file.len() && errors <= file.len(), "{bytes} bytes, {errors} errors");
    }
    assert!(log.write().is_none());
    if bytes > 0 {
        assert!(batch_has_writes(file).unwrap_or(true));
    }
}

/// Returns all records, and true if anything was damaged.
fn read_log(file: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut reader = LogReader::new(file).max_record_len(MEMORY);
    let (mut records, mut damage) = (Vec::new(), false);
    // Each call advances by at least a byte.
    for _ in 0..=file.len() {
        match reader.read_record() {
            Ok(None) => {
                assert!(reader.incomplete_tail().is_none_or(|tail| tail < file.len() as u64));
                let _: Result<bool> = batch_has_writes(file);
                return (records, damage);
            }
            Ok(Some(record)) => {
                assert!(record.offset + HEADER_LEN as u64 <= file.len() as u64);
                assert!(record.data.len() <= file.len());
                records.push(record.data.to_vec());
            }
            Err(error) => {
                assert_is_of_the_file(&error, file);
                damage = true;
            }
        }
    }
    panic!("more calls than bytes");
}

fn read_manifest(file: &[u8]) {
    let scan = Manifest::scan(file, MEMORY);
    let manifest = &scan.manifest;
    let tables = manifest.tables();
    assert!(tables.is_sorted_by(|a, b| (a.level, a.number) < (b.level, b.number)));
    let by_level: usize = (0..7).map(|level| manifest.level(level).len()).sum();
    assert_eq!(by_level, tables.len());
    for table in tables {
        assert!(table.smallest.len() >= 8 && table.largest.len() >= 8);
        let (key, _) = table.smallest.split_at(table.smallest.len() - 8);
        let inverted = table.user_keys().is_some_and(|(smallest, largest)| smallest > largest);
        let found = manifest.tables_for(key).any(|other| other == table);
        assert!(found || inverted, "a table is passed over for its first key");
    }
    match (&scan.damage, Manifest::parse(file)) {
        (None, Ok(parsed)) => assert!(parsed == scan.manifest),
        // Such a MANIFEST may be readable with more memory.
        (Some(Error::Limit { .. }), _) => {}
        (Some(damage), Err(error)) => {
            assert_is_of_the_file(damage, file);
            assert_eq!(damage.to_string(), error.to_string());
        }
        (damage, _) => panic!("read with a limit: {damage:?}, and otherwise without it"),
    }
}

fn assert_is_of_the_file(error: &Error, file: &[u8]) {
    match error {
        Error::OtherFormat { .. } => {}
        Error::Corrupt { offset, .. } | Error::Unsupported { offset, .. } | Error::Limit { offset, .. } => {
            assert!(*offset <= file.len() as u64, "{error}");
        }
        other => panic!("{other}"),
    }
}
