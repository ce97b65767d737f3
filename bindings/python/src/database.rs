//! Databases.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use filterblock::database::{DatabaseTable, TableStatus};
use filterblock::table::Lookup;
use filterblock::{Error, escape, escape_path};
use filterblock_engine::report::{ErrorKind, Fault};
use filterblock_engine::{Engine, ScanRequest, other_format};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bounds::Bounds;
use crate::bytes_like::borrow;
use crate::errors::{from_error, from_fault};
use crate::iterators::{Pairs, Scan};
use crate::kept::{Failure, OpenDatabase, Snapshot, value_of};
use crate::keys::Keys;
use crate::scan::{begin, order_of};
use crate::stream::Stream;
use crate::walk::DatabaseWork;
use crate::with::closed_by_with;

/// A database, for reading only.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Database {
    kept: Arc<OpenDatabase>,
    /// The database as it was when it was opened.
    first: Arc<filterblock::database::Database>,
}

/// A table of a database.
#[pyclass(frozen, get_all, module = "filterblock")]
pub(crate) struct TableFile {
    /// Number that the table's file is named after.
    number: u64,
    /// Path; None if a live table has no file.
    path: Option<OsString>,
    /// "live", "obsolete", "unlisted" or "unknown".
    state: &'static str,
    /// Size of the file in bytes, if it is known.
    size: Option<u64>,
    /// Level that the MANIFEST records; None if the table is not live.
    level: Option<u8>,
    /// Size in bytes that the MANIFEST records; None if the table is not live.
    recorded_size: Option<u64>,
    /// First user key; None if the table is not live, or if the MANIFEST has no sound keys of it.
    smallest: Option<Py<PyBytes>>,
    /// Last user key; None if the table is not live, or if the MANIFEST has no sound keys of it.
    largest: Option<Py<PyBytes>>,
}

/// A log of a database.
#[pyclass(frozen, get_all, module = "filterblock")]
pub(crate) struct LogFile {
    /// Number that the log's file is named after: the higher, the newer.
    number: u64,
    /// Path.
    path: Option<OsString>,
    /// True if its writes may be in no table yet.
    live: bool,
    /// Size of the file in bytes, if it is known.
    size: Option<u64>,
}

impl Database {
    /// The database as it is now.
    fn now(&self, py: Python<'_>) -> PyResult<Arc<Snapshot>> {
        py.detach(|| self.kept.now()).map_err(|failure| raised(py, failure))
    }

    fn pairs(&self, py: Python<'_>, bounds: Bounds, with_key: bool, with_value: bool) -> PyResult<Pairs> {
        let version = self.now(py)?;
        let manifest_error = version.database.manifest().err().filter(|_| bounds.reverse);
        if let Some(error) = manifest_error.filter(|_| self.kept.order.is_none()) {
            return Err(from_error(py, error));
        }
        let stream = if version.is_ordered || bounds.reverse {
            Stream::new(DatabaseWork::new(Arc::clone(&self.kept), version, bounds, with_value), false)
        } else {
            let request = ScanRequest { range: bounds.range, ..ScanRequest::default() };
            begin(&Engine::new().order(self.kept.order), self.kept.path.clone(), request)
        };
        self.kept.streams.add(&stream);
        Ok(Pairs { stream, with_key, with_value })
    }
}

fn raised(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Read(error) => from_error(py, &error),
        Failure::Contradicted(fault) => from_fault(py, None, &fault),
        Failure::Closed => PyRuntimeError::new_err("the database is closed"),
    }
}

