//! Databases whose MANIFEST can be chosen as far as it goes, and of which more may be missing all the same.

use std::fs;
use std::os::unix::fs::symlink;

use filterblock::database::{LogWriter, Manifest, VersionEdit};

use super::TARGET;
use super::damage::{Case, LOG, MANIFEST, TABLES, sound};
use crate::rebuild::tests::databases::Sample;
use crate::report::{RepairReport, RepairRole};

/// A table and a log that are newer than the MANIFEST, and a later MANIFEST.
const NEWER: &str = "000099.ldb";
const NEWER_LOG: &str = "000043.log";
const LATER: &str = "MANIFEST-000098";

/// Checks that everything is saved by the MANIFEST. Returns the report.
#[track_caller]
fn saved(case: &Case) -> RepairReport {
    let (report, new) = case.repair();
    assert!(new == sound() && report.data.manifest.as_deref() == Some(MANIFEST), "{report:?}");
    assert_eq!(report.data.is_complete, report.data.unknown.is_empty(), "{report:?}");
    fs::remove_dir_all(case.path("").with_file_name(TARGET)).unwrap();
    report
}

#[track_caller]
fn assert_complete(case: &Case) {
    let report = saved(case);
    assert!(report.data.is_complete, "{report:?}");
}

/// Checks that a repair does not know whether more is missing, for this one reason.
#[track_caller]
fn assert_unknown(case: &Case, reason: &str) -> RepairReport {
    let report = saved(case);
    assert!(matches!(&report.data.unknown[..], [one] if one.text().contains(reason)), "{report:?}");
    report
}

fn write_manifest(case: &Case, name: &str, change: impl FnOnce(&mut VersionEdit)) {
    let mut edit = Manifest::read(case.path("")).unwrap().snapshot();
    change(&mut edit);
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).unwrap();
    log.add_record(&record).unwrap();
    fs::write(case.path(name), log.into_writer()).unwrap();
}

#[test]
fn a_newer_table_that_cannot_be_read_whole_may_have_had_anything() {
    let whole = fs::read(Case::new().path(TABLES[3])).unwrap();
    let len = whole.len();
    // The footer of a table shows that it was written to its end, and these are not its bytes.
    let of_block = [&[1; 30], &whole[30..]].concat();
    let of_index = [&whole[..len / 2], &vec![1; len / 2 - 48][..], &whole[len - 48..]].concat();
    for bytes in [of_block, of_index, whole[..20].to_vec(), vec![0; len], vec![7; len], vec![0; 1]] {
        let case = Case::new();
        fs::write(case.path(NEWER), &bytes).unwrap();
        let report = assert_unknown(&case, "000099.ldb is newer than the MANIFEST and cannot be read whole");
        let note = report.files.iter().find(|file| file.name == NEWER).unwrap().data.note.as_deref();
        assert!(note.unwrap().starts_with("newer than the MANIFEST"), "{note:?}");
        // A table whose number is below the MANIFEST's next one is not newer than the MANIFEST.
        fs::rename(case.path(NEWER), case.path("000013.ldb")).unwrap();
        assert_complete(&case);
    }
    let case = Case::new();
    (90..93).for_each(|number| fs::write(case.path(&format!("0000{number}.ldb")), [1; 500]).unwrap());
    assert_unknown(&case, "000090.ldb and 2 more tables are newer");
}

/// A writer that is stopped leaves the beginning of a table, or an empty file.
#[test]
fn the_beginning_of_a_newer_table_is_a_leftover() {
    let whole = fs::read(Case::new().path(TABLES[3])).unwrap();
    let cuts = (200..whole.len()).step_by(29).chain([0, whole.len() - 1, whole.len()]);
    for len in cuts {
        let case = Case::new();
        fs::write(case.path(NEWER), &whole[..len]).unwrap();
        assert_complete(&case);
    }
}

