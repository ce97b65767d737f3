//! Every entry of every table is found, and nothing else is. The tables of a database have user keys, sequence numbers and
//! deletions.

use bytes::Bytes;
use filterblock::Result;
use filterblock::table::{Cursor, Lookup, ReadOptions, Table};

use super::absent;
use crate::tables::{Reversed, Sample, listing, sample, samples, testdata, unhex, value_of};

#[test]
fn every_stored_key_is_found() {
    for sample in samples() {
        let table = sample.open();
        let name = &sample.name;
        assert_eq!(table.filter().is_some(), sample.filtered, "{name}");
        assert!(table.filter_error().is_none(), "{name}");
        for (key, value) in &sample.entries {
            assert!(table.may_contain(key).unwrap(), "{name} {key:x?}");
            assert_eq!(table.get(key).unwrap().as_deref(), Some(&value[..]), "{name} {key:x?}");
            let (found, its_value) = table.get_entry(key).unwrap().expect("a stored key");
            assert_eq!((&found[..], &its_value[..]), (&key[..], &value[..]), "{name}");
        }
    }
}

#[test]
fn walking_gives_the_entries_in_order() {
    for sample in samples() {
        let table = sample.open();
        let mut cursor = table.cursor();
        assert!(!cursor.valid() && cursor.key().is_empty() && cursor.block_handle().is_none());
        for (key, value) in &sample.entries {
            assert!(cursor.next().unwrap(), "{}", sample.name);
            assert!(cursor.valid());
            assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]), "{}", sample.name);
            assert_eq!(cursor.value_bytes(), cursor.value());
        }
        for _ in 0..2 {
            assert!(!cursor.next().unwrap() && !cursor.valid());
            assert!(cursor.key().is_empty() && cursor.value().is_empty());
        }
        let all: Vec<(Bytes, Bytes)> = table.iter().collect::<Result<_>>().unwrap();
        assert!(
            all.iter()
                .map(|(k, v)| (&k[..], &v[..]))
                .eq(sample.entries.iter().map(|(k, v)| (&k[..], &v[..])))
        );
    }
}

#[test]
fn a_cursor_goes_to_the_first_entry_at_or_after_any_key() {
    for sample in samples() {
        let table = sample.open();
        // One cursor for all targets, so that each seek starts where the last one ended.
        let mut cursor = table.cursor();
        let mut targets = absent(&sample);
        targets.extend(sample.entries.iter().map(|(key, _)| key.clone()));
        if !sample.name.starts_with("versions") {
            targets.extend([vec![], vec![0], vec![0xff; 300]]);
            let at_or_after = |target: &[u8]| sample.entries.iter().position(|(key, _)| &key[..] >= target);
            for target in &targets {
                check_seek(&mut cursor, &sample, target, at_or_after(target));
            }
        } else {
            for (index, (key, _)) in sample.entries.iter().enumerate() {
                check_seek(&mut cursor, &sample, key, Some(index));
            }
        }
        assert_eq!(cursor.seek_to_first().unwrap(), !sample.entries.is_empty());
        assert_eq!(cursor.key(), sample.entries.first().map_or(&[][..], |(key, _)| key));
    }
}

fn check_seek(cursor: &mut Cursor<'_, Bytes>, sample: &Sample, target: &[u8], expected: Option<usize>) {
    assert_eq!(cursor.seek(target).unwrap(), expected.is_some(), "{} {target:x?}", sample.name);
    assert_eq!(cursor.valid(), expected.is_some());
    let Some(index) = expected else { return assert!(!cursor.next().unwrap()) };
    assert_eq!(cursor.key(), sample.entries[index].0, "{}", sample.name);
    let next = sample.entries.get(index + 1).map(|(key, _)| &key[..]);
    assert_eq!(cursor.next().unwrap().then(|| cursor.key()), next, "{}", sample.name);
}

#[test]
fn absent_keys_are_not_found_and_mostly_denied() {
    for sample in samples() {
        let table = sample.open();
        let absent = absent(&sample);
        let mut passed = 0;
        for key in &absent {
            assert_eq!(table.get(key).unwrap(), None, "{}", sample.name);
            let may_contain = table.may_contain(key).unwrap();
            passed += usize::from(may_contain);
            // A lookup that the filter denies finds nothing, not even a later key.
            if !may_contain {
                assert_eq!(table.get_entry(key).unwrap(), None, "{}", sample.name);
            }
        }
        if absent.len() >= 100 && (sample.name.contains("bloom10") || sample.name.contains("bloom20")) {
            assert!(passed * 10 < absent.len(), "{}: {passed} of {}", sample.name, absent.len());
        }
    }
}

