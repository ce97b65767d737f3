//! The tables that a lookup asks, compared with LevelDB's own way of finding them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use filterblock::database::{LiveTable, Manifest};
use filterblock::table::{BytewiseComparator, Comparator as _, InternalKeyComparator, known_comparator};
use proptest::prelude::*;

use crate::databases::{BYTEWISE, Edit, internal_key, log};

fn compare(a: &[u8], b: &[u8]) -> Ordering {
    InternalKeyComparator::new(BytewiseComparator).compare(a, b)
}

fn user_key(internal_key: &[u8]) -> &[u8] {
    &internal_key[..internal_key.len() - 8]
}

/// `FindFile` of LevelDB's `db/version_set.cc`, for files sorted by their smallest key.
fn find_file(files: &[&LiveTable], key: &[u8]) -> usize {
    let (mut left, mut right) = (0, files.len());
    while left < right {
        let mid = usize::midpoint(left, right);
        if compare(&files[mid].largest, key).is_lt() {
            left = mid + 1;
        } else {
            right = mid;
        }
    }
    right
}

/// The numbers of the tables that LevelDB's `Version::ForEachOverlapping` asks for a key at a sequence number.
fn asked_by_leveldb(manifest: &Manifest, key: &[u8], sequence: u64) -> Vec<u64> {
    let mut newest: Vec<_> = manifest
        .level(0)
        .iter()
        .filter(|file| key >= user_key(&file.smallest) && key <= user_key(&file.largest))
        .collect();
    newest.sort_by_key(|file| std::cmp::Reverse(file.number));
    let mut asked: Vec<_> = newest.iter().map(|file| file.number).collect();
    let sought = internal_key(key, sequence, 1);
    for level in 1..7 {
        let mut files: Vec<_> = manifest.level(level).iter().collect();
        files.sort_by(|a, b| compare(&a.smallest, &b.smallest).then(a.number.cmp(&b.number)));
        if let Some(file) = files.get(find_file(&files, &sought))
            && key >= user_key(&file.smallest)
        {
            asked.push(file.number);
        }
    }
    asked
}

fn parse(edit: Edit) -> Manifest {
    Manifest::parse(&log(&[edit.0]).0).unwrap()
}

const KEYS: [&str; 8] = ["", "\0", "a", "a\0", "b", "bb", "c", "c\u{7f}"];
const SEQUENCES: u64 = 9;

/// Generates a level: entries that are cut into tables anywhere, so that the entries of a key may be in several tables.
fn level() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    let entry = (0..KEYS.len(), 1..SEQUENCES, 0..2u8);
    prop::collection::vec((entry, any::<bool>()), 0..12).prop_map(|entries| {
        let mut entries: Vec<_> = entries
            .into_iter()
            .map(|((key, sequence, kind), cut)| (internal_key(KEYS[key].as_bytes(), sequence, kind), cut))
            .collect();
        entries.sort_by(|(a, _), (b, _)| compare(a, b));
        // No two entries of a key have the same sequence number.
        entries.dedup_by(|(a, _), (b, _)| {
            a[..a.len() - 8] == b[..b.len() - 8] && a[a.len() - 7..] == b[b.len() - 7..]
        });
        let mut tables: Vec<Vec<_>> = Vec::new();
        for (key, cut) in entries {
            match tables.last_mut() {
                Some(table) if !cut => table.push(key),
                _ => tables.push(vec![key]),
            }
        }
        tables
    })
}

/// A level, and the first and the last key of a table.
type Range = (u8, Vec<u8>, Vec<u8>);

/// Generates a level and two keys. Some keys are in the wrong order, or of types that LevelDB does not have.
fn any_range() -> impl Strategy<Value = Range> {
    let key = || {
        (0..KEYS.len(), 1..SEQUENCES, prop_oneof![9 => 0..2u8, 1 => 2..4u8])
            .prop_map(|(key, sequence, kind)| internal_key(KEYS[key].as_bytes(), sequence, kind))
    };
    (0..3u8, key(), key(), prop::bool::weighted(0.9)).prop_map(|(level, a, b, sorted)| {
        if sorted && compare(&a, &b).is_gt() { (level, b, a) } else { (level, a, b) }
    })
}

