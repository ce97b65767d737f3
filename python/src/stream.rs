//! Entries that a thread reads ahead, in batches, while Python works on those before.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use filterblock_engine::report::{Fault, FileState, Row, ScanLine, Version};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The number of entries in the first batch. The next ones are larger, up to the most.
const FIRST_ENTRIES: usize = 16;
const MOST_ENTRIES: usize = 1024;
/// The bytes of keys and values that complete a batch.
const MOST_BYTES: usize = 256 << 10;
/// The batches that wait to be taken.
const WAITING: usize = 2;
/// The time after which Python is asked whether a signal came.
const PATIENCE: Duration = Duration::from_millis(50);

/// Entries, keys and values end to end.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    items: Vec<Item>,
    /// The files that no earlier batch has named.
    new_files: Vec<OsString>,
}

struct Item {
    key_end: usize,
    value_end: usize,
    place: Place,
}

/// What is known of an entry besides key and value.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The number of the file, in the order in which files were named.
    file: usize,
    pub(crate) offset: u64,
    pub(crate) version: Option<Version>,
    pub(crate) state: Option<FileState>,
}

enum Message {
    Batch(Batch),
    Fault(PathBuf, Fault),
    Note(PathBuf, String),
    /// The scan could not begin or end as it should.
    Failed(String),
}

/// The thread's side: puts batches together.
pub(crate) struct Producer {
    sender: SyncSender<Message>,
    batch: Batch,
    most_entries: usize,
    files: HashMap<OsString, usize>,
    last_file: Option<(OsString, usize)>,
}

impl Producer {
    /// Sends the batch as far as it is complete.
    fn flush(&mut self) -> io::Result<()> {
        if self.batch.items.is_empty() {
            return Ok(());
        }
        let entries = self.batch.items.len();
        let bytes = self.batch.bytes.len();
        self.most_entries = self.most_entries.saturating_mul(2).min(MOST_ENTRIES);
        let next = Batch {
            bytes: Vec::with_capacity(bytes),
            items: Vec::with_capacity(entries),
            ..Batch::default()
        };
        let batch = std::mem::replace(&mut self.batch, next);
        self.send(Message::Batch(batch))
    }

