//! Damage to bits and bytes, wherever it is.

use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{BlockHandle, ReadOptions, Table, TableBuilder, WriteOptions};

use super::{exercise, open};
use crate::interpreted::fewer;
use crate::tables::{Entry, Sample, sample, samples};

/// The range of each data block of a table, with its trailer, and the numbers of the entries in it.
fn data_blocks(sample: &Sample) -> Vec<(std::ops::Range<usize>, Vec<usize>)> {
    let table = sample.open();
    let (mut cursor, mut number, mut blocks) = (table.cursor(), 0, Vec::new());
    while cursor.next().unwrap() {
        let BlockHandle { offset, size } = cursor.block_handle().unwrap();
        let range = offset as usize..(offset + size) as usize + 5;
        match blocks.last_mut() {
            Some((last, keys)) if *last == range => keys,
            _ => {
                blocks.push((range, Vec::new()));
                &mut blocks.last_mut().unwrap().1
            }
        }
        .push(number);
        number += 1;
    }
    blocks
}

/// A table of twelve entries in several blocks, with filters. It is small enough to be damaged in every bit many times.
fn small_table() -> (Bytes, Vec<Entry>) {
    let options = WriteOptions::default().block_size(48).filter_policy(BloomFilterPolicy::new(10));
    let mut table = TableBuilder::new(Vec::new(), options);
    let entries: Vec<_> =
        (0..12u8).map(|i| (vec![b'k', i / 4, i], [i; 40][..usize::from(i) * 3].to_vec())).collect();
    entries.iter().for_each(|(key, value)| table.add(key, value).unwrap());
    (table.finish().unwrap().0.into(), entries)
}

fn flipped(file: &[u8], bit: usize) -> Vec<u8> {
    let mut file = file.to_vec();
    file[bit / 8] ^= 1 << (bit % 8);
    file
}

/// Promise: A3.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn every_bit_flip_gives_an_error_or_the_right_answer() {
    let sample = &sample("words-1024-bloom20-snappy.ldb");
    let blocks = data_blocks(sample);
    assert!(blocks.len() > 5);
    let (mut unopened, mut unfiltered, mut unreadable) = (0, 0, 0);
    for bit in 0..sample.file.len() * 8 {
        let Ok(table) = open(flipped(&sample.file, bit)) else {
            unopened += 1;
            continue;
        };
        // Damage to filters turns them off; damage in the metaindex or its handle, too.
        assert_eq!(table.filter().is_some(), table.filter_error().is_none());
        unfiltered += usize::from(table.filter().is_none());
        // Look into the damaged block, if it is one of data, and into another: one key of a block shows as much as all.
        let other = blocks.get(bit % blocks.len());
        let damaged = blocks.iter().find(|(range, _)| range.contains(&(bit / 8)));
        for (range, keys) in other.into_iter().chain(damaged) {
            let (key, value) = &sample.entries[keys[bit % keys.len()]];
            assert!(table.may_contain(key).unwrap(), "bit {bit}");
            match table.get(key) {
                Ok(found) => assert_eq!(found.as_deref(), Some(&value[..]), "bit {bit}"),
                Err(error) => {
                    assert!(range.contains(&(bit / 8)), "bit {bit}: {error}");
                    assert!(error.to_string().contains("block checksum at offset"), "{error}");
                }
            }
        }
        if let Some((_, keys)) = damaged {
            assert!(table.get(&sample.entries[keys[0]].0).is_err());
            unreadable += 1;
        }
    }
    // Each kind of damage did occur: footer and index, filter and metaindex, data.
    let table = sample.open();
    let len = |handle: BlockHandle| handle.size as usize + 5;
    assert_eq!(unreadable, blocks.iter().map(|(range, _)| range.len()).sum::<usize>() * 8);
    assert!(unfiltered >= (len(table.metaindex_handle()) + len(table.filter_handle().unwrap())) * 8);
    assert!(unopened >= (8 + len(table.index_handle())) * 8);
}

#[test]
fn every_pair_of_damaged_bits_gives_an_error_or_the_right_answer() {
    let (file, entries) = small_table();
    'flips: for bit in (0..file.len() * 8).step_by(fewer(997)) {
        let file = flipped(&flipped(&file, bit), (bit * 31 + 7) % (file.len() * 8));
        let Ok(table) = open(file) else { continue };
        for (key, value) in &entries {
            assert!(table.may_contain(key).unwrap_or(true));
            if let Ok(found) = table.get(key) {
                assert_eq!(found.as_deref(), Some(&value[..]), "bit {bit}");
            }
        }
        let mut walked = 0;
        for entry in table.iter() {
            let Ok((key, value)) = entry else { continue 'flips };
            assert_eq!((&key[..], &value[..]), (&entries[walked].0[..], &entries[walked].1[..]));
            walked += 1;
        }
        assert_eq!(walked, entries.len(), "bit {bit}");
    }
}

#[test]
fn every_bit_flip_without_checksums_ends() {
    let (file, entries) = small_table();
    let options = ReadOptions::default().verify_checksums(false).max_output(1 << 20);
    let keys: Vec<&[u8]> = entries.iter().map(|(key, _)| &key[..]).collect();
    let bits = (0..file.len() * 8).step_by(fewer(997));
    let (mut opened, tried) = (0, bits.len());
    for bit in bits {
        if let Ok(table) = Table::open(Bytes::from(flipped(&file, bit)), &options) {
            opened += 1;
            exercise(&table, &keys);
        }
    }
    assert!(opened > tried / 2, "{opened}");
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn every_truncation_is_an_error() {
    let sample = &sample("words-1024-bloom20-snappy.ldb");
    for len in 0..sample.file.len() {
        let error = open(sample.file.slice(..len)).unwrap_err().to_string();
        if len < 48 {
            let expected =
                format!("table at offset 0: expected a table of at least 48 bytes, found {len} bytes");
            assert_eq!(error, expected);
        } else {
            let expected =
                format!("footer at offset {}: expected magic 0xdb4775248b80fb57, found 0x", len - 8);
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn data_removed_or_added_before_the_footer() {
    let sample = &sample("words-1024-bloom20-snappy.ldb");
    let end = sample.file.len() - 48;
    for cut in [1, 5, 100, end] {
        let file = [&sample.file[..end - cut], &sample.file[end..]].concat();
        assert!(open(file).is_err(), "the index is not where the footer says");
        let added = [&sample.file[..end], &vec![0; cut][..], &sample.file[end..]].concat();
        assert_eq!(open(added).unwrap().iter().map(Result::unwrap).count(), sample.entries.len());
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn every_sample_survives_being_cut_and_overwritten() {
    // Every structure of every table, hit by runs of damage rather than individual bits.
    for sample in samples() {
        let keys: Vec<&[u8]> = sample.entries.iter().step_by(151).map(|(key, _)| &key[..]).collect();
        let len = sample.file.len();
        for (step, fill) in [(61, 0xff), (67, 0), (71, 0x80)] {
            for at in (0..len).rev().step_by(len / step + 1) {
                let mut file = sample.file.to_vec();
                let end = len.min(at + 1 + at % 9);
                file[at..end].fill(fill);
                for verify in [true, false] {
                    let options = sample.options.clone().verify_checksums(verify).max_output(1 << 20);
                    if let Ok(table) = Table::open(Bytes::from(file.clone()), &options) {
                        exercise(&table, &keys);
                    }
                }
            }
        }
    }
}
