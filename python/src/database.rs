//! Databases.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use filterblock::database::{DatabaseTable, TableStatus};
use filterblock::table::ReadOptions;
use filterblock::{Error, escape, escape_path};
use filterblock_engine::Engine;
use filterblock_engine::ScanRequest;
use filterblock_engine::report::ErrorKind;
use filterblock_engine::report::Fault;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes_like::borrow;
use crate::entry::Pairs;
use crate::errors::{from_error, from_fault};
use crate::scan::{Range, begin, is_bytewise};
use crate::table::value_of;

/// A database, for reading only.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Database {
    database: filterblock::database::Database,
    path: PathBuf,
    /// Keys are said to be in bytewise order, whatever a MANIFEST says.
    is_bytewise: bool,
}

/// A table of a database.
#[pyclass(frozen, get_all, module = "filterblock")]
pub(crate) struct TableFile {
    /// Number that its file is named by.
    number: u64,
    /// Path; None if a live table has no file.
    path: Option<OsString>,
    /// "live", "obsolete", "unlisted" or "unknown".
    state: &'static str,
    /// Size of the file in bytes, if it is known.
    size: Option<u64>,
    /// Level by the MANIFEST; None if it is not live. The next three likewise.
    level: Option<u8>,
    /// Size in bytes that the MANIFEST records.
    recorded_size: Option<u64>,
    /// First user key.
    smallest: Option<Py<PyBytes>>,
    /// Last user key.
    largest: Option<Py<PyBytes>>,
}

/// A log of a database.
#[pyclass(frozen, get_all, module = "filterblock")]
pub(crate) struct LogFile {
    /// Number that its file is named by: the higher, the newer.
    number: u64,
    /// Path.
    path: Option<OsString>,
    /// True if its writes may be in no table yet.
    live: bool,
    /// Size of the file in bytes, if it is known.
    size: Option<u64>,
}

impl Database {
    fn pairs(&self, range: &Range<'_, '_>, limit: Option<u64>) -> PyResult<Pairs> {
        let request = ScanRequest { range: range.keys()?, limit, ..ScanRequest::default() };
        let engine = Engine::new().bytewise(self.is_bytewise);
        Ok(Pairs::new(begin(engine, self.path.clone(), request)?))
    }
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (path, *, comparator = None))]
    fn new(py: Python<'_>, path: PathBuf, comparator: Option<&str>) -> PyResult<Self> {
        let is_bytewise = is_bytewise(comparator)?;
        let database = py
            .detach(|| filterblock::database::Database::open(&path))
            .map_err(|error| from_error(py, &error))?;
        let is_nothing = database.tables().next().is_none() && database.logs().next().is_none();
        if !database.files().is_database() && is_nothing {
            let expected = "CURRENT, a MANIFEST, tables or logs".to_owned();
            let fault = Fault {
                path: None,
                message: format!("expected {expected}, found none of them"),
                kind: ErrorKind::Missing,
                offset: None,
                expected: Some(expected),
                found: Some("none of them".to_owned()),
            };
            return Err(from_fault(py, Some(&path), &fault));
        }
        Ok(Self { database, path, is_bytewise })
    }

    /// Returns the value of a key, or None.
    fn get<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let range = Range { start: Some(key), ..Range::default() };
        self.pairs(&range, Some(1))?.first_value(key.py(), &borrow(key)?)
    }

    /// Returns the values of many keys, each None if absent, in the order of the keys.
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let keys: Vec<_> = keys.iter().map(borrow).collect::<PyResult<_>>()?;
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let lookups = py.detach(|| {
            let mut lookups = Vec::new();
            // Read anew, as `get` does.
            let database = filterblock::database::Database::open(&self.path)?;
            database.get_many(&keys, &ReadOptions::default(), &mut lookups)?;
            lookups.into_iter().collect::<Result<Vec<_>, _>>()
        });
        let lookups = lookups.map_err(|error: Error| from_error(py, &error))?;
        let value = |found| value_of(found).map(|value| PyBytes::new(py, &value));
        Ok(lookups.into_iter().map(value).collect())
    }

    /// Iterates over keys and values, in the order of the keys.
    #[pyo3(signature = (*, prefix = None, start = None, stop = None))]
    fn iterator(
        &self,
        prefix: Option<Bound<'_, PyAny>>,
        start: Option<Bound<'_, PyAny>>,
        stop: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Pairs> {
        self.pairs(&Range { prefix: prefix.as_ref(), start: start.as_ref(), stop: stop.as_ref() }, None)
    }

    fn __iter__(&self) -> PyResult<Pairs> {
        self.pairs(&Range::default(), None)
    }

    /// All tables: the live ones by level and number, then the others.
    fn tables(&self, py: Python<'_>) -> Vec<TableFile> {
        self.database.tables().map(|table| TableFile::new(py, &table)).collect()
    }

    /// All logs, oldest first.
    fn logs(&self) -> Vec<LogFile> {
        let logs = self.database.logs().map(|log| LogFile {
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
        self.path.as_os_str()
    }

    /// Name of the comparator; None without a MANIFEST that can be relied on.
    #[getter]
    fn comparator(&self) -> Option<String> {
        self.database.comparator().map(|name| escape(name).to_string())
    }

    /// The reason why the MANIFEST cannot be relied on; None if it can.
    #[getter]
    fn manifest_error<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let error = self.database.manifest().err()?;
        Some(from_error(py, error).into_value(py).into_bound(py).into_any())
    }

    fn __repr__(&self) -> String {
        format!("<Database {}>", escape_path(&self.path))
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
