//! Writers that fail, writers that take a part of the bytes, and interrupted ones. `TableBuilder::finish` gives the writer
//! back when it fails. Options are checked in the same way everywhere.

use std::error::Error as _;
use std::io::{self, Write};
use std::sync::Arc;

use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, SharedPolicy};

use super::{entries, uncompressed, write};

/// The behaviour of a writer in a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Short(usize),
    Interrupted,
    Zero,
    TooMuch,
    Fail,
}

/// A writer that does `step` in call number `at`, counted from 0, or in each call if `at` is `None`. In other calls, it
/// takes everything.
#[derive(Debug)]
struct Faulty {
    written: Vec<u8>,
    calls: usize,
    at: Option<usize>,
    step: Step,
}

impl Faulty {
    fn new(at: Option<usize>, step: Step) -> Self {
        Self { written: Vec::new(), calls: 0, at, step }
    }
}

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let call = self.calls;
        self.calls += 1;
        let len = match self.step {
            _ if self.at.is_some_and(|at| at != call) => bytes.len(),
            Step::Short(len) => len.min(bytes.len()),
            Step::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
            Step::Zero => 0,
            Step::TooMuch => return Ok(bytes.len() + 1),
            Step::Fail => return Err(io::Error::new(io::ErrorKind::StorageFull, "disk full")),
        };
        self.written.extend(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn options_for_faults() -> WriteOptions {
    uncompressed().block_size(200).filter_policy(BloomFilterPolicy::new(10))
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn short_and_interrupted_writes_are_continued() {
    let (expected, summary) = write(options_for_faults(), entries(100)).unwrap();
    let write_to = |faulty: Faulty| {
        let mut table = TableBuilder::new(faulty, options_for_faults());
        entries(100).try_for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes())).unwrap();
        let (faulty, summary) = table.finish().unwrap();
        assert!(faulty.written == expected);
        assert_eq!(summary.file_size, expected.len() as u64);
        faulty.calls
    };
    assert_eq!(write_to(Faulty::new(None, Step::Short(1))), expected.len());
    assert!(write_to(Faulty::new(None, Step::Short(7))) > expected.len() / 7);
    // A call for each data block, then the filter block, metaindex, index and footer; one is repeated.
    let calls = summary.data_blocks as usize + 4;
    for at in 0..calls {
        assert_eq!(write_to(Faulty::new(Some(at), Step::Interrupted)), calls + 1);
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn each_failing_write_reaches_the_caller_and_ends_the_table() {
    let (expected, summary) = write(options_for_faults(), entries(100)).unwrap();
    let calls = summary.data_blocks as usize + 4;
    for (step, message) in [
        (Step::Fail, "disk full"),
        (Step::Zero, "write zero"),
        (Step::TooMuch, "the writer claims to have written"),
    ] {
        for at in 0..calls {
            let mut faulty = Faulty::new(Some(at), step);
            let mut table = TableBuilder::new(&mut faulty, options_for_faults());
            let added = entries(100).try_for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes()));
            let error = match added {
                Err(error) => {
                    assert!(at < summary.data_blocks as usize);
                    let again = table.add(b"z", b"").unwrap_err().to_string();
                    assert_eq!(again, format!("table given up after an earlier error: {error}"));
                    assert!(matches!(table.finish().unwrap_err().into_error(), Error::TableAbandoned { .. }));
                    error
                }
                Ok(()) => table.finish().expect_err("the last calls are made by finish").into_error(),
            };
            assert!(error.to_string().contains(message), "{step:?} {at}: {error}");
            let Error::Io { offset, .. } = error else { panic!("{error:?}") };
            assert_eq!(offset, faulty.written.len() as u64);
            assert_eq!(faulty.calls, at + 1, "nothing is written after a failure");
            assert!(expected.starts_with(&faulty.written));
        }
        let (faulty, _) = {
            let mut table = TableBuilder::new(Faulty::new(Some(calls), step), options_for_faults());
            entries(100).try_for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes())).unwrap();
            table.finish().unwrap()
        };
        assert_eq!(faulty.calls, calls, "every call was tried");
    }
}

#[test]
fn a_failing_flush_reaches_the_caller() {
    #[derive(Debug)]
    struct NoFlush;
    impl Write for NoFlush {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::Error::other("the cable is out"))
        }
    }
    let error = TableBuilder::new(NoFlush, uncompressed()).finish().unwrap_err();
    assert_eq!(error.to_string(), "flushing: the cable is out");
}

/// A writer that takes this many bytes and no more.
#[derive(Debug, PartialEq)]
struct Full(Vec<u8>, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > self.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn plain() -> WriteOptions {
    WriteOptions::default().compression(Compression::None)
}

#[test]
fn the_writer_comes_back_with_what_it_took() {
    let mut sound = TableBuilder::new(Vec::new(), plain());
    sound.add(b"key", b"value").unwrap();
    let (sound, _) = sound.finish().unwrap();
    for room in 0..sound.len() {
        let mut table = TableBuilder::new(Full(Vec::new(), room), plain());
        table.add(b"key", b"value").unwrap();
        let failed = table.finish().unwrap_err();
        assert!(matches!(failed.error(), Error::Io { .. }), "{failed}");
        assert_eq!(failed.to_string(), failed.error().to_string());
        assert!(failed.source().is_some() && !format!("{failed:?}").contains("Full("));
        let (error, writer) = failed.into_parts();
        assert!(matches!(error, Error::Io { .. }) && sound.starts_with(&writer.0), "{room}");
    }
    // A table that was given up before gives its writer back too.
    let mut table = TableBuilder::new(Full(Vec::new(), 30), plain().block_size(1));
    table.add(b"key", b"value").unwrap();
    assert!(table.add(b"kez", b"value").is_err());
    let failed = table.finish().unwrap_err();
    assert!(matches!(failed.error(), Error::TableAbandoned { .. }));
    assert_eq!(failed.into_writer().0.len(), 24);
}

#[test]
fn a_question_mark_keeps_the_error_alone() {
    fn write() -> filterblock::Result<()> {
        TableBuilder::new(Full(Vec::new(), 0), plain()).finish()?;
        Ok(())
    }
    assert!(matches!(write(), Err(Error::Io { .. })));
}

/// The first `add` or `finish` returns the same error as `check`, and writes nothing.
#[test]
fn options_are_checked_together() {
    let bloom = || -> SharedPolicy { Arc::new(BloomFilterPolicy::new(10)) };
    let invalid = [
        ("restart_interval", plain().restart_interval(0)),
        ("filter_policies", plain().filter_policies(vec![bloom(), bloom()])),
        ("base_lg", plain().base_lg(64)),
        ("base_lg", plain().filter_policies(vec![bloom()]).base_lg(255)),
    ];
    for (name, options) in invalid {
        let checked = options.check().unwrap_err();
        assert!(matches!(&checked, Error::InvalidOption { option, .. } if *option == name), "{checked}");
        let failed = TableBuilder::new(Vec::new(), options.clone()).finish().unwrap_err();
        assert_eq!((failed.to_string(), failed.into_writer().len()), (checked.to_string(), 0));
        let added = TableBuilder::new(Vec::new(), options).add(b"key", b"").unwrap_err();
        assert_eq!(added.to_string(), checked.to_string());
    }
    assert!(plain().filter_policy(BloomFilterPolicy::new(10)).base_lg(63).check().is_ok());
}
