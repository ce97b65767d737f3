//! The work of iterators over a database that is kept, and over a table.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use filterblock::database::Scan;
use filterblock::table::{Cursor, ReadAt};
use filterblock::{InternalKey, KeyFormat};
use filterblock_engine::report::{EntryTag, Fault};

use crate::bounds::Bounds;
use crate::kept::{Failure, KeptOpener, MAX_ROUNDS, OpenDatabase, Snapshot};
use crate::producer::{Output, PASSED, Place, Walk};

/// Walks through a database as it is at first. If a table vanishes, goes on after the last entry, in the database as it
/// is then.
pub(crate) struct DatabaseWork {
    kept: Arc<OpenDatabase>,
    version: Arc<Snapshot>,
    bounds: Bounds,
    with_value: bool,
    /// `None`: the faults of the database come first.
    scan: Option<Scan<'static, KeptOpener>>,
    /// How many times in a row the database was read anew without an entry; `None`: not yet.
    rounds: Option<u32>,
    /// The tables whose sizes have been reported to contradict the MANIFEST.
    told: HashSet<u64>,
    /// The last key since the database was read.
    last: Option<Vec<u8>>,
}

impl DatabaseWork {
    pub(crate) fn new(
        kept: Arc<OpenDatabase>,
        version: Arc<Snapshot>,
        bounds: Bounds,
        with_value: bool,
    ) -> Self {
        let told = HashSet::new();
        Self { kept, version, bounds, with_value, scan: None, rounds: None, told, last: None }
    }

    /// Reports the faults, and begins to read. Returns false if the database cannot be read.
    fn begin(&mut self, output: &mut Output) -> bool {
        let version = &self.version;
        if self.rounds.is_none() {
            version.state_faults().iter().for_each(|fault| output.fault(&self.kept.path, fault));
            self.rounds = Some(0);
        }
        for (number, fault) in &version.contradicted {
            if self.told.insert(*number) {
                output.fault(&self.kept.path, fault);
            }
        }
        let database = &version.database;
        let scan = match &version.writes {
            Some(writes) => database.scan_over(&version.options, version.opener(), writes),
            None => database.scan_with(&version.options, version.opener()),
        };
        match scan {
            Ok(mut scan) => {
                begin(&mut scan, &self.bounds, version.is_bytewise);
                self.scan = Some(scan);
            }
            Err(error) => output.fault(database.dir(), &Fault::from(error)),
        }
        self.scan.is_some()
    }

    /// Reads the database as it is now. Returns false if it is closed or cannot be read.
    fn again(&mut self, output: &mut Output) -> bool {
        let last = self.last.take();
        self.rounds = Some(if last.is_some() { 0 } else { self.rounds.unwrap_or_default() + 1 });
        last.iter().for_each(|last| self.bounds.go_on_after(last));
        self.scan = None;
        self.kept.forget();
        match self.kept.now() {
            Ok(version) => {
                self.version = version;
                return true;
            }
            Err(Failure::Read(error)) => output.fault(&self.kept.path, &Fault::from(error)),
            Err(_) => {}
        }
        false
    }
}

impl Walk for DatabaseWork {
    fn step(&mut self, output: &mut Output) -> bool {
        let mut passed = 0;
        loop {
            let Some(scan) = &mut self.scan else {
                if !self.begin(output) {
                    return false;
                }
                continue;
            };
            let bounds = &self.bounds;
            let is_bytewise = self.version.is_bytewise;
            match if bounds.reverse { scan.prev() } else { scan.next() } {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    let may_vanish = self.rounds.is_some_and(|rounds| rounds < MAX_ROUNDS) && is_bytewise;
                    if may_vanish && self.version.has_vanished(&error) {
                        return self.again(output);
                    }
                    output.fault(self.version.database.dir(), &Fault::from(error));
                    return true;
                }
            }
            let Some(entry) = scan.entry() else { return false };
            let key = entry.key.user_key;
            if !bounds.range.contains(key) {
                if is_bytewise && bounds.is_past(key) {
                    return false;
                }
                passed += 1;
                if passed == PASSED {
                    return true;
                }
                continue;
            }
            output.pair(key, if self.with_value { entry.value } else { &[] }, Place::default());
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            if output.has_flushed() {
                return true;
            }
        }
    }
}

/// Moves to the beginning of the range, in its direction.
fn begin(scan: &mut Scan<'_, KeptOpener>, bounds: &Bounds, is_bytewise: bool) {
    match (bounds.reverse, &bounds.range.from, &bounds.range.to) {
        (true, _, Some(to)) if is_bytewise => scan.seek(to),
        (true, ..) => scan.seek_to_last(),
        (false, Some(from), _) if is_bytewise => scan.seek(from),
        (false, ..) => {}
    }
}

/// Walks through a table in the order of the file, or in the opposite order. Goes on after a damaged block.
pub(crate) struct TableWork<R: ReadAt + 'static> {
    pub(crate) cursor: Cursor<'static, R>,
    pub(crate) path: PathBuf,
    pub(crate) bounds: Bounds,
    /// `Some`: keys are taken apart, and come with their places. `None`: keys come as they are stored.
    pub(crate) format: Option<Option<KeyFormat>>,
    pub(crate) limit: Option<u64>,
    /// The reason why the form of the keys is not certain, which is reported first.
    pub(crate) doubt: Option<Fault>,
    /// No entry has been sought yet.
    pub(crate) is_first: bool,
}

impl<R: ReadAt + Send + Sync + 'static> Walk for TableWork<R> {
    fn step(&mut self, output: &mut Output) -> bool {
        let Self { cursor, path, bounds, format, limit, doubt, .. } = self;
        if let Some(doubt) = doubt.take() {
            output.fault(path, &doubt);
        }
        let mut passed = 0;
        while *limit != Some(0) {
            let moved = match (bounds.reverse, std::mem::take(&mut self.is_first)) {
                (true, true) => cursor.seek_to_last(),
                (true, false) => cursor.prev(),
                (false, _) => cursor.next(),
            };
            match moved {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    output.fault(path, &Fault::from(error));
                    cursor.skip_block();
                    return true;
                }
            }
            let stored = cursor.key();
            let parsed = format.flatten().and_then(|format| InternalKey::parse(stored, format));
            let key = parsed.as_ref().map_or(stored, |key| key.user_key);
            if !bounds.range.contains(key) {
                passed += 1;
                if passed == PASSED {
                    return true;
                }
                continue;
            }
            let place = match format {
                None => Place::default(),
                Some(_) => Place {
                    file: output.number_of(path.as_os_str()),
                    offset: cursor.block_handle().map_or(0, |handle| handle.offset),
                    version: parsed.map(|key| EntryTag { sequence: key.sequence, kind: key.kind }),
                    state: None,
                },
            };
            output.pair(key, cursor.value(), place);
            limit.iter_mut().for_each(|left| *left -= 1);
            if output.has_flushed() {
                return true;
            }
        }
        false
    }
}
