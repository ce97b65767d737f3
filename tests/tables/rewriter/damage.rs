//! Damaged tables lead to an error, and never to a finished file.

use filterblock::table::{Compression, ReadOptions, Rewriter, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, Structure};

use super::{bloom, open, rewrite, table_of};
use crate::tables::{Crafted, entry_block};

/// Each bit before the footer is flipped. The table is then rewritten with and without filters, with and without
/// checksums verified. A flipped bit is either found, or it does not matter: it is in the old filters, or in the
/// metaindex that names them.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn no_flipped_bit_of_data_or_index_gets_into_a_finished_table() {
    for compression in [Compression::None, Compression::Snappy] {
        let made = bloom(10).block_size(150).compression(compression);
        let file = table_of(20, made.clone());
        let index = open(&file).index_handle();
        let (plain, summary) = rewrite(&open(&file), &WriteOptions::default()).unwrap();
        let data_end = summary.data_size as usize;
        let mut errors = 0;
        for bit in 0..(file.len() - 48) * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            for (verify, options) in [
                (true, made.clone()),
                (false, made.clone()),
                (true, WriteOptions::default()),
                (false, WriteOptions::default()),
            ] {
                let is_replaced = (data_end..index.offset as usize).contains(&(bit / 8));
                let read = ReadOptions::default().verify_checksums(verify);
                let table = match Table::open(&damaged[..], &read) {
                    Ok(table) => table,
                    Err(_) => {
                        assert!(bit / 8 >= index.offset as usize, "{bit}");
                        errors += 1;
                        continue;
                    }
                };
                match Rewriter::new(&table, Vec::new(), &options).and_then(|table| Ok(table.finish()?)) {
                    Ok((again, summary)) => {
                        assert!(is_replaced, "bit {bit} of {} was not found", file.len());
                        let expected = if summary.filters.is_empty() { &plain } else { &file };
                        assert!(again == *expected, "{bit}");
                    }
                    Err(error) => {
                        assert!(!is_replaced, "bit {bit}: {error}");
                        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                        errors += 1;
                    }
                }
            }
        }
        assert_eq!(errors, 4 * 8 * (data_end + (file.len() - 48 - index.offset as usize)));
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_table_cut_off_anywhere_is_an_error() {
    let file = table_of(40, bloom(10).block_size(200));
    let table = open(&file);
    for len in 0..file.len() {
        // The file was whole when it was opened.
        let parts = (table.index_part(), table.filter_part());
        let cut = Table::from_parts(&file[..len], parts.0, parts.1).unwrap();
        let result = rewrite(&cut, &bloom(10));
        let index_end = table.index_handle().end().unwrap() as usize;
        assert_eq!(result.is_ok(), len >= index_end, "{len}");
        assert!(result.is_ok_and(|(again, _)| again == file) || len < index_end, "{len}");
    }
}

/// The checksum of a block is right, but its entries are damaged. Only decoding shows that, and blocks are decoded only
/// for their keys.
#[test]
fn damaged_entries_under_sound_checksums_are_errors_with_filters() {
    let sound = entry_block(&[("a", "1"), ("b", "2")]);
    let mut beyond = sound.clone();
    beyond[1] = 100;
    let mut shared = sound.clone();
    shared[5] = 9;
    for (contents, what) in [
        (&b"\x01"[..], Structure::Restarts),
        (&[0, 0, 0, 0, 9, 0, 0, 0], Structure::Restarts),
        (&beyond, Structure::Entry),
        (&shared, Structure::Entry),
    ] {
        let mut crafted = Crafted::default();
        let blocks = [crafted.block(&sound), crafted.block(contents)];
        let file = crafted.with_index(blocks.into_iter());
        let table = Table::open(file.clone(), &ReadOptions::default()).unwrap().with_path("the table");
        let mut written = Vec::new();
        let mut rewriter = Rewriter::new(&table, &mut written, &bloom(10)).unwrap();
        assert!(rewriter.copy_block().unwrap());
        let error = rewriter.copy_block().unwrap_err();
        assert!(error.to_string().starts_with("the table: "), "{error}");
        let Error::Corrupt { what: found, .. } = error.without_path() else { panic!("{error}") };
        assert_eq!(*found, what, "{error}");
        let again = rewriter.copy_block().unwrap_err();
        assert_eq!(again.to_string(), format!("table given up after an earlier error: {error}"));
        let failed = rewriter.finish().unwrap_err();
        assert!(matches!(failed.error(), Error::TableAbandoned { .. }));
        assert_eq!(written, file[..sound.len() + 5], "nothing of the damaged block was written");
    }
}

/// The index that is copied from the file counts, not the one that was read at opening.
#[test]
fn the_index_is_the_one_of_the_file() {
    let options = bloom(10).block_size(100).compression(Compression::None);
    let file = table_of(20, options.clone());
    let other = {
        let mut table = TableBuilder::new(Vec::new(), options.clone());
        (0..20).for_each(|i| table.add(format!("other{i:06}").as_bytes(), &[b'v'; 20]).unwrap());
        table.finish().unwrap().0
    };
    let other = open(&other);
    let table = Table::from_parts(&file[..], other.index_part(), other.filter_part()).unwrap();
    let error = rewrite(&table, &options).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. } | Error::Io { .. }), "{error}");
}

#[test]
fn errors_name_the_file_that_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000005.ldb");
    let mut file = table_of(20, WriteOptions::default());
    file[20] ^= 1;
    std::fs::write(&path, &file).unwrap();
    let table = Table::open_path(&path, &ReadOptions::default()).unwrap();
    let error = rewrite(&table, &WriteOptions::default()).unwrap_err();
    assert_eq!(error.path(), Some(&*path));
    assert!(matches!(error.without_path(), Error::Corrupt { what: Structure::Checksum, .. }), "{error}");
    // A policy's error is not about the file.
    let policy = BloomFilterPolicy::new(10);
    file[20] ^= 1;
    std::fs::write(&path, &file).unwrap();
    let table = Table::open_path(&path, &ReadOptions::default()).unwrap();
    let options = WriteOptions::default().filter_policy(policy).max_filter_block_size(10);
    let error = rewrite(&table, &options).unwrap_err();
    assert!(error.path().is_none() && matches!(error, Error::Limit { .. }), "{error}");
}
