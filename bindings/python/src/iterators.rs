//! The iterators over entries, and over keys and values.

use std::sync::{Arc, Mutex};

use filterblock_engine::report::EntryTag;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::columns::{Columns, Gathered};
use crate::entry::{Entry, Fields};
use crate::errors::from_fault;
use crate::stream::{Next, Stream, lock};
use crate::with::closed_by_with;

/// Iterator over entries.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Scan {
    pub(crate) stream: Arc<Mutex<Stream>>,
    pub(crate) on_error: Option<Py<PyAny>>,
    pub(crate) fields: Fields,
}

/// Iterator over keys and values.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Pairs {
    pub(crate) stream: Arc<Mutex<Stream>>,
    pub(crate) with_key: bool,
    pub(crate) with_value: bool,
}

/// Gathers up to `count` entries, or all. A fault before the first entry is raised. A later fault ends the entries, and
/// is raised by the next call.
fn columns(stream: &Mutex<Stream>, py: Python<'_>, count: Option<usize>) -> PyResult<Columns> {
    let mut stream = lock(stream, py);
    let mut gathered = Gathered::default();
    while count.is_none_or(|count| gathered.len() < count) {
        match stream.next(py)? {
            Next::Entry { key, value, .. } => gathered.add(key, value),
            Next::End => break,
            Next::Fault(path, fault) => {
                if gathered.len() == 0 {
                    return Err(from_fault(py, Some(&path), &fault));
                }
                stream.put_back(path, fault);
                break;
            }
        }
    }
    gathered.finish(py)
}

/// Adds what both kinds of iterators have: how they are iterated over, taken at once, and closed.
macro_rules! iterator {
    ($class:ident) => {
        closed_by_with!($class);

        #[pymethods]
        impl $class {
            fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
                this
            }

            /// Takes up to `count` entries at once, or all that are left, as arrays of bytes and offsets.
            #[pyo3(signature = (count = None))]
            fn columns(&self, py: Python<'_>, count: Option<usize>) -> PyResult<Columns> {
                columns(&self.stream, py, count)
            }

            /// Gives files and memory back.
            fn close(&self, py: Python<'_>) {
                lock(&self.stream, py).close();
            }

            /// True once the iterator has been closed.
            #[getter]
            fn closed(&self, py: Python<'_>) -> bool {
                lock(&self.stream, py).is_closed()
            }
        }
    };
}

iterator!(Scan);
iterator!(Pairs);

#[pymethods]
impl Scan {
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        loop {
            let mut stream = lock(&self.stream, py);
            let (key, value, place) = match stream.next(py)? {
                Next::Entry { key, value, place } => {
                    let is_deletion = place.version.is_some_and(EntryTag::is_deletion);
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
            return Ok(Some(Entry { key, value, file, place, fields: self.fields.clone() }));
        }
    }

    /// Facts that are no errors, such as the number of blocks that were found. Complete once the iterator has ended.
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
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = match lock(&self.stream, py).next(py)? {
            Next::Entry { key, value, .. } => match (self.with_key, self.with_value) {
                (true, true) => {
                    PyTuple::new(py, [PyBytes::new(py, key), PyBytes::new(py, value)])?.into_any()
                }
                (true, false) => PyBytes::new(py, key).into_any(),
                (false, true) => PyBytes::new(py, value).into_any(),
                (false, false) => py.None().into_bound(py),
            },
            Next::End => return Ok(None),
            Next::Fault(path, fault) => return Err(from_fault(py, Some(&path), &fault)),
        };
        Ok(Some(found))
    }
}
