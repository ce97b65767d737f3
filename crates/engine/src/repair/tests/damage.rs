//! Repairs of a database that is damaged in one of many ways.

use std::collections::BTreeMap;
use std::{fs, path::Path};

use filterblock::database::{Database, LiveTable, LogWriter, Manifest, VersionEdit};
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};

use super::{DATABASE, Prefer, RepairRequest, TARGET, repair, run};
use crate::rebuild::tests::databases::Sample;
use crate::report::{RebuildStatus, RepairReport, RepairRole};

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

pub(super) const MANIFEST: &str = "MANIFEST-000040";
pub(super) const LOG: &str = "000041.log";
/// The tables of levels 0, 0, 1 and 2.
pub(super) const TABLES: [&str; 4] = ["000033.ldb", "000030.ldb", "000012.ldb", "000020.ldb"];

pub(super) struct Case {
    root: tempfile::TempDir,
}

impl Case {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Sample::Levels.make(&root.path().join(DATABASE));
        Self { root }
    }

    pub(super) fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(DATABASE).join(name)
    }

    pub(super) fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        change(&mut bytes);
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(super) fn repair(&self) -> (RepairReport, Entries) {
        let report = run(self.root.path()).unwrap();
        let target = self.root.path().join(TARGET);
        let new = entries(&target);
        assert_eq!(report.data.sums.keys, new.len() as u64);
        assert!(greatest_sequence(&target) <= Manifest::read(&target).unwrap().last_sequence());
        (report, new)
    }

    /// Repairs the database with `--prefer sound`.
    fn repair_sound(&self) -> Entries {
        let request = RepairRequest { prefer: Prefer::Sound, ..RepairRequest::default() };
        repair(self.root.path(), &request).unwrap();
        entries(&self.root.path().join(TARGET))
    }
}

pub(super) fn entries(dir: &Path) -> Entries {
    let database = Database::open(dir).unwrap();
    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    let mut entries = Entries::new();
    while scan.next().unwrap() {
        let entry = scan.entry().unwrap();
        entries.insert(entry.key.user_key.to_vec(), entry.value.to_vec());
    }
    entries
}

/// The greatest sequence number of an entry.
fn greatest_sequence(dir: &Path) -> u64 {
    let database = Database::open(dir).unwrap();
    let (mut scan, mut greatest) = (database.scan(&ReadOptions::default()).unwrap(), 0);
    while scan.next().unwrap() {
        greatest = greatest.max(scan.entry().unwrap().key.sequence);
    }
    greatest
}

/// The entries of the undamaged database.
pub(super) fn sound() -> Entries {
    entries(&Case::new().path(""))
}

#[test]
fn one_wrong_bit_anywhere_costs_nothing() {
    let sound = sound();
    for name in TABLES.into_iter().chain([MANIFEST, LOG]) {
        let len = fs::read(Case::new().path(name)).unwrap().len();
        for at in (0..len).step_by(len / 10 + 1).chain((len.saturating_sub(48)..len).step_by(6)) {
            let case = Case::new();
            case.change(name, |bytes| bytes[at] ^= 1 << (at % 8));
            let (report, new) = case.repair();
            assert!(new == sound, "{name} at {at}: {report:?}");
            assert!(report.data.is_complete, "{name} at {at}: {report:?}");
        }
    }
}

/// Two wrong bits in one block: its entries are lost, and the keys in its range may be stale.
#[test]
fn what_is_lost_of_a_table_is_told() {
    let sound = sound();
    let case = Case::new();
    case.change(TABLES[2], |bytes| {
        bytes[20] ^= 1;
        bytes[30] ^= 1;
    });
    let (report, new) = case.repair();
    let [loss] = &report.losses[..] else { panic!("{report:?}") };
    assert_eq!((&*loss.name, loss.data.offset), (TABLES[2], Some(0)));
    // The first block of the table of level 1 has keys that level 0 has, too.
    assert_eq!(new, sound);
    assert!(!report.data.is_complete && report.data.unknown.is_empty());
    assert!(case.root.path().join(TARGET).join("CURRENT").exists());
}

