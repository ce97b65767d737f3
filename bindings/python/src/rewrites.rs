//! The functions that write databases, as `filterblock rebuild` and `filterblock repair` do.

use std::path::{Path, PathBuf};

use filterblock::LegacyHash;
use filterblock_engine::Engine;
use filterblock_engine::rebuild::{Failure, FilterRequest, RebuildMode, RebuildOptions};
use filterblock_engine::repair::{Prefer, RepairRequest};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{from_failure, wrong};
use crate::reports::{jobs_of, number, policy_of};
use crate::work::{self, Found, paths};

/// The most bits a key, as for the program.
const MOST_BITS: u32 = 100;

/// Rebuilds the filters of closed databases.
///
/// Returns a list of reports, one of each table and the last of the database.
#[pyfunction]
#[pyo3(signature = (path, *, to = None, in_place = false, undo = false, discard = false, bits_per_key = None,
    policy = None, hash = None, base_lg = None, drop = false, keep_undecodable = false, jobs = None,
    dry_run = false, assume_bytewise_equality = false, keep_undo = true, progress = None))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "Python names them")]
pub(crate) fn rebuild(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    to: Option<Bound<'_, PyAny>>,
    in_place: bool,
    undo: bool,
    discard: bool,
    bits_per_key: Option<Bound<'_, PyAny>>,
    policy: Option<&str>,
    hash: Option<&str>,
    base_lg: Option<u8>,
    drop: bool,
    keep_undecodable: bool,
    jobs: Option<Bound<'_, PyAny>>,
    dry_run: bool,
    assume_bytewise_equality: bool,
    keep_undo: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyList>> {
    if [to.is_some(), in_place, undo, discard].into_iter().filter(|given| *given).count() != 1 {
        return Err(PyTypeError::new_err("expected one of to, in_place, undo and discard"));
    }
    if drop && (bits_per_key.is_some() || policy.is_some() || hash.is_some() || base_lg.is_some()) {
        return Err(PyTypeError::new_err("drop: expected no options for new filters beside it"));
    }
    let (paths, is_one) = paths(&path)?;
    if to.is_some() && !is_one {
        return Err(PyTypeError::new_err("to: expected one database beside it"));
    }
    let filters = match drop {
        true => FilterRequest::Drop,
        false => new_filters(bits_per_key, policy, hash, base_lg)?,
    };
    let engine = jobs_of(jobs)?.into_iter().fold(Engine::new(), Engine::jobs);
    let options = RebuildOptions { filters, keep_undecodable, assume_bytewise_equality, dry_run };
    let mode = match to {
        Some(to) => RebuildMode::To(one_path(&to)?, options),
        None if undo => RebuildMode::Undo,
        None if discard => RebuildMode::Discard,
        None => RebuildMode::InPlace { options, keeps_undo: keep_undo },
    };
    each(py, &engine, paths, progress.as_ref(), |engine, path, found| {
        let report = engine.rebuild_folder(path, &mode)?;
        // If nobody wants the report, the work is still done.
        let _ = found.add(|to| report.write_json(path, to));
        Ok(())
    })
}

fn new_filters(
    bits_per_key: Option<Bound<'_, PyAny>>,
    policy: Option<&str>,
    hash: Option<&str>,
    base_lg: Option<u8>,
) -> PyResult<FilterRequest> {
    if base_lg.is_some_and(|base_lg| base_lg > 63) {
        return Err(PyValueError::new_err("base_lg: expected 0 to 63"));
    }
    Ok(FilterRequest::Make {
        bits: bits_per_key.map_or(Ok(10), |bits| bits_of(&bits))?,
        policy: policy.map(policy_of).transpose()?.map(|policy| policy.name().to_owned()),
        hash: hash.map(hash_of).transpose()?,
        base_lg,
    })
}

/// Makes a new database of what can be saved of a damaged one, which is only read.
///
/// Returns a list of reports, one of each file, loss and key that may be stale, and the last of the database.
#[pyfunction]
#[pyo3(signature = (path, to = None, *, prefer = "newest", comparator = None, policy = None, hash = None,
    bits_per_key = None, jobs = None, dry_run = false, max_output = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn repair(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    to: Option<Bound<'_, PyAny>>,
    prefer: &str,
    comparator: Option<String>,
    policy: Option<&str>,
    hash: Option<&str>,
    bits_per_key: Option<Bound<'_, PyAny>>,
    jobs: Option<Bound<'_, PyAny>>,
    dry_run: bool,
    max_output: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyList>> {
    if to.is_none() && !dry_run {
        return Err(PyTypeError::new_err("expected to, or dry_run=True"));
    }
    let target = to.map(|to| one_path(&to)).transpose()?;
    let request = RepairRequest {
        prefer: match prefer {
            "newest" => Prefer::Newest,
            "sound" => Prefer::Sound,
            other => return Err(wrong("prefer", "'newest' or 'sound'", format_args!("'{other}'"))),
        },
        comparator,
        policy: policy.map(policy_of).transpose()?.map(|policy| policy.name().to_owned()),
        hash: hash.map(hash_of).transpose()?,
        bits_per_key: bits_per_key.map(|bits| bits_of(&bits)).transpose()?,
    };
    let engine = max_output.into_iter().fold(Engine::new(), Engine::max_output);
    let engine = jobs_of(jobs)?.into_iter().fold(engine, Engine::jobs);
    each(py, &engine, vec![one_path(&path)?], progress.as_ref(), |engine, path, found| {
        let report = engine.repair_folder(path, target.as_deref(), dry_run, &request)?;
        // If nobody wants the report, the work is still done.
        let _ = found.add(|to| report.write_json(path, to));
        Ok(())
    })
}

/// Does `work` with one database after another. The first failure ends the work, and is raised.
fn each(
    py: Python<'_>,
    engine: &Engine,
    paths: Vec<PathBuf>,
    progress: Option<&Py<PyAny>>,
    work: impl Fn(&Engine, &Path, &Found) -> Result<(), Failure> + Send + Sync,
) -> PyResult<Py<PyList>> {
    let (reports, result) = work::run(py, progress, |watch, found| {
        let engine = engine.clone().progress(watch);
        paths
            .iter()
            .try_for_each(|path| work(&engine, path, &found).map_err(|failure| (path.clone(), failure)))
    })?;
    result.map_err(|(path, failure)| from_failure(py, &path, &failure))?;
    Ok(reports)
}

fn one_path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    given.py().import("os")?.call_method1("fsdecode", (given,))?.extract()
}

fn hash_of(name: &str) -> PyResult<LegacyHash> {
    match name {
        "signed" => Ok(LegacyHash::Signed),
        "unsigned" => Ok(LegacyHash::Unsigned),
        other => Err(wrong("hash", "'signed' or 'unsigned'", format_args!("'{other}'"))),
    }
}

fn bits_of(bits: &Bound<'_, PyAny>) -> PyResult<u32> {
    number("bits_per_key", bits, 1..=MOST_BITS)
}
