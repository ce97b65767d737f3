//! The writes in logs, logs that hold data that is in no table yet, and logs and MANIFESTs written with the same bytes as
//! LevelDB wrote.

use std::fs;
use std::path::PathBuf;

use filterblock::Error;
use filterblock::database::{
    FileKind, LogReader, LogWriter, LogWrites, Manifest, batch_has_writes, log_has_writes,
};

use crate::databases::{BLOCK, Edit, FIRST, FULL, fragment, log, testdata};

type Write = (u64, Vec<u8>, Option<Vec<u8>>);

fn string(bytes: &[u8]) -> Vec<u8> {
    Edit::default().string(bytes).0
}

/// A batch: `[sequence: fixed64][count: fixed32]`, then the writes.
fn batch(sequence: u64, count: u32, writes: &[(&[u8], Option<&[u8]>)]) -> Vec<u8> {
    let mut batch = [&sequence.to_le_bytes()[..], &count.to_le_bytes()].concat();
    for (key, value) in writes {
        batch.push(u8::from(value.is_some()));
        batch.extend(string(key));
        batch.extend(value.map(string).unwrap_or_default());
    }
    batch
}

fn write(sequence: u64, key: &[u8], value: Option<&[u8]>) -> Write {
    (sequence, key.to_vec(), value.map(<[u8]>::to_vec))
}

/// The writes, and the errors, each error with the number of writes before it.
fn read(file: &[u8]) -> (Vec<Write>, Vec<(usize, String)>) {
    let (mut writes, mut errors) = (Vec::new(), Vec::new());
    let mut log = LogWrites::new(file);
    loop {
        match log.next() {
            Ok(true) => {
                let found = log.write().unwrap();
                writes.push(write(found.sequence, found.key, found.value));
            }
            Ok(false) => {
                assert!(log.write().is_none() && !log.next().unwrap());
                return (writes, errors);
            }
            Err(error) => errors.push((writes.len(), error.to_string())),
        }
    }
}

/// The keys and the sequence numbers are those that `generate-testdata` and `generate-databases` of the package
/// `interop` write.
#[test]
fn the_writes_of_leveldb_and_goleveldb_are_read() {
    let (writes, errors) = read(&fs::read(testdata("databases/levels/000010.log")).unwrap());
    assert!(errors.is_empty(), "{errors:?}");
    // 811 writes came before them.
    assert_eq!(writes.len(), 10);
    for (at, (sequence, key, value)) in (0..).zip(&writes) {
        let index = 50 * at;
        assert_eq!(*sequence, 812 + at);
        assert_eq!(*key, format!("item/{index:04}/{}", index * 7919 % 1000).into_bytes());
        assert_eq!(value.as_ref().map(|value| value.len() as u64), Some(162 + index % 40));
    }

    let (writes, errors) = read(&fs::read(testdata("goleveldb/base-lg-11/000014.log")).unwrap());
    assert!(errors.is_empty(), "{errors:?}");
    assert!(writes.iter().map(|write| write.0).eq(1256..1267));
    let (deleted, set) = writes.split_last().unwrap();
    assert_eq!(*deleted, write(1266, b"key000000", None));
    for (at, (_, key, value)) in (3000..).step_by(3).zip(set) {
        let value = value.as_ref().unwrap();
        assert_eq!(*key, format!("key{at:06}").into_bytes());
        assert!(value.starts_with(format!("log value of {at}").as_bytes()));
    }
}

#[test]
fn each_write_has_the_next_sequence_number() {
    let (file, offsets) = log(&[
        batch(7, 3, &[(b"a", Some(b"1")), (b"", None), (b"a", Some(b""))]),
        batch(10, 0, &[]),
        batch((1 << 56) - 1, 1, &[(&[0xff; 300], Some(&[b'v'; 70_000]))]),
    ]);
    let (writes, errors) = read(&file);
    let expected = [
        write(7, b"a", Some(b"1")),
        write(8, b"", None),
        write(9, b"a", Some(b"")),
        write((1 << 56) - 1, &[0xff; 300], Some(&[b'v'; 70_000])),
    ];
    assert!(writes == expected && errors.is_empty(), "{errors:?}");
    let mut log = LogWrites::new(&file[..]);
    let mut found = Vec::new();
    while log.next().unwrap() {
        found.push(log.write().unwrap().offset);
    }
    assert_eq!(found, [offsets[0], offsets[0], offsets[0], offsets[2]]);
}

