//! The state that the records of a MANIFEST add up to (`VersionSet::Recover` and `VersionSet::Builder` in LevelDB's
//! `db/version_set.cc`).

use filterblock::Error;
use filterblock::database::{LiveTable, Manifest};

use crate::databases::{BYTEWISE, Edit, internal_key, log, value_key};

fn parse(edits: &[Edit]) -> filterblock::Result<Manifest> {
    let records: Vec<_> = edits.iter().map(|edit| &edit.0).collect();
    Manifest::parse(&log(&records).0)
}

fn error(edits: &[Edit]) -> String {
    parse(edits).unwrap_err().to_string()
}

/// The level and the number of each table.
fn names<'a>(tables: impl IntoIterator<Item = &'a LiveTable>) -> Vec<(u8, u64)> {
    tables.into_iter().map(|table| (table.level, table.number)).collect()
}

fn table(edit: Edit, level: u64, number: u64, from: &str, to: &str) -> Edit {
    edit.add(level, number, number * 1000, &value_key(from), &value_key(to))
}

/// A manifest is what it says, and in how many records.
#[test]
fn equal_manifests_have_equal_records() {
    let sound = || parse(&[Edit::sound()]).unwrap();
    assert_eq!(sound(), sound());
    assert_ne!(sound(), parse(&[Edit::sound(), Edit::default()]).unwrap());
    assert_ne!(sound(), parse(&[Edit::sound().number(4, 101)]).unwrap());
}

#[test]
fn the_last_word_counts() {
    let manifest = parse(&[
        Edit::sound(),
        Edit::default()
            .number(2, 12)
            .number(9, 11)
            .number(3, 13)
            .number(4, u64::MAX >> 8)
            .comparator(BYTEWISE),
    ])
    .unwrap();
    assert_eq!(manifest.comparator(), Some(BYTEWISE));
    assert_eq!(manifest.log_number(), 12);
    assert_eq!(manifest.prev_log_number(), 11);
    assert_eq!(manifest.next_file_number(), 13);
    assert_eq!(manifest.last_sequence(), (1 << 56) - 1);
    assert_eq!(manifest.records(), 2);
    assert_eq!(manifest.tables(), []);
    let live: Vec<u64> = (0..16).filter(|&number| manifest.is_log_live(number)).collect();
    assert_eq!(live, [11, 12, 13, 14, 15]);
}

#[test]
fn tables_come_go_and_move() {
    let first = table(table(table(Edit::sound(), 2, 9, "a", "c"), 0, 30, "a", "z"), 0, 5, "b", "b");
    let manifest = parse(std::slice::from_ref(&first)).unwrap();
    assert_eq!(names(manifest.tables()), [(0, 5), (0, 30), (2, 9)]);

    // The addition stands before the deletion, and yet is done after it.
    let moved = table(Edit::default(), 3, 9, "a", "c").delete(2, 9);
    let again = table(Edit::default(), 0, 5, "b", "b").delete(0, 5);
    let gone = Edit::default().delete(0, 30);
    // One table is on another level, the other on none.
    let absent = Edit::default().delete(1, 5).delete(6, 77);
    let manifest = parse(&[first, moved, again, gone, absent]).unwrap();
    assert_eq!(names(manifest.tables()), [(0, 5), (3, 9)]);
    assert_eq!(names(manifest.level(0)), [(0, 5)]);
    assert_eq!(names(manifest.level(3)), [(3, 9)]);
    for level in [1, 2, 4, 6, 7, 255] {
        assert_eq!(manifest.level(level), [], "{level}");
    }
    let table = &manifest.level(3)[0];
    assert_eq!(table.size, 9000);
    assert_eq!(table.smallest, value_key("a"));
    assert_eq!(table.largest, value_key("c"));
    assert_eq!(table.user_keys(), Some((&b"a"[..], &b"c"[..])));
}

#[test]
fn a_table_deleted_and_added_anew_has_its_new_range() {
    let first = table(Edit::sound(), 1, 5, "a", "b");
    let second = table(Edit::default().delete(1, 5), 1, 5, "x", "z");
    let manifest = parse(&[first, second]).unwrap();
    assert_eq!(manifest.tables()[0].user_keys(), Some((&b"x"[..], &b"z"[..])));
}

