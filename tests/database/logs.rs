//! Logs that hold data that is in no table yet, and logs that do not.

use std::fs;

use filterblock::Error;
use filterblock::database::{batch_has_writes, log_has_writes};

use crate::databases::{BLOCK, FIRST, FULL, fragment, log, testdata};

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