#[test]
fn a_log_cut_anywhere_gives_its_whole_batches_and_tells_of_the_rest() {
    let records =
        [batch(1, 2, &[(b"a", Some(b"1")), (b"b", Some(b"2"))]), batch(3, 1, &[(b"c", Some(b"3"))])];
    let (file, offsets) = log(&records);
    for len in 0..=file.len() {
        let mut log = LogWrites::new(&file[..len]);
        let mut count = 0;
        while log.next().unwrap() {
            count += 1;
        }
        let ends = [offsets[1], file.len() as u64];
        let mut whole = ends.iter().filter(|end| **end <= len as u64);
        assert_eq!(count, [0, 2, 3][whole.clone().count()], "{len}");
        let start = whole.next_back().copied().unwrap_or_default();
        assert_eq!(log.incomplete_tail(), (start < len as u64).then_some(start), "{len}");
    }
}

#[test]
fn damage_costs_its_batch_from_there_on_and_no_other() {
    let sound = batch(20, 1, &[(b"z", None)]);
    let good = batch(7, 2, &[(b"a", Some(b"1")), (b"b", Some(b"2"))]);
    let mut unknown = good.clone();
    unknown[17] = 2;
    let mut long_key = good.clone();
    long_key[18] = 0x7f;
    let long_value = [&good[..20], &[4], &good[21..]].concat();
    let overlong = [&good[..18], &[0xff; 9]].concat();
    for (bad, before, expected) in [
        (good[..11].to_vec(), 0, "expected a batch of at least 12 bytes, found 11 bytes"),
        (unknown, 1, "expected type 0 (deletion) or 1 (value) at byte 17 of the batch, found type 2"),
        (long_key, 1, "expected a write at byte 17 of the batch, found one beyond its end"),
        (long_value, 1, "expected a write at byte 17 of the batch, found one beyond its end"),
        (good[..18].to_vec(), 1, "expected a write at byte 17 of the batch, found one beyond its end"),
        (overlong, 1, "expected a write at byte 17 of the batch, found one beyond its end"),
        (good[..17].to_vec(), 1, "expected 2 writes in the batch, found 1"),
        // LevelDB applies all writes of such a batch, too, before it finds that their number is wrong.
        (
            batch(7, 1, &[(b"a", Some(b"1")), (b"b", Some(b"2"))]),
            2,
            "expected 1 writes in the batch, found 2",
        ),
        (
            batch((1 << 56) - 1, 2, &[(b"a", None), (b"b", None)]),
            1,
            "expected a sequence number of at most 72057594037927935, found 72057594037927936",
        ),
    ] {
        let (file, _) = log(&[&sound[..], &bad, &sound]);
        let (writes, errors) = read(&file);
        let message = format!("log record at offset {}: {expected}", 7 + sound.len());
        assert_eq!(errors, [(1 + before, message)]);
        assert_eq!(writes.len(), before + 2);
        assert_eq!(writes.last(), Some(&write(20, b"z", None)));
    }
}

#[test]
fn the_framing_of_the_log_is_checked_too() {
    let record = batch(7, 1, &[(b"a", Some(b"1"))]);
    let (mut file, _) = log(&[&record[..]]);
    file[9] ^= 1;
    file.resize(BLOCK, 0);
    file.extend(log(&[&record[..]]).0);
    file.extend(fragment(FIRST, &record));
    let mut log = LogWrites::new(&file[..]);
    assert!(matches!(log.next(), Err(Error::Corrupt { offset: 0, .. })));
    assert!(log.next().unwrap());
    assert_eq!(log.write().map(|write| write.offset), Some(BLOCK as u64));
    assert!(!log.next().unwrap());
    assert_eq!(log.incomplete_tail(), Some((BLOCK + 7 + record.len()) as u64));
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let error = LogWrites::open_path(testdata("databases")).unwrap_err();
    assert_eq!(error.path(), Some(&*testdata("databases")));
}

/// All logs and MANIFESTs of the databases in the test data that LevelDB wrote.
fn files() -> Vec<PathBuf> {
    let folders = fs::read_dir(testdata("databases")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|path| fs::read_dir(path).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    let kind = |path: &PathBuf| FileKind::parse(path.file_name()?.to_str()?).map(|(kind, _)| kind);
    files.filter(|path| matches!(kind(path), Some(FileKind::Log | FileKind::Manifest))).collect()
}

/// The records of a file, or `None` if some of it is damaged or incomplete.
fn read_records(file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut reader = LogReader::new(file);
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().ok()? {
        records.push(record.data.to_vec());
    }
    reader.incomplete_tail().is_none().then_some(records)
}

fn written(records: &[Vec<u8>]) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new());
    records.iter().for_each(|record| log.add_record(record).unwrap());
    log.into_writer()
}

#[test]
fn every_log_and_manifest_is_written_as_its_writer_wrote_it() {
    let (mut same, mut fragments) = (0, 0);
    for path in files() {
        let file = fs::read(&path).unwrap();
        let Some(records) = read_records(&file) else { continue };
        assert_eq!(written(&records), file, "{}", path.display());
        same += 1;
        fragments += usize::from(file.len() > 32 * 1024);
    }
    assert!(same >= 5, "{same} files, {fragments} of several blocks");
}

