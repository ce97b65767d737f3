//! The fields of one record of a MANIFEST (LevelDB's `db/version_edit.cc`).
//!
//! A version edit is any number of fields, each a tag (varint32) and its contents:
//!
//! ```text
//! 1 comparator         [name: string]
//! 2 log number         [varint64]
//! 3 next file number   [varint64]
//! 4 last sequence      [varint64]
//! 5 compact pointer    [level: varint32][internal key: string]
//! 6 deleted table      [level: varint32][number: varint64]
//! 7 new table          [level: varint32][number: varint64][size: varint64][smallest: string][largest: string]
//! 9 prev log number    [varint64]
//!
//! string   [length: varint32][bytes]
//! ```

use std::fmt;

use crate::bytes::coding::{VarintError, get_varint32, get_varint64, put_varint32, put_varint64};
use crate::key::parts::TAG_LEN;
use crate::{Error, OtherFormat, Result, Structure};

/// The number of levels of a database. They are numbered 0 to 6.
pub const NUM_LEVELS: u8 = 7;

/// The greatest length of a comparator's name that is accepted, in bytes. LevelDB has no limit, but
/// such names are constants in programs: that of LevelDB's own comparator has 26 bytes. The limit
/// keeps the stored and shown parts of a MANIFEST small.
const MAX_COMPARATOR_LEN: usize = 4096;

/// One field of a version edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// The name of the comparator, which orders the user keys.
    Comparator(&'a [u8]),
    /// The lowest number of the logs whose writes may be in no table yet.
    LogNumber(u64),
    /// The number of one more log whose writes may be in no table yet, or 0 if there is no such log. Early versions
    /// of LevelDB used this field.
    PrevLogNumber(u64),
    /// The number for the next new file.
    NextFileNumber(u64),
    /// The greatest sequence number used so far, except for writes that only logs hold.
    LastSequence(u64),
    /// The key at which the next compaction of a level starts.
    CompactPointer { level: u8, key: &'a [u8] },
    /// A table is no longer part of a level.
    DeletedTable { level: u8, number: u64 },
    /// A table becomes part of a level.
    NewTable(NewTable<'a>),
}

/// A table that becomes part of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewTable<'a> {
    /// The level, 0 to 6.
    pub(crate) level: u8,
    /// The table's number, which its file is named after.
    pub(crate) number: u64,
    /// The file's size in bytes.
    pub(crate) size: u64,
    /// The first key: an internal key, so at least 8 bytes.
    pub(crate) smallest: &'a [u8],
    /// The last key: an internal key, so at least 8 bytes.
    pub(crate) largest: &'a [u8],
}

impl Field<'_> {
    /// Appends the field to `dst`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for a name or key of 4 GiB or more.
    pub(super) fn encode(&self, dst: &mut Vec<u8>) -> Result<()> {
        let number = |dst: &mut Vec<u8>, tag: u32, value: u64| {
            put_varint32(dst, tag);
            put_varint64(dst, value);
        };
        match *self {
            Self::Comparator(name) => {
                put_varint32(dst, 1);
                put_string(dst, name)?;
            }
            Self::LogNumber(value) => number(dst, 2, value),
            Self::NextFileNumber(value) => number(dst, 3, value),
            Self::LastSequence(value) => number(dst, 4, value),
            Self::CompactPointer { level, key } => {
                number(dst, 5, level.into());
                put_string(dst, key)?;
            }
            Self::DeletedTable { level, number: table } => {
                number(dst, 6, level.into());
                put_varint64(dst, table);
            }
            Self::NewTable(NewTable { level, number: table, size, smallest, largest }) => {
                number(dst, 7, level.into());
                put_varint64(dst, table);
                put_varint64(dst, size);
                put_string(dst, smallest)?;
                put_string(dst, largest)?;
            }
            Self::PrevLogNumber(value) => number(dst, 9, value),
        }
        Ok(())
    }
}

fn put_string(dst: &mut Vec<u8>, string: &[u8]) -> Result<()> {
    let len = u32::try_from(string.len()).map_err(|_| Error::Limit {
        what: "string of a version edit",
        offset: dst.len() as u64,
        limit: u32::MAX.into(),
        found: string.len() as u64,
    })?;
    put_varint32(dst, len);
    dst.extend_from_slice(string);
    Ok(())
}