#[test]
fn a_later_manifest_that_is_lost_may_have_had_more() {
    for bytes in [None, Some(vec![]), Some(vec![0; 192]), Some(b"no MANIFEST at all".to_vec())] {
        let case = Case::new();
        fs::write(case.path("CURRENT"), format!("{LATER}\n")).unwrap();
        bytes.iter().for_each(|bytes| fs::write(case.path(LATER), bytes).unwrap());
        let how = if bytes.is_none() { "which is missing" } else { "which is not chosen" };
        assert_unknown(&case, &format!("CURRENT names {LATER}, {how}"));
        // The later MANIFEST was not complete yet if CURRENT names an earlier one.
        fs::write(case.path("CURRENT"), format!("{MANIFEST}\n")).unwrap();
        assert_complete(&case);
        fs::write(case.path("CURRENT"), "MANIFEST-000003\n").unwrap();
        assert_complete(&case);
        fs::write(case.path("CURRENT"), "").unwrap();
        match bytes {
            None => assert_complete(&case),
            Some(_) => _ = assert_unknown(&case, &format!("{LATER} is later than {MANIFEST}")),
        }
    }
}

#[test]
fn a_log_that_the_manifest_names_was_there() {
    let missing = "000041.log is missing, so writes after sequence number 33 may be lost";
    let log = fs::read(Case::new().path(LOG)).unwrap();
    for (log_number, previous, reason) in [
        (41, 0, Some(missing)),
        (43, 0, None),
        (42, 0, Some("000042.log is missing")),
        (43, 41, Some(missing)),
        // LevelDB's own repair names no log.
        (0, 0, None),
    ] {
        let case = Case::new();
        write_manifest(&case, MANIFEST, |edit| {
            (edit.log_number, edit.prev_log_number) = (Some(log_number), Some(previous));
        });
        fs::rename(case.path(LOG), case.path(NEWER_LOG)).unwrap();
        match reason {
            None => assert_complete(&case),
            Some(reason) => _ = assert_unknown(&case, reason),
        }
        fs::write(case.path(LOG), &log).unwrap();
        if log_number != 42 {
            assert_complete(&case);
        }
    }
    let case = Case::new();
    fs::remove_file(case.path(LOG)).unwrap();
    fs::write(case.path(NEWER_LOG), "").unwrap();
    let (report, _) = case.repair();
    assert!(report.data.unknown.len() == 1 && report.data.unknown[0].text().contains(missing), "{report:?}");
}

#[test]
fn names_without_a_file_behind_them_are_missing_files() {
    for (name, reason) in [
        (NEWER_LOG, Some("000043.log is no file but a link that leads nowhere")),
        (NEWER, Some("000099.ldb is newer")),
        ("000013.log", None),
        ("000013.ldb", None),
        (LATER, None),
    ] {
        let case = Case::new();
        symlink("nowhere", case.path(name)).unwrap();
        let report = match reason {
            None => saved(&case),
            Some(reason) => assert_unknown(&case, reason),
        };
        let role = report.files.iter().find(|file| file.name == name).map(|file| file.data.role);
        let expected = if name == LATER { RepairRole::NotUsed } else { RepairRole::Missing };
        assert_eq!(role, (reason.is_some() || name == LATER).then_some(expected), "{report:?}");
        assert_eq!(report.data.is_complete, reason.is_none());
    }
    let case = Case::new();
    fs::create_dir(case.path(NEWER_LOG)).unwrap();
    assert_unknown(&case, "000043.log is no file but a folder");
    // Links that cannot be followed.
    for (to, why) in [
        (NEWER_LOG.to_owned(), "a link that leads in a circle"),
        (format!("{}/file", TABLES[3]), "a link that leads nowhere"),
        ("x".repeat(300), "a link that leads nowhere"),
    ] {
        let case = Case::new();
        symlink(to, case.path(NEWER_LOG)).unwrap();
        assert_unknown(&case, &format!("000043.log is no file but {why}"));
    }
    // A live table is reported once, with its range of keys.
    let case = Case::new();
    fs::remove_file(case.path(TABLES[3])).unwrap();
    symlink("nowhere", case.path(TABLES[3])).unwrap();
    let (report, _) = case.repair();
    assert_eq!(report.files.iter().filter(|file| file.name == TABLES[3]).count(), 1);
    assert!(report.losses[0].data.why.starts_with("a link that leads nowhere is in its place"), "{report:?}");
    // The live log itself.
    let case = Case::new();
    fs::rename(case.path(LOG), case.path("elsewhere")).unwrap();
    symlink("elsewhere", case.path(LOG)).unwrap();
    assert_complete(&case);
    fs::remove_file(case.path("elsewhere")).unwrap();
    let (report, _) = case.repair();
    assert!(report.data.unknown[0].text().contains("000041.log is no file"), "{report:?}");
}

