//! All entries of all files, in key order. There may be more tables than a process can have open.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;

use filterblock::KeyFormat;

use super::members::{OldFile, Salvaged};
use super::operations::{LogEntry, Operations, RunCursor};
use super::order::KeyOrder;
use super::table::{SavedTable, TableCursor};
use crate::walk::{SharedFile, Windowed};
use crate::write::{Failure, Input, Result};

pub(super) struct Entry<'a> {
    pub(super) user_key: &'a [u8],
    pub(super) sequence: u64,
    /// `None`: a deletion.
    pub(super) value: Option<&'a [u8]>,
    /// Among the members.
    pub(super) file: usize,
    /// A correct checksum covers the entry.
    pub(super) is_checksummed: bool,
}

struct Head {
    user_key: Vec<u8>,
    tag: u64,
    source: usize,
    order: KeyOrder,
}

impl Head {
    fn move_to(&mut self, next: &LogEntry<'_>) {
        self.user_key.clear();
        self.user_key.extend_from_slice(next.key);
        self.tag = next.tag();
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.order.compare(&self.user_key, &other.user_key);
        keys.then(other.tag.cmp(&self.tag)).then(self.source.cmp(&other.source))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

enum MergeInput<'m> {
    /// Opened when its first entry is needed, and closed after the last.
    Unopened(usize, &'m SavedTable),
    Table(usize, Box<TableCursor<'m, Windowed<SharedFile>>>),
    Logs(usize),
    Run(Box<RunCursor<'m>>),
    Ended,
}

/// Entries between two checks for an interrupt.
pub(super) const STEP: u32 = 4096;

pub(super) struct Merge<'m> {
    pub(super) input: Input<'m>,
    pub(super) members: &'m [OldFile],
    /// Of the logs and of damaged blocks, sorted.
    pub(super) operations: &'m Operations<'m>,
    pub(super) order: &'m KeyOrder,
}

const fn of_log(one: LogEntry<'_>) -> Entry<'_> {
    let LogEntry { key, sequence, value, file, is_checksummed } = one;
    Entry { user_key: key, sequence, value, file, is_checksummed }
}

impl<'m> Merge<'m> {
    /// Passes entries to `each`, by key, then from the newest to the oldest. Fails if `each` does, or if a file cannot
    /// be read.
    pub(super) fn run(&self, mut each: impl FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        let (mut sources, mut heap) = (Vec::new(), BinaryHeap::new());
        for (file, member) in self.members.iter().enumerate() {
            let Salvaged::Table(table) = &member.saved else { continue };
            // The entries of an unsorted table are among the operations.
            let smallest = table.facts.smallest.as_ref().filter(|_| table.facts.unsorted.is_none());
            let Some(smallest) = smallest else { continue };
            heap.extend(self.head(smallest, sources.len()).map(Reverse));
            sources.push(MergeInput::Unopened(file, table));
        }
        if let Some(first) = self.operations.get(0) {
            heap.push(Reverse(self.head_of(&first, sources.len())));
            sources.push(MergeInput::Logs(0));
        }
        for mut run in self.operations.runs() {
            run.next().map_err(|error| self.run_failed(&error))?;
            heap.extend(run.entry().map(|first| Reverse(self.head_of(&first, sources.len()))));
            sources.push(MergeInput::Run(Box::new(run)));
        }
        let mut count = 0_u32;
        while let Some(Reverse(head)) = heap.pop() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(STEP) {
                self.input.check()?;
            }
            let Some(source) = sources.get_mut(head.source) else { continue };
            self.open(source)?;
            self.give(source, &head, &mut each)?;
            heap.extend(self.advance(source, head)?.map(Reverse));
        }
        Ok(())
    }

    fn head(&self, key: &[u8], source: usize) -> Option<Head> {
        let (user_key, tag) = KeyFormat::LevelDb.split(key)?;
        Some(Head { user_key: user_key.to_vec(), tag, source, order: *self.order })
    }

    fn head_of(&self, entry: &LogEntry<'_>, source: usize) -> Head {
        Head { user_key: entry.key.to_vec(), tag: entry.tag(), source, order: *self.order }
    }

    fn run_failed(&self, error: &io::Error) -> Failure {
        Failure::system("sorting its logs", self.input.dir, error)
    }

    fn open(&self, source: &mut MergeInput<'m>) -> Result<()> {
        let MergeInput::Unopened(file, table) = *source else { return Ok(()) };
        let name = self.members.get(file).map(|member| &*member.name).unwrap_or_default();
        let opened = self.input.open(name).and_then(|file| {
            let file = self.input.engine.files.in_order(file);
            let mut cursor = Box::new(TableCursor::new(file, table)?);
            cursor.next()?;
            Ok(cursor)
        });
        *source = MergeInput::Table(file, opened.map_err(|error| self.failed(file, &error))?);
        Ok(())
    }

    fn failed(&self, file: usize, error: &io::Error) -> Failure {
        let name = self.members.get(file).map(|member| &*member.name).unwrap_or_default();
        self.input.failed(name, error)
    }

    fn give(
        &self,
        source: &MergeInput<'_>,
        head: &Head,
        each: &mut impl FnMut(Entry<'_>) -> Result<()>,
    ) -> Result<()> {
        let (user_key, sequence) = (&*head.user_key, head.tag >> 8);
        match source {
            MergeInput::Table(file, cursor) => {
                let value = (head.tag & 0xff != 0).then(|| cursor.value());
                each(Entry { user_key, sequence, value, file: *file, is_checksummed: true })
            }
            MergeInput::Logs(at) => self.operations.get(*at).map_or(Ok(()), |one| each(of_log(one))),
            MergeInput::Run(run) => run.entry().map_or(Ok(()), |one| each(of_log(one))),
            MergeInput::Unopened(..) | MergeInput::Ended => Ok(()),
        }
    }

    /// Reuses the buffer of `head`. `None`: the source has ended.
    fn advance(&self, source: &mut MergeInput<'_>, mut head: Head) -> Result<Option<Head>> {
        match source {
            MergeInput::Table(file, cursor) => {
                if cursor.next().map_err(|error| self.failed(*file, &error))?
                    && let Some((user_key, tag)) = KeyFormat::LevelDb.split(cursor.key())
                {
                    head.user_key.clear();
                    head.user_key.extend_from_slice(user_key);
                    head.tag = tag;
                    return Ok(Some(head));
                }
            }
            MergeInput::Logs(at) => {
                *at = at.saturating_add(1);
                if let Some(next) = self.operations.get(*at) {
                    head.move_to(&next);
                    return Ok(Some(head));
                }
            }
            MergeInput::Run(run) => {
                if run.next().map_err(|error| self.run_failed(&error))?
                    && let Some(next) = run.entry()
                {
                    head.move_to(&next);
                    return Ok(Some(head));
                }
            }
            MergeInput::Unopened(..) | MergeInput::Ended => {}
        }
        *source = MergeInput::Ended;
        Ok(None)
    }
}
