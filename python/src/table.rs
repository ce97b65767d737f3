//! Tables.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::{Cursor, Lookup, ReadAt, ReadOptions};
use filterblock::{Error, SharedPolicy, escape_path};
use filterblock_engine::decode_limit;
use filterblock_engine::has_internal_keys;
use filterblock_engine::report::{Fault, Row};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes_like::{borrow, is_bytes_like, share};
use crate::entry::Pairs;
use crate::errors::from_error;
use crate::filter_block::FilterBlockReader;
use crate::stream::{Producer, Stream};

/// The greatest sequence number and the type of a value.
const NEWEST_TAG: [u8; 8] = [1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];

type Source = Arc<dyn ReadAt + Send + Sync>;
type Opened = filterblock::table::Table<Source>;

/// An open table.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Table {
    table: Opened,
    path: Option<PathBuf>,
    internal_keys: bool,
    /// The filters, which take user keys.
    filter: Option<filterblock::FilterBlockReader<SharedPolicy>>,
}

impl Table {
    /// Opens the table as one of whole keys, and again if its keys are internal keys.
    fn open(
        source: Source,
        path: Option<PathBuf>,
        options: &ReadOptions,
        internal_keys: Option<bool>,
    ) -> Result<Self, Error> {
        let plain = name(Opened::open(Arc::clone(&source), options), path.as_deref())?;
        let internal_keys = internal_keys.unwrap_or_else(|| has_internal_keys(&plain));
        let filter = plain.filter().cloned();
        let table = match internal_keys {
            false => plain,
            true => name(Opened::open(source, &options.clone().internal_keys(true)), path.as_deref())?,
        };
        Ok(Self { table, path, internal_keys, filter })
    }

    /// The same table once more, for a thread to walk through.
    fn again(&self) -> Result<Opened, Error> {
        let (index, filter) = (self.table.index_part(), self.table.filter_part());
        name(Opened::from_parts(Arc::clone(self.table.source()), index, filter), self.path.as_deref())
    }
}

/// The value of a key, if it has one.
pub(crate) fn value_of(found: Lookup) -> Option<Bytes> {
    match found {
        Lookup::Value(value) => Some(value),
        _ => None,
    }
}

/// Names the file in the table, or in the error.
fn name(table: Result<Opened, Error>, path: Option<&Path>) -> Result<Opened, Error> {
    match path {
        Some(path) => table.map(|table| table.with_path(path)).map_err(|error| error.with_path(path)),
        None => table,
    }
}

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
            py.detach(|| Self::open(Arc::new(bytes), None, &options, internal_keys))
        } else {
            let Ok(path) = source.extract::<PathBuf>() else {
                let found = source.get_type().name()?;
                let message = format!("source: expected a path or a bytes-like object, found {found}");
                return Err(PyTypeError::new_err(message));
            };
            py.detach(|| {
                let table = filterblock::table::Table::open_path(&path, &options)?;
                let options = limit(options, table.file_size());
                Self::open(Arc::new(table.into_source()), Some(path), &options, internal_keys)
            })
        };
        table.map_err(|error| from_error(py, &error))
    }

    /// Returns the value of a key, or None.
    #[pyo3(signature = (key, *, sequence = None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        sequence: Option<u64>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = key.py();
        let key = borrow(key)?;
        let found = py.detach(|| match self.internal_keys || sequence.is_some() {
            false => self.table.get(&key),
            true => self.table.get_at(&key, sequence.unwrap_or(u64::MAX)).map(value_of),
        });
        let found = found.map_err(|error| from_error(py, &error))?;
        Ok(found.map(|value| PyBytes::new(py, &value)))
    }

    /// Returns the values of many keys, each None if absent, in the order of the keys.
    #[pyo3(signature = (keys, *, sequence = None))]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<Bound<'py, PyAny>>,
        sequence: Option<u64>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let keys: Vec<_> = keys.iter().map(borrow).collect::<PyResult<_>>()?;
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let values: Vec<Result<Option<Bytes>, Error>> = py.detach(|| {
            let (mut values, mut lookups) = (Vec::new(), Vec::new());
            if self.internal_keys || sequence.is_some() {
                self.table.get_many_at(&keys, sequence.unwrap_or(u64::MAX), &mut lookups);
                values.extend(lookups.into_iter().map(|found| found.map(value_of)));
            } else {
                self.table.get_many(&keys, &mut values);
            }
            values
        });
        let found = |value: Result<Option<Bytes>, Error>| {
            let value = value.map_err(|error| from_error(py, &error))?;
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
        self.table.may_contain(&key).map_err(|error| from_error(py, &error))
    }

    /// Iterates over stored keys and values in the order of the file.
    fn __iter__(&self, py: Python<'_>) -> PyResult<Pairs> {
        let cursor = self.again().map_err(|error| from_error(py, &error))?.into_cursor();
        let path = self.path.clone().unwrap_or_default();
        Ok(Pairs::new(Stream::start(move |producer| {
            // An error means that nobody wants more.
            let _ = walk(cursor, &path, producer);
            Ok(())
        })?))
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
        self.table.file_size()
    }

    /// The filter block; None if there is none, or none that can be read.
    #[getter]
    fn filter(&self) -> Option<FilterBlockReader> {
        self.filter.clone().map(FilterBlockReader::of)
    }

    /// Name of the filter policy that the table names; None if it names none.
    #[getter]
    fn filter_name(&self) -> Option<&str> {
        self.table.filter_name()
    }

    /// The error that keeps filters from being used; None if all is well.
    #[getter]
    fn filter_error<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let error = self.table.filter_error()?;
        Some(from_error(py, error).into_value(py).into_bound(py).into_any())
    }

    /// Offset and size of each data block, as the index has them.
    fn data_blocks(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        let handles =
            self.table.data_blocks().map(|handle| handle.map(|handle| (handle.offset, handle.size)));
        handles.collect::<Result<_, _>>().map_err(|error| from_error(py, &error))
    }

    fn __repr__(&self) -> String {
        match &self.path {
            Some(path) => format!("<Table {}>", escape_path(path)),
            None => format!("<Table of {} bytes>", self.table.file_size()),
        }
    }
}

/// Gives all entries to `producer`. Goes on behind a damaged block.
fn walk(mut cursor: Cursor<'static, Source>, path: &Path, mut producer: Producer) -> std::io::Result<()> {
    loop {
        match cursor.next() {
            Ok(true) => {
                let offset = cursor.block_handle().map_or(0, |handle| handle.offset);
                let (key, value) = (cursor.key(), cursor.value());
                producer.entry(&Row {
                    path,
                    offset,
                    corrected: None,
                    state: None,
                    key,
                    version: None,
                    value,
                })?;
            }
            Ok(false) => return Ok(()),
            Err(error) => {
                producer.fault(path, &Fault::from(error))?;
                cursor.skip_block();
            }
        }
    }
}