/// The fields of `record`, in order. The iterator allocates only for an error, and yields no more
/// fields after one.
///
/// `offset` is where the record starts in its file; it serves only to locate errors.
///
/// # Errors
///
/// [`Error::Corrupt`] for a field that is cut short, a number that does not fit, a level beyond 6, or
/// a key too short for an internal key; [`Error::OtherFormat`] for a tag of RocksDB's or
/// Pebble's, [`Error::Unsupported`] for another that LevelDB does not have; [`Error::Limit`] for a comparator's name of more than 4 KiB. LevelDB too refuses such a
/// MANIFEST, except that it drops a number's excess bits, and accepts internal keys of any length
/// but 0 and comparators' names of any length.
pub(crate) const fn fields(record: &[u8], offset: u64) -> Fields<'_> {
    Fields { record, offset, position: 0, failed: false }
}

/// An iterator over the fields of a record, made by [`fields`].
pub(crate) struct Fields<'a> {
    record: &'a [u8],
    offset: u64,
    position: usize,
    failed: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.position == self.record.len() {
            return None;
        }
        let field = self.field();
        self.failed = field.is_err();
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<Field<'a>> {
        let start = self.position;
        Ok(match self.varint32("a tag")? {
            1 => Field::Comparator(self.comparator()?),
            2 => Field::LogNumber(self.varint64("a log number")?),
            3 => Field::NextFileNumber(self.varint64("a next file number")?),
            4 => Field::LastSequence(self.varint64("a last sequence")?),
            5 => Field::CompactPointer { level: self.level()?, key: self.key("a compact pointer")? },
            6 => Field::DeletedTable {
                level: self.level()?,
                number: self.varint64("a deleted table's number")?,
            },
            7 => Field::NewTable(NewTable {
                level: self.level()?,
                number: self.varint64("a new table's number")?,
                size: self.varint64("a new table's size")?,
                smallest: self.key("a new table's smallest key")?,
                largest: self.key("a new table's largest key")?,
            }),
            9 => Field::PrevLogNumber(self.varint64("a previous log number")?),
            tag => {
                let (what, offset) = (Structure::VersionEdit, self.offset);
                if let Some(format) = OtherFormat::of_tag(tag) {
                    return Err(Error::OtherFormat { what, format });
                }
                return Err(Error::Unsupported {
                    what,
                    offset,
                    expected: "a tag of 1 to 7, or 9".into(),
                    found: format!("tag {tag} at byte {start} of the record").into(),
                });
            }
        })
    }

    fn rest(&self) -> &'a [u8] {
        debug_assert!(self.position <= self.record.len(), "fields end within the record");
        // An empty rest is an error for any field, so that no field is lost silently.
        self.record.get(self.position..).unwrap_or_default()
    }

    /// The error for damage at `position` in the record, where `what` was expected.
    fn corrupt(&self, position: usize, what: &str, found: impl fmt::Display) -> Error {
        Error::corrupt(
            Structure::VersionEdit,
            self.offset,
            format!("{what} at byte {position} of the record"),
            found.to_string(),
        )
    }

    fn varint<T>(&mut self, what: &str, read: std::result::Result<(T, usize), VarintError>) -> Result<T> {
        let (value, len) = read.map_err(|error| self.corrupt(self.position, what, error))?;
        self.position = self.position.saturating_add(len);
        Ok(value)
    }

    fn varint32(&mut self, what: &str) -> Result<u32> {
        self.varint(what, get_varint32(self.rest()))
    }

    fn varint64(&mut self, what: &str) -> Result<u64> {
        self.varint(what, get_varint64(self.rest()))
    }

    fn level(&mut self) -> Result<u8> {
        let start = self.position;
        let level = self.varint32("a level")?;
        u8::try_from(level)
            .ok()
            .filter(|level| *level < NUM_LEVELS)
            .ok_or_else(|| self.corrupt(start, "a level of 0 to 6", level))
    }

    fn string(&mut self, what: &str) -> Result<&'a [u8]> {
        let start = self.position;
        let len = self.varint32(what)?;
        let rest = self.rest();
        let string = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let string = string.ok_or_else(|| {
            self.corrupt(start, what, format_args!("a length of {len} with {} bytes left", rest.len()))
        })?;
        self.position = self.position.saturating_add(string.len());
        Ok(string)
    }

    fn comparator(&mut self) -> Result<&'a [u8]> {
        let name = self.string("a comparator's name")?;
        if name.len() > MAX_COMPARATOR_LEN {
            return Err(Error::Limit {
                what: "comparator's name",
                offset: self.offset,
                limit: MAX_COMPARATOR_LEN as u64,
                found: name.len() as u64,
            });
        }
        Ok(name)
    }

    fn key(&mut self, what: &str) -> Result<&'a [u8]> {
        let start = self.position;
        let key = self.string(what)?;
        if key.len() < TAG_LEN {
            let what = format!("{what} of at least {TAG_LEN} bytes");
            return Err(self.corrupt(start, &what, format_args!("{} bytes", key.len())));
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(record: &[u8]) -> Result<Vec<Field<'_>>> {
        fields(record, 100).collect()
    }

    fn error(record: &[u8]) -> String {
        all(record).unwrap_err().to_string()
    }

    /// A record with every field, laid out and ordered as by `VersionEdit::EncodeTo`.
    const EVERY_FIELD: &[u8] = b"\
        \x01\x03cmp\
        \x02\x81\x01\
        \x09\x00\
        \x03\x82\x01\
        \x04\xff\xff\xff\xff\xff\xff\xff\x7f\
        \x05\x06\x08pointer-\
        \x06\x00\x05\
        \x07\x02\x07\x80\x10\x09a12345678\x0b\
        bcd12345678";

    #[test]
    fn every_field_is_read() {
        let expected = [
            Field::Comparator(b"cmp"),
            Field::LogNumber(129),
            Field::PrevLogNumber(0),
            Field::NextFileNumber(130),
            Field::LastSequence((1 << 56) - 1),
            Field::CompactPointer { level: 6, key: b"pointer-" },
            Field::DeletedTable { level: 0, number: 5 },
            Field::NewTable(NewTable {
                level: 2,
                number: 7,
                size: 2048,
                smallest: b"a12345678",
                largest: b"bcd12345678",
            }),
        ];
        assert_eq!(all(EVERY_FIELD).unwrap(), expected);
        assert_eq!(all(b"").unwrap(), []);
    }

    #[test]
    fn every_field_is_written_as_it_was_read() {
        let mut written = Vec::new();
        all(EVERY_FIELD).unwrap().iter().for_each(|field| field.encode(&mut written).unwrap());
        assert_eq!(written, EVERY_FIELD);
    }

    #[test]
    fn a_record_cut_anywhere_but_between_fields_is_refused() {
        let between: Vec<usize> = {
            let mut all = fields(EVERY_FIELD, 0);
            let ends = std::iter::from_fn(|| all.next().map(|_| all.position));
            std::iter::once(0).chain(ends).collect()
        };
        assert_eq!(between, [0, 5, 8, 10, 13, 22, 33, 36, EVERY_FIELD.len()]);
        for len in 0..=EVERY_FIELD.len() {
            assert_eq!(all(&EVERY_FIELD[..len]).is_ok(), between.contains(&len), "{len}");
        }
    }

    #[test]
    fn errors_say_where_and_nothing_follows_them() {
        assert_eq!(
            error(b"\x02\x01\x06\x07\x05"),
            "version edit at offset 100: expected a level of 0 to 6 at byte 3 of the record, found 7"
        );
        assert_eq!(
            error(b"\x01\x05abcd"),
            "version edit at offset 100: expected a comparator's name at byte 1 of the record, found a length of 5 with 4 bytes left"
        );
        assert_eq!(
            error(b"\x05\x00\x07short!!"),
            "version edit at offset 100: expected a compact pointer of at least 8 bytes at byte 2 of the record, found 7 bytes"
        );
        assert_eq!(
            error(b"\x09\x80"),
            "version edit at offset 100: expected a previous log number at byte 1 of the record, found an end within a varint"
        );
        // Tag 8 was once used for large values.
        for tag in [0, 8, 10, 99] {
            let record = [0x02, 0x01, tag, 0x02, 0x01];
            let mut fields = fields(&record, 100);
            assert_eq!(fields.next().unwrap().unwrap(), Field::LogNumber(1));
            assert_eq!(
                fields.next().unwrap().unwrap_err().to_string(),
                format!(
                    "version edit at offset 100: expected a tag of 1 to 7, or 9, \
                     found tag {tag} at byte 2 of the record, which is not supported"
                )
            );
            assert!(fields.next().is_none());
        }
        // New tables of RocksDB and of Pebble, and the name of a RocksDB database.
        for (tag, whose) in
            [(100, "RocksDB"), (103, "RocksDB"), (104, "Pebble"), (200, "RocksDB"), (8193, "RocksDB")]
        {
            let mut record = Vec::new();
            put_varint32(&mut record, tag);
            let expected = format!("version edit: a {whose} database");
            assert!(error(&record).starts_with(&expected), "{tag}: {}", error(&record));
        }
    }
}
