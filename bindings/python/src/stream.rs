//! The reader's side of an iterator: entry by entry from batches, which the reader's own thread or one of the shared
//! threads produces.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use filterblock_engine::report::Fault;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::ahead::{Asked, Job, Stepped, step};
use crate::producer::{Batch, MOST_ENTRIES, Message, Place, Producer, Work};

/// The time after which Python is asked whether a signal came.
const PATIENCE: Duration = Duration::from_millis(50);

/// The state of the work: here, handed to another thread, at its end, or given up because the iterator was closed.
enum Doing {
    Here(Work),
    Away(Arc<Job>),
    Ended,
    Closed,
}

/// Takes entries one by one.
pub(crate) struct Stream {
    doing: Doing,
    /// True if a single step may take a long time. Steps are then left to other threads, so that signals are noticed.
    is_slow: bool,
    receiver: Receiver<Message>,
    /// Takes back batches that were used up.
    used: Sender<Batch>,
    batch: Batch,
    next: usize,
    /// The end of the previous entry in the batch.
    end: usize,
    /// A fault that comes next.
    fault: Option<(PathBuf, Fault)>,
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
    /// An iterator over what `work` gives to its producer. Nothing is read before the first entry is wanted.
    pub(crate) fn new(work: impl FnOnce(Producer) -> Work, is_slow: bool) -> Self {
        let (sender, receiver) = channel();
        let (producer, used) = Producer::new(sender);
        Self {
            doing: Doing::Here(work(producer)),
            is_slow,
            receiver,
            used,
            batch: Batch::default(),
            next: 0,
            end: 0,
            fault: None,
            files: Vec::new(),
            notes: Vec::new(),
        }
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
        if let Some((path, fault)) = self.fault.take() {
            return Ok(Some(Next::Fault(path, fault)));
        }
        loop {
            match self.receiver.try_recv() {
                Ok(Message::Batch(batch)) => {
                    for file in &batch.new_files {
                        // A name that is not UTF-8 becomes what os.fsdecode makes of it.
                        self.files.push(file.as_os_str().into_pyobject(py)?.unbind());
                    }
                    // Smaller batches are those at the start, and most iterators are not read further.
                    let is_large = batch.items.len() >= MOST_ENTRIES / 4 || batch.bytes.len() >= 64 << 10;
                    let used = std::mem::replace(&mut self.batch, batch);
                    (self.next, self.end) = (0, 0);
                    // If the work has ended, nobody wants the batch.
                    let _ = self.used.send(used);
                    if is_large {
                        self.hand_over();
                    }
                    return Ok(None);
                }
                Ok(Message::Fault(path, fault)) => return Ok(Some(Next::Fault(path, fault))),
                Ok(Message::Note(note)) => self.notes.push(note),
                Err(_) => match self.doing {
                    Doing::Ended => return Ok(Some(Next::End)),
                    Doing::Closed => return Err(PyRuntimeError::new_err("the iterator is closed")),
                    _ => self.work(py)?,
                },
            }
        }
    }

    fn hand_over(&mut self) {
        self.doing = match std::mem::replace(&mut self.doing, Doing::Closed) {
            Doing::Here(work) => Doing::Away(Job::hand_over(work)),
            other => other,
        };
    }

    /// Takes a step, or waits for one that is being taken.
    fn work(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.is_slow {
            self.hand_over();
        }
        let is_slow = self.is_slow;
        let stepped = match std::mem::replace(&mut self.doing, Doing::Closed) {
            Doing::Here(work) => py.detach(|| step(work)),
            Doing::Away(job) => {
                let ask = || if is_slow { job.wait(PATIENCE) } else { job.ask(PATIENCE) };
                match py.detach(ask) {
                    Asked::Yours(work) => py.detach(|| step(work)),
                    Asked::Done(stepped) => stepped,
                    Asked::Running => {
                        self.doing = Doing::Away(job);
                        return py.check_signals();
                    }
                    Asked::Lost => {
                        self.doing = Doing::Away(job);
                        let message = "this iterator was being read ahead when the process was forked: \
                                       only the parent can continue it";
                        return Err(PyRuntimeError::new_err(message));
                    }
                }
            }
            other => {
                self.doing = other;
                return Ok(());
            }
        };
        match stepped {
            Stepped::More(work) => self.doing = Doing::Here(work),
            Stepped::Ended => self.doing = Doing::Ended,
            Stepped::Panicked => {
                self.doing = Doing::Ended;
                let message = "reading has panicked: please report this";
                return Err(PyRuntimeError::new_err(message));
            }
        }
        py.check_signals()
    }

    /// Makes the fault come again, as the next item.
    pub(crate) fn put_back(&mut self, path: PathBuf, fault: Fault) {
        self.fault = Some((path, fault));
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
        (self.receiver, self.used) = (channel().1, channel().0);
        (self.batch, self.next, self.end) = (Batch::default(), 0, 0);
    }

    pub(crate) const fn is_closed(&self) -> bool {
        matches!(self.doing, Doing::Closed)
    }
}

/// The open iterators of a database or table, which end with it.
#[derive(Default)]
pub(crate) struct Streams(Vec<Weak<Mutex<Stream>>>);

impl Streams {
    pub(crate) fn add(&mut self, stream: &Arc<Mutex<Stream>>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|stream| stream.strong_count() > 0);
        }
        self.0.push(Arc::downgrade(stream));
    }

    /// Takes the iterators that are still there.
    pub(crate) fn take(&mut self) -> Vec<Arc<Mutex<Stream>>> {
        std::mem::take(&mut self.0).iter().filter_map(Weak::upgrade).collect()
    }
}
