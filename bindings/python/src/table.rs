//! Tables.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use filterblock::table::{ReadAt, ReadOptions};
use filterblock::{Error, SharedPolicy, escape_path};
use filterblock_engine::report::Fault;
use filterblock_engine::{decode_limit, form_doubt, has_internal_keys};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bounds::Bounds;
use crate::bytes_like::{borrow, is_bytes_like, share};
use crate::errors::{from_error, from_fault, wrong_type};
use crate::filter_block::FilterBlockReader;
use crate::iterators::{Pairs, Scan};
use crate::kept::value_of;
use crate::keys::Keys;
use crate::stream::{Stream, Streams};
use crate::walk::TableWork;
use crate::with::closed_by_with;

/// The greatest sequence number and the type of a value.
const NEWEST_TAG: [u8; 8] = [1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];

type Source = Arc<dyn ReadAt + Send + Sync>;
type Opened = filterblock::table::Table<Source>;

/// An open table.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Table {
    /// `None` if the table is closed.
    open: Mutex<Option<Arc<OpenTable>>>,
    streams: Streams,
    path: Option<PathBuf>,
    internal_keys: bool,
    /// The reason why the form of the keys is not certain. A key that is not found may be there then.
    doubt: Option<Fault>,
    file_size: u64,
}

/// An open table and its filters.
struct OpenTable {
    table: Opened,
    /// The filters, which take user keys.
    filter: Option<filterblock::FilterBlockReader<SharedPolicy>>,
}

impl Table {
    /// Opens the table as one of whole keys, and again if its keys are internal keys.
    fn of(
        source: Source,
        path: Option<PathBuf>,
        options: &ReadOptions,
        internal_keys: Option<bool>,
    ) -> Result<Self, Error> {
        let plain = name(Opened::open(Arc::clone(&source), options), path.as_deref())?;
        let doubt = form_doubt(&plain, internal_keys, "internal_keys");
        let internal_keys = internal_keys.unwrap_or_else(|| has_internal_keys(&plain));
        let filter = plain.filter().cloned();
        let table = match internal_keys {
            false => plain,
            true => name(Opened::open(source, &options.clone().internal_keys(true)), path.as_deref())?,
        };
        let file_size = table.file_size();
        let open = Mutex::new(Some(Arc::new(OpenTable { table, filter })));
        Ok(Self { open, streams: Streams::default(), path, internal_keys, doubt, file_size })
    }

    fn open(&self) -> PyResult<Arc<OpenTable>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| PyRuntimeError::new_err("the table is closed"))
    }

    /// An iterator that walks through the table. `with_places`: keys are taken apart, and come with their places.
    fn stream(
        &self,
        py: Python<'_>,
        bounds: Bounds,
        with_places: bool,
        limit: Option<u64>,
    ) -> PyResult<Arc<Mutex<Stream>>> {
        let open = self.open()?;
        let (index, filter) = (open.table.index_part(), open.table.filter_part());
        let again = Opened::from_parts(Arc::clone(open.table.source()), index, filter);
        let again = name(again, self.path.as_deref()).map_err(|error| from_error(py, &error))?;
        let work = TableWork {
            cursor: again.into_cursor(),
            path: self.path.clone().unwrap_or_default(),
            is_first: bounds.reverse,
            bounds,
            format: with_places.then(|| self.internal_keys.then(|| open.table.key_format())),
            limit,
            doubt: self.doubt.clone().filter(|_| with_places),
        };
        let stream = Stream::new(work, false);
        self.streams.add(&stream);
        Ok(stream)
    }

    /// The result for a key.
    fn found(&self, py: Python<'_>, value: Result<Option<Bytes>, Error>) -> PyResult<Option<Bytes>> {
        match (value, &self.doubt) {
            (Ok(None), Some(doubt)) => Err(from_fault(py, self.path.as_deref(), doubt)),
            (value, _) => value.map_err(|error| from_error(py, &error)),
        }
    }
}

/// Names the file in the table, or in the error.
fn name(table: Result<Opened, Error>, path: Option<&Path>) -> Result<Opened, Error> {
    match path {
        Some(path) => table.map(|table| table.with_path(path)).map_err(|error| error.with_path(path)),
        None => table,
    }
}

