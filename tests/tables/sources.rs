//! Files, and sources that fail or misbehave: the result is an error that says so, never a wrong answer.

use std::path::Path;
use std::{fs, io};

use bytes::Bytes;
use filterblock::table::{FetchedRanges, ReadAt, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, FilterBlockBuilder};

use crate::tables::{Answering, Crafted, Sample, handle, sample};

fn io_error(error: &Error) -> &io::Error {
    match error.without_path() {
        Error::Io { source, .. } => source,
        other => panic!("{other}"),
    }
}

/// Opens the sample from this source, looks up every third key, and reads all entries. Each result that is not an error
/// has to be right.
fn read_through<R: ReadAt>(source: R, sample: &Sample, options: &ReadOptions) -> Result<(), Error> {
    let table = Table::open(source, options)?;
    for (key, value) in sample.entries.iter().step_by(3) {
        assert!(table.may_contain(key)?);
        assert_eq!(table.get(key)?.as_deref(), Some(&value[..]));
    }
    for (entry, (key, value)) in table.iter().zip(&sample.entries) {
        let (its_key, its_value) = entry?;
        assert_eq!((&its_key[..], &its_value[..]), (&key[..], &value[..]));
    }
    match table.filter_error() {
        Some(error) => Err(Error::policy(error.to_string())),
        None => Ok(()),
    }
}

fn slice(file: &Bytes, offset: u64, len: usize) -> Bytes {
    file.slice(offset as usize..offset as usize + len)
}

#[test]
fn a_source_that_fails_on_the_nth_read() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let options = ReadOptions::default().tail_size(48);
    let fail_on = |nth| {
        let file = sample.file.clone();
        Answering::new(file.len() as u64, move |asked, offset, len| match asked == nth {
            true => Err(io::Error::other("the disk is on fire")),
            false => Ok(slice(&file, offset, len)),
        })
    };
    let source = fail_on(usize::MAX);
    read_through(&source, &sample, &options).unwrap();
    let reads = source.asked();
    assert!(reads > 100);
    for nth in 0..reads {
        let result = read_through(fail_on(nth), &sample, &options);
        if nth == 1 {
            // Reading index and metaindex together failed, reading each by itself did not.
            result.unwrap();
            continue;
        }
        let error = result.unwrap_err().to_string();
        assert!(error.contains("the disk is on fire"), "{nth}: {error}");
        assert!(error.contains("reading ") && error.contains(" at offset "), "{error}");
    }
}

#[test]
fn what_cannot_be_read_does_not_take_the_index_with_it() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let sound = sample.open();
    let first = sound.data_blocks().next().unwrap().unwrap();
    for (bad, tail_size) in [sound.metaindex_handle(), sound.filter_handle().unwrap(), first]
        .into_iter()
        .flat_map(|bad| [(bad, 0), (bad, 300), (bad, 64 << 10)])
    {
        let file = sample.file.clone();
        let source = Answering::new(file.len() as u64, move |_, offset, len| {
            match offset < bad.end().unwrap() && bad.offset < offset + len as u64 {
                true => Err(io::Error::other("bad sector")),
                false => Ok(slice(&file, offset, len)),
            }
        });
        let table = Table::open(source, &ReadOptions::default().tail_size(tail_size)).unwrap();
        assert_eq!(table.metaindex().is_some(), bad != sound.metaindex_handle());
        assert_eq!(table.filter().is_some(), bad == first);
        if let Some(error) = table.filter_error() {
            assert_eq!(io_error(error).to_string(), "bad sector");
        }
        for (key, value) in &sample.entries {
            match table.get(key) {
                Ok(found) => assert_eq!(found.unwrap(), value),
                Err(error) => {
                    assert_eq!(bad, first);
                    assert_eq!(io_error(&error).to_string(), "bad sector");
                }
            }
        }
    }
}

