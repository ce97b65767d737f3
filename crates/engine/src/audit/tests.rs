//! Tests with a source to which each range has to be supplied before it is read, as with object
//! storage.
//!
//! The audit starts again after each missing range. In the end its result is the same as with the
//! whole file.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use filterblock::table::{
    Compression, FetchedRanges, ReadAt, ReadOptions, Table, TableBuilder, WriteOptions,
};
use filterblock::{BloomFilterPolicy, Error, LegacyBloomPolicy, Result};

use super::query::{self, LookupKeys};
use super::{inspect, rates::random::ProbeBudget, reading::read_options, stats::Reach, verify};
use crate::engine::Engine;

/// Tables that replace the test data, which the published package lacks.
fn built() -> Vec<(PathBuf, Bytes)> {
    let table = |number: usize| {
        let options =
            WriteOptions::default().block_size(64 << (number % 5)).restart_interval(1 + number as u32);
        let options = match number % 3 {
            0 => options.filter_policy(BloomFilterPolicy::new(10)),
            1 => options.filter_policy(LegacyBloomPolicy::new(10)).compression(Compression::None),
            _ => options,
        };
        let mut builder = TableBuilder::new(Vec::new(), options);
        for key in 0..number * 20 {
            builder.add(format!("{key:010}").as_bytes(), &[b'v'; 30]).unwrap();
        }
        (PathBuf::from(format!("built {number}")), builder.finish().unwrap().0.into())
    };
    (0..41).map(table).chain([large()]).collect()
}

/// A table whose blocks lie too far apart for their trailers to be read together.
fn large() -> (PathBuf, Bytes) {
    let options = WriteOptions::default().compression(Compression::None);
    let mut builder = TableBuilder::new(Vec::new(), options.filter_policy(BloomFilterPolicy::new(10)));
    for key in 0..30 {
        builder.add(format!("{key:010}").as_bytes(), &[b'v'; 20 << 10]).unwrap();
    }
    (PathBuf::from("large"), builder.finish().unwrap().0.into())
}

/// The tables in all folders of the test data, and a large one; those of [`built`] if there is no test data.
fn tables() -> Vec<(PathBuf, Bytes)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")];
    if !folders.iter().all(|folder| folder.is_dir()) {
        return built();
    }
    found.push(large());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ldb") {
                let file = std::fs::read(&path).unwrap();
                found.push((path, file.into()));
            }
        }
    }
    assert!(found.len() > 40, "{}", found.len());
    found
}

/// Options with which no range is read by chance as part of the end of the file.
fn small_tail() -> ReadOptions {
    read_options().tail_size(48)
}

/// Calls `audit` until no range is missing. Returns its result, and the number of ranges that were
/// missing.
fn resume<T>(path: &Path, file: &Bytes, audit: impl Fn(&FetchedRanges) -> Result<T>) -> (T, usize) {
    let source = FetchedRanges::new(file.len() as u64, 0, Bytes::new());
    let blocks = Table::open(file.clone(), &read_options()).map_or(0, |table| table.data_blocks().count());
    // At most, these are missing: footer, index, metaindex and filter block, and the trailer and
    // the rest of each data block.
    let most = 4 + 2 * blocks;
    for missing in 0..=most {
        match audit(&source) {
            Ok(result) => return (result, missing),
            Err(Error::NeedRange { offset, len }) => {
                assert!(len > 0, "{}: nothing is missing at {offset}", path.display());
                source.insert(offset, file.slice(offset as usize..offset as usize + len));
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    panic!("{}: more than {most} ranges are missing", path.display());
}

/// Checks that the result of `audit` is the same with the complete file as with ranges that are
/// supplied one by one when they are missing. `audit` gets the file and the options to read it
/// with. Returns the number of ranges that were missing.
fn check<T: Debug>(
    path: &Path,
    file: &Bytes,
    audit: impl Fn(&dyn ReadAt, &ReadOptions) -> Result<T>,
) -> usize {
    let whole = format!("{:?}", audit(file, &read_options()).unwrap());
    let (resumed, missing) = resume(path, file, |source| audit(source, &small_tail()));
    assert_eq!(format!("{resumed:?}"), whole, "{}", path.display());
    // The result is the same if more of the file's end is read at once, as it usually is.
    let (resumed, fewer) = resume(path, file, |source| audit(source, &read_options()));
    assert_eq!(format!("{resumed:?}"), whole, "{}", path.display());
    assert!(fewer <= missing, "{}: {fewer} {missing}", path.display());
    missing
}

/// The file, and damaged copies: one byte is changed, in a data block or at one of three places before the footer, or
/// the last byte is missing.
fn variants(file: &Bytes) -> Vec<Bytes> {
    let len = file.len();
    let mut variants = vec![file.clone(), file.slice(..len.saturating_sub(1))];
    for at in [len / 3, len.saturating_sub(150), len.saturating_sub(70), len.saturating_sub(49)] {
        let mut changed = file.to_vec();
        changed.get_mut(at).into_iter().for_each(|byte| *byte ^= 0x10);
        variants.push(changed.into());
    }
    variants
}

#[test]
fn an_inspection_resumed_at_each_missing_range_finds_what_the_whole_file_holds() {
    let mut most = 0;
    for (path, file) in tables() {
        let reaches = [Reach::Spread, Reach::Places, Reach::All];
        for (file, reach) in variants(&file).into_iter().zip(reaches.into_iter().cycle()) {
            most = most.max(check(&path, &file, |source, options| {
                let report = inspect::table::look(
                    source,
                    options,
                    ProbeBudget { random_keys: 2048, neighbours: 16, marks: 4 },
                    reach,
                )?;
                let filters: Vec<_> =
                    report.filters.iter().flat_map(|filters| filters.stats.iter()).collect();
                Ok((format!("{report:?}"), filters))
            }));
        }
    }
    assert!(most > 50, "{most}");
}

#[test]
fn a_verification_resumed_at_each_missing_range_finds_what_the_whole_file_holds() {
    let mut most = 0;
    for (path, file) in tables() {
        for file in variants(&file) {
            most = most.max(check(&path, &file, |source, options| {
                verify::table(
                    source,
                    None,
                    true,
                    &Engine { read: options.clone(), ..Engine::new() },
                    false,
                    &|_| {},
                )
            }));
        }
    }
    assert!(most > 50, "{most}");
}

#[test]
fn a_query_resumed_at_each_missing_range_finds_what_the_whole_file_holds() {
    let keys =
        LookupKeys::new([&b"hello"[..], b"", b"0000000042", b"item/0000/0"].map(<[u8]>::to_vec).into());
    let mut most = 0;
    for (path, file) in tables() {
        for (file, is_bytewise) in
            variants(&file).into_iter().flat_map(|file| [(file.clone(), true), (file, false)])
        {
            most = most.max(check(&path, &file, |source, options| {
                match query::table(source, options, &keys, is_bytewise, None) {
                    Ok(table) => {
                        let answers = keys.given().iter().enumerate().map(|(at, key)| table.of(key, at));
                        Ok(Ok((table.error.clone(), table.no_index, answers.collect::<Vec<_>>())))
                    }
                    Err(error @ Error::NeedRange { .. }) => Err(error),
                    Err(error) => Ok(Err(error.to_string())),
                }
            }));
        }
    }
    assert!(most > 10, "{most}");
}
