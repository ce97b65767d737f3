//! Writers, sources and policies that fail.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use filterblock::table::{FetchedRanges, ReadOptions, Rewriter, Table, WriteOptions};
use filterblock::{Error, FilterPolicy, Keys, Result};

use super::{bloom, open, rewrite, table_of};
use crate::tables::{Answering, Recording};

/// A writer that takes `at` calls of `write`. It fails in the next one or, if there is no next one, in `flush`.
#[derive(Debug)]
struct Failing {
    written: Vec<u8>,
    calls: usize,
    at: usize,
    short: usize,
}

impl Failing {
    fn new(at: usize, short: usize) -> Self {
        Self { written: Vec::new(), calls: 0, at, short }
    }
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls > self.at {
            return Err(io::Error::new(ErrorKind::StorageFull, "disk full"));
        }
        let len = bytes.len().min(self.short);
        self.written.extend(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.calls >= self.at { Err(io::Error::other("the cable is out")) } else { Ok(()) }
    }
}

fn made() -> WriteOptions {
    bloom(10).block_size(200)
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn each_failing_write_reaches_the_caller_and_gives_the_writer_back() {
    let file = table_of(100, made());
    let table = open(&file).with_path("the table");
    let blocks = table.data_blocks().count();
    assert!(blocks > 5);
    // Each block is one call; then filters, metaindex, index and footer.
    let calls = blocks + 4;
    for at in 0..=calls {
        let rewriter = Rewriter::new(&table, Failing::new(at, usize::MAX), &made()).unwrap();
        let failed = rewriter.finish().unwrap_err();
        let message = if at < calls { "disk full" } else { "the cable is out" };
        assert!(failed.to_string().ends_with(message), "{failed}");
        let (error, writer) = failed.into_parts();
        // The error is about the file that is written, so it does not name the file that is read.
        assert!(
            matches!(error, Error::Io { offset, .. } if offset == writer.written.len() as u64),
            "{error}"
        );
        assert!(file.starts_with(&writer.written));
        assert_eq!(writer.calls, (at + 1).min(calls), "nothing is written after a failure");
    }
    let rewriter = Rewriter::new(&table, Failing::new(calls + 1, usize::MAX), &made()).unwrap();
    assert!(rewriter.finish().unwrap().0.written == file);
}

#[test]
fn a_failed_write_ends_the_table() {
    let file = table_of(100, made());
    let table = open(&file);
    let mut rewriter = Rewriter::new(&table, Failing::new(1, usize::MAX), &made()).unwrap();
    assert!(rewriter.copy_block().unwrap());
    let error = rewriter.copy_block().unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(matches!(rewriter.copy_block(), Err(Error::TableAbandoned { .. })));
    let failed = rewriter.finish().unwrap_err();
    assert!(matches!(failed.error(), Error::TableAbandoned { .. }));
    assert_eq!(failed.into_writer().calls, 2);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn short_writes_are_continued() {
    let file = table_of(100, made());
    for short in [1, 7, 300] {
        let rewriter =
            Rewriter::new(&open(&file), Failing::new(usize::MAX, short), &made()).unwrap().finish();
        assert!(rewriter.unwrap().0.written == file);
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_source_that_fails_on_any_read_is_an_error() {
    let file = Bytes::from(table_of(2000, made().block_size(40_000)));
    let parts = open(&file);
    let mut reads = 0;
    for at in 0.. {
        let source = Answering::new(file.len() as u64, |asked, offset, len| {
            if asked == at {
                Err(io::Error::other("on fire"))
            } else {
                Ok(file.slice(offset as usize..offset as usize + len))
            }
        });
        let table = Table::from_parts(source, parts.index_part(), parts.filter_part()).unwrap();
        let result = rewrite(&table, &made());
        reads = table.source().asked();
        if reads <= at {
            assert!(result.unwrap().0 == file);
            break;
        }
        match result {
            // Small blocks that could not be read together were read one by one.
            Ok((again, _)) => assert!(again == file),
            Err(error) => {
                assert!(matches!(error, Error::Io { .. }) && error.to_string().ends_with("on fire"))
            }
        }
    }
    assert!(reads >= 3, "{reads}");
}

/// A part of the old filters cannot be read. They lie after the data, so that does not matter.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn old_filters_that_cannot_be_read_are_replaced() {
    let file = Bytes::from(table_of(2000, made()));
    let sound = open(&file);
    let bad = sound.filter_handle().unwrap();
    let source = Answering::new(file.len() as u64, |_, offset, len| {
        if offset < bad.end().unwrap() && bad.offset < offset + len as u64 {
            return Err(io::Error::other("on fire"));
        }
        Ok(file.slice(offset as usize..offset as usize + len))
    });
    let table = Table::open(source, &ReadOptions::default()).unwrap();
    assert!(table.filter().is_none() && table.filter_error().is_some());
    assert!(rewrite(&table, &made()).unwrap().0 == file);
    // One attempt to read ahead, then each block by itself.
    let blocks = table.data_blocks().count();
    let before = table.source().asked();
    rewrite(&table, &made()).unwrap();
    assert!(table.source().asked() - before <= blocks + 2 + 1);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn small_blocks_are_read_together_and_no_byte_much_more_than_once() {
    for (block_size, most) in [(1000, 20), (4096, 20), (60_000, 26), (100_000, 20), (1 << 20, 8)] {
        let mut builder = filterblock::table::TableBuilder::new(
            Vec::new(),
            made().block_size(block_size).compression(filterblock::table::Compression::None),
        );
        for i in 0..10_000_u32 {
            builder.add(&i.to_be_bytes(), &[i as u8; 100]).unwrap();
        }
        let file = Bytes::from(builder.finish().unwrap().0);
        let table = Table::open(Recording::new(file.clone()), &ReadOptions::default()).unwrap();
        table.source().take();
        assert!(rewrite(&table, &made()).unwrap().0 == file);
        let reads = table.source().take();
        let bytes: usize = reads.iter().map(|(_, len)| len).sum();
        assert!(reads.len() <= most, "{block_size}: {} reads", reads.len());
        assert!(bytes < file.len() * 9 / 8, "{block_size}: {bytes} of {}", file.len());
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn ranges_that_are_missing_can_be_fetched_meanwhile() {
    let file = Bytes::from(table_of(2000, made()));
    let fetch = |table: &Table<FetchedRanges>, error: Error| {
        let Error::NeedRange { offset, len } = error else { panic!("{error}") };
        let range = offset as usize..offset as usize + len;
        table.source().insert(offset, file.slice(range));
        len
    };
    let sound = open(&file);
    let source = FetchedRanges::new(file.len() as u64, 0, Bytes::new());
    let table = Table::from_parts(source, sound.index_part(), sound.filter_part()).unwrap();
    let mut rewriter = loop {
        match Rewriter::new(&table, Vec::new(), &made()) {
            Ok(rewriter) => break rewriter,
            Err(error) => _ = fetch(&table, error),
        }
    };
    let mut fetched = 0;
    loop {
        match rewriter.copy_block() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => fetched += fetch(&table, error),
        }
    }
    let (again, summary) = rewriter.finish().unwrap();
    assert!(again == file);
    assert_eq!(fetched as u64, summary.data_size, "no byte but those of data blocks was asked for");
    assert_eq!(summary.num_entries, Some(2000));
}

/// A policy that counts the filters that it makes. It fails at the filter whose number, counted from 0, is
/// given second.
struct Moody(AtomicUsize, usize);

impl FilterPolicy for Moody {
    fn name(&self) -> &str {
        "moody"
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        if self.0.fetch_add(1, Ordering::Relaxed) == self.1 {
            return Err(Error::policy("not today"));
        }
        dst.push(0);
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

#[test]
fn a_policy_that_fails_ends_the_table() {
    let file = table_of(500, made());
    let table = open(&file).with_path("the table");
    let options = |at| WriteOptions::default().filter_policy(Moody(0.into(), at));
    let filters = rewrite(&table, &options(usize::MAX)).unwrap().1.filters[0].filters as usize;
    assert!(filters > 3);
    for at in 0..filters {
        let failed = Rewriter::new(&table, Vec::new(), &options(at)).unwrap().finish().unwrap_err();
        assert_eq!(failed.to_string(), "filter policy: not today");
        assert!(file.starts_with(&failed.into_writer()));
    }
}
