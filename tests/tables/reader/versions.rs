//! The tables of a database: user keys, sequence numbers and deletions.

use bytes::Bytes;
use filterblock::table::{Lookup, ReadOptions, Table};

use crate::tables::{Reversed, listing, sample, testdata, unhex, value_of};

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
            let mut cursor = table.cursor();
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
            }
            assert!(!cursor.next().unwrap());
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
