//! Scans: what `filterblock scan` finds.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use filterblock_engine::report::ScanLine;
use filterblock_engine::{Engine, Inputs};
use filterblock_engine::{KeyRange, ScanRequest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bytes_like::borrow;
use crate::entry::Scan;
use crate::stream::Stream;

/// The keys to show.
#[derive(Default)]
pub(crate) struct Range<'a, 'py> {
    pub(crate) prefix: Option<&'a Bound<'py, PyAny>>,
    pub(crate) start: Option<&'a Bound<'py, PyAny>>,
    pub(crate) stop: Option<&'a Bound<'py, PyAny>>,
}

impl Range<'_, '_> {
    pub(crate) fn keys(&self) -> PyResult<KeyRange> {
        let key =
            |key: Option<&Bound<'_, PyAny>>| key.map(|key| borrow(key).map(Cow::into_owned)).transpose();
        Ok(KeyRange { prefix: key(self.prefix)?, from: key(self.start)?, to: key(self.stop)? })
    }
}

/// Whether the order of the keys of a database without a sound MANIFEST is said to be bytewise.
pub(crate) fn is_bytewise(comparator: Option<&str>) -> PyResult<bool> {
    match comparator {
        None => Ok(false),
        Some("bytewise") => Ok(true),
        Some(other) => {
            Err(PyValueError::new_err(format!("comparator: expected \"bytewise\", found {other:?}")))
        }
    }
}

/// Starts to scan what is at `path`.
pub(crate) fn begin(engine: Engine, path: PathBuf, request: ScanRequest) -> PyResult<Stream> {
    let inputs = Inputs { paths: vec![path], ..Inputs::default() };
    Ok(Stream::start(move |mut producer| {
        match engine.scan(inputs, &request, &mut |line: ScanLine<'_>| producer.line(line)) {
            // Nobody wants more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map(drop).map_err(|error| error.to_string()),
        }
    })?)
}

/// Iterates over the entries of a database, a table or a log.
#[pyfunction]
#[pyo3(signature = (path, *, newest = false, carve = false, prefix = None, start = None, stop = None, limit = None,
    internal_keys = None, comparator = None, max_output = None, on_error = None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn scan(
    path: PathBuf,
    newest: bool,
    carve: bool,
    prefix: Option<Bound<'_, PyAny>>,
    start: Option<Bound<'_, PyAny>>,
    stop: Option<Bound<'_, PyAny>>,
    limit: Option<u64>,
    internal_keys: Option<bool>,
    comparator: Option<&str>,
    max_output: Option<u64>,
    on_error: Option<Py<PyAny>>,
) -> PyResult<Scan> {
    let range = Range { prefix: prefix.as_ref(), start: start.as_ref(), stop: stop.as_ref() };
    let request = ScanRequest {
        all: !newest,
        carve,
        range: range.keys()?,
        limit,
        internal_keys,
        ..ScanRequest::default()
    };
    let engine = Engine::new().bytewise(is_bytewise(comparator)?);
    let engine = match max_output {
        Some(bytes) => engine.max_output(bytes),
        None => engine,
    };
    Ok(Scan::new(begin(engine, path, request)?, on_error))
}
