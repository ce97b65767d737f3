//! MANIFESTs: edits of the list of tables, each a record of a log, and reading such edits as far as damage needs it.

use std::ops::Range;

use arbitrary::{Arbitrary, Unstructured};

use crate::cut::{Record, put_varint};
use crate::log::frame;
use crate::{batch, log};

/// A field of an edit.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Field<'a> {
    /// The comparator's name.
    Comparator(&'a [u8]),
    /// LevelDB's usual comparator.
    Bytewise,
    /// The number of the log that is in use.
    LogNumber(u64),
    /// The number of the log before.
    PrevLogNumber(u64),
    /// The next number of a file.
    NextFileNumber(u64),
    /// The last sequence number.
    LastSequence(u64),
    /// The key after which the next compaction of this level starts.
    CompactPointer(#[arbitrary(with = level)] u8, &'a [u8]),
    /// This table of this level is gone.
    Deleted(#[arbitrary(with = level)] u8, u16),
    /// A new table.
    Added(Added<'a>),
    /// Any bytes in place of a field.
    Any(&'a [u8]),
}

/// A table that an edit adds. Keys are user keys; the eight bytes that follow them are written with
/// sequence number 1.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Added<'a> {
    /// The table's level. LevelDB knows 0 to 6; a fuzzer's bytes may also give 7.
    #[arbitrary(with = level)]
    pub level: u8,
    /// The number of the table's file.
    pub number: u16,
    /// The table's size in bytes.
    pub size: u32,
    /// The table's smallest key.
    pub smallest: &'a [u8],
    /// The table's largest key.
    pub largest: &'a [u8],
}

/// A level, or 7, the first number that is no level.
fn level(input: &mut Unstructured<'_>) -> arbitrary::Result<u8> {
    input.int_in_range(0..=7)
}

/// A MANIFEST: the fields of each edit.
#[derive(Arbitrary, Clone, Debug)]
pub struct Manifest<'a> {
    /// The edits in their order.
    pub edits: Vec<Vec<Field<'a>>>,
}

impl Manifest<'_> {
    /// The edits encoded, one record each.
    pub fn records(&self) -> Vec<Vec<u8>> {
        self.edits.iter().map(|fields| encoded(fields)).collect()
    }

    /// The file, with correct checksums.
    pub fn to_bytes(&self) -> Vec<u8> {
        frame(&self.records())
    }
}

fn encoded(fields: &[Field<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        match *field {
            Field::Comparator(name) => tagged(1, &mut bytes).string(name),
            Field::Bytewise => tagged(1, &mut bytes).string(b"leveldb.BytewiseComparator"),
            Field::LogNumber(number) => tagged(2, &mut bytes).number(number),
            Field::NextFileNumber(number) => tagged(3, &mut bytes).number(number),
            Field::LastSequence(number) => tagged(4, &mut bytes).number(number),
            Field::CompactPointer(level, key) => {
                tagged(5, &mut bytes).number(level.into()).string(&internal(key))
            }
            Field::Deleted(level, number) => tagged(6, &mut bytes).number(level.into()).number(number.into()),
            Field::Added(added) => tagged(7, &mut bytes)
                .number(added.level.into())
                .number(added.number.into())
                .number(added.size.into())
                .string(&internal(added.smallest))
                .string(&internal(added.largest)),
            Field::PrevLogNumber(number) => tagged(9, &mut bytes).number(number),
            Field::Any(any) => {
                bytes.extend(any);
                continue;
            }
        };
    }
    bytes
}

fn internal(user_key: &[u8]) -> Vec<u8> {
    [user_key, &(1_u64 << 8 | 1).to_le_bytes()].concat()
}

/// Begins a field.
fn tagged(tag: u64, bytes: &mut Vec<u8>) -> Writer<'_> {
    Writer(bytes).number(tag)
}

struct Writer<'b>(&'b mut Vec<u8>);

impl Writer<'_> {
    /// Appends a varint.
    fn number(self, mut number: u64) -> Self {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    /// Appends a length as a varint, and the bytes.
    fn string(self, bytes: &[u8]) -> Self {
        let writer = self.number(bytes.len() as u64);
        writer.0.extend(bytes);
        writer
    }
}

/// The place of a table's size in the edit that adds the table.
struct SizeOf {
    number: u64,
    size: Range<usize>,
}

/// Returns where the record has the sizes of the tables that it adds. `None` if the record is no edit, or has no field.
fn added(record: &[u8]) -> Option<Vec<SizeOf>> {
    let (mut rest, mut added) = (Record(record), Vec::new());
    loop {
        match rest.varint()? {
            1 => drop(rest.string()?),
            2 | 3 | 4 | 9 => drop(rest.varint()?),
            5 => drop((rest.varint()?, rest.string()?)),
            6 => drop((rest.varint()?, rest.varint()?)),
            7 => {
                let (_level, number) = (rest.varint()?, rest.varint()?);
                let start = record.len() - rest.0.len();
                let _size = rest.varint()?;
                added.push(SizeOf { number, size: start..record.len() - rest.0.len() });
                let _keys = (rest.string()?, rest.string()?);
            }
            _ => return None,
        }
        if rest.0.is_empty() {
            return Some(added);
        }
    }
}

/// Returns true if these are the records of a MANIFEST: all are edits, and not all are batches, too. A few bytes can
/// be both.
pub(crate) fn are_edits(records: &[Vec<u8>]) -> bool {
    records.iter().all(|record| added(record).is_some())
        && !records.iter().all(|record| batch::writes(record).is_some())
}

/// Returns the MANIFEST with another size for the table of this number, and with right checksums. `None` if the
/// MANIFEST is damaged, or does not name the table.
pub(crate) fn with_table_size(manifest: &[u8], number: u64, size: u64) -> Option<Vec<u8>> {
    let mut records = log::records(&log::fragments(manifest)?);
    let mut is_named = false;
    for record in &mut records {
        let places: Vec<_> = added(record)?.into_iter().filter(|table| table.number == number).collect();
        is_named |= !places.is_empty();
        // From the last one on, so that the places before it stay right.
        for place in places.into_iter().rev() {
            let mut encoded = Vec::new();
            put_varint(size, &mut encoded);
            record.splice(place.size, encoded);
        }
    }
    is_named.then(|| log::frame(&records))
}