#[test]
fn a_table_may_be_named_twice_but_not_in_two_ways() {
    let once = table(Edit::sound(), 0, 5, "a", "b");
    assert_eq!(parse(&[table(once.clone(), 0, 5, "a", "b")]).unwrap().tables().len(), 1);
    let expected = "version edit at offset 0: expected table 5 on level 0 as recorded before, with 5000 bytes, \
                    found it with 5000 bytes or another range of keys";
    assert_eq!(error(&[table(once.clone(), 0, 5, "a", "c")]), expected);
    assert_eq!(error(&[table(once.clone(), 0, 5, "b", "b")]), expected);
    assert_eq!(
        error(&[once.add(0, 5, 6000, &value_key("a"), &value_key("b"))]),
        expected.replace("found it with 5000", "found it with 6000")
    );
}

#[test]
fn the_comparator_does_not_change() {
    assert_eq!(
        error(&[Edit::sound(), Edit::default().comparator(b"\x1b[m")]),
        "version edit at offset 41: expected comparator \"leveldb.BytewiseComparator\" as recorded before, \
         found \"\\x1b[m\""
    );
    let other = Edit::default().comparator(b"other").number(2, 1).number(3, 2).number(4, 3);
    assert!(!parse(&[other]).unwrap().is_bytewise());
    assert!(parse(&[Edit::sound()]).unwrap().is_bytewise());
}

#[test]
fn what_leveldb_needs_has_to_be_there() {
    let numbers = [(2, "a log number"), (3, "a next file number"), (4, "a last sequence")];
    for (missing, what) in numbers {
        let edit = numbers.iter().filter(|(tag, _)| *tag != missing);
        let edit = edit.fold(Edit::default(), |edit, &(tag, _)| edit.number(tag, 1));
        assert_eq!(error(&[edit]), format!("MANIFEST at offset 0: expected {what}, found none in 1 records"));
    }
    assert!(error(&[]).ends_with("found none in 0 records"));
    // LevelDB does not need a comparator's name; if there is no name, LevelDB compares none.
    let unnamed = Edit::default().number(2, 1).number(3, 1).number(4, 1);
    assert_eq!(parse(&[unnamed]).unwrap().comparator(), None);
}

#[test]
fn errors_in_later_records_hide_the_list_but_a_scan_shows_it() {
    let first = table(Edit::sound(), 1, 5, "a", "b");
    let level_7 = Edit::default().add(7, 8, 9, &value_key("a"), &value_key("b"));
    let (file, offsets) = log(&[&first.0, &level_7.0, &Edit::default().delete(1, 5).0]);
    assert!(matches!(Manifest::parse(&file), Err(Error::Corrupt { offset, .. }) if offset == offsets[1]));

    let scan = Manifest::scan(&file[..], Manifest::DEFAULT_MEMORY_LIMIT);
    assert_eq!(names(scan.manifest.tables()), [(1, 5)]);
    assert_eq!(scan.manifest.comparator(), Some(BYTEWISE));
    assert_eq!(scan.manifest.records(), 1);
    assert_eq!(
        scan.into_result().unwrap_err().to_string(),
        format!(
            "version edit at offset {}: expected a level of 0 to 6 at byte 1 of the record, found 7",
            offsets[1]
        )
    );
}

#[test]
fn keys_are_looked_for_where_leveldb_looks_in_its_order() {
    let edit = table(Edit::sound(), 0, 20, "a", "m");
    let edit = table(edit, 0, 21, "g", "z");
    let edit = table(edit, 1, 7, "a", "f");
    let edit = table(edit, 1, 3, "g", "m");
    let edit = table(edit, 6, 1, "g", "g");
    let manifest = parse(std::slice::from_ref(&edit)).unwrap();
    let find = |key: &str| names(manifest.tables_for(key.as_bytes()));
    assert_eq!(find("g"), [(0, 21), (0, 20), (1, 3), (6, 1)]);
    assert_eq!(find("f"), [(0, 20), (1, 7)]);
    assert_eq!(find("f\0"), [(0, 20)]);
    assert_eq!(find("z"), [(0, 21)]);
    assert_eq!(find("z\0"), []);
    assert_eq!(find(""), []);

    // In another order of keys, ranges exclude no table.
    let mut reversed = Edit::default().comparator(b"reversed");
    reversed.0.extend_from_slice(edit.0.strip_prefix(&Edit::default().comparator(BYTEWISE).0[..]).unwrap());
    assert_eq!(parse(&[reversed]).unwrap().tables_for(b"zzz").count(), 5);
}