#[test]
fn sound_keys_are_those_of_which_no_newer_version_can_be_lost() {
    let sound = sound();
    for name in TABLES {
        let case = Case::new();
        fs::remove_file(case.path(name)).unwrap();
        let new = case.repair_sound();
        assert!(new.iter().all(|(key, value)| sound.get(key) == Some(value)), "{name}");
        assert!(new.contains_key(&b"key0070"[..]), "what the log has is certain: {name}");
    }
    // Without the newest table of level 0, the keys in its range may be stale.
    let case = Case::new();
    fs::remove_file(case.path(TABLES[0])).unwrap();
    let new = case.repair_sound();
    assert!(!new.contains_key(&b"key0031"[..]) && new.contains_key(&b"key0001"[..]));
    // A loss on the deepest level is older than the versions of the same keys on level 0.
    let case = Case::new();
    fs::remove_file(case.path(TABLES[3])).unwrap();
    let new = case.repair_sound();
    assert!(new[&b"key0031"[..]].ends_with(b"of table 33") && !new.contains_key(&b"key0055"[..]));
}

#[test]
fn a_table_that_is_missing_is_a_range_of_keys() {
    let case = Case::new();
    fs::remove_file(case.path(TABLES[3])).unwrap();
    let (report, new) = case.repair();
    let [loss] = &report.losses[..] else { panic!("{report:?}") };
    assert_eq!(loss.data.first_key.as_deref(), Some(&b"key0030"[..]));
    assert_eq!(loss.data.last_key.as_deref(), Some(&b"key0059"[..]));
    let missing: Vec<_> = sound().into_keys().filter(|key| !new.contains_key(key)).collect();
    assert!(
        !missing.is_empty() && missing.iter().all(|key| (&b"key0050"[..]..=b"key0059").contains(&&**key))
    );
    let role = report.files.iter().find(|file| file.name == TABLES[3]).map(|file| file.data.role);
    assert_eq!(role, Some(RepairRole::Missing));
}

#[test]
fn without_a_manifest_all_is_saved_and_nothing_is_certain() {
    let sound = sound();
    for names in [&[MANIFEST][..], &["CURRENT"], &[MANIFEST, "CURRENT"]] {
        let case = Case::new();
        names.iter().for_each(|name| fs::remove_file(case.path(name)).unwrap());
        let (report, new) = case.repair();
        assert_eq!(new, sound, "{names:?}");
        let is_trusted = !names.contains(&MANIFEST);
        assert_eq!(
            (report.data.manifest.is_some(), report.data.is_complete),
            (is_trusted, is_trusted),
            "{names:?}"
        );
        assert_eq!(report.data.is_comparator_assumed, !is_trusted);
    }
}

/// A table that was compacted is still there, with keys that were deleted since.
#[test]
fn obsolete_tables_count_only_where_others_are_lost() {
    let sound = sound();
    let case = Case::new();
    fs::copy(case.path(TABLES[3]), case.path("000005.ldb")).unwrap();
    let (report, new) = case.repair();
    assert!(new == sound && report.data.is_complete);
    fs::remove_dir_all(case.root.path().join(TARGET)).unwrap();
    fs::remove_file(case.path(TABLES[3])).unwrap();
    let (report, new) = case.repair();
    assert_eq!(new, sound);
    assert!(report.data.sums.from_obsolete > 0 && !report.data.is_complete, "{report:?}");
}

/// A table as a database writes it: its user keys, sequence numbers and values.
fn table(entries: &[(&str, u64, &str)]) -> Vec<u8> {
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().internal_keys(true));
    for (key, sequence, value) in entries {
        let key = [key.as_bytes(), &(sequence << 8 | 1).to_le_bytes()].concat();
        builder.add(&key, value.as_bytes()).unwrap();
    }
    builder.finish().unwrap().0
}

/// A log that is no longer used does not show that the MANIFEST knows an entry.
#[test]
fn an_unused_log_does_not_excuse_a_table_that_the_manifest_missed() {
    let case = Case::new();
    fs::write(case.path("000099.ldb"), table(&[("key0999", 900, "of both")])).unwrap();
    let mut log = LogWriter::new(Vec::new());
    let batch = [&900_u64.to_le_bytes()[..], &1_u32.to_le_bytes(), b"\x01\x07key0999\x07of both"].concat();
    log.add_record(&batch).unwrap();
    fs::write(case.path("000007.log"), log.into_writer()).unwrap();
    let (report, new) = case.repair();
    assert!(report.data.manifest.is_none() && new.contains_key(&b"key0999"[..]), "{report:?}");
}