closed_by_with!(Table);

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (source, *, internal_keys = None, verify_checksums = true, max_output = None))]
    fn new(
        source: &Bound<'_, PyAny>,
        internal_keys: Option<bool>,
        verify_checksums: bool,
        max_output: Option<u64>,
    ) -> PyResult<Self> {
        let py = source.py();
        let options = ReadOptions::default().verify_checksums(verify_checksums);
        let limit = |options: ReadOptions, size: u64| options.max_output(decode_limit(max_output, size));
        let table = if is_bytes_like(source) {
            let bytes = share(source)?;
            let options = limit(options, bytes.len() as u64);
            py.detach(|| Self::of(Arc::new(bytes), None, &options, internal_keys))
        } else {
            let Ok(path) = source.extract::<PathBuf>() else {
                return Err(wrong_type("source: expected a path or a bytes-like object", source));
            };
            py.detach(|| {
                let table = filterblock::table::Table::open_path(&path, &options)?;
                let options = limit(options, table.file_size());
                Self::of(Arc::new(table.into_source()), Some(path), &options, internal_keys)
            })
        };
        table.map_err(|error| from_error(py, &error))
    }

    /// Returns the value of a key, or `default`.
    #[pyo3(signature = (key, default = None, *, sequence = None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        sequence: Option<u64>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let (key, open) = (borrow(key)?, self.open()?);
        let found = py.detach(|| match self.internal_keys || sequence.is_some() {
            false => open.table.get(&key),
            true => open.table.get_at(&key, sequence.unwrap_or(u64::MAX)).map(value_of),
        });
        let found = self.found(py, found)?;
        Ok(found.map(|value| PyBytes::new(py, &value).into_any()).or(default))
    }

    /// Returns the values of many keys, each None if absent, in the order of the keys.
    #[pyo3(signature = (keys, *, sequence = None))]
    fn get_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        sequence: Option<u64>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let (py, open) = (keys.py(), self.open()?);
        let values: Vec<Result<Option<Bytes>, Error>> = Keys::of(keys)?.with(|keys| {
            py.detach(|| {
                let (mut values, mut lookups) = (Vec::new(), Vec::new());
                if self.internal_keys || sequence.is_some() {
                    open.table.get_many_at(keys, sequence.unwrap_or(u64::MAX), &mut lookups);
                    values.extend(lookups.into_iter().map(|found| found.map(value_of)));
                } else {
                    open.table.get_many(keys, &mut values);
                }
                values
            })
        })?;
        let found = |value: Result<Option<Bytes>, Error>| {
            let value = self.found(py, value)?;
            Ok(value.map(|value| PyBytes::new(py, &value)))
        };
        values.into_iter().map(found).collect()
    }

    /// Returns False if index or filter say that the table has no entry of the key.
    fn may_contain(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        let mut key = borrow(key)?;
        if self.internal_keys {
            // Comes before all entries of the key.
            key.to_mut().extend(NEWEST_TAG);
        }
        let may = self.open()?.table.may_contain(&key).map_err(|error| from_error(py, &error))?;
        Ok(may || self.doubt.is_some())
    }

    /// Iterates over stored keys and values in the order of the file.
    fn __iter__(&self, py: Python<'_>) -> PyResult<Pairs> {
        let stream = self.stream(py, Bounds::default(), false, None)?;
        Ok(Pairs { stream, with_key: true, with_value: true })
    }

    /// Iterates over entries in the order of the file, or in the opposite order.
    #[pyo3(signature = (*, reverse = false, start = None, stop = None, include_start = true, include_stop = false,
        prefix = None, limit = None, on_error = None, fields = None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn scan(
        &self,
        py: Python<'_>,
        reverse: bool,
        start: Option<Bound<'_, PyAny>>,
        stop: Option<Bound<'_, PyAny>>,
        include_start: bool,
        include_stop: bool,
        prefix: Option<Bound<'_, PyAny>>,
        limit: Option<u64>,
        on_error: Option<Py<PyAny>>,
        fields: Option<Vec<String>>,
    ) -> PyResult<Scan> {
        let bounds = Bounds::of(&prefix, (&start, include_start), (&stop, include_stop), reverse)?;
        let stream = self.stream(py, bounds, true, limit)?;
        Ok(Scan { stream, on_error, fields: crate::entry::fields(fields)? })
    }

    /// Closes the file, and the iterators.
    fn close(&self, py: Python<'_>) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.streams.close(py);
        drop(open);
    }

    /// True once the table has been closed.
    #[getter]
    fn closed(&self) -> bool {
        self.open().is_err()
    }

    /// Path of the file; None for bytes.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        self.path.as_deref().map(Path::as_os_str)
    }

    /// True if the keys are a database's internal keys.
    #[getter]
    fn internal_keys(&self) -> bool {
        self.internal_keys
    }

    /// Size in bytes.
    #[getter]
    fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The filter block; None if the table has no filter block that can be read.
    #[getter]
    fn filter(&self) -> PyResult<Option<FilterBlockReader>> {
        Ok(self.open()?.filter.clone().map(|reader| FilterBlockReader { reader }))
    }

    /// Name of the filter policy that the table names; None if it names none.
    #[getter]
    fn filter_name(&self) -> PyResult<Option<String>> {
        Ok(self.open()?.table.filter_name().map(str::to_owned))
    }

    /// The error that keeps filters from being used; None if there is no such error.
    #[getter]
    fn filter_error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let open = self.open()?;
        let error = open.table.filter_error();
        Ok(error.map(|error| from_error(py, error).into_value(py).into_bound(py).into_any()))
    }

    /// Offset and size of each data block, as the index has them.
    fn data_blocks(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        let open = self.open()?;
        let handles =
            open.table.data_blocks().map(|handle| handle.map(|handle| (handle.offset, handle.size)));
        handles.collect::<Result<_, _>>().map_err(|error| from_error(py, &error))
    }

    fn __repr__(&self) -> String {
        match &self.path {
            Some(path) => format!("<Table {}>", escape_path(path)),
            None => format!("<Table of {} bytes>", self.file_size),
        }
    }
}
