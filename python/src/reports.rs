//! What the program prints as JSON.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What the program writes. A signal ends it at its next result.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    interrupt: Option<PyErr>,
}

impl Output {
    fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let signal = Python::attach(|py| py.check_signals());
        let mut written = self.written();
        if let Err(error) = signal {
            written.interrupt = Some(error);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        written.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the program, and returns what it printed.
#[pyfunction]
#[pyo3(name = "_run")]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    let (results, messages) = (Output::default(), Output::default());
    let arguments = std::iter::once("filterblock".into()).chain(arguments);
    let (out, err) = (results.clone(), messages.clone());
    py.detach(move || filterblock_cli::run(arguments, out, err));
    for output in [&results, &messages] {
        if let Some(error) = output.written().interrupt.take() {
            return Err(error);
        }
    }
    let text = |output: &Output| String::from_utf8_lossy(&output.written().bytes).into_owned();
    let (results, messages) = (text(&results), text(&messages));
    if results.is_empty() && !messages.is_empty() {
        return Err(PyValueError::new_err(messages.trim_end().to_owned()));
    }
    Ok(results)
}
