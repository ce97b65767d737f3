//! The writes of logs in the order of their keys, as LevelDB has them in memory once it has opened a
//! database (`db/memtable.cc`).

use std::cmp::Reverse;
use std::ops::Range;

use bytes::Bytes;

use super::database::{Database, DatabaseLog, EntryFile};
use super::log::LogWrites;
use super::opener::Opener;
use super::place::Place;
use crate::error::IoAction;
use crate::key::parts::{DELETION, VALUE};
use crate::table::{Comparator, Lookup};
use crate::{Error, InternalKey, Structure};

/// The maximum number of a log's defects that are reported one by one.
const MAX_ERRORS: u64 = 16;

/// The writes of logs, each with the log that it is from. They are in order once `sort` has been called.
#[derive(Default)]
pub(super) struct Memtable {
    logs: Vec<Place>,
    /// The keys and values of all writes.
    bytes: Vec<u8>,
    writes: Vec<Write>,
}

struct Write {
    key: Range<usize>,
    value: Option<Range<usize>>,
    sequence: u64,
    /// The index of the write's log in the memtable's `logs`.
    log: usize,
    /// The offset of the write's record in the log.
    offset: u64,
}

impl Memtable {
    /// Adds the writes of a log while those of all logs take at most `limit` bytes of memory. Errors
    /// go to `on_error`, after which reading continues if it can.
    pub(super) fn read(
        &mut self,
        database: &Database,
        log: DatabaseLog<'_>,
        opener: &mut impl Opener,
        limit: usize,
        on_error: &mut impl FnMut(Error),
    ) {
        let Some(path) = log.file.path() else { return };
        let mut errors: u64 = 0;
        let mut on_error = |error: Error| {
            errors = errors.saturating_add(1);
            if errors <= MAX_ERRORS {
                on_error(error.with_path(path));
            } else if errors == MAX_ERRORS.saturating_add(1) {
                let found = "more that are damaged";
                on_error(Error::corrupt(Structure::LogRecord, 0, "sound records", found).with_path(path));
            }
        };
        let mut writes = match opener.open_log(path) {
            Ok(log) => LogWrites::new(log),
            Err(error) => return on_error(Error::io(IoAction::Open, 0, error)),
        };
        loop {
            match writes.next() {
                Ok(false) => break,
                Ok(true) => {
                    let Some(write) = writes.write() else { break };
                    let added = write.key.len().saturating_add(write.value.map_or(0, <[u8]>::len));
                    let entries = self.writes.len().saturating_add(1).saturating_mul(size_of::<Write>());
                    let found = self.bytes.len().saturating_add(added).saturating_add(entries);
                    if found > limit {
                        let (limit, found) = (limit as u64, found as u64);
                        on_error(Error::Limit { what: "writes in logs", offset: write.offset, limit, found });
                        break;
                    }
                    let mut put = |part: &[u8]| {
                        let start = self.bytes.len();
                        self.bytes.extend_from_slice(part);
                        start..self.bytes.len()
                    };
                    let (key, value) = (put(write.key), write.value.map(put));
                    let (sequence, offset) = (write.sequence, write.offset);
                    self.writes.push(Write { key, value, sequence, log: self.logs.len(), offset });
                }
                Err(error @ Error::Io { .. }) => {
                    on_error(error);
                    break;
                }
                Err(error) => on_error(error),
            }
        }
        self.logs.extend(database.place_of(EntryFile::Log(log)));
    }

    pub(super) fn sort(&mut self, order: &dyn Comparator) {
        let Self { bytes, writes, .. } = self;
        let key = |write: &Write| bytes.get(write.key.clone()).unwrap_or_default();
        writes.sort_by(|a, b| {
            // Of two writes of a key with the same sequence number, LevelDB finds a value before a
            // deletion, and otherwise the later write first.
            let tag =
                |write: &Write| Reverse((write.sequence, write.value.is_some(), write.log, write.offset));
            order.compare(key(a), key(b)).then_with(|| tag(a).cmp(&tag(b)))
        });
    }

    /// The position of the first write of a key at or after `user_key`.
    pub(super) fn seek(&self, user_key: &[u8], order: &dyn Comparator) -> usize {
        self.writes.partition_point(|write| order.compare(self.part(&write.key), user_key).is_lt())
    }

