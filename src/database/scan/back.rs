//! Walking backwards (`DBIter::Prev` of LevelDB's `db/db_iter.cc`, `MergingIterator::Prev` of its
//! `table/merger.cc`).

use bytes::Bytes;

use super::super::database::{Database, DatabaseEntry};
use super::super::opener::Opener;
use super::super::place::Place;
use super::{Scan, Way};
use crate::key::parts::DELETION;
use crate::{InternalKey, Result};

/// The newest version of a key found so far. When it is the current entry, all sources have already
/// moved past the key, to keys before it.
pub(super) struct Saved {
    user_key: Vec<u8>,
    /// The key's other parts.
    time: Option<u64>,
    sequence: u64,
    kind: u8,
    value: Bytes,
    file: Place,
    offset: u64,
}

impl Saved {
    pub(super) fn entry<'a>(&'a self, database: &'a Database) -> Option<DatabaseEntry<'a>> {
        let &Self { ref user_key, time, sequence, kind, ref value, ref file, offset } = self;
        let (key, file) = (InternalKey { user_key, time, sequence, kind }, database.file_at(file)?);
        Some(DatabaseEntry { key, value, file, offset })
    }
}

impl<'o, O: Opener + 'o> Scan<'o, O> {
    /// Moves past the last entry, so that [`prev`](Self::prev) moves to it.
    pub fn seek_to_last(&mut self) {
        self.sources.iter_mut().for_each(|source| source.seek_to_end());
        self.ways.fill(Way::Forward);
        (self.started, self.start, self.way) = (Some(self.sources.len()), None, Some(Way::Forward));
        self.heap.clear();
        self.leave();
        (self.last, self.skipped) = (None, None);
    }

    /// Moves to the previous entry: after [`seek_to_last`](Self::seek_to_last), to the last entry, and
    /// after [`seek`](Self::seek), to the last entry before the target. Returns `false` at the
    /// beginning.
    ///
    /// If the direction changes, each source, such as a level or a table of level 0, takes one step, which may
    /// read a data block. In this direction the newest version of a key comes last, and is known to be the last
    /// only once the sources have moved on. So its value is kept: a view of its data block, or a copy from a log.
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next). The next call continues with the entries before the damage.
    pub fn prev(&mut self) -> Result<bool> {
        self.tell_errors()?;
        if self.started != Some(self.sources.len()) {
            self.begin()?;
        }
        if self.way != Some(Way::Back) {
            self.skipped = self.last.take().or(self.skipped.take());
            self.turn(Way::Back)?;
        }
        if self.newest { self.prev_key() } else { self.prev_version() }
    }

    fn prev_version(&mut self) -> Result<bool> {
        if self.consumed && !self.advance()? {
            self.pop();
        }
        self.consumed = !self.heap.is_empty();
        if self.consumed {
            self.is_wanted()?;
        } else {
            self.last = None;
        }
        Ok(self.consumed)
    }

    /// Passes all versions of a key. The last one, which is the newest, becomes the entry. If it is a
    /// deletion, the scan continues with the key before this one.
    fn prev_key(&mut self) -> Result<bool> {
        if !std::mem::replace(&mut self.gathering, true) {
            self.saved = None;
        }
        loop {
            if self.consumed && !self.advance()? {
                self.pop();
            }
            self.consumed = false;
            if self.heap.is_empty() {
                break;
            }
            if let (Some(saved), Some(top)) = (&self.saved, self.top())
                && self.order.compare(&saved.user_key, top.key.user_key).is_ne()
            {
                break;
            }
            self.consumed = true;
            let is_skipped = self.top().zip(self.skipped.as_deref());
            if is_skipped.is_some_and(|(top, skipped)| self.order.compare(top.key.user_key, skipped).is_eq())
            {
                continue;
            }
            self.skipped = None;
            self.is_wanted()?;
            self.save();
        }
        self.gathering = false;
        if self.saved.is_none() {
            self.last = None;
        }
        Ok(self.saved.is_some())
    }

    /// Keeps the entry on top, or nothing if that is a deletion.
    fn save(&mut self) {
        let saved = self.top().filter(|top| top.key.kind != DELETION).map(|top| {
            let InternalKey { user_key, time, sequence, kind } = top.key;
            let source = self.sources.get(*self.heap.first()?)?;
            let (user_key, file, value) = (user_key.to_vec(), source.file()?, source.value(top.value));
            Some(Saved { user_key, time, sequence, kind, value, file, offset: top.offset })
        });
        self.saved = saved.flatten();
    }

    /// Turns all sources: each moves to its next entry in the direction `way`. After an error, the
    /// next call continues with the source that failed.
    pub(super) fn turn(&mut self, way: Way) -> Result<()> {
        if self.gathering {
            // No version of the key being gathered has been returned.
            self.last = None;
        }
        if way == Way::Forward {
            self.skipped = None;
        }
        self.way = None;
        // Tables that are opened after this are walked from their first or last entry, not from the
        // target.
        self.start = None;
        self.leave();
        for (source, is_turned) in self.sources.iter_mut().zip(&mut self.ways) {
            if *is_turned != way {
                source.go(way, None, &self.tables)?;
                *is_turned = way;
            }
        }
        let at_entries = self.sources.iter().enumerate().filter(|(_, source)| source.is_at_entry());
        self.heap = at_entries.map(|(at, _)| at).collect();
        self.way = Some(way);
        self.order_heap();
        Ok(())
    }

    /// Leaves the current entry.
    pub(super) fn leave(&mut self) {
        (self.consumed, self.gathering, self.saved) = (false, false, None);
    }
}
