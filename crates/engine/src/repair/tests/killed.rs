//! What a killed program leaves: the last record of a MANIFEST or a log cut off, and space that was reserved.

use std::fs;

use filterblock::database::{LogWriter, Manifest, VersionEdit};

use super::TARGET;
use super::damage::{Case, LOG, MANIFEST, sound};

/// Without the end of the MANIFEST, it is not known whether a table that it does not list is an obsolete one.
#[test]
fn a_manifest_without_its_end_does_not_tell_all() {
    let sound = sound();
    let write = |case: &Case, edits: [VersionEdit; 2], cut: usize| {
        let mut log = LogWriter::new(Vec::new());
        for edit in edits {
            let mut record = Vec::new();
            edit.encode(&mut record).unwrap();
            log.add_record(&record).unwrap();
        }
        case.change(MANIFEST, |bytes| {
            *bytes = log.into_writer();
            bytes.truncate(bytes.len() - cut);
        });
    };
    // The record that adds the last tables is cut off.
    let case = Case::new();
    let mut first = Manifest::read(case.path("")).unwrap().snapshot();
    let mut second = VersionEdit::default();
    second.new_tables = first.new_tables.split_off(2);
    write(&case, [first, second], 3);
    let (report, new) = case.repair();
    assert!(new == sound && report.data.manifest.is_none() && !report.data.is_complete, "{report:?}");
    // Nothing is missing: this is what a kill leaves, or space that was reserved.
    for (cut, zeros) in [(3, 0), (0, 40), (0, 7), (0, 100_000)] {
        let case = Case::new();
        let first = Manifest::read(case.path("")).unwrap().snapshot();
        let mut second = VersionEdit::default();
        second.last_sequence = first.last_sequence;
        write(&case, [first, second], cut);
        case.change(MANIFEST, |bytes| bytes.extend(vec![0; zeros]));
        let (report, new) = case.repair();
        assert!(new == sound && report.data.manifest.is_some() && report.data.is_complete, "{report:?}");
        let note = if zeros > 0 { "zeros at the end" } else { "the last record of MANIFEST" };
        assert!(matches!(&report.notes[..], [one] if one.starts_with(note)), "{report:?}");
        // A log that is not there may have been named by the record.
        fs::remove_dir_all(case.path("").with_file_name(TARGET)).unwrap();
        fs::remove_file(case.path(LOG)).unwrap();
        assert!(!case.repair().0.data.is_complete);
        // A table that is not listed, and cannot be read whole, may have had entries.
        let case = Case::new();
        case.change(MANIFEST, |bytes| bytes.extend([0; 100]));
        fs::write(case.path("000013.ldb"), [7; 500]).unwrap();
        let (report, _) = case.repair();
        assert!(
            report.data.unknown[0].text().contains("000013.ldb is not in the MANIFEST, whose end"),
            "{report:?}"
        );
    }
    // Zeros with records after them.
    let case = Case::new();
    case.change(MANIFEST, |bytes| {
        let mut log = LogWriter::new(Vec::new());
        let mut record = Vec::new();
        let mut edit = VersionEdit::default();
        edit.last_sequence = Some(102);
        edit.encode(&mut record).unwrap();
        log.add_record(&record).unwrap();
        bytes.resize(32 << 10, 0);
        bytes.extend(log.into_writer());
    });
    let (report, new) = case.repair();
    assert!(
        new == sound && report.data.unknown[0].text().starts_with("zeros in the middle of the MANIFEST"),
        "{report:?}"
    );
}

#[test]
fn a_log_with_a_part_of_its_last_write_is_what_a_kill_leaves() {
    let case = Case::new();
    case.change(LOG, |bytes| bytes.truncate(bytes.len() - 3));
    let (report, new) = case.repair();
    assert!(!new.contains_key(&b"key0070"[..]));
    assert!(report.data.is_complete && report.notes[0].contains(LOG), "{report:?}");
    // The MANIFEST knows more writes than the logs have.
    let case = Case::new();
    case.change(LOG, |bytes| {
        let mut log = LogWriter::new(std::mem::take(bytes));
        log.add_record(b"\x67\0\0\0\0\0\0\0\x01\0\0\0\x00\x03one").unwrap();
        *bytes = log.into_writer();
    });
    let sound = fs::read(case.path(LOG)).unwrap();
    case.change(LOG, |bytes| bytes.truncate(bytes.len() - 3));
    assert!(case.repair().0.data.is_complete);
    let mut edit = Manifest::read(case.path("")).unwrap().snapshot();
    edit.last_sequence = Some(103);
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).unwrap();
    log.add_record(&record).unwrap();
    fs::write(case.path(MANIFEST), log.into_writer()).unwrap();
    fs::remove_dir_all(case.path("").with_file_name(TARGET)).unwrap();
    let (report, _) = case.repair();
    let [loss] = &report.losses[..] else { panic!("{report:?}") };
    assert_eq!((&*loss.name, &loss.data.first_key, &loss.data.last_key), (LOG, &None, &None));
    assert!(!report.data.unknown.is_empty() && report.data.sums.lost_writes.is_none());
    // Zeros after all writes are space that was reserved, and zeros in a write are damage.
    for (len, is_complete) in [(sound.len(), true), (sound.len() - 3, false)] {
        let case = Case::new();
        case.change(LOG, |bytes| {
            *bytes = sound[..len].to_vec();
            bytes.resize(1 << 16, 0);
        });
        let (report, _) = case.repair();
        assert_eq!(
            (report.data.is_complete, report.losses.len()),
            (is_complete, usize::from(!is_complete)),
            "{report:?}"
        );
    }
}
