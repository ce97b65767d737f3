//! The writes in logs.

use std::fs;

use filterblock::Error;
use filterblock::database::LogWrites;

use crate::databases::{BLOCK, Edit, FIRST, fragment, log, testdata};

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
