//! Entries in batches, as the work of an iterator produces them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use filterblock_engine::report::{Fault, FileState, Row, ScanLine, Version};
use filterblock_engine::{ScanCursor, ScanStep};

/// The number of entries in the first batch. The next batches are larger, up to [`MOST_ENTRIES`].
const FIRST_ENTRIES: usize = 16;
pub(crate) const MOST_ENTRIES: usize = 2048;
/// The bytes of keys and values that complete a batch.
const MOST_BYTES: usize = 256 << 10;

/// The number of keys that are passed over in one step.
pub(crate) const PASSED: u32 = 4096;

/// The work of an iterator, which takes no thread between two steps.
pub(crate) type Work = Box<dyn Walk>;

pub(crate) trait Walk: Send {
    /// Goes on until a batch has been sent, or over some thousand keys. Returns false at the end. An error means that
    /// nobody wants more.
    fn step(&mut self) -> io::Result<bool>;
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
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The number of the file, in the order in which files were named.
    pub(crate) file: usize,
    pub(crate) offset: u64,
    pub(crate) version: Option<Version>,
    pub(crate) state: Option<FileState>,
}

/// The place of entries of which only key and value are wanted.
pub(crate) const NOWHERE: Place = Place { file: 0, offset: 0, version: None, state: None };

pub(crate) enum Message {
    Batch(Batch),
    Fault(PathBuf, Fault),
    Note(String),
}

/// Puts batches together.
pub(crate) struct Producer {
    sender: Sender<Message>,
    /// Batches that were used up, whose memory is used again.
    used: Receiver<Batch>,
    batch: Batch,
    most_entries: usize,
    files: HashMap<OsString, usize>,
    last_file: Option<(OsString, usize)>,
}

impl Producer {
    /// Makes a producer, and the sender by which batches that were used up come back to it.
    pub(crate) fn new(sender: Sender<Message>) -> (Self, Sender<Batch>) {
        let (back, used) = channel();
        let producer = Self {
            sender,
            used,
            batch: Batch::default(),
            most_entries: FIRST_ENTRIES,
            files: HashMap::new(),
            last_file: None,
        };
        (producer, back)
    }

    /// Sends the batch, unless it is empty.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.batch.items.is_empty() {
            return Ok(());
        }
        let (entries, bytes) = (self.batch.items.len(), self.batch.bytes.len());
        self.most_entries = self.most_entries.saturating_mul(2).min(MOST_ENTRIES);
        let next = match self.used.try_recv() {
            Ok(mut used) => {
                used.bytes.clear();
                used.items.clear();
                used.new_files.clear();
                used
            }
            Err(_) => Batch {
                bytes: Vec::with_capacity(bytes),
                items: Vec::with_capacity(entries),
                ..Batch::default()
            },
        };
        let batch = std::mem::replace(&mut self.batch, next);
        self.send(Message::Batch(batch))
    }

    /// Sends a message. An error means that nobody wants it any longer.
    fn send(&self, message: Message) -> io::Result<()> {
        self.sender.send(message).map_err(|_| io::ErrorKind::BrokenPipe.into())
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

    /// Returns true if no entry has been added since the last batch was sent, or at all.
    #[inline]
    pub(crate) fn has_flushed(&self) -> bool {
        self.batch.items.is_empty()
    }

    #[inline]
    pub(crate) fn entry(&mut self, row: &Row<'_>) -> io::Result<()> {
        let file = self.number_of(row.path.as_os_str());
        let place = Place { file, offset: row.offset, version: row.version, state: row.state };
        self.pair(row.key, row.value, place)
    }

    /// Adds an entry. An error means that nobody wants more.
    #[inline]
    pub(crate) fn pair(&mut self, key: &[u8], value: &[u8], place: Place) -> io::Result<()> {
        let batch = &mut self.batch;
        batch.bytes.extend_from_slice(key);
        let key_end = batch.bytes.len();
        batch.bytes.extend_from_slice(value);
        let value_end = batch.bytes.len();
        batch.items.push(Item { key_end, value_end, place });
        if batch.items.len() >= self.most_entries || value_end >= MOST_BYTES { self.flush() } else { Ok(()) }
    }

    pub(crate) fn fault(&mut self, path: &Path, fault: &Fault) -> io::Result<()> {
        self.flush()?;
        self.send(Message::Fault(path.to_owned(), fault.clone()))
    }
}

/// A scan as the work of an iterator.
pub(crate) struct ScanWork {
    pub(crate) cursor: ScanCursor,
    pub(crate) producer: Producer,
}

impl Walk for ScanWork {
    fn step(&mut self) -> io::Result<bool> {
        let producer = &mut self.producer;
        loop {
            match self.cursor.step() {
                ScanStep::Line => match self.cursor.line() {
                    Some(ScanLine::Entry(_, row)) => producer.entry(&row)?,
                    Some(ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault)) => {
                        producer.fault(subject.path, fault)?;
                    }
                    Some(ScanLine::End(subject, _)) => {
                        for remark in subject.remarks {
                            producer.flush()?;
                            producer.send(Message::Note(remark.line()))?;
                        }
                    }
                    None => {}
                },
                ScanStep::Pause => return Ok(true),
                ScanStep::End => return Ok(false),
            }
            if producer.has_flushed() {
                return Ok(true);
            }
        }
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // An error means that nobody wants the last entries.
        let _ = self.flush();
    }
}
