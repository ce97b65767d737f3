//! Looking up a key in the logs and tables of a database (`DBImpl::Get` in LevelDB's `db/db_impl.cc`,
//! `Version::Get` in its `db/version_set.cc`).

mod many;

use super::database::{Database, DatabaseTable};
use super::live_tables::LiveTable;
use super::memtable::Memtable;
use super::opener::{FileOpener, Opener};
use super::scan::Scan;
use crate::error::IoAction;
use crate::table::{Lookup, ReadAt, ReadOptions, SharedComparator, Table};
use crate::{Error, Result, Structure, quote};

impl Database {
    /// Looks up the newest version of a key: in the live logs, then in the tables of level 0, newest first,
    /// then on each further level in the tables that may hold the key, usually at most one. If a live log has the
    /// key, the newest write of the key in all live logs decides, and otherwise the first table that has the key.
    ///
    /// Nothing is kept from one call to the next: each call reads all live logs, and opens the tables that it
    /// searches, which takes one read for most tables, and at most four unless a read fails. Filters save most
    /// reads of data blocks that do not hold the key. [`get_many`](Self::get_many) reads the logs and opens the
    /// tables once for many keys. [`scan`](Self::scan) and its [`seek`](Scan::seek) keep tables open. A caller
    /// that keeps [`Table`]s open can call [`Table::get_at`] in the order of [`tables_for`](Self::tables_for).
    ///
    /// Without a sound MANIFEST the levels are unknown. All tables and logs are then searched, and
    /// the highest sequence number decides; a key that was deleted is [`Lookup::Absent`].
    ///
    /// ```
    /// use filterblock::database::Database;
    /// use filterblock::table::{Lookup, ReadOptions};
    ///
    /// let database = Database::open("testdata/databases/levels")?;
    /// let value = database.get(b"item/0005/595", &ReadOptions::default())?;
    /// assert!(matches!(value, Lookup::Value(_)));
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if the MANIFEST names a comparator other than that of the options. Otherwise
    /// the first problem that the lookup meets, since it may hide an entry newer than those found later: a live
    /// log or a searched table that is damaged, missing or unreadable, or of another size than the MANIFEST records,
    /// or more writes in the live logs than [`Scan::LOG_LIMIT`] allows. LevelDB ignores damaged records of a log unless
    /// `paranoid_checks` is set.
    pub fn get(&self, user_key: &[u8], options: &ReadOptions) -> Result<Lookup> {
        self.get_with(user_key, options, FileOpener)
    }

    /// Like [`get`](Self::get), but in files that `opener` opens, wherever they are.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get).
    pub fn get_with<O: Opener>(
        &self,
        user_key: &[u8],
        options: &ReadOptions,
        mut opener: O,
    ) -> Result<Lookup> {
        let order = self.order(options)?;
        if self.manifest().is_err() {
            return self.get_of_all(user_key, options, opener, &order);
        }
        if let Some(found) = self.get_in_logs(user_key, &mut opener, &order)? {
            return Ok(found);
        }
        let options = options.clone().internal_keys(true);
        for table in self.tables_for(user_key).filter(|table| may_hold(table, user_key, &order)) {
            let opened = self.open_table(&table, &options, &mut opener);
            match opened.and_then(|opened| opened.get_at(user_key, u64::MAX))? {
                Lookup::Absent => {}
                found => return Ok(found),
            }
        }
        Ok(Lookup::Absent)
    }

    /// Opens a table to be searched, with options for internal keys. Every error names the file.
    fn open_table<O: Opener>(
        &self,
        table: &DatabaseTable<'_>,
        options: &ReadOptions,
        opener: &mut O,
    ) -> Result<Table<O::Table>> {
        let Some(path) = table.file.path() else {
            let error = std::io::ErrorKind::NotFound.into();
            return Err(Error::io(IoAction::Open, 0, error).with_path(self.table_path(table.number)));
        };
        let file = opener.open_table(path).map_err(|error| Error::io(IoAction::Open, 0, error));
        match file.and_then(|file| Table::open(sized(file, table.recorded())?, options)) {
            Ok(table) => Ok(table.with_path(path)),
            Err(error) => Err(error.with_path(path)),
        }
    }

    /// The order given in the options. It is an error if the MANIFEST names another comparator.
    pub(super) fn order(&self, options: &ReadOptions) -> Result<SharedComparator> {
        let order = options.user_order();
        match self.comparator().filter(|name| *name != order.name().as_bytes()) {
            None => Ok(order),
            Some(name) => Err(Error::InvalidOption {
                option: "comparator",
                expected: quote(name).to_string().into(),
                found: quote(order.name().as_bytes()).to_string().into(),
            }),
        }
    }

    fn get_in_logs<O: Opener>(
        &self,
        user_key: &[u8],
        opener: &mut O,
        order: &SharedComparator,
    ) -> Result<Option<Lookup>> {
        Ok(self.live_logs(opener, order)?.newest(user_key, order))
    }

    /// The writes of all live logs.
    pub(super) fn live_logs<O: Opener>(&self, opener: &mut O, order: &SharedComparator) -> Result<Memtable> {
        let (mut logs, mut first) = (Memtable::default(), None);
        for log in self.logs().filter(|log| log.is_live) {
            logs.read(self, log, opener, Scan::LOG_LIMIT, &mut |error| {
                first.get_or_insert(error);
            });
        }
        if let Some(error) = first {
            return Err(error);
        }
        logs.sort(&**order);
        Ok(logs)
    }

    /// Looks up a key in all tables and logs, for a database whose levels are unknown.
    fn get_of_all<O: Opener>(
        &self,
        user_key: &[u8],
        options: &ReadOptions,
        opener: O,
        order: &SharedComparator,
    ) -> Result<Lookup> {
        let mut scan = self.scan_with(options, opener)?;
        scan.seek(user_key);
        scan.next()?;
        let entry = scan.entry().filter(|entry| order.compare(entry.key.user_key, user_key).is_eq());
        Ok(entry.map_or(Lookup::Absent, |entry| Lookup::Value(bytes::Bytes::copy_from_slice(entry.value))))
    }
}

/// The file, if it has the size that the MANIFEST records: LevelDB looks for the footer at the end of that many bytes.
/// A file of another size is not the table that the MANIFEST means, or not all of it.
///
/// Only keys within the recorded range depend on such a table. A sound MANIFEST names all tables and their ranges, so
/// that the table it means has no other keys, whatever is in its place.
fn sized<R: ReadAt>(file: R, recorded: Option<&LiveTable>) -> Result<R> {
    let Some(LiveTable { size, .. }) = recorded else { return Ok(file) };
    let found = file.len().map_err(|error| Error::io(IoAction::Length, 0, error))?;
    if found == *size {
        return Ok(file);
    }
    let expected = format!("{size} bytes, as the MANIFEST has it");
    Err(Error::corrupt(Structure::Table, 0, expected, format!("{found} bytes")))
}

/// Returns `true` if the key is within the range of the table in this order, or if the range is
/// unknown or unsound.
fn may_hold(table: &DatabaseTable<'_>, user_key: &[u8], order: &SharedComparator) -> bool {
    table.recorded().is_none_or(|recorded| recorded.may_hold(user_key, &**order))
}