    /// The result of the newest write of a key. `None` if there is no write of the key.
    pub(super) fn newest(&self, user_key: &[u8], order: &dyn Comparator) -> Option<Lookup> {
        let write = self.writes.get(self.seek(user_key, order))?;
        let is_found = order.compare(self.part(&write.key), user_key).is_eq();
        let value = write.value.as_ref().map(|value| Bytes::copy_from_slice(self.part(value)));
        is_found.then(|| value.map_or(Lookup::Deleted, Lookup::Value))
    }

    pub(super) fn len(&self) -> usize {
        self.writes.len()
    }

    /// The write at this position: key, value, offset of its record, and its log.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<(InternalKey<'_>, &[u8], u64, Place)> {
        let write = self.writes.get(at)?;
        let kind = if write.value.is_some() { VALUE } else { DELETION };
        let user_key = self.part(&write.key);
        let key = InternalKey { user_key, time: None, sequence: write.sequence, kind };
        let value = write.value.as_ref().map_or(&[][..], |value| self.part(value));
        Some((key, value, write.offset, *self.logs.get(write.log)?))
    }

    #[inline]
    fn part(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::database::{FileOpener, LogWriter};
    use crate::table::BytewiseComparator;

    /// A database of one log, in which each of these writes is a batch: sequence number, key and
    /// value.
    fn database(writes: &[(u64, &str, Option<&str>)]) -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogWriter::new(Vec::new());
        for (sequence, key, value) in writes {
            let mut batch = sequence.to_le_bytes().to_vec();
            batch.extend([1, 0, 0, 0, u8::from(value.is_some())]);
            for part in [Some(*key), *value].into_iter().flatten() {
                batch.push(part.len() as u8);
                batch.extend(part.as_bytes());
            }
            log.add_record(&batch).unwrap();
        }
        fs::write(folder.path().join("000003.log"), log.into_writer()).unwrap();
        let database = Database::open(folder.path()).unwrap();
        (folder, database)
    }

    /// The number of writes within a limit, and the errors.
    fn read(database: &Database, limit: usize) -> (usize, Vec<Error>) {
        let (mut table, mut errors) = (Memtable::default(), Vec::new());
        for log in database.logs() {
            table.read(database, log, &mut FileOpener, limit, &mut |error| errors.push(error));
        }
        (table.len(), errors)
    }

    #[test]
    fn keys_values_and_their_places_are_charged() {
        let entry = size_of::<Write>();
        let (_folder, database) =
            database(&[(1, "key", Some("a value")), (2, "gone", None), (3, "other", Some(""))]);
        let all = [entry + 10, 2 * entry + 14, 3 * entry + 19];
        assert_eq!(read(&database, 0).0, 0);
        for (at, bytes) in all.into_iter().enumerate() {
            let (writes, errors) = read(&database, bytes - 1);
            assert_eq!(writes, at);
            let [error] = &errors[..] else { panic!("{errors:?}") };
            let limit = bytes as u64 - 1;
            let is_limit = matches!(error.without_path(), Error::Limit { limit: of, found, .. }
                if (*of, *found) == (limit, limit + 1));
            assert!(is_limit && error.path().is_some(), "{error:?}");
            assert_eq!(read(&database, bytes).0, at + 1);
        }
        assert!(read(&database, all[2]).1.is_empty());
    }

    #[test]
    fn of_writes_of_one_number_a_value_comes_first_and_the_later_one() {
        let (_folder, database) = database(&[
            (7, "a", Some("first")),
            (7, "a", None),
            (7, "a", Some("second")),
            (6, "a", Some("older")),
            (8, "b", Some("value")),
            (8, "b", None),
        ]);
        let mut table = Memtable::default();
        database.logs().for_each(|log| {
            table.read(&database, log, &mut FileOpener, 1 << 20, &mut |error| panic!("{error}"))
        });
        table.sort(&BytewiseComparator);
        let all = (0..6).map(|at| table.get(at).unwrap());
        let found: Vec<_> = all.map(|(key, value, ..)| (key.sequence, key.kind, value)).collect();
        let expected: [(u64, u8, &[u8]); 6] = [
            (7, 1, b"second"),
            (7, 1, b"first"),
            (7, 0, b""),
            (6, 1, b"older"),
            (8, 1, b"value"),
            (8, 0, b""),
        ];
        assert_eq!(found, expected);
    }
}