closed_by_with!(Database);

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (path, *, comparator = None))]
    fn new(py: Python<'_>, path: PathBuf, comparator: Option<&str>) -> PyResult<Self> {
        let kept = Arc::new(OpenDatabase::new(path, order_of(comparator)?));
        let version = py.detach(|| kept.now()).map_err(|failure| raised(py, failure))?;
        let first = Arc::clone(&version.database);
        let is_nothing = first.tables().next().is_none() && first.logs().next().is_none();
        if !first.files().is_database() && is_nothing {
            let fault = Fault::unexpected("CURRENT, a MANIFEST, tables or logs", "none of them");
            let fault = Fault { kind: ErrorKind::Missing, ..fault };
            return Err(from_fault(py, Some(&kept.path), &fault));
        }
        if let Some(found) = py.detach(|| other_format(&first)) {
            return Err(from_fault(py, Some(&kept.path), &found.into()));
        }
        Ok(Self { kept, first })
    }

    /// Returns the value of a key, or `default`.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let key = borrow(key)?;
        let value = py.detach(|| self.kept.get(&key)).map_err(|failure| raised(py, failure))?;
        Ok(value.map(|value| PyBytes::new(py, &value).into_any()).or(default))
    }

    /// Returns the values of many keys, each None if absent, in the order of the keys.
    fn get_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let py = keys.py();
        let (keys, version) = (Keys::of(keys)?, self.now(py)?);
        if let Some(fault) = py.detach(|| version.state_faults().first()) {
            return Err(from_fault(py, None, fault));
        }
        let lookups = keys.with(|keys| {
            py.detach(|| {
                let mut lookups = Vec::new();
                let opener = version.opener();
                version.database.get_many_with(keys, &version.options, opener, &mut lookups)?;
                lookups.into_iter().collect::<Result<Vec<Lookup>, _>>()
            })
        })?;
        let lookups = lookups.map_err(|error: Error| raised(py, version.explain(error)))?;
        let value = |found| value_of(found).map(|value| PyBytes::new(py, &value));
        Ok(lookups.into_iter().map(value).collect())
    }

    /// Iterates over keys and values, in the order of the keys.
    #[pyo3(signature = (*, reverse = false, start = None, stop = None, include_start = true, include_stop = false,
        prefix = None, include_key = true, include_value = true))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn iterator(
        &self,
        py: Python<'_>,
        reverse: bool,
        start: Option<Bound<'_, PyAny>>,
        stop: Option<Bound<'_, PyAny>>,
        include_start: bool,
        include_stop: bool,
        prefix: Option<Bound<'_, PyAny>>,
        include_key: bool,
        include_value: bool,
    ) -> PyResult<Pairs> {
        let bounds = Bounds::of(&prefix, (&start, include_start), (&stop, include_stop), reverse)?;
        self.pairs(py, bounds, include_key, include_value)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Pairs> {
        self.pairs(py, Bounds::default(), true, true)
    }

    /// Iterates over entries as `filterblock.scan` does: every version of each key, unless `newest` is true.
    #[pyo3(signature = (*, newest = false, prefix = None, start = None, stop = None, limit = None, on_error = None,
        fields = None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn scan(
        &self,
        py: Python<'_>,
        newest: bool,
        prefix: Option<Bound<'_, PyAny>>,
        start: Option<Bound<'_, PyAny>>,
        stop: Option<Bound<'_, PyAny>>,
        limit: Option<u64>,
        on_error: Option<Py<PyAny>>,
        fields: Option<Vec<String>>,
    ) -> PyResult<Scan> {
        if self.kept.is_closed() {
            return Err(raised(py, Failure::Closed));
        }
        let range = Bounds::of(&prefix, (&start, true), (&stop, false), false)?.range;
        let request = ScanRequest { all: !newest, range, limit, ..ScanRequest::default() };
        let engine = Engine::new().order(self.kept.order);
        let stream = begin(&engine, self.kept.path.clone(), request);
        self.kept.streams.add(&stream);
        Ok(Scan { stream, on_error, fields: crate::entry::fields(fields)? })
    }

    /// Closes the files and the iterators of the database.
    fn close(&self, py: Python<'_>) {
        self.kept.close();
        self.kept.streams.close(py);
    }

    /// True once the database has been closed.
    #[getter]
    fn closed(&self) -> bool {
        self.kept.is_closed()
    }

    /// All tables that were there when the database was opened: the live ones by level and number, then the others.
    fn tables(&self, py: Python<'_>) -> Vec<TableFile> {
        self.first.tables().map(|table| TableFile::new(py, &table)).collect()
    }

    /// All logs that were there when the database was opened, oldest first.
    fn logs(&self) -> Vec<LogFile> {
        let logs = self.first.logs().map(|log| LogFile {
            number: log.number,
            path: log.file.path().map(OsString::from),
            live: log.is_live,
            size: log.file.size(),
        });
        logs.collect()
    }

    /// Path of the folder.
    #[getter]
    fn path(&self) -> &OsStr {
        self.kept.path.as_os_str()
    }

    /// Name of the comparator; None if the MANIFEST has no such name or cannot be relied on.
    #[getter]
    fn comparator(&self) -> Option<String> {
        self.first.comparator().map(|name| escape(name).to_string())
    }

    /// The reason why the MANIFEST cannot be relied on; None if it can.
    #[getter]
    fn manifest_error<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let error = self.first.manifest().err()?;
        Some(from_error(py, error).into_value(py).into_bound(py).into_any())
    }

    fn __repr__(&self) -> String {
        format!("<Database {}>", escape_path(&self.kept.path))
    }
}

impl TableFile {
    fn new(py: Python<'_>, table: &DatabaseTable<'_>) -> Self {
        let recorded = table.recorded();
        let keys = recorded.and_then(|recorded| recorded.user_keys());
        let key = |key: &[u8]| PyBytes::new(py, key).unbind();
        Self {
            number: table.number,
            path: table.file.path().map(OsString::from),
            state: match table.status {
                TableStatus::Live(_) => "live",
                TableStatus::Obsolete => "obsolete",
                TableStatus::Unlisted => "unlisted",
                _ => "unknown",
            },
            size: table.file.size(),
            level: recorded.map(|recorded| recorded.level),
            recorded_size: recorded.map(|recorded| recorded.size),
            smallest: keys.map(|(smallest, _)| key(smallest)),
            largest: keys.map(|(_, largest)| key(largest)),
        }
    }
}

#[pymethods]
impl TableFile {
    fn __repr__(&self) -> String {
        let level = self.level.map_or_else(String::new, |level| format!(", level {level}"));
        format!("<TableFile {} {}{level}>", self.number, self.state)
    }
}

#[pymethods]
impl LogFile {
    fn __repr__(&self) -> String {
        format!("<LogFile {} {}>", self.number, if self.live { "live" } else { "obsolete" })
    }
}
