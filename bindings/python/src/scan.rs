//! Scans: what `filterblock scan` finds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use filterblock_engine::{Engine, Inputs, KeyOrder, ScanRequest};
use pyo3::prelude::*;

use crate::bounds::Bounds;
use crate::entry::fields;
use crate::errors::wrong;
use crate::iterators::Scan;
use crate::kept::FILES;
use crate::stream::Stream;

/// Returns the order that the caller says keys are in, for databases without a sound MANIFEST.
pub(crate) fn order_of(comparator: Option<&str>) -> PyResult<Option<KeyOrder>> {
    match comparator {
        None => Ok(None),
        Some("bytewise") => Ok(Some(KeyOrder::Bytewise)),
        Some("idb_cmp1") => Ok(Some(KeyOrder::Idb)),
        Some(other) => Err(wrong("comparator", "\"bytewise\" or \"idb_cmp1\"", format_args!("{other:?}"))),
    }
}

/// Makes an iterator over what is at `path`. Nothing is read before the first entry is wanted.
pub(crate) fn begin(engine: &Engine, path: PathBuf, request: ScanRequest) -> Arc<Mutex<Stream>> {
    let inputs = Inputs { paths: vec![path], ..Inputs::default() };
    let engine = engine.clone().files(FILES.clone());
    // Looking for blocks in a large file is one step.
    let is_slow = request.carve;
    Stream::new(engine.scan(inputs, request), is_slow)
}

/// Returns an iterator over the entries of a database, a table or a log: `Entry` objects, every version and deletion, or
/// with `newest` only the newest value of each key.
///
/// The iterator raises each damage once, and its next step continues after it; with `on_error`, that function is called.
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
    let request = ScanRequest {
        all: !newest,
        carve,
        range: Bounds::of(&prefix, (&start, true), (&stop, false), false)?.range,
        limit,
        internal_keys,
        ..ScanRequest::default()
    };
    let engine = Engine::new().order(order_of(comparator)?);
    let engine = max_output.into_iter().fold(engine, Engine::max_output);
    Ok(Scan { stream: begin(&engine, path, request), on_error, fields })
}
