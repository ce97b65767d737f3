//! Reports: what `filterblock inspect` and `filterblock verify` find.

use std::fmt::Display;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use filterblock_engine::page::PageRequest;
use filterblock_engine::report::{ErrorKind, Fault};
use filterblock_engine::{Engine, Inputs, InspectLine, MAX_JOBS, Request};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::Serialize;
use serde_json::Value;

use crate::errors::from_fault;

/// Finds out what tables and their filters are like.
#[pyfunction]
#[pyo3(signature = (path, *, filters = false, recursive = false, jobs = None, max_output = None))]
pub(crate) fn inspect(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    filters: bool,
    recursive: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyList>> {
    let (engine, inputs) = begin(&path, recursive, jobs, max_output)?;
    let reports = PyList::empty(py).unbind();
    let outcome = py.detach(|| {
        engine.inspect(inputs, &mut |line| match line {
            InspectLine::Folder(folder) => add(&reports, &folder),
            InspectLine::Table(mut found) => {
                if let Some(filter) = found.table.filter.as_mut().filter(|_| filters) {
                    filter.list = found.filters;
                }
                add(&reports, &found.table)
            }
            InspectLine::Unreadable(unreadable) => add(&reports, &unreadable),
            InspectLine::Totals(totals) => add(&reports, &totals),
        })
    })?;
    end(reports, outcome.not_started)
}

/// Checks every block, entry and filter, and the MANIFEST.
#[pyfunction]
#[pyo3(signature = (path, *, recursive = false, comparator = None, seed = 0, jobs = None, max_output = None))]
pub(crate) fn verify(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    recursive: bool,
    comparator: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyList>> {
    let is_bytewise = match comparator {
        None => false,
        Some(name) if name.eq("bytewise")? => true,
        Some(other) => return Err(wrong("comparator", "'bytewise'", other.repr()?)),
    };
    let (engine, inputs) = begin(&path, recursive, jobs, max_output)?;
    let engine = engine.seed(seed).bytewise(is_bytewise);
    let reports = PyList::empty(py).unbind();
    let outcome = py.detach(|| engine.verify(inputs, &mut |verified| add(&reports, &verified)))?;
    end(reports, outcome.not_started)
}

/// Makes a page about a database, as HTML.
#[pyfunction]
#[pyo3(signature = (path, *, verify = true, tune = true, jobs = None, max_output = None))]
pub(crate) fn report(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    verify: bool,
    tune: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (engine, inputs) = begin(&path, false, jobs, max_output)?;
    let paths = inputs.paths;
    let [path] = &*paths else { return Ok(String::new()) };
    let page = py.detach(|| {
        let request = PageRequest { verify, tune: tune.then(Request::default) };
        engine.page(path, None, &request).map(|page| page.html)
    });
    page.map_err(|message: String| {
        let kind = if path.exists() { ErrorKind::Unreadable } else { ErrorKind::Missing };
        from_fault(py, Some(path), &Fault::new(message, kind))
    })
}

/// The engine with its limits, and what it is to look at: a path as `os.fsdecode` takes it.
fn begin(
    path: &Bound<'_, PyAny>,
    recursive: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
) -> PyResult<(Engine, Inputs)> {
    let mut engine = Engine::new();
    if let Some(jobs) = jobs {
        engine = engine.jobs(number("jobs", &jobs, 1..=MAX_JOBS as u64)? as u16);
    }
    if let Some(bytes) = max_output {
        engine = engine.max_output(number("max_output", &bytes, 0..=u64::MAX)?);
    }
    let path: PathBuf = path.py().import("os")?.call_method1("fsdecode", (path,))?.extract()?;
    Ok((engine, Inputs { paths: vec![path], recursive, ..Inputs::default() }))
}

/// Adds what was found out as a dictionary. A signal is an error, which ends the work.
fn add(reports: &Py<PyList>, report: &impl Serialize) -> io::Result<()> {
    let report = serde_json::to_value(report)?;
    Python::attach(|py| {
        py.check_signals()?;
        Ok(reports.bind(py).append(to_python(py, report)?)?)
    })
}

/// What a value of JSON is in Python.
fn to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_bound_py_any(py),
            (_, Some(number)) => number.into_bound_py_any(py),
            _ => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(values) => {
            let list = PyList::empty(py);
            values.into_iter().try_for_each(|value| list.append(to_python(py, value)?))?;
            Ok(list.into_any())
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(PyString::intern(py, &name), to_python(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

fn end(reports: Py<PyList>, not_started: Option<String>) -> PyResult<Py<PyList>> {
    not_started.map_or(Ok(reports), |reason| Err(PyRuntimeError::new_err(reason)))
}

fn wrong(name: &str, expected: impl Display, found: impl Display) -> PyErr {
    PyValueError::new_err(format!("{name}: expected {expected}, found {found}"))
}

fn seed_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    number("seed", value, 0..=u64::MAX)
}

fn number(name: &str, value: &Bound<'_, PyAny>, range: RangeInclusive<u64>) -> PyResult<u64> {
    let number = value.py().import("operator")?.call_method1("index", (value,))?;
    match number.extract() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(wrong(name, format_args!("{} to {}", range.start(), range.end()), number)),
    }
}