/// Records that end before, at and after the end of a block, by LevelDB's rules: if less than 7 bytes are left, they
/// are zeros; if 7 are left, they hold an empty fragment.
#[test]
fn records_end_anywhere_in_a_block() {
    for len in 32 * 1024 - 40..32 * 1024 + 40 {
        for next in [0, 1, 40_000, 100_000] {
            let records = [vec![1; len - 7], vec![2; next], vec![3]];
            let file = written(&records);
            assert_eq!(read_records(&file).unwrap(), records, "{len} {next}");
            let rest = 32 * 1024 - len as i64;
            if (1..7).contains(&rest) {
                assert!(file[len..32 * 1024].iter().all(|&byte| byte == 0));
            }
            if rest == 7 {
                let kind = if next == 0 { 1 } else { 2 };
                assert_eq!(file[len + 4..32 * 1024], [0, 0, kind]);
            }
        }
    }
}

#[test]
fn a_snapshot_is_the_manifest_again() {
    let mut tables = 0;
    for path in files() {
        let Ok(manifest) = Manifest::parse(&fs::read(&path).unwrap()) else { continue };
        let mut record = Vec::new();
        let snapshot = manifest.snapshot();
        snapshot.encode(&mut record).unwrap();
        let again = Manifest::parse(&written(&[record])).unwrap();
        assert_eq!((again.tables(), again.comparator()), (manifest.tables(), manifest.comparator()));
        assert_eq!(again.snapshot(), snapshot);
        tables += snapshot.new_tables.len();
    }
    assert!(tables >= 7, "{tables}");
}

#[test]
fn a_failed_write_says_where() {
    let mut room = [0; 20];
    let mut log = LogWriter::new(&mut room[..]);
    log.add_record(b"ten bytes!").unwrap();
    let error = log.add_record(b"x").unwrap_err().to_string();
    assert!(error.starts_with("writing 8 bytes at offset 17"), "{error}");
    assert_eq!(log.offset(), 17);
}

/// A batch: `[sequence: fixed64][count: fixed32]`, and a deletion (type 0) of the key "k".
const BATCH: &[u8] = b"\x07\0\0\0\0\0\0\0\x01\0\0\0\x00\x01k";

#[test]
fn logs_of_leveldb_and_goleveldb() {
    for (log, holds) in [
        ("databases/levels/000010.log", true),
        ("databases/unfiltered/000008.log", false),
        ("databases/reversed/000008.log", false),
        ("goleveldb/base-lg-11/000014.log", true),
        ("goleveldb/base-lg-19/000014.log", true),
    ] {
        assert_eq!(log_has_writes(testdata(log)).unwrap(), holds, "{log}");
    }
}

#[test]
fn only_a_whole_batch_with_a_write_counts() {
    let holds = |file: &[u8]| batch_has_writes(file).unwrap();
    assert!(!holds(b""));
    assert!(!holds(&[0; BLOCK + 9]), "space that was reserved");
    assert!(holds(&fragment(FULL, BATCH)));
    assert!(!holds(&fragment(FULL, &BATCH[..12])), "a batch without writes");
    assert!(!holds(&fragment(FIRST, BATCH)));
    let (file, _) = log(&[&BATCH[..12], BATCH]);
    for len in 0..=file.len() {
        assert_eq!(holds(&file[..len]), len == file.len(), "{len}");
    }
}

#[test]
fn behind_damage_there_may_be_data() {
    let mut file = fragment(FULL, BATCH);
    file[0] ^= 1;
    assert!(matches!(batch_has_writes(&file[..]), Err(Error::Corrupt { offset: 0, .. })));
    file.resize(BLOCK, 0);
    file.extend(fragment(FULL, BATCH));
    assert!(batch_has_writes(&file[..]).unwrap());
}

#[test]
fn of_several_defects_the_first_is_told() {
    let mut damaged = fragment(FULL, BATCH);
    damaged[0] ^= 1;
    let mut file = damaged.clone();
    file.resize(BLOCK, 0);
    file.extend(damaged);
    assert!(matches!(batch_has_writes(&file[..]), Err(Error::Corrupt { offset: 0, .. })));
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_batch_too_long_to_be_read_counts() {
    let (file, _) = log(&[vec![1; (64 << 20) + 1]]);
    assert!(batch_has_writes(&file[..]).unwrap());
}

#[test]
fn errors_name_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000003.log");
    assert!(matches!(log_has_writes(&path).unwrap_err().without_path(), Error::Io { .. }));
    fs::write(&path, [1; 20]).unwrap();
    assert!(!log_has_writes(&path).unwrap());
    let mut damaged = fragment(FULL, BATCH);
    damaged[9] ^= 1;
    fs::write(&path, damaged).unwrap();
    assert_eq!(log_has_writes(&path).unwrap_err().path(), Some(&*path));
    let error = log_has_writes(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("opening: not a regular file"), "{error}");
}