#[test]
fn ranges_that_cannot_be_trusted_exclude_nothing() {
    let backwards = Edit::sound().add(0, 1, 1, &value_key("z"), &value_key("a"));
    assert_eq!(parse(&[backwards]).unwrap().tables_for(b"0").count(), 1);
    // Type 2 is Basho's: its keys have eight bytes more after the user key.
    let basho = internal_key(b"k\0\0\0\0\0\0\0\x09", 1, 2);
    let manifest = parse(&[Edit::sound().add(0, 1, 1, &basho, &basho)]).unwrap();
    assert_eq!(manifest.tables()[0].user_keys(), None);
    assert_eq!(manifest.tables_for(b"k").count(), 1);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn memory_is_limited() {
    let edits: Vec<_> =
        (0..1000).map(|n| Edit::default().add(0, n, 1, &value_key("a"), &value_key("b")).0).collect();
    let (file, offsets) = log(&[vec![Edit::sound().0], edits].concat());
    let scan = Manifest::scan(&file[..], 50_000);
    let Some(Error::Limit { what: "live tables", offset, limit: 50_000, found, .. }) = scan.damage else {
        panic!("{scan:?}")
    };
    assert!(found > 50_000);
    let kept = scan.manifest.tables().len();
    assert!((100..1000).contains(&kept), "{kept}");
    assert_eq!(offset, offsets[kept + 1]);

    // The limit itself is allowed.
    let (one, _) = log(&[&table(Edit::sound(), 0, 5, "a", "b").0]);
    let Some(Error::Limit { found, .. }) = Manifest::scan(&one[..], 120).damage else { panic!() };
    assert!(Manifest::scan(&one[..], found as usize).damage.is_none());
    assert!(Manifest::scan(&one[..], found as usize - 1).damage.is_some());

    // Deleted tables take no memory.
    let edits: Vec<_> = (0..1000)
        .map(|n| Edit::default().delete(0, n).add(0, n + 1, 1, &value_key("a"), &value_key("b")).0)
        .collect();
    let (file, _) = log(&[vec![Edit::sound().0], edits].concat());
    assert_eq!(names(Manifest::scan(&file[..], 1000).into_result().unwrap().tables()), [(0, 1000)]);

    // Of the compact pointers of a level, the last one takes memory.
    let pointer = |level: u64, len: usize| Edit::default().varint(5).varint(level).string(&vec![b'p'; len]);
    let scan = |edits: &[Edit], limit| {
        let edits: Vec<_> = [Edit::sound()].iter().chain(edits).map(|edit| edit.0.clone()).collect();
        Manifest::scan(&log(&edits).0[..], limit).damage
    };
    let pointers = [pointer(1, 300), pointer(2, 300), pointer(2, 350), pointer(1, 200), pointer(1, 300)];
    assert!(scan(&pointers, 650).is_none());
    let Some(Error::Limit { what: "live tables", limit: 649, found: 650, .. }) = scan(&pointers, 649) else {
        panic!("{:?}", scan(&pointers, 649))
    };
    // The keys of tables take memory, too.
    let keyed = |first: usize, last: usize| {
        let key = |len: usize| internal_key(&vec![b'k'; len], 7, 1);
        Edit::default().add(1, 5, 1, &key(first), &key(last))
    };
    let least = |edit: &Edit| {
        // The lowest limit that lets the records themselves be read.
        let limit = edit.0.len().max(Edit::sound().0.len());
        match scan(std::slice::from_ref(edit), limit) {
            Some(Error::Limit { what: "live tables", found, .. }) => found,
            other => panic!("{other:?}"),
        }
    };
    let empty = least(&keyed(0, 0));
    assert_eq!((least(&keyed(300, 0)), least(&keyed(0, 200))), (empty + 300, empty + 200));
    assert!(empty > 16 + size_of::<LiveTable>() as u64);

    let long = Edit::sound().comparator(&[b'x'; 2000]).0;
    let scan = Manifest::scan(&log(&[&long]).0[..], 1000);
    assert!(matches!(scan.damage, Some(Error::Limit { what: "log record", .. })));
}

#[test]
fn debug_shows_sizes_not_keys() {
    let manifest = parse(&[table(Edit::sound(), 0, 5, "secret", "secret")]).unwrap();
    let shown = format!("{manifest:?} {:?}", manifest.tables());
    assert!(shown.contains("leveldb.BytewiseComparator") && shown.contains("smallest_len: 14"), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("115"), "{shown}");
}

/// These names are parts of LevelDB's, a byte longer, or in another case.
#[test]
fn comparators_are_told_by_their_whole_name() {
    let named = |name: &[u8]| Edit::default().comparator(name).number(2, 4).number(3, 9).number(4, 100);
    let longer = [BYTEWISE, b"2"].concat();
    let other_case = BYTEWISE.to_ascii_lowercase();
    for name in [b"", &BYTEWISE[..1], &BYTEWISE[..BYTEWISE.len() - 1], &longer, &other_case, &BYTEWISE[1..]] {
        let manifest = parse(&[named(name)]).unwrap();
        assert_eq!(manifest.comparator(), Some(name));
        assert!(!manifest.is_bytewise(), "{name:?}");
        // In either order, one of two names is refused.
        for (first, second) in [(name, BYTEWISE), (BYTEWISE, name)] {
            let error = error(&[named(first), Edit::default().comparator(second)]);
            assert!(error.ends_with(&format!("found \"{}\"", filterblock::escape(second))), "{error}");
            let in_one = named(first).comparator(second);
            assert!(parse(&[in_one]).is_err(), "also in one record");
        }
        assert!(parse(&[named(name), Edit::default().comparator(name)]).is_ok());
    }
}

#[test]
fn a_comparators_name_has_a_limit() {
    let named = |len| {
        let name = vec![b'n'; len];
        Edit::default().comparator(&name).number(2, 4).number(3, 9).number(4, 100).0
    };
    assert_eq!(Manifest::parse(&log(&[named(4096)]).0).unwrap().comparator().unwrap().len(), 4096);
    let (file, offsets) = log(&[Edit::default().number(9, 0).0, named(4097)]);
    let scan = Manifest::scan(&file[..], Manifest::DEFAULT_MEMORY_LIMIT);
    assert_eq!(scan.manifest.comparator(), None);
    let Some(Error::Limit { what: "comparator's name", offset, limit: 4096, found: 4097, .. }) = scan.damage
    else {
        panic!("{scan:?}")
    };
    assert_eq!(offset, offsets[1]);
}

#[test]
fn messages_cut_long_names() {
    let long = [&b"\x1b"[..], &[b'n'; 4000]].concat();
    let longer = [&long[..], b"n"].concat();
    let named = Edit::default().comparator(&long).number(2, 4).number(3, 9).number(4, 100);
    let start = format!("\\x1b{}", "n".repeat(47));
    let offset = log(&[named.0.clone(), vec![]]).1[1];
    assert_eq!(
        error(&[named, Edit::default().comparator(&longer)]),
        format!(
            "version edit at offset {offset}: expected comparator \"{start}\"... (4001 bytes) as recorded before, \
             found \"{start}\"... (4002 bytes)"
        )
    );
}

/// The numbers on either side of the limits of 8, 16 and 32 bits, and the two greatest of 64 bits.
#[test]
fn numbers_of_64_bits_come_back() {
    let numbers = [255, 256, 65_535, 65_536, u64::from(u32::MAX), 1 << 32, u64::MAX - 1, u64::MAX];
    let edit = numbers.iter().fold(Edit::sound(), |edit, &number| {
        edit.add(3, number, u64::MAX - number, &value_key("a"), &value_key("b"))
    });
    let manifest = parse(std::slice::from_ref(&edit)).unwrap();
    let found: Vec<_> = manifest.level(3).iter().map(|table| (table.number, table.size)).collect();
    assert_eq!(found, numbers.map(|number| (number, u64::MAX - number)));
    // Each of them is deleted by itself.
    for gone in numbers {
        let left = parse(&[edit.clone(), Edit::default().delete(3, gone)]).unwrap();
        assert_eq!(left.tables().len(), numbers.len() - 1);
        assert!(left.tables().iter().all(|table| table.number != gone));
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn many_records_and_long_keys_are_counted_right() {
    let empty = vec![Vec::new(); 70_000];
    let manifest = Manifest::parse(&log(&[vec![Edit::sound().0], empty].concat()).0).unwrap();
    assert_eq!(manifest.records(), 70_001);
    for len in [0, 1, 119, 120, 247, 248, 249, 16_375, 16_376, 70_000] {
        let (smallest, largest) = ("k".repeat(len), "l".repeat(len));
        let edit = Edit::sound().add(1, 5, 1, &value_key(&smallest), &value_key(&largest));
        let manifest = parse(&[edit]).unwrap();
        assert_eq!(
            manifest.tables()[0].user_keys(),
            Some((smallest.as_bytes(), largest.as_bytes())),
            "{len}"
        );
    }
}
