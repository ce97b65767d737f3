//! Scans: what `filterblock scan` finds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use filterblock_engine::{Engine, Inputs, KeyOrder, ScanRequest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bounds::RangeArguments;
use crate::entry::fields;
use crate::iterators::Scan;
use crate::kept::FILES;
use crate::producer::{ScanWork, Work};
use crate::stream::Stream;

/// Returns the order that the caller says keys are in, for databases without a sound MANIFEST.
pub(crate) fn order_of(comparator: Option<&str>) -> PyResult<Option<KeyOrder>> {
    match comparator {
        None => Ok(None),
        Some("bytewise") => Ok(Some(KeyOrder::Bytewise)),
        Some("idb_cmp1") => Ok(Some(KeyOrder::Idb)),
        Some(other) => {
            let message = format!("comparator: expected \"bytewise\" or \"idb_cmp1\", found {other:?}");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Makes an iterator over what is at `path`. Nothing is read before the first entry is wanted.
pub(crate) fn begin(engine: &Engine, path: PathBuf, request: ScanRequest) -> Arc<Mutex<Stream>> {
    let inputs = Inputs { paths: vec![path], ..Inputs::default() };
    let engine = engine.clone().files(FILES.clone());
    // Looking for blocks in a large file is one step.
    let is_slow = request.carve;
    let work = |producer| -> Work { Box::new(ScanWork { cursor: engine.scan(inputs, request), producer }) };
    let stream = Stream::new(work, is_slow);
    Arc::new(Mutex::new(stream))
}

/// Iterates over the entries of a database, a table or a log.
#[pyfunction]
#[pyo3(signature = (path, *, newest = false, carve = false, prefix = None, start = None, stop = None, limit = None,
    internal_keys = None, comparator = None, max_output = None, on_error = None, fields = None))]
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
    fields: Option<Vec<String>>,
) -> PyResult<Scan> {
    let fields = self::fields(fields)?;
    let range = RangeArguments {
        prefix: prefix.as_ref(),
        start: start.as_ref(),
        stop: stop.as_ref(),
        ..RangeArguments::default()
    };
    let request = ScanRequest {
        all: !newest,
        carve,
        range: range.bounds()?.to_range(),
        limit,
        internal_keys,
        ..ScanRequest::default()
    };
    let engine = Engine::new().order(order_of(comparator)?);
    let engine = match max_output {
        Some(bytes) => engine.max_output(bytes),
        None => engine,
    };
    Ok(Scan::new(begin(&engine, path, request), on_error, fields))
}