/// A table has one of two endings.
#[test]
fn a_name_without_a_file_beside_a_whole_table_is_not_missing() {
    let case = Case::new();
    fs::copy(case.path(TABLES[3]), case.path("000099.sst")).unwrap();
    fs::create_dir(case.path(NEWER)).unwrap();
    let report = saved(&case);
    assert!(report.data.is_complete && report.files.iter().all(|file| file.name != NEWER), "{report:?}");
    // A live table is reported under the name that its file has.
    let case = Case::new();
    fs::rename(case.path(TABLES[3]), case.path("000020.sst")).unwrap();
    symlink("nowhere", case.path(TABLES[3])).unwrap();
    let report = saved(&case);
    assert!(report.data.is_complete && report.files.iter().all(|file| file.name != TABLES[3]), "{report:?}");
    // Of two names without a file, the first one decides what is reported.
    let case = Case::new();
    fs::remove_file(case.path(TABLES[3])).unwrap();
    symlink("nowhere", case.path(TABLES[3])).unwrap();
    fs::create_dir(case.path("000020.sst")).unwrap();
    let (report, _) = case.repair();
    assert!(report.losses[0].data.why.starts_with("a link that leads nowhere is in its place"), "{report:?}");
}

#[test]
fn a_sequence_number_that_none_can_be_is_not_taken_over() {
    for (last, is_checksummed) in [((1_u64 << 56) - 1, true), (1 << 56, false), (u64::MAX, false)] {
        let case = Case::new();
        write_manifest(&case, MANIFEST, |edit| edit.last_sequence = Some(last));
        let (report, new) = case.repair();
        assert_eq!(new, sound());
        let reason = format!("last sequence number is {last}");
        assert_eq!(
            report.data.unknown.iter().any(|why| why.text().contains(&reason)),
            !is_checksummed,
            "{report:?}"
        );
        // The numbers of the log end before the last one of the MANIFEST.
        assert!(!report.data.is_complete && report.losses.len() == usize::from(is_checksummed), "{report:?}");
        let written = Manifest::read(case.path("").with_file_name(TARGET)).unwrap().last_sequence();
        assert_eq!(written, if is_checksummed { last } else { 102 });
    }
}

#[test]
fn a_second_manifest_has_a_reason_for_not_being_used() {
    for (current, next, name, why) in [
        (MANIFEST, 42, LATER, "CURRENT names MANIFEST-000040"),
        ("", 42, MANIFEST, "MANIFEST-000098 is as new"),
        ("", 43, MANIFEST, "MANIFEST-000098 is newer"),
        (MANIFEST, 100, MANIFEST, "a table is newer, and none is newer than MANIFEST-000098"),
    ] {
        let case = Case::new();
        write_manifest(&case, LATER, |edit| edit.next_file_number = Some(next));
        fs::write(case.path("CURRENT"), format!("{current}\n")).unwrap();
        if next == 100 {
            fs::copy(case.path(TABLES[3]), case.path(NEWER)).unwrap();
        }
        let (report, new) = case.repair();
        assert!(new == sound() && report.data.is_complete, "{report:?}");
        let file = report.files.iter().find(|file| file.name == name).unwrap();
        assert_eq!((file.data.role, file.data.note.as_deref()), (RepairRole::NotUsed, Some(why)));
        assert_eq!(file.data.losses, 0);
    }
}

/// A MANIFEST that was preferred turns out to have missed a table, as the others did.
#[test]
fn the_reason_for_not_using_a_manifest_holds_in_the_end() {
    let case = Case::new();
    write_manifest(&case, LATER, |edit| edit.next_file_number = Some(50));
    let other = tempfile::tempdir().unwrap();
    Sample::Damaged.make(other.path());
    fs::copy(other.path().join("000035.ldb"), case.path(NEWER)).unwrap();
    let (report, _) = case.repair();
    assert_eq!(report.data.manifest, None);
    let note = |name: &str| {
        let file = report.files.iter().find(|file| file.name == name).unwrap();
        assert_eq!(file.data.role, RepairRole::NotUsed);
        file.data.note.clone().unwrap()
    };
    assert!(note(MANIFEST).starts_with("000099.ldb is newer, and has entries"), "{report:?}");
    assert_eq!(note(LATER), format!("{MANIFEST} was preferred, and is not chosen either"));
}
