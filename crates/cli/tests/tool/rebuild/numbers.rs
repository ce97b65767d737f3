//! The numbers of new files, and what the new MANIFEST says.

use super::*;

/// Rebuilds the database. Returns the tables' new numbers, in the order of levels and old numbers, and the MANIFEST's
/// new number.
#[track_caller]
fn renumbered(db: &Db) -> (Vec<u64>, u64) {
    let old = db.manifest();
    db.done(&["--in-place", "--no-undo"]);
    let new = db.manifest();
    let current = String::from_utf8(db.read("CURRENT")).unwrap();
    let number = current.trim_end().strip_prefix("MANIFEST-").unwrap().parse().unwrap();
    assert_eq!(new.next_file_number(), number + 1);
    // The same tables but for number and size.
    let mut pairs = Vec::new();
    for table in old.tables() {
        let same = |other: &&LiveTable| {
            (other.level, &other.smallest, &other.largest) == (table.level, &table.smallest, &table.largest)
        };
        let twins: Vec<_> = new.tables().iter().filter(same).collect();
        assert_eq!(twins.len(), 1);
        pairs.push((table.number, twins[0].number));
    }
    assert_eq!(new.tables().len(), old.tables().len());
    let numbers = pairs.iter().map(|&(_, new)| new).collect();
    pairs.sort_unstable();
    assert!(pairs.is_sorted_by_key(|&(_, new)| new), "the order of age: {pairs:?}");
    (numbers, number)
}

#[test]
fn numbers_follow_the_order_of_the_old_ones_over_all_levels() {
    // On level 0 older and newer tables than on the others, with gaps.
    let db = plan([
        spec(0, 7, 0..50),
        spec(0, 33, 10..60),
        spec(1, 9, 0..30),
        spec(1, 34, 30..60),
        spec(3, 6, 0..90),
    ])
    .make();
    assert_eq!(renumbered(&db), (vec![43, 45, 44, 46, 42], 47));
    db.is_sound();
}

#[test]
fn numbers_are_above_all_that_the_folder_has() {
    for (name, base) in [
        ("000050.log", 51),
        ("000051.ldb", 52),
        ("000052.sst", 53),
        ("000053.dbtmp", 54),
        ("000054.tmp", 55),
        ("CURRENT.000055", 56),
        ("MANIFEST-000056", 57),
        // These are no files of a database.
        ("notes-000099.txt", 42),
        ("000099.ldb.bak", 42),
    ] {
        let db = plan([spec(1, 12, 0..20), spec(0, 5, 0..30)]).make();
        db.write(name, "");
        let (numbers, manifest) = renumbered(&db);
        assert_eq!((numbers, manifest), (vec![base, base + 1], base + 2), "{name}");
    }
}

#[test]
fn numbers_are_above_those_of_the_manifest() {
    // As after a crash of a program that had not written the number yet.
    let mut above = plan([spec(1, 12, 0..20)]);
    (above.next, above.manifest) = (13, 77);
    assert_eq!(renumbered(&above.make()), (vec![78], 79));
    let mut above = plan([spec(1, 112, 0..20)]);
    above.next = 13;
    assert_eq!(renumbered(&above.make()), (vec![113], 114));
    let mut above = plan([spec(1, 12, 0..20)]);
    above.next = 1_234_567;
    let db = above.make();
    assert_eq!(renumbered(&db), (vec![1_234_567], 1_234_568));
    assert_eq!(db.live(), [(1, "1234567.ldb".into())]);
    let mut above = plan([spec(1, 12, 0..20)]);
    above.log = 90;
    assert_eq!(renumbered(&above.make()), (vec![91], 92));
    let mut above = plan([spec(1, 12, 0..20)]);
    above.more = manifest::Edit::default().number(9, 70);
    let db = above.make();
    db.write("000070.log", "");
    assert_eq!(renumbered(&db), (vec![71], 72));
}

#[test]
fn numbers_above_2_to_the_62_are_refused() {
    const MOST: u64 = 1 << 62;
    let mut last = plan([spec(1, 12, 0..20)]);
    last.next = MOST;
    assert_eq!(renumbered(&last.make()), (vec![MOST], MOST + 1));
    let mut above = plan([spec(1, 12, 0..20)]);
    above.next = MOST + 1;
    let message = format!("{{db}}: a file has the number {MOST}, and the greatest is {MOST}");
    above.make().refused(1, &["--in-place"], &message);
    let db = usual();
    db.write(&format!("{}.ldb", u64::MAX), "");
    let message = format!("{{db}}: a file has the number {}, and the greatest is {MOST}", u64::MAX - 1);
    db.refused(1, &["--in-place"], &message);
}

/// Some numbers are left free for a program that opens the database after a crash. goleveldb refuses a database with
/// both an `.sst` and an `.ldb` of one number.
#[test]
fn old_extensions_stay() {
    let mut old = spec(1, 12, 0..20);
    old.extension = "sst";
    let db = plan([old, spec(2, 13, 0..30)]).make();
    db.done(&["--in-place"]);
    assert_eq!(db.live(), [(1, "001042.sst".into()), (2, "001043.ldb".into())]);
    db.is_sound();
    db.done(&["--undo"]);
    assert_eq!(db.live(), [(1, "000012.sst".into()), (2, "000013.ldb".into())]);
    db.is_sound();
}

#[test]
fn the_new_manifest_says_all_that_the_old_one_said() {
    let mut made = plan([spec(1, 12, 0..20), spec(1, 8, 20..40), spec(4, 20, 0..30)]);
    let pointers = [(1, "key5"), (4, "key7")].map(|(level, key)| (level, manifest::value_key(key)));
    for (level, key) in &pointers {
        made.more = made.more.varint(5).varint(*level).string(key);
    }
    // An earlier log's number, and more than one record.
    made.more = made.more.number(9, 39).number(4, 1 << 50);
    let db = made.make();
    db.write("000039.log", "");
    let old = db.manifest().snapshot();
    assert_eq!(old.compact_pointers.len(), 2);
    db.done(&["--in-place"]);
    let new = db.manifest();
    assert_eq!(new.records(), 1);
    let mut new = new.snapshot();
    assert_eq!((old.prev_log_number, old.log_number, old.last_sequence), (Some(39), Some(41), Some(1 << 50)));
    for (new, old) in new.new_tables.iter_mut().zip(&old.new_tables) {
        (new.number, new.size) = (old.number, old.size);
    }
    new.next_file_number = old.next_file_number;
    assert_eq!(new, old);
}

/// The new MANIFEST has the size of the new file, not the size in an older record.
#[test]
fn a_manifest_of_many_records_becomes_one_record() {
    let db = usual();
    let bytes = db.read("000012.ldb").len() as u64;
    let old = db.manifest().tables().iter().find(|table| table.number == 12).unwrap().clone();
    let more = manifest::Edit::default().delete(1, 12).add(3, 12, bytes, &old.smallest, &old.largest);
    let more = manifest::log(&[more.number(3, 60).0]).0;
    db.write("MANIFEST-000040", [db.read("MANIFEST-000040"), more].concat());
    assert_eq!(db.manifest().records(), 2);
    db.done(&["--in-place"]);
    assert_eq!(db.live(), [(0, "000062.ldb".into()), (2, "000061.ldb".into()), (3, "000060.ldb".into())]);
    db.is_sound();
}
