//! The reader's side of an iterator: entry by entry from batches, which the reader's own thread or one of the shared
//! threads produces.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use filterblock_engine::report::Fault;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyString;

use crate::ahead::{Asked, Job};
use crate::producer::{Batch, MOST_ENTRIES, Message, Place, Walk, Work};

/// The state of the work: here, handed to another thread, or given up because the iterator was closed.
enum Doing {
    Here(Box<Work>),
    Away(Arc<Job>),
    Closed,
}

/// Takes entries one by one.
pub(crate) struct Stream {
    doing: Doing,
    /// True if a single step may take a long time. Steps are then left to other threads, so that signals are noticed.
    is_slow: bool,
    messages: VecDeque<Message>,
    batch: Batch,
    next: usize,
    /// The end of the previous entry in the batch.
    end: usize,
    files: Vec<Py<PyString>>,
    notes: Vec<String>,
}

/// The next item of an iterator.
pub(crate) enum Next<'a> {
    Entry { key: &'a [u8], value: &'a [u8], place: Place },
    Fault(PathBuf, Fault),
    End,
}

impl Stream {
    /// An iterator over what `walk` produces. Nothing is read before the first entry is wanted.
    pub(crate) fn new(walk: impl Walk + 'static, is_slow: bool) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            doing: Doing::Here(Work::new(walk)),
            is_slow,
            messages: VecDeque::new(),
            batch: Batch::default(),
            next: 0,
            end: 0,
            files: Vec::new(),
            notes: Vec::new(),
        }))
    }

    /// Moves to the next entry. Other threads of Python run while this one waits.
    #[inline]
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Next<'_>> {
        if self.next >= self.batch.items.len()
            && let Some(ended) = self.refill(py)?
        {
            return Ok(ended);
        }
        let Some(item) = self.batch.items.get(self.next) else { return Ok(Next::End) };
        let key = self.batch.bytes.get(self.end..item.key_end).unwrap_or_default();
        let value = self.batch.bytes.get(item.key_end..item.value_end).unwrap_or_default();
        self.next += 1;
        self.end = item.value_end;
        Ok(Next::Entry { key, value, place: item.place })
    }

    /// Takes the next batch. `Some`: a fault or the end comes before it.
    fn refill(&mut self, py: Python<'_>) -> PyResult<Option<Next<'static>>> {
        loop {
            match self.messages.pop_front() {
                Some(Message::Batch(batch)) => {
                    for file in &batch.new_files {
                        // A name that is not UTF-8 becomes what os.fsdecode makes of it.
                        self.files.push(file.as_os_str().into_pyobject(py)?.unbind());
                    }
                    // Smaller batches are those at the start, and most iterators are not read further.
                    let is_large = batch.items.len() >= MOST_ENTRIES / 4 || batch.bytes.len() >= 64 << 10;
                    let used = std::mem::replace(&mut self.batch, batch);
                    (self.next, self.end) = (0, 0);
                    if let Doing::Here(work) = &mut self.doing {
                        work.output.used = Some(used);
                    }
                    if is_large {
                        self.hand_over();
                    }
                    return Ok(None);
                }
                Some(Message::Fault(path, fault)) => return Ok(Some(Next::Fault(path, fault))),
                Some(Message::Note(note)) => self.notes.push(note),
                None => match &self.doing {
                    Doing::Here(work) if work.has_ended() => return Ok(Some(Next::End)),
                    Doing::Closed => return Err(PyRuntimeError::new_err("the iterator is closed")),
                    _ => self.work(py)?,
                },
            }
        }
    }

    fn hand_over(&mut self) {
        self.doing = match std::mem::replace(&mut self.doing, Doing::Closed) {
            Doing::Here(work) if !work.has_ended() => Doing::Away(Job::hand_over(work)),
            other => other,
        };
    }

    /// Takes a step, or waits for one that is being taken.
    fn work(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.is_slow {
            self.hand_over();
        }
        match &mut self.doing {
            Doing::Here(work) => py.detach(|| work.step()),
            Doing::Away(job) => match py.detach(|| job.ask(self.is_slow)) {
                Asked::Done(work) => self.doing = Doing::Here(work),
                Asked::NotYet => return py.check_signals(),
                Asked::Lost => {
                    let message = "this iterator was being read ahead when the process was forked: \
                                   only the parent can continue it";
                    return Err(PyRuntimeError::new_err(message));
                }
            },
            Doing::Closed => {}
        }
        if let Doing::Here(work) = &mut self.doing {
            self.messages.append(&mut work.output.messages);
            if std::mem::take(&mut work.has_panicked) {
                return Err(PyRuntimeError::new_err("reading has panicked: please report this"));
            }
        }
        py.check_signals()
    }

    /// Makes the fault come again, as the next item.
    pub(crate) fn put_back(&mut self, path: PathBuf, fault: Fault) {
        self.messages.push_front(Message::Fault(path, fault));
    }

    /// The path of the file that an entry lies in.
    pub(crate) fn file(&self, py: Python<'_>, place: Place) -> Option<Py<PyString>> {
        self.files.get(place.file).map(|file| file.clone_ref(py))
    }

    /// Returns the notes, facts that are no faults.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Ends the work, and gives memory and files back.
    pub(crate) fn close(&mut self) {
        self.doing = Doing::Closed;
        self.messages.clear();
        (self.batch, self.next, self.end) = (Batch::default(), 0, 0);
    }

    pub(crate) const fn is_closed(&self) -> bool {
        matches!(self.doing, Doing::Closed)
    }
}

/// Locks the stream. Other threads of Python run while this thread waits for the lock.
pub(crate) fn lock<'a>(stream: &'a Mutex<Stream>, py: Python<'_>) -> MutexGuard<'a, Stream> {
    // A panic leaves no stream half changed: the work that panicked is lost.
    stream.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// The open iterators of a database or table, which end with it.
#[derive(Default)]
pub(crate) struct Streams(Mutex<Vec<Weak<Mutex<Stream>>>>);

impl Streams {
    pub(crate) fn add(&self, stream: &Arc<Mutex<Stream>>) {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if streams.len() == streams.capacity() {
            streams.retain(|stream| stream.strong_count() > 0);
        }
        streams.push(Arc::downgrade(stream));
    }

    pub(crate) fn close(&self, py: Python<'_>) {
        let streams = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        streams.iter().filter_map(Weak::upgrade).for_each(|stream| lock(&stream, py).close());
    }
}
