//! Logs and MANIFESTs are written with the same bytes as LevelDB wrote.

use std::fs;
use std::path::PathBuf;

use filterblock::database::{FileKind, LogReader, LogWriter, Manifest};

use crate::databases::testdata;

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
