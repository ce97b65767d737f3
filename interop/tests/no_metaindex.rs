//! A footer whose handle of the metaindex has offset 0 and size 0. The table is read, as LevelDB reads it, and has no
//! filters.

use filterblock::table::{ReadOptions, Table};
use filterblock_interop::leveldb::{self, Entries, TableOptions, build_table};

#[test]
fn a_table_without_a_metaindex_is_read_and_has_no_filters() {
    let entries: Entries = (0..1000).map(|key| (format!("{key:05}"), "value")).collect();
    let written = TableOptions { bits_per_key: Some(10), ..TableOptions::default() };
    let mut file = build_table(&written, &entries).unwrap();
    let index = Table::open(&file[..], &ReadOptions::default()).unwrap().index_handle();
    let mut varints = vec![0, 0];
    for mut value in [index.offset, index.size] {
        while value >= 0x80 {
            varints.push(value as u8 | 0x80);
            value >>= 7;
        }
        varints.push(value as u8);
    }
    varints.resize(40, 0);
    let footer = file.len() - 48;
    file[footer..footer + 40].copy_from_slice(&varints);

    for verify_checksums in [false, true] {
        let options = TableOptions { verify_checksums, ..written };
        let theirs = leveldb::Table::open(&options, &file).unwrap();
        let ours =
            Table::open(&file[..], &ReadOptions::default().verify_checksums(verify_checksums)).unwrap();
        assert!(ours.filter().is_none() && ours.filter_error().is_none());
        let found =
            ours.iter().map(|entry| entry.unwrap()).map(|(key, value)| (key.to_vec(), value.to_vec()));
        assert_eq!(found.collect::<Vec<_>>(), theirs.entries().unwrap());
        assert!(theirs.internal_get(b"00500").unwrap().is_some() && ours.get(b"00500").unwrap().is_some());
        theirs.internal_get(b"00500x").unwrap();
        assert_eq!(theirs.filter_counts(), (0, 0), "LevelDB has no filter either");
    }
}
