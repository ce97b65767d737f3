//! Reports: what `filterblock inspect`, `verify`, `tune` and `report` find.

use std::fmt::Display;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use filterblock::LegacyHash;
use filterblock_engine::page::PageRequest;
use filterblock_engine::report::{Other, Outcome, Tuned, Verified, write_line};
use filterblock_engine::{Engine, Inputs, InspectLine, MAX_JOBS, Policy, TuneRequest};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::bytes_like::borrow;
use crate::errors::{from_fault, wrong};
use crate::scan::order_of;
use crate::work::{self, Found, paths};

/// Shows what tables and their filters are like.
///
/// Returns a list of reports: for a table, one; for a database, one of the folder, one of each table, and the totals.
#[pyfunction]
#[pyo3(signature = (path, *, filters = false, recursive = false, jobs = None, max_output = None, progress = None))]
pub(crate) fn inspect(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    filters: bool,
    recursive: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyList>> {
    let (engine, inputs, _) = begin(&path, recursive, jobs, max_output)?;
    reports(py, progress, engine, |engine, found| {
        engine.inspect(inputs, &mut |line| {
            found.add(|to| match line {
                InspectLine::Folder(folder) => write_line(to, &folder.data()),
                InspectLine::Table(mut inspected) => {
                    if let Some(filter) = inspected.table.filter.as_mut().filter(|_| filters) {
                        filter.list = inspected.filters;
                    }
                    write_line(to, &inspected.table)
                }
                InspectLine::Other(verified, file_size) => write_line(to, &Other::new(&verified, file_size)),
                InspectLine::Unreadable(unreadable, _) => write_line(to, &unreadable),
                InspectLine::Totals(totals) => write_line(to, &totals),
            })
        })
    })
}

/// Checks every block, entry and filter, and the MANIFEST.
///
/// Returns a list of reports, one of each table and log, and the last of the folder: `verdict` ("fine", "could-be-better",
/// "false-negatives", "damaged" or "unknown"), `problems`, `entries`, `false_negatives`. Damage raises nothing.
#[pyfunction]
#[pyo3(signature = (path, *, recursive = false, comparator = None, jobs = None, max_output = None,
    progress = None))]
pub(crate) fn verify(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    recursive: bool,
    comparator: Option<&str>,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyList>> {
    let order = order_of(comparator)?;
    let (engine, inputs, _) = begin(&path, recursive, jobs, max_output)?;
    reports(py, progress, engine.order(order), |engine, found| {
        engine.verify(inputs, &mut |verified: Verified| found.add(|to| write_line(to, &verified.data())))
    })
}

/// Measures whether other filters would save reads or space.
///
/// Returns a list of reports, one of each database or table: `verdict`, `action`, `text` (the advice), `arguments` (of
/// `filterblock rebuild`), `absent_reads`, `by_bits`. What cannot be read raises nothing.
#[pyfunction]
#[pyo3(signature = (path, *, lookups = None, budget = None, all = false, policy = None,
    recursive = false, jobs = None, max_output = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn tune(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    lookups: Option<Bound<'_, PyAny>>,
    budget: Option<u64>,
    all: bool,
    policy: Option<&str>,
    recursive: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyList>> {
    let lookups =
        lookups.map(|keys| keys.try_iter()?.map(|key| PyResult::Ok(borrow(&key?)?.into_owned())).collect());
    let lookups = lookups.transpose()?.unwrap_or_default();
    let request = TuneRequest { lookups, budget, all, policy: policy.map(policy_of).transpose()? };
    let (engine, inputs, _) = begin(&path, recursive, jobs, max_output)?;
    reports(py, progress, engine, |engine, found| {
        engine.tune(inputs, &request, &mut |tuned: Tuned| found.add(|to| tuned.write_json(to)))
    })
}

/// Returns what `look` finds with the engine.
fn reports(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    engine: Engine,
    look: impl FnOnce(Engine, &Found) -> io::Result<Outcome> + Send,
) -> PyResult<Py<PyList>> {
    let (reports, outcome) =
        work::run(py, progress.as_ref(), |watch, found| look(engine.progress(watch), &found))?;
    outcome?;
    Ok(reports)
}

/// Returns the policy of this name in files, or of this short name. The program takes both.
pub(crate) fn policy_of(name: &str) -> PyResult<Policy> {
    let short = |policy: &Policy| match policy {
        Policy::Builtin2 => "new",
        Policy::Builtin(_) => "old",
        Policy::Own(policy) => policy.short_name(),
    };
    let all = || Policy::all(LegacyHash::Unsigned);
    all().find(|policy| policy.name() == name || short(policy) == name).ok_or_else(|| {
        let known: Vec<&str> = all().map(Policy::name).collect();
        wrong("policy", format_args!("one of {}", known.join(", ")), format_args!("'{name}'"))
    })
}

/// Makes a page about a database, or a page about each of several databases.
///
/// Returns its HTML, or a list of pages.
#[pyfunction]
#[pyo3(signature = (path, *, verify = true, tune = true, jobs = None, max_output = None, progress = None))]
pub(crate) fn report<'py>(
    py: Python<'py>,
    path: Bound<'py, PyAny>,
    verify: bool,
    tune: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (engine, inputs, is_one) = begin(&path, false, jobs, max_output)?;
    let (_, pages) = work::run(py, progress.as_ref(), |watch, _found| {
        let engine = engine.progress(watch);
        let page = |path: &PathBuf| {
            let request =
                PageRequest { verify, tune: tune.then(TuneRequest::default), ..PageRequest::default() };
            let page = engine.page(path, &request).map(|page| page.html());
            page.map_err(|error| Box::new((path.clone(), error)))
        };
        inputs.paths.iter().map(page).collect::<Result<Vec<String>, _>>()
    })?;
    let pages = pages.map_err(|failed| from_fault(py, Some(&failed.0), &failed.1))?;
    match pages.first() {
        Some(page) if is_one => Ok(PyString::new(py, page).into_any()),
        _ => Ok(PyList::new(py, pages)?.into_any()),
    }
}

/// Makes the engine with its limits, and the inputs that the engine is to look at. `true`: a single path was given.
fn begin(
    path: &Bound<'_, PyAny>,
    recursive: bool,
    jobs: Option<Bound<'_, PyAny>>,
    max_output: Option<Bound<'_, PyAny>>,
) -> PyResult<(Engine, Inputs, bool)> {
    let engine = jobs_of(jobs)?.into_iter().fold(Engine::new(), Engine::jobs);
    let max_output = max_output.map(|bytes| number("max_output", &bytes, 0..=u64::MAX)).transpose()?;
    let engine = max_output.into_iter().fold(engine, Engine::max_output);
    let (paths, is_one) = paths(path)?;
    Ok((engine, Inputs { paths, recursive, ..Inputs::default() }, is_one))
}

pub(crate) fn jobs_of(jobs: Option<Bound<'_, PyAny>>) -> PyResult<Option<u16>> {
    jobs.map(|jobs| number("jobs", &jobs, 1..=MAX_JOBS as u16)).transpose()
}

pub(crate) fn number<'py, T>(name: &str, value: &Bound<'py, PyAny>, range: RangeInclusive<T>) -> PyResult<T>
where
    T: FromPyObjectOwned<'py> + PartialOrd + Display,
{
    let number = value.py().import("operator")?.call_method1("index", (value,))?;
    match number.extract() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(wrong(name, format_args!("{} to {}", range.start(), range.end()), &number)),
    }
}
