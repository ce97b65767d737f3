//! Version edits to write (`VersionEdit` in LevelDB's `db/version_edit.cc`).

use bytes::Bytes;

use super::edit::{Field, fields};
use super::live_tables::LiveTable;
use super::log::LogRecord;
use crate::Result;

/// One record of a MANIFEST: the changes from one state of a database to the next (`VersionEdit` in
/// LevelDB's `db/version_edit.cc`).
///
/// The first record of a MANIFEST is a snapshot, which creates the whole state from nothing:
/// [`Manifest::snapshot`](super::Manifest::snapshot).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionEdit {
    /// The name of the comparator, which orders the user keys.
    pub comparator: Option<Bytes>,
    /// The lowest number of the logs whose writes may be in no table yet.
    pub log_number: Option<u64>,
    /// The number of one more log whose writes may be in no table yet, or 0 if there is no such log.
    pub prev_log_number: Option<u64>,
    /// The number for the next new file.
    pub next_file_number: Option<u64>,
    /// The greatest sequence number used so far, except for writes that only logs hold.
    pub last_sequence: Option<u64>,
    /// A level, and the internal key at which the next compaction of that level starts.
    pub compact_pointers: Vec<(u8, Bytes)>,
    /// Level and number of each table that is no longer live. Readers apply these deletions before
    /// `new_tables`.
    pub deleted_tables: Vec<(u8, u64)>,
    /// Tables that become live.
    pub new_tables: Vec<LiveTable>,
}

impl VersionEdit {
    /// Reads one record of a MANIFEST. [`LogReader`](super::LogReader) finds the records.
    ///
    /// If a field that should occur once occurs more often, the last one counts, as in LevelDB. The
    /// memory taken is proportional to the length of the record.
    ///
    /// ```
    /// use filterblock::database::{LogReader, VersionEdit};
    /// let manifest = std::fs::File::open("testdata/databases/levels/MANIFEST-000008")?;
    /// let (mut log, mut added) = (LogReader::new(manifest), 0);
    /// while let Some(record) = log.read_record()? {
    ///     added += VersionEdit::decode(record)?.new_tables.len();
    /// }
    /// assert!(added >= 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) for a field that is cut short, a number that does not
    /// fit, a level beyond 6, or a key too short for an internal key;
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a field that LevelDB does not have;
    /// [`Error::Limit`](crate::Error::Limit) for a comparator's name of more than 4 KiB.
    pub fn decode(record: LogRecord<'_>) -> Result<Self> {
        let mut edit = Self::default();
        for field in fields(record.data, record.offset) {
            match field? {
                Field::Comparator(name) => edit.comparator = Some(Bytes::copy_from_slice(name)),
                Field::LogNumber(number) => edit.log_number = Some(number),
                Field::PrevLogNumber(number) => edit.prev_log_number = Some(number),
                Field::NextFileNumber(number) => edit.next_file_number = Some(number),
                Field::LastSequence(sequence) => edit.last_sequence = Some(sequence),
                Field::CompactPointer { level, key } => {
                    edit.compact_pointers.push((level, Bytes::copy_from_slice(key)));
                }
                Field::DeletedTable { level, number } => edit.deleted_tables.push((level, number)),
                Field::NewTable(table) => edit.new_tables.push(LiveTable::of_new(&table)),
            }
        }
        Ok(edit)
    }

    /// Appends the record to `dst`, byte for byte as `VersionEdit::EncodeTo` does if
    /// `deleted_tables` is sorted and has no duplicates. [`LogWriter`](super::LogWriter) puts the
    /// record into the file.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) for a name or key of 4 GiB or more. Part of the record may
    /// then have been appended.
    pub fn encode(&self, dst: &mut Vec<u8>) -> Result<()> {
        let numbers = [
            self.log_number.map(Field::LogNumber),
            self.prev_log_number.map(Field::PrevLogNumber),
            self.next_file_number.map(Field::NextFileNumber),
            self.last_sequence.map(Field::LastSequence),
        ];
        let pointers = self.compact_pointers.iter();
        let deleted = self.deleted_tables.iter();
        let fields = self.comparator.iter().map(|name| Field::Comparator(name));
        let fields = fields.chain(numbers.into_iter().flatten());
        let fields = fields.chain(pointers.map(|(level, key)| Field::CompactPointer { level: *level, key }));
        let fields = fields
            .chain(deleted.map(|&(level, number)| Field::DeletedTable { level, number }))
            .chain(self.new_tables.iter().map(|table| Field::NewTable(table.as_new())));
        for field in fields {
            field.encode(dst)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An edit with every field, and two values of some.
    fn full() -> VersionEdit {
        VersionEdit {
            comparator: Some(Bytes::from_static(b"order")),
            log_number: Some(300),
            prev_log_number: Some(0),
            next_file_number: Some(301),
            last_sequence: Some((1 << 56) - 1),
            compact_pointers: vec![
                (1, Bytes::from_static(b"k12345678")),
                (6, Bytes::from_static(b"12345678")),
            ],
            deleted_tables: vec![(0, 5), (2, u64::MAX)],
            new_tables: vec![
                LiveTable::new(3, 7, 2048, &b"a12345678"[..], &b"b12345678"[..]),
                LiveTable::new(0, 8, 0, &b"12345678"[..], &b"c12345678"[..]),
            ],
        }
    }

    fn encoded(edit: &VersionEdit) -> Vec<u8> {
        let mut record = Vec::new();
        edit.encode(&mut record).unwrap();
        record
    }

    #[test]
    fn what_is_written_is_read() {
        for edit in [full(), VersionEdit::default()] {
            let data = encoded(&edit);
            assert_eq!(VersionEdit::decode(LogRecord { offset: 0, data: &data }).unwrap(), edit);
        }
    }

    #[test]
    fn of_a_field_that_stands_twice_the_last_counts_and_errors_name_the_record() {
        let first = encoded(&full());
        let second = VersionEdit { log_number: Some(4), ..VersionEdit::default() };
        let mut data = [&first[..], &encoded(&second)].concat();
        let read = VersionEdit::decode(LogRecord { offset: 77, data: &data }).unwrap();
        assert_eq!(read, VersionEdit { log_number: Some(4), ..full() });
        data.pop();
        let error = VersionEdit::decode(LogRecord { offset: 77, data: &data }).unwrap_err().to_string();
        assert!(error.starts_with("version edit at offset 77: expected a log number at byte"), "{error}");
    }
}
