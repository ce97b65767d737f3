//! The work of iterators over a database that is kept, and over a table.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use filterblock::database::Scan;
use filterblock::table::{Cursor, ReadAt};
use filterblock::{InternalKey, KeyFormat};
use filterblock_engine::report::{Fault, Version as KeyVersion};

use crate::bounds::Bounds;
use crate::kept::{KeptOpener, MAX_ROUNDS, OpenDatabase, Version};
use crate::producer::{NOWHERE, PASSED, Place, Producer, Walk};

/// The request to an iterator over a database.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) bounds: Bounds,
    pub(crate) with_value: bool,
}

/// Walks through a database as it is at first. If a table vanishes, goes on after the last entry, in the database as it
/// is then.
pub(crate) struct DatabaseWork {
    kept: Arc<OpenDatabase>,
    version: Arc<Version>,
    wanted: Wanted,
    producer: Producer,
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
        version: Arc<Version>,
        wanted: Wanted,
        producer: Producer,
    ) -> Self {
        Self { kept, version, wanted, producer, scan: None, rounds: None, told: HashSet::new(), last: None }
    }

    /// Reports the faults, and begins to read. Returns false if the database cannot be read.
    fn begin(&mut self) -> io::Result<bool> {
        let Self { kept, version, producer, told, .. } = self;
        if self.rounds.is_none() {
            version.state_faults().iter().try_for_each(|fault| producer.fault(&kept.path, fault))?;
            self.rounds = Some(0);
        }
        for (number, fault) in &version.contradicted {
            if told.insert(*number) {
                producer.fault(&kept.path, fault)?;
            }
        }
        let database = &version.database;
        let scan = match &version.writes {
            Some(writes) => database.scan_over(&version.options, version.opener(), writes),
            None => database.scan_with(&version.options, version.opener()),
        };
        match scan {
            Ok(mut scan) => {
                begin(&mut scan, &self.wanted.bounds, version.is_bytewise);
                self.scan = Some(scan);
                Ok(true)
            }
            Err(error) => producer.fault(database.dir(), &Fault::from(error)).map(|()| false),
        }
    }

    /// Reads the database as it is now. Returns false if it is closed or cannot be read.
    fn again(&mut self) -> io::Result<bool> {
        let last = self.last.take();
        self.rounds = Some(if last.is_some() { 0 } else { self.rounds.unwrap_or_default() + 1 });
        last.iter().for_each(|last| self.wanted.bounds.go_on_after(last));
        self.scan = None;
        self.kept.forget();
        match self.kept.now() {
            Ok(Some(version)) => self.version = version,
            Ok(None) => return Ok(false),
            Err(error) => {
                return self.producer.fault(&self.kept.path, &Fault::from(error)).map(|()| false);
            }
        }
        Ok(true)
    }
}

impl Walk for DatabaseWork {
    fn step(&mut self) -> io::Result<bool> {
        let mut passed = 0;
        loop {
            let Some(scan) = &mut self.scan else {
                if !self.begin()? {
                    return Ok(false);
                }
                continue;
            };
            let (Wanted { bounds, with_value }, producer) = (&self.wanted, &mut self.producer);
            let is_bytewise = self.version.is_bytewise;
            match if bounds.reverse { scan.prev() } else { scan.next() } {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    let may_vanish = self.rounds.is_some_and(|rounds| rounds < MAX_ROUNDS) && is_bytewise;
                    if !(may_vanish && self.version.has_vanished(&error)) {
                        producer.fault(self.version.database.dir(), &Fault::from(error))?;
                    } else if !self.again()? {
                        return Ok(false);
                    }
                    continue;
                }
            }
            let Some(entry) = scan.entry() else { return Ok(false) };
            let key = entry.key.user_key;
            if !bounds.contains(key) {
                let is_over = if bounds.reverse { bounds.is_below(key) } else { bounds.is_behind(key) };
                if is_bytewise && is_over {
                    return Ok(false);
                }
                passed += 1;
                if passed == PASSED {
                    return Ok(true);
                }
                continue;
            }
            producer.pair(key, if *with_value { entry.value } else { &[] }, NOWHERE)?;
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            if producer.has_flushed() {
                return Ok(true);
            }
        }
    }
}

/// Moves to the beginning of the range, in its direction.
fn begin(scan: &mut Scan<'_, KeptOpener>, bounds: &Bounds, is_bytewise: bool) {
    match (bounds.reverse, &bounds.low, &bounds.high) {
        (true, _, Some(high)) if is_bytewise => scan.seek(high),
        (true, ..) => scan.seek_to_last(),
        (false, Some(low), _) if is_bytewise => scan.seek(low),
        (false, ..) => {}
    }
}

/// The request to an iterator over a table.
pub(crate) struct TableWanted {
    pub(crate) bounds: Bounds,
    /// `Some`: keys are taken apart, and come with their places. `None`: keys come as they are stored.
    pub(crate) format: Option<Option<KeyFormat>>,
    pub(crate) limit: Option<u64>,
    /// The reason why the form of the keys is not certain, which is reported first.
    pub(crate) doubt: Option<Fault>,
}

/// Walks through a table in the order of the file, or in the opposite order. Goes on after a damaged block.
pub(crate) struct TableWork<R: ReadAt + 'static> {
    pub(crate) cursor: Cursor<'static, R>,
    pub(crate) path: PathBuf,
    pub(crate) wanted: TableWanted,
    pub(crate) producer: Producer,
    /// No entry has been sought yet.
    pub(crate) is_first: bool,
}

impl<R: ReadAt + Send + Sync + 'static> Walk for TableWork<R> {
    fn step(&mut self) -> io::Result<bool> {
        let Self { cursor, path, wanted: TableWanted { bounds, format, limit, doubt }, producer, .. } = self;
        if let Some(doubt) = doubt.take() {
            producer.fault(path, &doubt)?;
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
                Ok(false) => return Ok(false),
                Err(error) => {
                    producer.fault(path, &Fault::from(error))?;
                    cursor.skip_block();
                    continue;
                }
            }
            let stored = cursor.key();
            let parsed = format.flatten().and_then(|format| InternalKey::parse(stored, format));
            let key = parsed.as_ref().map_or(stored, |key| key.user_key);
            if !bounds.contains(key) {
                passed += 1;
                if passed == PASSED {
                    return Ok(true);
                }
                continue;
            }
            let place = match format {
                None => NOWHERE,
                Some(_) => Place {
                    file: producer.number_of(path.as_os_str()),
                    offset: cursor.block_handle().map_or(0, |handle| handle.offset),
                    version: parsed.map(|key| KeyVersion { sequence: key.sequence, kind: key.kind }),
                    state: None,
                },
            };
            producer.pair(key, cursor.value(), place)?;
            limit.iter_mut().for_each(|left| *left -= 1);
            if producer.has_flushed() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