    /// Waits until the message can be sent. An error means that nobody wants it any longer.
    fn send(&self, message: Message) -> io::Result<()> {
        self.sender.send(message).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn number_of(&mut self, file: &OsStr) -> usize {
        if let Some((last, number)) = &self.last_file
            && last == file
        {
            return *number;
        }
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
}

/// Takes what is found. An error means that nobody wants more.
impl Producer {
    pub(crate) fn line(&mut self, line: ScanLine<'_>) -> io::Result<()> {
        match line {
            ScanLine::Entry(_, row) => self.entry(&row),
            ScanLine::Fault(subject, fault) => self.fault(subject.path, fault),
            ScanLine::End(subject, _) => subject.remarks.iter().try_for_each(|remark| {
                self.flush()?;
                self.send(Message::Note(remark.about.clone(), remark.text.clone()))
            }),
        }
    }

    pub(crate) fn entry(&mut self, row: &Row<'_>) -> io::Result<()> {
        let file = self.number_of(row.path.as_os_str());
        let batch = &mut self.batch;
        batch.bytes.extend_from_slice(row.key);
        let key_end = batch.bytes.len();
        batch.bytes.extend_from_slice(row.value);
        let value_end = batch.bytes.len();
        let place = Place { file, offset: row.offset, version: row.version, state: row.state };
        batch.items.push(Item { key_end, value_end, place });
        if batch.items.len() >= self.most_entries || value_end >= MOST_BYTES { self.flush() } else { Ok(()) }
    }

    pub(crate) fn fault(&mut self, path: &Path, fault: &Fault) -> io::Result<()> {
        self.flush()?;
        self.send(Message::Fault(path.to_owned(), fault.clone()))
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // If nobody wants them, that is well.
        let _ = self.flush();
    }
}

/// Python's side: takes entry by entry.
pub(crate) struct Stream {
    /// `None`: all has been taken.
    receiver: Option<Receiver<Message>>,
    thread: Option<JoinHandle<()>>,
    /// The process in which the thread is.
    process: u32,
    batch: Batch,
    next: usize,
    /// The end of the entry before in the batch.
    end: usize,
    files: Vec<Py<PyString>>,
    notes: Vec<String>,
}

/// What comes next.
pub(crate) enum Next<'a> {
    Entry { key: &'a [u8], value: &'a [u8], place: Place },
    Fault(PathBuf, Fault),
    End,
}

impl Stream {
    /// Starts a thread that produces entries. An error of `produce` is raised behind the last one.
    pub(crate) fn start(
        produce: impl FnOnce(Producer) -> Result<(), String> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let producer = Producer {
            sender: sender.clone(),
            batch: Batch::default(),
            most_entries: FIRST_ENTRIES,
            files: HashMap::new(),
            last_file: None,
        };
        let work = move || {
            if let Err(message) = produce(producer) {
                // If nobody wants it, that is well.
                let _ = sender.send(Message::Failed(message));
            }
        };
        let thread = thread::Builder::new().name("filterblock".to_owned()).spawn(work)?;
        Ok(Self {
            receiver: Some(receiver),
            thread: Some(thread),
            process: std::process::id(),
            batch: Batch::default(),
            next: 0,
            end: 0,
            files: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Moves to the next entry. Other threads of Python run while it waits.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Next<'_>> {
        while self.next >= self.batch.items.len() {
            match self.receive(py)? {
                Some(Message::Batch(batch)) => {
                    for file in &batch.new_files {
                        // A name that is not UTF-8 becomes what os.fsdecode makes of it.
                        self.files.push(file.as_os_str().into_pyobject(py)?.unbind());
                    }
                    (self.batch, self.next, self.end) = (batch, 0, 0);
                }
                Some(Message::Fault(path, fault)) => return Ok(Next::Fault(path, fault)),
                Some(Message::Note(path, text)) => {
                    self.notes.push(format!("{}: {text}", filterblock::escape_path(&path)));
                }
                Some(Message::Failed(message)) => return Err(PyRuntimeError::new_err(message)),
                None => return Ok(Next::End),
            }
        }
        let Some(item) = self.batch.items.get(self.next) else { return Ok(Next::End) };
        let key = self.batch.bytes.get(self.end..item.key_end).unwrap_or_default();
        let value = self.batch.bytes.get(item.key_end..item.value_end).unwrap_or_default();
        self.next += 1;
        self.end = item.value_end;
        Ok(Next::Entry { key, value, place: item.place })
    }

    /// The path of the file that an entry lies in.
    pub(crate) fn file(&self, py: Python<'_>, place: Place) -> Option<Py<PyString>> {
        self.files.get(place.file).map(|file| file.clone_ref(py))
    }

    /// The facts that are no faults.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Waits for the next message. `None`: there are no more.
    fn receive(&mut self, py: Python<'_>) -> PyResult<Option<Message>> {
        if self.process != std::process::id() {
            let message =
                "an iterator cannot be continued in a forked process, which has none of its threads";
            return Err(PyRuntimeError::new_err(message));
        }
        while let Some(receiver) = self.receiver.take() {
            let (receiver, message) = py.detach(move || {
                let message = receiver.recv_timeout(PATIENCE);
                (receiver, message)
            });
            match message {
                Ok(message) => {
                    self.receiver = Some(receiver);
                    return Ok(Some(message));
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.receiver = Some(receiver);
                    py.check_signals()?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let thread = self.thread.take();
                    if thread.is_some_and(|thread| py.detach(|| thread.join()).is_err()) {
                        return Err(PyRuntimeError::new_err(
                            "the thread that reads has panicked: please report this",
                        ));
                    }
                }
            }
        }
        Ok(None)
    }
}
