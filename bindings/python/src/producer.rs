//! Entries in batches, as the work of an iterator produces them.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use filterblock_engine::report::{EntryTag, Fault, FileRole, ScanLine};
use filterblock_engine::{ScanCursor, ScanStep};

/// The number of entries in the first batch. The next batches are larger, up to [`MOST_ENTRIES`].
const FIRST_ENTRIES: usize = 16;
pub(crate) const MOST_ENTRIES: usize = 2048;
/// The bytes of keys and values that complete a batch.
const MOST_BYTES: usize = 256 << 10;

/// The number of keys that are passed over in one step.
pub(crate) const PASSED: u32 = 4096;

/// The work of an iterator, which takes no thread between two steps, and what it has produced.
pub(crate) struct Work {
    /// `None`: at the end.
    walk: Option<Box<dyn Walk>>,
    pub(crate) output: Output,
    pub(crate) has_panicked: bool,
}

pub(crate) trait Walk: Send {
    /// Goes on until a batch is complete, or over some thousand keys. Returns false at the end.
    fn step(&mut self, output: &mut Output) -> bool;
}

impl Work {
    pub(crate) fn new(walk: impl Walk + 'static) -> Box<Self> {
        Box::new(Self { walk: Some(Box::new(walk)), output: Output::default(), has_panicked: false })
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.walk.is_none()
    }

    /// Takes one step, up to the next batch or the end. The walk is dropped at the end, and its files with it.
    pub(crate) fn step(&mut self) {
        let Some(walk) = &mut self.walk else { return };
        let stepped = catch_unwind(AssertUnwindSafe(|| walk.step(&mut self.output)));
        if !matches!(stepped, Ok(true)) {
            self.walk = None;
            self.has_panicked = stepped.is_err();
            self.output.flush();
        }
    }
}

/// Entries, with their keys and values end to end.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) items: Vec<Item>,
    /// The files that no earlier batch has named.
    pub(crate) new_files: Vec<OsString>,
}

pub(crate) struct Item {
    pub(crate) key_end: usize,
    pub(crate) value_end: usize,
    pub(crate) place: Place,
}

/// The facts about an entry besides its key and value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    /// The number of the file, in the order in which files were named.
    pub(crate) file: usize,
    pub(crate) offset: u64,
    pub(crate) version: Option<EntryTag>,
    pub(crate) state: Option<FileRole>,
}

pub(crate) enum Message {
    Batch(Batch),
    Fault(PathBuf, Fault),
    Note(String),
}

/// Puts batches together.
#[derive(Default)]
pub(crate) struct Output {
    /// What the reader has not taken yet.
    pub(crate) messages: VecDeque<Message>,
    /// A batch that was used up, whose memory is used again.
    pub(crate) used: Option<Batch>,
    batch: Batch,
    /// The number of entries that complete the batch; 0: [`FIRST_ENTRIES`].
    most_entries: usize,
    files: HashMap<OsString, usize>,
    last_file: Option<(OsString, usize)>,
}

impl Output {
    /// Completes the batch, unless it is empty.
    fn flush(&mut self) {
        if self.batch.items.is_empty() {
            return;
        }
        self.most_entries = (self.most_entries * 2).clamp(2 * FIRST_ENTRIES, MOST_ENTRIES);
        let next = match self.used.take() {
            Some(mut used) => {
                used.bytes.clear();
                used.items.clear();
                used.new_files.clear();
                used
            }
            None => Batch {
                bytes: Vec::with_capacity(self.batch.bytes.len()),
                items: Vec::with_capacity(self.batch.items.len()),
                ..Batch::default()
            },
        };
        let batch = std::mem::replace(&mut self.batch, next);
        self.messages.push_back(Message::Batch(batch));
    }

    fn send(&mut self, message: Message) {
        self.flush();
        self.messages.push_back(message);
    }

    #[inline]
    pub(crate) fn number_of(&mut self, file: &OsStr) -> usize {
        match &self.last_file {
            Some((last, number)) if last == file => *number,
            _ => self.number_of_another(file),
        }
    }

    #[cold]
    fn number_of_another(&mut self, file: &OsStr) -> usize {
        let number = match self.files.get(file) {
            Some(number) => *number,
            None => {
                let number = self.files.len();
                self.files.insert(file.to_owned(), number);
                self.batch.new_files.push(file.to_owned());
                number
            }
        };
        self.last_file = Some((file.to_owned(), number));
        number
    }

    /// Returns true if no entry has been added since the last batch was complete, or at all.
    #[inline]
    pub(crate) fn has_flushed(&self) -> bool {
        self.batch.items.is_empty()
    }

    #[inline]
    pub(crate) fn pair(&mut self, key: &[u8], value: &[u8], place: Place) {
        let batch = &mut self.batch;
        batch.bytes.extend_from_slice(key);
        let key_end = batch.bytes.len();
        batch.bytes.extend_from_slice(value);
        let value_end = batch.bytes.len();
        batch.items.push(Item { key_end, value_end, place });
        if batch.items.len() >= self.most_entries.max(FIRST_ENTRIES) || value_end >= MOST_BYTES {
            self.flush();
        }
    }

    pub(crate) fn fault(&mut self, path: &Path, fault: &Fault) {
        self.send(Message::Fault(path.to_owned(), fault.clone()));
    }
}

impl Walk for ScanCursor {
    fn step(&mut self, output: &mut Output) -> bool {
        loop {
            match ScanCursor::step(self) {
                ScanStep::Line => match self.line() {
                    Some(ScanLine::Entry(_, row)) => {
                        let file = output.number_of(row.path.as_os_str());
                        let place =
                            Place { file, offset: row.offset, version: row.version, state: row.state };
                        output.pair(row.key, row.value, place);
                    }
                    Some(ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault)) => {
                        output.fault(subject.path, fault);
                    }
                    Some(ScanLine::End(subject, _)) => {
                        subject.remarks.iter().for_each(|remark| output.send(Message::Note(remark.line())));
                    }
                    None => {}
                },
                ScanStep::Pause => return true,
                ScanStep::End => return false,
            }
            if output.has_flushed() {
                return true;
            }
        }
    }
}
