//! The sources of entries: the trait for them, and the writes of a log.

use std::{io::Read, path::PathBuf, sync::Arc};

use filterblock::database::LogWrites;

use super::{position::ScanPosition, range::ScanRequest};
use crate::report::{CheckNote, EntryRef, EntryTag, Fault};

/// The most entries to skip in one step, so that a step usually takes no more than a millisecond or two.
pub(super) const PASSED: u32 = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    ToEntry,
    /// After entries that are not to be shown; more may follow.
    On,
    ToEnd,
}

pub(crate) trait Rows {
    /// Moves to the next entry, or over up to [`PASSED`] entries not to show. After an error, the next call goes on.
    fn advance(&mut self) -> Result<Moved, Fault>;

    /// The current entry, after a call that [moved to an entry](Moved::ToEntry).
    fn row(&self) -> Option<EntryRef<'_>>;

    /// The progress of a database, from which its next reading goes on.
    fn into_position(self: Box<Self>) -> ScanPosition {
        ScanPosition::default()
    }

    /// A remark to show at the end, in addition to the errors. `None`: there is nothing to remark.
    fn note(&self) -> Option<String> {
        None
    }
}

pub(super) struct LogRows<R> {
    writes: LogWrites<R>,
    path: PathBuf,
    /// With `all`, deletions are shown as well.
    request: Arc<ScanRequest>,
    /// The number of deletions in the range that were left out.
    left_out: u64,
}

impl<R: Read> LogRows<R> {
    pub(super) fn new(source: R, path: PathBuf, request: Arc<ScanRequest>) -> Self {
        Self { writes: LogWrites::new(source), path, request, left_out: 0 }
    }
}

impl<R: Read> Rows for LogRows<R> {
    fn advance(&mut self) -> Result<Moved, Fault> {
        for _ in 0..PASSED {
            if !self.writes.next()? {
                return Ok(Moved::ToEnd);
            }
            let Some(write) = self.writes.write().filter(|write| self.request.range.contains(write.key))
            else {
                continue;
            };
            if self.request.all || write.value.is_some() {
                return Ok(Moved::ToEntry);
            }
            self.left_out += 1;
        }
        Ok(Moved::On)
    }

    fn row(&self) -> Option<EntryRef<'_>> {
        self.writes.write().map(|write| EntryRef {
            path: &self.path,
            offset: write.offset,
            corrected: None,
            state: None,
            key: write.key,
            version: Some(EntryTag { sequence: write.sequence, kind: u8::from(write.value.is_some()) }),
            value: write.value.unwrap_or_default(),
        })
    }

    fn note(&self) -> Option<String> {
        let deletions =
            (self.left_out > 0).then(|| format!("deletions left out: {}, which --all shows", self.left_out));
        let tail = self.writes.incomplete_tail().map(|_| CheckNote::CutWrite.to_string());
        let notes: Vec<String> = deletions.into_iter().chain(tail).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}
