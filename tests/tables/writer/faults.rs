//! Writers that fail, writers that take a part of the bytes, and interrupted ones.

use std::io::{self, Write};

use filterblock::table::{TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error};

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
