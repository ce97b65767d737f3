//! `TableBuilder::finish` gives the writer back when it fails. Options are checked in the same way everywhere.

use std::error::Error as _;
use std::io::{self, Write};

use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, SharedPolicy};
use std::sync::Arc;

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