/// Tables of no database are left out, unless they are more than half.
#[test]
fn some_tables_of_no_database_are_no_reason_to_refuse() {
    let case = Case::new();
    [MANIFEST, "CURRENT", LOG].iter().for_each(|name| fs::remove_file(case.path(name)).unwrap());
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
    (0..20).for_each(|key| builder.add(&[key], b"value").unwrap());
    let other = builder.finish().unwrap().0;
    for number in 90..94 {
        fs::write(case.path(&format!("{number:06}.ldb")), &other).unwrap();
    }
    let (_, new) = case.repair();
    assert!(new.len() > 30, "{}", new.len());
    fs::remove_dir_all(case.root.path().join(TARGET)).unwrap();
    fs::remove_file(case.path(TABLES[0])).unwrap();
    let refused = run(case.root.path()).unwrap_err();
    assert!(refused.is_refusal() && refused.text.contains("its tables are of no database"), "{refused}");
}

/// A key that only an obsolete table has was deleted since.
#[test]
fn keys_of_obsolete_tables_do_not_come_back() {
    let case = Case::new();
    fs::write(case.path("000005.ldb"), table(&[("key0099", 3, "deleted")])).unwrap();
    let (report, new) = case.repair();
    assert!(new == sound() && report.data.is_complete, "{report:?}");
    // Without a MANIFEST, a repair concludes from an entry that two tables share that one was made from the other.
    let case = Case::new();
    fs::remove_file(case.path(MANIFEST)).unwrap();
    let older = table(&[("key0031", 20, "31 of table 20"), ("key0031+", 3, "deleted")]);
    fs::write(case.path("000005.ldb"), older).unwrap();
    let (report, new) = case.repair();
    assert!(new == sound() && !report.data.is_complete, "{report:?}");
}

/// A block in the place of another has a correct checksum, and keys that do not belong there.
#[test]
fn a_block_in_the_place_of_another_is_a_loss() {
    let case = Case::new();
    let database = case.path("");
    fs::remove_dir_all(&database).unwrap();
    fs::create_dir(&database).unwrap();
    let options = WriteOptions::default().internal_keys(true).compression(Compression::None).block_size(256);
    let mut builder = TableBuilder::new(Vec::new(), options);
    let key = |number: u64| format!("key{number:04}").into_bytes();
    for number in 0..60 {
        builder.add(&[key(number), (9_u64 << 8 | 1).to_le_bytes().into()].concat(), b"value").unwrap();
    }
    let mut bytes = builder.finish().unwrap().0;
    let table = Table::open(&bytes[..], &ReadOptions::default()).unwrap();
    let blocks: Vec<_> = table.data_blocks().map(Result::unwrap).collect();
    let [from, to, len] = [blocks[1].offset, blocks[2].offset, blocks[1].size + 5].map(|it| it as usize);
    assert_eq!(blocks[1].size, blocks[2].size);
    bytes.copy_within(from..from + len, to);
    let mut edit = VersionEdit::default();
    edit.comparator = Some("leveldb.BytewiseComparator".into());
    (edit.log_number, edit.next_file_number, edit.last_sequence) = (Some(6), Some(7), Some(9));
    let [first, last] = [0, 59].map(|number| [key(number), (9_u64 << 8 | 1).to_le_bytes().into()].concat());
    edit.new_tables.push(LiveTable::new(1, 5, bytes.len() as u64, first, last));
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).unwrap();
    log.add_record(&record).unwrap();
    fs::write(case.path("MANIFEST-000004"), log.into_writer()).unwrap();
    fs::write(case.path("CURRENT"), "MANIFEST-000004\n").unwrap();
    fs::write(case.path("000005.ldb"), bytes).unwrap();
    let (report, new) = case.repair();
    let offsets: Vec<_> = report.losses.iter().filter_map(|loss| loss.data.offset).collect();
    assert_eq!(offsets, [to as u64], "{report:?}");
    let lost: Vec<u64> = (0..60).filter(|&number| !new.contains_key(&key(number))).collect();
    assert!(!report.data.is_complete && lost == (30..45).collect::<Vec<_>>(), "{lost:?} {report:?}");
}