#[test]
fn a_source_that_gives_less_or_more_than_asked_for() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    for tail_size in [48, 64 << 10] {
        let options = ReadOptions::default().tail_size(tail_size);
        for (nth, change) in (0..40).flat_map(|nth| [-7, -1, 1, 9].map(|change| (nth, change))) {
            let file = [&sample.file[..], &[0; 9]].concat();
            let file = Bytes::from(file);
            let source = Answering::new(sample.file.len() as u64, move |asked, offset, len| {
                let len = if asked == nth { len.saturating_add_signed(change) } else { len };
                Ok(slice(&file, offset, len))
            });
            match read_through(source, &sample, &options) {
                Ok(()) => assert!(
                    [(1, 48), (0, 64 << 10)].contains(&(nth, tail_size)),
                    "only what was read together has a second chance"
                ),
                Err(error) => assert!(error.to_string().contains("the source gave "), "{error}"),
            }
        }
    }
}

#[test]
fn a_source_that_gives_other_bytes() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    for nth in 0..40 {
        let file = sample.file.clone();
        let source = Answering::new(file.len() as u64, move |asked, offset, len| {
            Ok(slice(
                &file,
                if asked == nth { offset ^ 1 } else { offset }.min((file.len() - len) as u64),
                len,
            ))
        });
        // An answer is right or an error; `read_through` compares.
        let _ = read_through(source, &sample, &ReadOptions::default().tail_size(48));
    }
}

/// Each read is answered by another lie or by the truth: fewer bytes, more bytes, other bytes, an error, or a range to
/// fetch that makes no sense.
#[test]
fn a_source_that_lies_at_random() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let (mut sound, mut failed) = (0, 0);
    for seed in 0..300_u64 {
        let file = Bytes::from([&sample.file[..], &[0; 99]].concat());
        let source = Answering::new(sample.file.len() as u64, move |asked, offset, len| {
            let mut random = (seed << 20 | asked as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            random = (random ^ random >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 20;
            // The first sources lie in every read, the last in about one of 43.
            let (lies, amount) = (random % (2 + seed), (random >> 16) as usize);
            match lies {
                0 => Ok(slice(&file, offset, amount % (len + 1))),
                1 => Ok(slice(&file, offset, len + amount % 99)),
                2 => Ok(slice(&file, amount as u64 % (offset + 1), len)),
                3 => Ok(vec![random as u8; len].into()),
                4 => Err(io::ErrorKind::Interrupted.into()),
                5 => Err(io::Error::other(Error::NeedRange { offset: u64::MAX, len: usize::MAX })),
                6 => Ok(Bytes::new()),
                _ => Ok(slice(&file, offset, len)),
            }
        });
        // `read_through` compares the answers.
        match read_through(source, &sample, &ReadOptions::default().tail_size((seed as usize % 5) * 60)) {
            Ok(()) => sound += 1,
            Err(_) => failed += 1,
        }
    }
    assert!(sound > 3 && failed > 100, "{sound} {failed}");
}

/// A source that gives another length each time is asked only once.
#[test]
fn a_source_whose_length_varies_is_believed_once() {
    struct Varying<'a>(&'a Bytes, std::cell::Cell<u64>);
    impl ReadAt for Varying<'_> {
        fn len(&self) -> io::Result<u64> {
            let asked = self.1.replace(self.1.get() + 1);
            Ok(self.0.len() as u64 + asked * 1000)
        }
        fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
            self.0.read_at(offset, len)
        }
    }
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let table = Table::open(Varying(&sample.file, Default::default()), &sample.options).unwrap();
    assert_eq!(table.iter().map(Result::unwrap).count(), sample.entries.len());
    assert_eq!(table.file_size(), sample.file.len() as u64);
    assert_eq!(table.source().1.get(), 1);
}

