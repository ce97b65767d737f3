//! The entries of a database, from its tables and logs, in the order of their keys (LevelDB's
//! `table/merger.cc`, `db/db_iter.cc`).

mod back;
mod heap;

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use self::back::Saved;
use super::database::{Database, DatabaseEntry};
use super::file_pool::FilePool;
use super::memtable::Memtable;
use super::opener::{FileOpener, Opener};
use super::scan_sources::{Arranged, Current, Run, Source, Start, TableOpener, Way};
use crate::key::parts::{DELETION, TAG_LEN, kind};
use crate::table::{ReadOptions, SharedComparator};
use crate::{Error, InternalKey, Result, Structure, quote};

/// Walks through the entries of a database, those of its logs included, as [`Database::scan`] and
/// [`Database::scan_versions`] describe.
///
/// [`prev`](Self::prev) goes the other way, and can be mixed with [`next`](Self::next). A new scan is before
/// the first entry.
///
/// Damage costs no more than the block or record that it is in, or the rest of a table whose index is damaged.
/// A file that cannot be opened is left out, and so is the rest of a log that cannot be read to its end. After
/// an error the next call continues. If a newer version of a key is lost that way, an older version is returned
/// instead, even if the newer version was a deletion.
///
/// A table whose file has vanished, or has been replaced while it was closed, is one error with
/// [`NotFound`](std::io::ErrorKind::NotFound). Then open the database again and seek to the last
/// position.
///
/// An [`Error::NeedRange`] from a source that waits for a part of a table loses no entry: once the range
/// is there, the next call does what the failed call would have done.
///
/// A scan takes memory for the writes of the logs, up to [`LOG_LIMIT`](Scan::LOG_LIMIT), and for the index
/// and a data block of each table that is open. On each level above 0, one table is open at a time, unless
/// tables overlap or their ranges are unknown. At most 17 errors are kept for each log, and one for each table.
/// However many tables are open, they share at most [`MAX_OPEN_FILES`](Scan::MAX_OPEN_FILES) handles, with any
/// opener.
///
/// [`ReadOptions::max_output`] limits the bytes decoded from each table.
///
/// A scan keeps what it needs of the [`Database`], which may be dropped before it: `'o` is the lifetime of the opener.
///
/// ```no_run
/// use filterblock::database::Database;
/// use filterblock::table::ReadOptions;
///
/// let database = Database::open("database")?;
/// let mut scan = database.scan(&ReadOptions::default())?;
/// while scan.next()? {
///     let entry = scan.entry().unwrap();
///     println!("{} of {:?}", entry.key.sequence, entry.file);
/// }
/// # Ok::<(), filterblock::Error>(())
/// ```
pub struct Scan<'o, O: Opener = FileOpener> {
    order: SharedComparator,
    tables: TableOpener<O>,
    /// The number of sources that have been moved to their first entries. After `seek_to_last`, all
    /// sources count, though they are past their last entries. `None` if the sources are yet to be
    /// moved to the start.
    started: Option<usize>,
    /// The key to start at, or `None` to start at the first key of all. Also `None` once the scan has
    /// turned.
    start: Option<Start>,
    sources: Vec<Source<'o, O>>,
    /// The indices of the sources that are at an entry. Once all sources are started, this is a
    /// heap, with the entry on top that comes first in the direction of `way`.
    heap: Vec<usize>,
    /// Set if the entry on top has been returned or skipped.
    consumed: bool,
    /// The numbers of live tables that have no file, in the order in which an error is returned for each.
    missing: std::vec::IntoIter<u64>,
    /// Errors that have not been returned yet: at most 17 for each log, and one for each run of
    /// tables.
    errors: VecDeque<Error>,
    /// Set if only the newest version of each key is returned, or nothing for the key if that
    /// version is a deletion.
    newest: bool,
    /// The user key of the entry that was last on top, even if that was a deletion, which is not
    /// returned.
    last: Option<Vec<u8>>,
    /// The direction of the heap. `None` in a new scan, while the sources are being turned, and after
    /// a turn that failed.
    way: Option<Way>,
    /// The direction in which each source reached its entry.
    ways: Vec<Way>,
    /// On the way back: the newest version of a key found so far. It is the current entry, unless a step is
    /// still `gathering` versions.
    saved: Option<Saved>,
    /// On the way back: set while a step is passing the versions of a key, also between calls if it failed.
    gathering: bool,
    /// On the way back: the key at which the scan turned, whose versions are skipped.
    skipped: Option<Vec<u8>>,
}

