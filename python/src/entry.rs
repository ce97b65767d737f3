//! Entries, and the iterators over them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use filterblock_engine::report::{FileState, Version};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::from_fault;
use crate::stream::{Next, Place, Stream};

/// A version of a key, and where it lies.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Entry {
    /// User key, or the stored key of a table whose keys are no internal keys.
    #[pyo3(get)]
    key: Py<PyBytes>,
    /// Value; None for a deletion.
    #[pyo3(get)]
    value: Option<Py<PyBytes>>,
    /// Path of the file.
    #[pyo3(get)]
    file: Py<PyString>,
    place: Place,
}

#[pymethods]
impl Entry {
    /// Offset in the file of the data block, or of the log's record.
    #[getter]
    fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Sequence number; None if the keys are no internal keys.
    #[getter]
    fn sequence(&self) -> Option<u64> {
        self.place.version.map(|version| version.sequence)
    }

    /// "value", "deletion" or "type N"; None if the keys are no internal keys.
    #[getter]
    fn r#type(&self) -> Option<String> {
        self.place.version.map(|version| version.type_name().into_owned())
    }

    /// True for a deletion.
    #[getter]
    fn deleted(&self) -> bool {
        self.place.version.is_some_and(Version::is_deletion)
    }

    /// "live", "obsolete", "unlisted", "unknown" or "log"; None for a file that was given by itself.
    #[getter]
    fn state(&self) -> Option<&'static str> {
        self.place.state.map(FileState::name)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = match &self.value {
            Some(value) => value.bind(py).repr()?.to_string(),
            None => "None".to_owned(),
        };
        Ok(format!(
            "<Entry {}: {value}, sequence {}, at {} in {}>",
            self.key.bind(py).repr()?,
            self.sequence().map_or_else(|| "None".to_owned(), |sequence| sequence.to_string()),
            self.offset(),
            self.file.bind(py).repr()?
        ))
    }
}

/// Iterator over entries.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Scan {
    stream: Mutex<Stream>,
    on_error: Option<Py<PyAny>>,
}

/// Iterator over keys and values.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Pairs {
    stream: Mutex<Stream>,
}

impl Scan {
    pub(crate) const fn new(stream: Stream, on_error: Option<Py<PyAny>>) -> Self {
        Self { stream: Mutex::new(stream), on_error }
    }
}

impl Pairs {
    pub(crate) const fn new(stream: Stream) -> Self {
        Self { stream: Mutex::new(stream) }
    }

    /// The value of the first entry, if its key is `key`.
    pub(crate) fn first_value<'py>(
        &self,
        py: Python<'py>,
        key: &[u8],
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        match lock(&self.stream, py).next(py)? {
            Next::Entry { key: found, value, .. } if found == key => Ok(Some(PyBytes::new(py, value))),
            Next::Entry { .. } | Next::End => Ok(None),
            Next::Fault(path, fault) => Err(from_fault(py, Some(&path), &fault)),
        }
    }
}

/// Lets other threads of Python run while one of them has the stream.
fn lock<'a>(stream: &'a Mutex<Stream>, py: Python<'_>) -> MutexGuard<'a, Stream> {
    // A panic leaves no stream in between: what it was about is lost.
    stream.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Scan {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        loop {
            let mut stream = lock(&self.stream, py);
            let (key, value, place) = match stream.next(py)? {
                Next::Entry { key, value, place } => {
                    let is_deletion = place.version.is_some_and(Version::is_deletion);
                    let value = (!is_deletion).then(|| PyBytes::new(py, value).unbind());
                    (PyBytes::new(py, key).unbind(), value, place)
                }
                Next::End => return Ok(None),
                Next::Fault(path, fault) => {
                    let error = from_fault(py, Some(&path), &fault);
                    drop(stream);
                    match &self.on_error {
                        Some(callback) => callback.call1(py, (error.into_value(py),))?,
                        None => return Err(error),
                    };
                    continue;
                }
            };
            let file = stream.file(py, place).unwrap_or_else(|| PyString::new(py, "").unbind());
            return Ok(Some(Entry { key, value, file, place }));
        }
    }

    /// Facts that are no errors, such as the number of blocks that were found. Complete at the end.
    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<String> {
        lock(&self.stream, py).notes().to_vec()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.on_error)
    }
}

#[pymethods]
impl Pairs {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match lock(&self.stream, py).next(py)? {
            Next::Entry { key, value, .. } => {
                PyTuple::new(py, [PyBytes::new(py, key), PyBytes::new(py, value)]).map(Some)
            }
            Next::End => Ok(None),
            Next::Fault(path, fault) => Err(from_fault(py, Some(&path), &fault)),
        }
    }
}