/// The blocks lie around the offsets 2^31 and 2^32, and far beyond, up to the end of 64 bits.
#[test]
fn blocks_beyond_4_gib_are_read_where_they_are() {
    for base in [(1_u64 << 31) - 10, (1 << 32) - 30, 1 << 32, 5 << 30, 1 << 40, u64::MAX - 500] {
        let mut crafted = Crafted::default();
        let shifted = |place: (u64, u64)| (base + place.0, place.1);
        let data = ["apple", "pear"].map(|key| shifted(crafted.entries(&[(key, key.to_uppercase())])));
        let mut filters = FilterBlockBuilder::with_base_lg(BloomFilterPolicy::new(10), 63).unwrap();
        filters.start_block(base).unwrap();
        ["apple", "pear"].iter().for_each(|key| filters.add_key(key.as_bytes()));
        let filter = shifted(crafted.block(&filters.finish().unwrap()));
        let metaindex = crafted.entries(&[("filter.leveldb.BuiltinBloomFilter2", handle(filter))]);
        let index = crafted.entries(&[("apple", handle(data[0])), ("pear", handle(data[1]))]);
        let file = crafted.footer(shifted(metaindex), shifted(index));
        let len = base + file.len() as u64;
        for tail_size in [48, 64 << 10] {
            let file = file.clone();
            let source = Answering::new(len, move |_, offset, len| match offset.checked_sub(base) {
                Some(offset) => file.read_at(offset, len),
                None => {
                    // The tail begins before what is there.
                    let zeros = usize::try_from(base - offset).unwrap().min(len);
                    Ok([vec![0; zeros], file.read_at(0, len - zeros)?.to_vec()].concat().into())
                }
            });
            let table = Table::open(source, &ReadOptions::default().tail_size(tail_size)).unwrap();
            assert!(table.filter_error().is_none() && table.filter().is_some());
            for key in ["apple", "pear"] {
                assert_eq!(table.get(key.as_bytes()).unwrap().unwrap(), key.to_uppercase());
            }
            assert!(!table.may_contain(b"banana").unwrap());
            let handles: Vec<_> = table.data_blocks().map(|handle| handle.unwrap().offset).collect();
            assert_eq!(handles, data.map(|(offset, _)| offset));
        }
    }
}

#[test]
fn a_source_without_a_length() {
    struct NoLength;
    impl ReadAt for NoLength {
        fn len(&self) -> io::Result<u64> {
            Err(io::Error::other("no idea"))
        }
        fn read_at(&self, _: u64, _: usize) -> io::Result<Bytes> {
            panic!("nothing can be read before the length is known")
        }
    }
    let error = Table::open(NoLength, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "asking for the length: no idea");
}

#[test]
fn a_length_that_is_not_true_is_not_believed_with_memory() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    for len in [49, 1 << 20, 1 << 40, u64::MAX] {
        let file = sample.file.clone();
        let source = Answering::new(len, move |_, offset, len| file.read_at(offset, len));
        let error = Table::open(source, &ReadOptions::default()).unwrap_err();
        if len > sample.file.len() as u64 {
            assert_eq!(io_error(&error).kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}

#[test]
fn what_has_to_be_fetched_is_asked_for_even_if_it_is_for_the_filters_only() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let table = sample.open();
    let filter = table.filter_handle().unwrap();
    let len = sample.file.len();
    // All but the filter block is there.
    let end = filter.end().unwrap();
    let tail = FetchedRanges::new(len as u64, end, sample.file.slice(end as usize..));
    tail.insert(0, sample.file.slice(..filter.offset as usize));
    let options = ReadOptions::default().tail_size(48);
    let error = Table::open(&tail, &options).unwrap_err();
    let Error::NeedRange { offset, len } = error else { panic!("{error}") };
    assert_eq!((offset, len as u64), (filter.offset, filter.size + 5));
    tail.insert(offset, slice(&sample.file, offset, len));
    let table = Table::open(tail, &options).unwrap();
    assert!(table.filter().is_some());
    assert_eq!(table.source().len().unwrap(), sample.file.len() as u64);
    let tail = table.into_source();
    assert!(tail.read_at(0, sample.file.len()).is_ok());
}

#[test]
fn index_and_metaindex_side_by_side_are_asked_for_together() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("apple", "value")]);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("apple", handle(data))]);
    let file = crafted.footer(metaindex, index);
    let footer = file.len() - 48;
    let tail = FetchedRanges::new(file.len() as u64, footer as u64, file.slice(footer..));
    let error = Table::open(&tail, &ReadOptions::default().tail_size(48)).unwrap_err();
    let Error::NeedRange { offset, len } = error else { panic!("{error}") };
    assert_eq!((offset, len), (metaindex.0, footer - metaindex.0 as usize));
}

#[test]
fn a_metaindex_that_lies_apart_is_asked_for() {
    let mut crafted = Crafted::default();
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    crafted.file.resize(10_000, 0);
    let data = crafted.entries(&[("apple", "value")]);
    let index = crafted.entries(&[("apple", handle(data))]);
    let file = crafted.footer(metaindex, index);
    let tail = FetchedRanges::new(file.len() as u64, 10_000, file.slice(10_000..));
    let options = ReadOptions::default().tail_size(48);
    let error = Table::open(&tail, &options).unwrap_err();
    assert!(matches!(error, Error::NeedRange { offset: 0, len } if len as u64 == metaindex.1 + 5), "{error}");
    tail.insert(0, file.slice(..metaindex.1 as usize + 5));
    assert!(Table::open(&tail, &options).unwrap().metaindex().is_some());
}