impl Database {
    /// Walks through the keys that the database holds, with the newest version of each, as
    /// LevelDB's iterator does. Keys that are deleted are left out.
    ///
    /// The keys come from live tables and live logs. Without a sound MANIFEST all tables and logs
    /// may be live, so deleted keys that an obsolete table still has may appear.
    ///
    /// Keys have to be in the order of the options' comparator. The files have to be in a folder:
    /// those of a listing are opened by [`scan_with`](Self::scan_with).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if the MANIFEST names a comparator other than that of the options.
    pub fn scan(&self, options: &ReadOptions) -> Result<Scan<'static>> {
        self.scan_with(options, FileOpener)
    }

    /// Walks through all versions of all keys, deletions included, in all tables and logs, obsolete
    /// ones included: in the order of the keys, and the newest version of each key first. An entry
    /// in several files is returned once for each file.
    ///
    /// All tables on level 0 and all that are not live are open at the same time.
    ///
    /// # Errors
    ///
    /// Those of [`scan`](Self::scan).
    pub fn scan_versions(&self, options: &ReadOptions) -> Result<Scan<'static>> {
        self.scan_versions_with(options, FileOpener)
    }

    /// Like [`scan`](Self::scan), but over files that `opener` opens, wherever they are.
    ///
    /// Logs are opened and read here. A table is opened when its entries are needed; [`Scan`]
    /// describes how many are open at a time. The scan returns the opener's errors, with the path
    /// of the file.
    ///
    /// # Errors
    ///
    /// Those of [`scan`](Self::scan).
    pub fn scan_with<'o, O: Opener + 'o>(&self, options: &ReadOptions, opener: O) -> Result<Scan<'o, O>> {
        Scan::new(self, options, opener, true)
    }

    /// Like [`scan_versions`](Self::scan_versions), but over files that `opener` opens, as in
    /// [`scan_with`](Self::scan_with).
    ///
    /// # Errors
    ///
    /// Those of [`scan`](Self::scan).
    pub fn scan_versions_with<'o, O: Opener + 'o>(
        &self,
        options: &ReadOptions,
        opener: O,
    ) -> Result<Scan<'o, O>> {
        Scan::new(self, options, opener, false)
    }
}

impl Scan<'_> {
    /// The limit on the memory that the writes of all logs take together, in bytes: 1 GiB. Writes
    /// beyond the limit are left out, with an error.
    pub const LOG_LIMIT: usize = 1 << 30;

    /// The maximum number of tables' files that a scan has open at a time: 48, or fewer if the
    /// system allows no more. To open another, the scan closes the file read longest ago, and opens
    /// it again when its next block is read.
    pub const MAX_OPEN_FILES: usize = 48;
}

