//! The messages of errors are complete, on one line, and fit for a terminal.

use std::error::Error as _;
use std::io;

use bytes::Bytes;

use super::{Error, IoAction, Structure};

/// One error of every variant, with its message.
fn all() -> Vec<(Error, &'static str)> {
    vec![
        (
            Error::Io {
                action: IoAction::Read { len: 48 },
                offset: 7,
                source: io::Error::new(io::ErrorKind::PermissionDenied, "no"),
            },
            "reading 48 bytes at offset 7: no",
        ),
        (
            Error::NeedRange { offset: 100, len: 48 },
            "48 bytes at offset 100 are needed and have not been fetched",
        ),
        (Error::InUse { by: "another process" }, "the database is in use by another process"),
        (
            Error::OutOfMemory { what: "filter block", bytes: 5 },
            "filter block: expected 5 bytes of memory, found less",
        ),
        (
            Error::Corrupt {
                what: Structure::Footer,
                offset: 952,
                expected: "magic 1".into(),
                found: "2".into(),
            },
            "footer at offset 952: expected magic 1, found 2",
        ),
        (
            Error::Unsupported {
                what: Structure::CompressionType,
                offset: 9,
                expected: "0 or 1".into(),
                found: "7".into(),
            },
            "compression type at offset 9: expected 0 or 1, found 7, which is not supported",
        ),
        (
            Error::Limit { what: "block", offset: 3, limit: 10, found: 11 },
            "block at offset 3: expected at most 10 bytes, found 11",
        ),
        (
            Error::BlockOffsetOrder { block_offset: 1, previous: 5000, lowest: 4096 },
            "block offset 1 after block offset 5000: expected at least 4096, as the filters of all ranges below that are made",
        ),
        (
            Error::KeyOrder {
                index: 2,
                previous: Bytes::from_static(b"b\x1b"),
                key: Bytes::from_static(b"a"),
            },
            r#"key 2: expected a key after "b\x1b", found "a""#,
        ),
        (Error::TableAbandoned { error: "full".into() }, "table given up after an earlier error: full"),
        (
            Error::KeyStarts { index: 1, lowest: 0, highest: 3, found: 4 },
            "start 1 of the keys: expected 0 to 3, found 4",
        ),
        (
            Error::ShortInternalKey { index: 6, expected: 8, found: 5 },
            "internal key 6: expected at least 8 bytes, found 5",
        ),
        (
            Error::InvalidOption { option: "base_lg", expected: "0 to 63".into(), found: "64".into() },
            "base_lg: expected 0 to 63, found 64",
        ),
        (
            Error::FilterSize { keys: 3, limit: 4, bits: 5 },
            "filter of 3 keys: expected at most 4 bits, found 5",
        ),
        (Error::policy("of its own"), "filter policy: of its own"),
        (
            Error::HashUnsupported { policy: "a\n".into() },
            r#"filter policy "a\x0a": expected one that takes hashes, found one that needs the keys"#,
        ),
        (
            Error::PolicyContract { policy: "p".into(), expected: "more", found: "less".into() },
            r#"filter policy "p": expected more, found less"#,
        ),
        (
            Error::Limit { what: "block", offset: 3, limit: 10, found: 11 }.with_path("dir/\x1b[31m.ldb"),
            r"dir/\x1b[31m.ldb: block at offset 3: expected at most 10 bytes, found 11",
        ),
    ]
}

#[test]
fn display_is_complete_and_takes_one_line() {
    for (error, expected) in all() {
        assert_eq!(error.to_string(), expected);
        assert!(!expected.contains('\n'));
    }
}

#[test]
fn debug_names_the_variant() {
    for (error, _) in all() {
        let debug = format!("{error:?}");
        let name = debug.split([' ', '(', '{']).next().unwrap();
        assert!(name.chars().all(char::is_alphanumeric) && name.starts_with(char::is_uppercase), "{debug}");
    }
}

#[test]
fn the_file_is_added_once_and_found_again() {
    let error = Error::Limit { what: "block", offset: 3, limit: 10, found: 11 };
    assert_eq!(error.path(), None);
    let error = error.with_path("first").with_path("second");
    assert_eq!(error.path().unwrap(), "first");
    assert!(matches!(error.without_path(), Error::Limit { offset: 3, .. }));
}

/// A path does not hide what an error is.
#[test]
fn what_can_be_tried_again_is_told() {
    for (error, _) in all() {
        let expected = (matches!(error, Error::NeedRange { .. }), matches!(error, Error::InUse { .. }));
        assert_eq!((error.needs_range(), error.is_in_use()), expected, "{error}");
        let error = error.with_path("some");
        assert_eq!((error.needs_range(), error.is_in_use()), expected, "{error}");
    }
}

#[test]
fn an_error_of_a_policy_can_be_got_back() {
    let error = Error::policy(io::Error::other("mine")).with_path("file");
    let Error::Policy(inner) = error.without_path() else { panic!("{error:?}") };
    assert_eq!(inner.downcast_ref::<io::Error>().unwrap().to_string(), "mine");
    assert!(error.source().is_some());
}

#[test]
fn structures_have_names() {
    assert_eq!(Structure::FilterOffset.to_string(), "filter offset");
    assert_eq!(Structure::Metaindex.to_string(), "metaindex");
}

#[test]
fn formats_say_whether_they_are_encrypted() {
    use super::OtherFormat::{Marketplace, NetEase, NetEaseOlder, Pebble, RocksDb};
    for format in [RocksDb, Pebble, NetEase, NetEaseOlder, Marketplace] {
        assert_eq!(format.to_string().starts_with("encrypted"), format.is_encrypted(), "{format}");
    }
}

#[test]
fn bytes_are_made_fit_for_a_terminal() {
    assert_eq!(crate::escape(b"a~ \\\x1b[m\x7f\xff").to_string(), r"a~ \\\x1b[m\x7f\xff");
}

/// The kind depends on the cause, and downcasting gives the error itself back.
#[test]
fn an_io_error_wraps_every_error() {
    let mut kinds = Vec::new();
    for (error, shown) in all() {
        let is_range = error.needs_range();
        let wrapped = io::Error::from(error);
        kinds.push(wrapped.kind());
        assert_eq!(wrapped.to_string(), shown);
        assert_eq!(wrapped.downcast::<Error>().unwrap().needs_range(), is_range);
    }
    // The kinds of `Io`, `NeedRange`, `InUse`, `OutOfMemory`, `Corrupt` and `Unsupported`.
    use io::ErrorKind::{InvalidData, Other, OutOfMemory, PermissionDenied, ResourceBusy, Unsupported};
    assert_eq!(kinds[..6], [PermissionDenied, Other, ResourceBusy, OutOfMemory, InvalidData, Unsupported]);
    assert!(kinds.contains(&io::ErrorKind::InvalidInput));
    let source = io::Error::from(io::ErrorKind::NotFound);
    let error = Error::Io { action: IoAction::Open, offset: 0, source }.with_path("some");
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
}
