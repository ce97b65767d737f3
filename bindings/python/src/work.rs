//! Work that takes a long time: done on a thread of its own, while the caller's thread shows progress, notices signals,
//! and makes objects of what is found.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use filterblock_engine::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyList, PyString};

/// The time between two looks at signals and progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// The progress of the work, in bytes of files, and the request to end it.
#[derive(Default)]
pub(crate) struct PyProgress {
    done: AtomicU64,
    expected: AtomicU64,
    is_all: AtomicBool,
    is_interrupted: AtomicBool,
}

impl Progress for PyProgress {
    fn expect(&self, more: u64, is_all: bool) {
        self.expected.fetch_add(more, Ordering::Relaxed);
        self.is_all.fetch_or(is_all, Ordering::Relaxed);
    }

    fn add(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }
}

impl PyProgress {
    /// Calls `callback` with the bytes done, and with those of the whole work once they are known.
    fn tell(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(callback) = callback else { return Ok(()) };
        let expected = self.expected.load(Ordering::Relaxed);
        let expected = self.is_all.load(Ordering::Relaxed).then_some(expected);
        callback.call1(py, (self.done.load(Ordering::Relaxed), expected)).map(drop)
    }
}

/// Takes what the work finds.
pub(crate) struct Found(Sender<Vec<u8>>);

impl Found {
    /// Adds the lines of JSON that `write` writes. An error means that the work is to end.
    pub(crate) fn add(&self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        let mut lines = Vec::new();
        write(&mut lines)?;
        self.0.send(lines).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Does the work of a command. Returns what it found, as reports, and the result of `work`.
///
/// An exception of `callback`, or one for a signal, ends the work.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(Arc<PyProgress>, Found) -> T + Send,
) -> PyResult<(Py<PyList>, T)> {
    let class = py.import("filterblock._reports")?.getattr("Report")?;
    let hook = [("object_hook", class)].into_py_dict(py)?;
    let decode = py.import("json")?.call_method("JSONDecoder", (), Some(&hook))?.getattr("decode")?.unbind();
    let progress = Arc::<PyProgress>::default();
    let list = PyList::empty(py).unbind();
    let (sender, receiver) = channel();
    let looked = |found: &mut Vec<u8>| {
        Python::attach(|py| {
            py.check_signals()?;
            for line in std::mem::take(found).split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                list.bind(py).append(decode.call1(py, (PyString::from_bytes(py, line)?,))?)?;
            }
            progress.tell(py, callback)
        })
    };
    let result = py.detach(|| {
        thread::scope(|scope| {
            let (watch, found) = (Arc::clone(&progress), Found(sender));
            let worker = thread::Builder::new().name("filterblock".to_owned());
            let worker = worker.spawn_scoped(scope, move || work(watch, found))?;
            let (mut found, mut looked_at, mut outcome) = (Vec::new(), Instant::now(), Ok(()));
            let receiver = receiver;
            loop {
                match receiver.recv_timeout(INTERVAL) {
                    Ok(lines) => found.extend(lines),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if looked_at.elapsed() >= INTERVAL {
                    outcome = looked(&mut found);
                    looked_at = Instant::now();
                    if outcome.is_err() {
                        progress.is_interrupted.store(true, Ordering::Relaxed);
                        break;
                    }
                }
            }
            drop(receiver);
            let panicked = || PyRuntimeError::new_err("the work has panicked: please report this");
            let result = worker.join().map_err(|_| panicked())?;
            outcome.and_then(|()| looked(&mut found)).map(|()| result)
        })
    })?;
    Ok((list, result))
}

/// Returns the paths given: one, or any number of them, each as `os.fsdecode` takes it. `true`: a single path was
/// given.
pub(crate) fn paths(given: &Bound<'_, PyAny>) -> PyResult<(Vec<PathBuf>, bool)> {
    let decode = given.py().import("os")?.getattr("fsdecode")?;
    let path = |one: &Bound<'_, PyAny>| decode.call1((one,))?.extract::<PathBuf>();
    match path(given) {
        Ok(one) => Ok((vec![one], true)),
        // Neither text nor bytes nor a path.
        Err(error) => match given.try_iter() {
            Ok(many) => many.map(|one| path(&one?)).collect::<PyResult<_>>().map(|paths| (paths, false)),
            Err(_) => Err(error),
        },
    }
}