/// A compaction that was cut off leaves newer tables whose entries other tables have as well. With any other newer
/// table, the MANIFEST is considered to be from before that table, and is not chosen.
#[test]
fn newer_tables_are_leftovers_or_make_the_manifest_doubtful() {
    let sound = sound();
    let case = Case::new();
    fs::copy(case.path(TABLES[3]), case.path("000099.ldb")).unwrap();
    case.change("000099.ldb", |bytes| bytes.truncate(bytes.len() * 2 / 3));
    let (report, new) = case.repair();
    assert!(new == sound && report.data.is_complete, "{report:?}");
    // The MANIFEST seems to be from before this table was written.
    let case = Case::new();
    let other = tempfile::tempdir().unwrap();
    Sample::Damaged.make(&other.path().join(DATABASE));
    fs::copy(other.path().join(DATABASE).join("000035.ldb"), case.path("000099.ldb")).unwrap();
    let (report, new) = case.repair();
    assert!(report.data.manifest.is_none() && !report.data.is_complete);
    assert!(new[&b"key0001"[..]].ends_with(b"of table 35"));
    // A table is missing.
    let case = Case::new();
    fs::rename(case.path(TABLES[3]), case.path("000099.ldb")).unwrap();
    let (report, new) = case.repair();
    assert!(new == sound && report.data.manifest.is_none() && !report.data.is_complete);
}

#[test]
fn tables_without_footer_or_index_are_carved() {
    let sound = sound();
    for name in TABLES {
        let case = Case::new();
        case.change(name, |bytes| bytes.truncate(bytes.len() - 20));
        let (report, new) = case.repair();
        assert!(new == sound && report.data.is_complete, "{name}: {report:?}");
        assert!(report.files.iter().any(|file| file.name == name && file.data.note.is_some()));
    }
    let case = Case::new();
    case.change(TABLES[3], |bytes| bytes.truncate(bytes.len() / 2));
    let (report, new) = case.repair();
    let [loss] = &report.losses[..] else { panic!("{report:?}") };
    assert_eq!(loss.data.last_key.as_deref(), Some(&b"key0059"[..]));
    assert!(new.len() < sound.len() && new.iter().all(|(key, value)| sound.get(key) == Some(value)));
}

#[test]
fn what_cannot_be_repaired_is_refused() {
    let case = Case::new();
    for name in TABLES.into_iter().chain([LOG]) {
        fs::write(case.path(name), [0; 5000]).unwrap();
    }
    let failure = run(case.root.path()).unwrap_err();
    assert_eq!(failure.status, RebuildStatus::Refused);
    for name in TABLES.into_iter().chain([LOG]) {
        fs::remove_file(case.path(name)).unwrap();
    }
    assert_eq!(run(case.root.path()).unwrap_err().status, RebuildStatus::Refused);
    let case = Case::new();
    case.change(MANIFEST, |bytes| {
        let at = bytes.windows(7).position(|part| part == b"leveldb").unwrap();
        bytes[at] = b'x';
        let len = bytes.len();
        let crc = filterblock::table::mask(crc32c::crc32c(&bytes[6..len]));
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
    });
    let failure = run(case.root.path()).unwrap_err();
    assert!(failure.text.contains("xeveldb.BytewiseComparator"), "{failure}");
    assert!(!case.root.path().join(TARGET).exists());
}

/// LevelDB does not see entries with a greater sequence number than the MANIFEST has.
#[test]
fn what_is_saved_of_a_batch_with_zeros_has_no_greater_number_than_the_new_database() {
    let case = Case::new();
    let put = |key: &[u8], value: &[u8]| {
        [&[1, key.len() as u8][..], key, &[value.len() as u8 | 0x80, (value.len() >> 7) as u8], value]
            .concat()
    };
    let operations =
        [put(b"one", &[b'x'; 2000]), put(b"two", &[b'y'; 300]), put(b"zzz", &[b'z'; 200])].concat();
    let batch = [&1_000_000_u64.to_le_bytes()[..], &3_u32.to_le_bytes(), &operations].concat();
    case.change(LOG, |bytes| {
        let mut log = LogWriter::new(Vec::new());
        log.add_record(&batch).unwrap();
        *bytes = log.into_writer();
        bytes[512..1536].fill(0);
    });
    let (report, new) = case.repair();
    assert_eq!(new.get(&b"zzz"[..]), Some(&vec![b'z'; 200]), "{report:?}");
    assert!(report.data.sums.last_sequence >= 1_000_002);
}