#[test]
fn a_file_that_shrinks_or_grows_while_it_is_open() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("000005.ldb");
    fs::write(&path, &sample.file).unwrap();
    let table = Table::open_path(&path, &sample.options).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();

    file.set_len(sample.file.len() as u64 + 100).unwrap();
    assert_eq!(table.iter().map(Result::unwrap).count(), sample.entries.len());

    file.set_len(700).unwrap();
    let (mut found, mut failed) = (0, 0);
    for (key, value) in &sample.entries {
        match table.get(key) {
            Ok(its) => {
                assert_eq!(its.unwrap(), value);
                found += 1;
            }
            Err(error) => {
                assert_eq!(io_error(&error).kind(), io::ErrorKind::UnexpectedEof);
                assert_eq!(error.path(), Some(path.as_path()));
                failed += 1;
            }
        }
    }
    assert!(found > 0 && failed > 0, "{found} {failed}");
}

#[test]
fn errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let open = |path: &Path| Table::open_path(path, &ReadOptions::default());

    let path = dir.path().join("000001.ldb");
    let mut table = TableBuilder::new(Vec::new(), WriteOptions::default());
    table.add(b"key", b"").unwrap();
    fs::write(&path, table.finish().unwrap().0).unwrap();
    let table = open(&path).unwrap();
    let mut block = table.block_cursor(table.data_blocks().next().unwrap().unwrap()).unwrap();
    assert!(block.next().unwrap());
    assert_eq!(block.handle().unwrap_err().path(), Some(path.as_path()), "no handle");

    let named = |path: &Path, expected: &str| {
        let error = open(path).unwrap_err();
        assert_eq!(error.path(), Some(path));
        let text = error.to_string();
        assert!(
            text.contains(path.file_name().unwrap().to_str().unwrap()) && text.contains(expected),
            "{text}"
        );
        error
    };

    let missing = named(&dir.path().join("missing.ldb"), "does not exist");
    assert_eq!(io_error(&missing).kind(), io::ErrorKind::NotFound);
    let folder = dir.path().join("folder.ldb");
    fs::create_dir(&folder).unwrap();
    named(&folder, "not a regular file");
    let empty = dir.path().join("empty.ldb");
    fs::write(&empty, b"").unwrap();
    named(&empty, "expected a table of at least 48 bytes, found 0 bytes");

    // Later errors name the file, too, and so does the reason for reading without filters.
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let table = sample.open();
    let mut file = sample.file.to_vec();
    file[10] ^= 1;
    file[table.filter_handle().unwrap().offset as usize] ^= 1;
    let path = dir.path().join("damaged.ldb");
    fs::write(&path, &file).unwrap();
    let table = open(&path).unwrap();
    let first = table.data_blocks().next().unwrap().unwrap();
    let key = &sample.entries[0].0;
    for error in [
        table.get(key).unwrap_err(),
        table.get_entry(key).unwrap_err(),
        table.cursor().next().unwrap_err(),
        table.cursor().seek(key).unwrap_err(),
        table.iter().next().unwrap().unwrap_err(),
        table.block_cursor(first).unwrap_err(),
        table.get_at(key, 1).unwrap_err(),
    ] {
        assert_eq!(error.path(), Some(path.as_path()), "{error}");
    }
    assert_eq!(table.filter_error().unwrap().path(), Some(path.as_path()));
    assert!(table.filter_error().unwrap().to_string().contains("damaged.ldb: block checksum at offset"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe.ldb");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = Table::open_path(&path, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("pipe.ldb: opening: not a regular file"), "{error}");
    // Symbolic links are followed, also to what is no file.
    let link = dir.path().join("link.ldb");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(Table::open_path(&link, &ReadOptions::default()).is_err());
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(crate::tables::testdata().join("tables/words-1024-bloom20-snappy.ldb"), &link)
        .unwrap();
    assert!(Table::open_path(&link, &ReadOptions::default()).is_ok());
}