fn manifest_of_ranges(ranges: &[Range], comparator: &[u8]) -> Manifest {
    let edit = Edit::default().comparator(comparator).number(2, 1).number(3, 99).number(4, 9);
    parse((1..).zip(ranges).fold(edit, |edit, (number, (level, smallest, largest))| {
        edit.add(u64::from(*level), number, 1, smallest, largest)
    }))
}

/// Keys of Chromium's IndexedDB, with the numbers 1.5, 2 and 256: bytewise, their order is another.
const IDB_KEYS: [[u8; 13]; 3] = [
    [0, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
    [0, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0x40],
    [0, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0x70, 0x40],
];

/// Ranges of keys in each known order.
fn any_ranges() -> impl Strategy<Value = (&'static [u8], Vec<Range>)> {
    let idb = (0..3u8, 0..3_usize, 0..3_usize, 1..SEQUENCES).prop_map(|(level, a, b, sequence)| {
        (level, internal_key(&IDB_KEYS[a.min(b)], sequence, 1), internal_key(&IDB_KEYS[a.max(b)], 1, 1))
    });
    prop_oneof![
        prop::collection::vec(any_range(), 0..14).prop_map(|ranges| (BYTEWISE, ranges)),
        prop::collection::vec(prop_oneof![3 => idb, 1 => any_range()], 0..14)
            .prop_map(|ranges| (&b"idb_cmp1"[..], ranges)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn a_lookup_asks_what_leveldb_asks_in_its_order(
        levels in prop::collection::vec(level(), 1..4),
        numbers in Just((1..100_u64).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut numbers = numbers.into_iter();
        let edit = (0..).zip(&levels).fold(Edit::sound(), |edit, (level, tables)| {
            tables.iter().fold(edit, |edit, keys| {
                let number = numbers.next().unwrap();
                edit.add(level, number, 1, &keys[0], keys.last().unwrap())
            })
        });
        let manifest = parse(edit);
        for key in KEYS.map(str::as_bytes).into_iter().chain([&b"zz"[..]]) {
            let ours: Vec<_> = manifest.tables_for(key).map(|table| table.number).collect();
            let mut asked_at_all = BTreeSet::new();
            for sequence in 0..=SEQUENCES {
                let theirs = asked_by_leveldb(&manifest, key, sequence);
                let mut rest = ours.iter();
                prop_assert!(theirs.iter().all(|number| rest.any(|ours| ours == number)), "{theirs:?} {ours:?}");
                asked_at_all.extend(theirs);
            }
            prop_assert_eq!(&asked_at_all, &ours.iter().copied().collect(), "no other tables are asked");
            prop_assert_eq!(asked_at_all.len(), ours.len(), "none twice");
            prop_assert!(manifest.tables().iter().all(|table| manifest.overlapped_by(table).is_none()));
        }
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn no_table_is_left_out_whatever_the_ranges((comparator, ranges) in any_ranges()) {
        let manifest = manifest_of_ranges(&ranges, comparator);
        let order = known_comparator(comparator).unwrap();
        let keys = KEYS.map(str::as_bytes).into_iter().chain([&b"zz"[..]]);
        for key in keys.chain(IDB_KEYS.iter().map(|key| &key[..])) {
            let ours: Vec<_> = manifest.tables_for(key).map(|table| (table.level, table.number)).collect();
            let may_hold = |table: &&LiveTable| {
                table.user_keys().is_none_or(|(from, to)| {
                    let is_within = order.compare(from, key).is_le() && order.compare(key, to).is_le();
                    is_within || order.compare(from, to).is_gt()
                })
            };
            let expected: BTreeSet<_> =
                manifest.tables().iter().filter(may_hold).map(|table| (table.level, table.number)).collect();
            prop_assert_eq!(ours.len(), expected.len());
            prop_assert_eq!(ours.iter().copied().collect::<BTreeSet<_>>(), expected);
            prop_assert!(ours.is_sorted_by_key(|(level, _)| *level));
        }
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn overlaps_are_found_as_by_comparing_all_pairs((comparator, ranges) in any_ranges()) {
        let manifest = manifest_of_ranges(&ranges, comparator);
        let order = InternalKeyComparator::new(known_comparator(comparator).unwrap());
        let compare = |a: &[u8], b: &[u8]| order.compare(a, b);
        for table in manifest.tables() {
            let place = |table: &LiveTable| (table.smallest.clone(), table.number);
            let is_before = |other: &&LiveTable| {
                let ((a, a_number), (b, b_number)) = (place(other), place(table));
                compare(&a, &b).then(a_number.cmp(&b_number)).is_lt()
            };
            let same_level = manifest.level(table.level).iter().filter(|_| table.level > 0);
            let furthest = same_level.filter(is_before).map(|other| &other.largest).max_by(|a, b| compare(a, b));
            let expected = furthest.filter(|largest| compare(largest, &table.smallest).is_ge());
            let found = manifest.overlapped_by(table);
            prop_assert_eq!(found.map(|other| &other.largest), expected);
            prop_assert!(found.is_none_or(|other| other.level == table.level && other != table));
        }
    }
}

/// The entries of "k" at the sequence numbers 9 and 5 are in two tables of level 1. The newer entry is in the table
/// with the higher number.
#[test]
fn of_one_keys_entries_in_two_tables_the_newer_is_asked_first() {
    let key = |user_key: &str, sequence| internal_key(user_key.as_bytes(), sequence, 1);
    let edit = Edit::sound()
        .add(1, 7, 1, &key("k", 5), &key("z", 1))
        .add(1, 8, 1, &key("a", 2), &key("k", 9))
        .add(2, 3, 1, &key("k", 3), &key("k", 3));
    let manifest = parse(edit);
    let asked: Vec<_> = manifest.tables_for(b"k").map(|table| table.number).collect();
    assert_eq!(asked, [8, 7, 3]);
    assert_eq!(asked_by_leveldb(&manifest, b"k", 100), [8, 3]);
    assert_eq!(asked_by_leveldb(&manifest, b"k", 8), [7, 3]);
}

#[test]
fn the_tables_for_a_key_are_told_in_the_order_of_indexeddb() {
    let ranges = [(1, 1, 2), (1, 0, 0), (2, 0, 1), (0, 1, 1), (0, 0, 2)];
    let key = |at: usize| internal_key(&IDB_KEYS[at], 1, 1);
    let ranges = ranges.map(|(level, smallest, largest)| (level, key(smallest), key(largest)));
    let asked = |comparator: &[u8], at: usize| -> Vec<u64> {
        let manifest = manifest_of_ranges(&ranges, comparator);
        manifest.tables_for(&IDB_KEYS[at]).map(|table| table.number).collect()
    };
    assert_eq!(asked(b"idb_cmp1", 0), [5, 2, 3]);
    assert_eq!(asked(b"idb_cmp1", 1), [5, 4, 1, 3]);
    assert_eq!(asked(b"idb_cmp1", 2), [5, 1]);
    // Another order is not known, so that any table may have the key.
    assert_eq!(asked(b"another", 2), [5, 4, 1, 2, 3]);
}

/// Two tables share the key "m". Only in a known order is that known to be an overlap.
#[test]
fn overlaps_are_told_in_a_known_order_only() {
    let key = |user_key: &str| internal_key(user_key.as_bytes(), 1, 1);
    let ranges = |edit: Edit| {
        let edit = edit.number(2, 1).number(3, 9).number(4, 9);
        parse(edit.add(1, 7, 1, &key("a"), &key("m")).add(1, 8, 1, &key("m"), &key("z")))
    };
    for (comparator, overlapped) in [(BYTEWISE, Some(7)), (b"reversed", None)] {
        let manifest = ranges(Edit::default().comparator(comparator));
        let table = manifest.table(8).unwrap();
        assert_eq!(manifest.overlapped_by(table).map(|other| other.number), overlapped);
        assert_eq!(manifest.overlapped_by(manifest.table(7).unwrap()), None);
    }
    assert_eq!(ranges(Edit::default()).overlapped_by(ranges(Edit::default()).table(8).unwrap()), None);
}

#[test]
fn a_number_on_two_levels_is_found_on_the_upper() {
    let key = internal_key(b"k", 1, 1);
    let manifest =
        parse(Edit::sound().add(3, 7, 1, &key, &key).add(1, 7, 2, &key, &key).add(2, 9, 1, &key, &key));
    assert_eq!(manifest.table(7).map(|table| table.level), Some(1));
    assert_eq!(manifest.table(9).map(|table| table.level), Some(2));
    assert_eq!(manifest.table(8), None);
}