impl<'o, O: Opener + 'o> Scan<'o, O> {
    fn new(database: &Database, options: &ReadOptions, mut opener: O, newest: bool) -> Result<Self> {
        let order = database.order(options)?;
        let mut errors = VecDeque::new();
        let mut logs = Memtable::default();
        for log in database.logs().filter(|log| log.is_live || !newest) {
            logs.read(database, log, &mut opener, Scan::LOG_LIMIT, &mut |error| errors.push_back(error));
        }
        logs.sort(&*order);
        let arranged = Arranged::of(database, newest, &*order);
        Ok(Self::over(database, options, opener, newest, (Arc::new(logs), errors), arranged, order))
    }

    /// A scan over arranged tables and the writes of logs. The scan also returns `errors`, which reading
    /// these logs has caused.
    pub(super) fn over(
        database: &Database,
        options: &ReadOptions,
        opener: O,
        newest: bool,
        (logs, errors): (Arc<Memtable>, VecDeque<Error>),
        Arranged { runs, missing }: Arranged,
        order: SharedComparator,
    ) -> Self {
        let options = options.clone().internal_keys(true).filter_policies(Vec::new());
        let mut sources = vec![Source::Logs { table: logs, next: 0 }];
        sources.extend(runs.into_iter().map(|run| Source::Tables(Run::new(run))));
        let ways = vec![Way::Forward; sources.len()];
        Self {
            order,
            tables: TableOpener {
                options,
                files: FilePool::new(opener, Scan::MAX_OPEN_FILES),
                database: database.clone(),
            },
            started: None,
            start: None,
            sources,
            heap: Vec::new(),
            consumed: false,
            missing: missing.into_iter(),
            errors,
            newest,
            last: None,
            way: None,
            ways,
            saved: None,
            gathering: false,
            skipped: None,
        }
    }

    /// Moves to before the first entry whose user key is at or after `user_key`.
    pub fn seek(&mut self, user_key: &[u8]) {
        self.start =
            Some(Start { user_key: user_key.to_vec(), target: [user_key, &[0xff; TAG_LEN]].concat() });
        self.started = None;
        self.heap.clear();
        self.leave();
    }

    /// Moves to the next entry, which is the first one in a new scan. Returns `false` at the end.
    ///
    /// # Errors
    ///
    /// One error for each file, block or record that cannot be read or is damaged, and for each table whose keys are
    /// not in order. One also for each table whose metaindex cannot be read, if [only that shows how to
    /// split](crate::table::Table::key_format) its keys. On a level above 0, all tables that do not overlap share one
    /// error about their order. For one log, at most 16 errors are returned one by one, and then one
    /// for all others. After each error, the next call continues.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend its entries")]
    pub fn next(&mut self) -> Result<bool> {
        loop {
            self.tell_errors()?;
            if self.started != Some(self.sources.len()) {
                self.begin()?;
            }
            if self.way != Some(Way::Forward) {
                self.turn(Way::Forward)?;
            }
            if self.consumed && !self.advance()? {
                self.consumed = false;
                self.pop();
                continue;
            }
            self.consumed = !self.heap.is_empty();
            if !self.consumed {
                self.last = None;
                return Ok(false);
            }
            if self.is_wanted()? {
                return Ok(true);
            }
        }
    }

    /// The current entry, or `None` if there is none.
    // Entries are large. Where all of this is inlined, only the parts that the caller uses are put together.
    #[inline(always)]
    pub fn entry(&self) -> Option<DatabaseEntry<'_>> {
        if self.newest && self.way == Some(Way::Back) {
            return self.saved.as_ref().filter(|_| !self.gathering)?.entry(&self.tables.database);
        }
        if !self.consumed {
            return None;
        }
        self.top()
    }

    /// The entry on top.
    #[inline(always)]
    fn top(&self) -> Option<DatabaseEntry<'_>> {
        let source = self.sources.get(*self.heap.first()?)?;
        let file = self.tables.database.file_at(&source.file()?)?;
        match source {
            Source::Logs { table, next } => {
                let (key, value, offset, _) = table.get(next.checked_sub(1)?)?;
                Some(DatabaseEntry { key, value, offset, file })
            }
            Source::Tables(run) => {
                let Current { format, cursor, .. } = run.current.as_ref()?;
                let key = InternalKey::parse(cursor.key(), *format)?;
                Some(DatabaseEntry {
                    key,
                    value: cursor.value(),
                    offset: cursor.block_handle()?.offset,
                    file,
                })
            }
        }
    }

    /// Fails with the next error that has not been returned yet, if there is one.
    fn tell_errors(&mut self) -> Result<()> {
        if let Some(error) = self.errors.pop_front() {
            return Err(error);
        }
        match self.missing.next() {
            Some(number) => Err(self.tables.missing(&self.tables.database.table_path(number))),
            None => Ok(()),
        }
    }

    /// Moves all sources to their first entries at or after the start. After an error, the next
    /// call continues with the source that failed.
    fn begin(&mut self) -> Result<()> {
        if self.started.is_none() {
            (self.last, self.skipped) = (None, None);
            let database = &self.tables.database;
            let seek = |source: &mut Source<'o, O>| source.seek(self.start.as_ref(), &*self.order, database);
            self.sources.iter_mut().for_each(seek);
            self.ways.fill(Way::Forward);
            self.way = Some(Way::Forward);
        }
        let started = self.started.get_or_insert(0);
        while let Some(source) = self.sources.get_mut(*started) {
            if source.go(Way::Forward, self.start.as_ref(), &self.tables)? {
                self.heap.push(*started);
            }
            *started = started.saturating_add(1);
        }
        self.order_heap();
        Ok(())
    }

    /// Returns `true` if the entry on top should be returned.
    fn is_wanted(&mut self) -> Result<bool> {
        let top = self.heap.first().and_then(|&at| self.sources.get_mut(at));
        if let Some(error) = top.and_then(Source::doubt) {
            // The next call returns the entry.
            self.consumed = false;
            return Err(error);
        }
        let top = self.heap.first().and_then(|&at| self.sources.get(at));
        let Some((user_key, tag)) = top.and_then(Source::key) else { return Err(self.short_key()) };
        let last = self.last.as_deref();
        let order = last.map_or(Ordering::Less, |last| self.on_the_way(self.order.compare(last, user_key)));
        let wanted = !self.newest || (order.is_ne() && kind(tag) != DELETION);
        let unordered = if order.is_gt() { self.unordered() } else { None };
        if order.is_ne() {
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(user_key);
        }
        if let Some(error) = unordered {
            let top = self.heap.first().and_then(|&at| self.sources.get_mut(at));
            if let Some(Source::Tables(run)) = top
                && !std::mem::replace(&mut run.unordered, true)
            {
                self.errors.push_back(*error);
            }
        }
        Ok(wanted)
    }

    /// The error for an entry on top that should have come before the last one.
    #[cold]
    fn unordered(&self) -> Option<Box<Error>> {
        let DatabaseEntry { key, file, offset, .. } = self.top()?;
        let found = format!("{} behind it", quote(key.user_key));
        let side = if self.way == Some(Way::Back) { "before" } else { "after" };
        let expected = format!("keys {side} {}", quote(self.last.as_deref().unwrap_or_default()));
        let error = Error::corrupt(Structure::InternalKey, offset, expected, found);
        Some(Box::new(match file.path() {
            Some(path) => error.with_path(path),
            None => error,
        }))
    }

    #[cold]
    fn short_key(&self) -> Error {
        let top = self.heap.first().and_then(|&at| self.sources.get(at));
        let Some(Source::Tables(Run { current: Some(current), .. })) = top else {
            return Error::corrupt(Structure::InternalKey, 0, "an entry", "none");
        };
        let offset = current.cursor.block_handle().map_or(0, |handle| handle.offset);
        let found = format!("{} bytes", current.cursor.key().len());
        let error = Error::corrupt(Structure::InternalKey, offset, "at least 8 bytes", found);
        let file = self.tables.database.file_at(&current.table);
        match file.and_then(|file| file.path()) {
            Some(path) => error.with_path(path),
            None => error,
        }
    }
}

impl<O: Opener> fmt::Debug for Scan<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("newest", &self.newest)
            .field("sources", &self.sources.len())
            .field("at_entry", &self.consumed)
            .finish_non_exhaustive()
    }
}