#[test]
fn keys_equal_to_an_index_separator_are_found() {
    let mut equal = 0;
    for sample in samples() {
        let table = sample.open();
        let mut index = table.index();
        while index.next().unwrap() {
            if sample.entries.iter().any(|(key, _)| key == index.key()) {
                equal += 1;
                assert!(table.get(index.key()).unwrap().is_some(), "{}", sample.name);
                assert!(table.cursor().seek(index.key()).unwrap());
            }
        }
    }
    assert!(equal > 50, "the test data no longer has such keys: {equal}");
}

#[test]
fn database_tables_are_read_by_user_key_and_sequence() {
    let order = |options: ReadOptions, database: &str| match database {
        "reversed" => options.comparator(Reversed),
        _ => options,
    };
    for database in ["levels", "unfiltered", "reversed"] {
        let options = order(ReadOptions::default().internal_keys(true), database);
        let entries = listing(format!("databases/{database}.entries"));
        let mut names: Vec<&str> = entries.iter().map(|fields| &fields[0][..]).collect();
        names.dedup();
        for name in names {
            let path = testdata().join("databases").join(database).join(name);
            let table = Table::open_path(path, &options).unwrap();
            assert_eq!(table.filter().is_some(), database != "unfiltered");
            let (mut cursor, mut ruled_out, mut asked) = (table.cursor(), 0, 0);
            for fields in entries.iter().filter(|fields| fields[0] == name) {
                let user_key = unhex(&fields[1]);
                let sequence: u64 = fields[2].parse().unwrap();
                let deleted = fields[3] == "deletion";
                let value = value_of(&user_key, fields[4].parse().unwrap());

                assert!(cursor.next().unwrap());
                let tag = sequence << 8 | u64::from(!deleted);
                assert_eq!(cursor.key(), [&user_key[..], &tag.to_le_bytes()].concat());
                assert_eq!(cursor.value(), if deleted { &[][..] } else { &value });

                let found = if deleted { Lookup::Deleted } else { Lookup::Value(value.into()) };
                assert_eq!(table.get_at(&user_key, sequence).unwrap(), found);
                assert!(table.may_contain_at(&user_key, sequence).unwrap());
                let newer = entries
                    .iter()
                    .any(|f| f[0] == name && f[1] == fields[1] && f[2].parse::<u64>().unwrap() > sequence);
                for newest in [sequence + 1, 1 << 40, (1 << 56) - 1, 1 << 56, u64::MAX] {
                    if !newer {
                        assert_eq!(table.get_at(&user_key, newest).unwrap(), found);
                    }
                }
                let older = entries
                    .iter()
                    .any(|f| f[0] == name && f[1] == fields[1] && f[2].parse::<u64>().unwrap() < sequence);
                if !older {
                    assert_eq!(table.get_at(&user_key, sequence - 1).unwrap(), Lookup::Absent);
                }
                let beside = [&user_key[..], b"!"].concat();
                assert_eq!(table.get_at(&beside, u64::MAX).unwrap(), Lookup::Absent);
                ruled_out += usize::from(!table.may_contain_at(&beside, u64::MAX).unwrap());
                asked += 1;
            }
            assert!(!cursor.next().unwrap());
            assert!(table.filter().is_none() || ruled_out * 10 > asked * 9, "{ruled_out} of {asked}");
        }
    }
}

#[test]
fn the_newest_entry_that_is_old_enough_counts() {
    let sample = sample("versions-512-bloom10.ldb");
    let table = sample.open();
    let split = |key: &[u8]| {
        let (user_key, tag) = key.split_at(key.len() - 8);
        let tag = u64::from_le_bytes(tag.try_into().unwrap());
        (user_key.to_vec(), tag >> 8, tag & 0xff == 1)
    };
    let versions: Vec<_> = sample.entries.iter().map(|(key, value)| (split(key), value)).collect();
    let mut several = 0;
    for ((user_key, sequence, _), _) in &versions {
        let its_own = || versions.iter().filter(|((key, ..), _)| key == user_key);
        several += usize::from(its_own().count() > 1);
        for at in [sequence - 1, *sequence, sequence + 1] {
            let newest = its_own().find(|((_, sequence, _), _)| *sequence <= at);
            let expected = match newest {
                Some(((.., true), value)) => Lookup::Value(Bytes::copy_from_slice(value)),
                Some(((.., false), _)) => Lookup::Deleted,
                None => Lookup::Absent,
            };
            assert_eq!(table.get_at(user_key, at).unwrap(), expected);
        }
    }
    assert!(several > 100);
}

#[test]
fn sequence_numbers_need_internal_keys() {
    let table = sample("words-4096-bloom10-snappy.ldb").open();
    assert_eq!(
        table.get_at(b"a", 1).unwrap_err().to_string(),
        "internal_keys: expected true, for keys to be sought by sequence number, found false"
    );
}
