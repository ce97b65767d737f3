//! Version edits to write (`VersionEdit` in LevelDB's `db/version_edit.cc`).

use bytes::Bytes;

use super::edit::Field;
use super::live_tables::LiveTable;
use crate::Result;

/// One record of a MANIFEST: what changes from one state of a database to the next (`VersionEdit`
/// in LevelDB's `db/version_edit.cc`).
///
/// The first record of a MANIFEST is a snapshot, which changes nothing to all there is:
/// [`Manifest::snapshot`](super::Manifest::snapshot).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionEdit {
    /// The name of the comparator, which orders the user keys.
    pub comparator: Option<Bytes>,
    /// Logs from this number on are not in tables yet.
    pub log_number: Option<u64>,
    /// One more log that is not in tables yet; 0: none.
    pub prev_log_number: Option<u64>,
    /// The number for the next new file.
    pub next_file_number: Option<u64>,
    /// The greatest sequence number used so far, without what only logs hold.
    pub last_sequence: Option<u64>,
    /// By level, the internal key at which its next compaction starts.
    pub compact_pointers: Vec<(u8, Bytes)>,
    /// Level and number of tables that are no longer live. Readers apply them before `new_tables`.
    pub deleted_tables: Vec<(u8, u64)>,
    /// Tables that become live.
    pub new_tables: Vec<LiveTable>,
}

impl VersionEdit {
    /// Appends the record to `dst`, in the bytes of `VersionEdit::EncodeTo`.
    /// [`LogWriter`](super::LogWriter) puts it into the file.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) for a name or key of 4 GiB and more.
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
