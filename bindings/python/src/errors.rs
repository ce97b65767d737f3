//! The exceptions, which `_errors.py` declares.

use std::fmt::Display;
use std::path::Path;

use filterblock::{Error, escape_path};
use filterblock_engine::rebuild::Failure;
use filterblock_engine::report::{ErrorKind, Fault, RebuildStatus};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Makes the exception for something that cannot be read. `path`: the file that was asked for.
pub(crate) fn from_fault(py: Python<'_>, path: Option<&Path>, fault: &Fault) -> PyErr {
    let class = match fault.kind {
        ErrorKind::Damaged => "CorruptionError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Missing | ErrorKind::Vanished => "MissingError",
        ErrorKind::Denied => "DeniedError",
        // Only objects in storage elsewhere, which this package does not read, are found changed.
        ErrorKind::Unreadable | ErrorKind::Changed => "ReadError",
    };
    make(py, class, path, fault)
}

/// The exception for an error of the library's.
pub(crate) fn from_error(py: Python<'_>, error: &Error) -> PyErr {
    let fault = Fault::from(error);
    match error.without_path() {
        Error::InvalidOption { .. } | Error::FilterSize { .. } => make(py, "ArgumentError", None, &fault),
        _ => from_fault(py, None, &fault),
    }
}

/// The exception for a rebuild or repair that did not come to its end.
pub(crate) fn from_failure(py: Python<'_>, path: &Path, failure: &Failure) -> PyErr {
    let text = [std::slice::from_ref(&failure.text), &*failure.remedies].concat().join("; ");
    let fault = Fault::new(text, failure.kind.unwrap_or(ErrorKind::Unreadable));
    let class = match failure.status {
        RebuildStatus::Refused => "RefusedError",
        RebuildStatus::InUse => "InUseError",
        _ => return from_fault(py, Some(path), &fault),
    };
    make(py, class, Some(path), &fault)
}

fn make(py: Python<'_>, class: &str, path: Option<&Path>, fault: &Fault) -> PyErr {
    let Fault { text: message, offset, expected, found, .. } = fault;
    // A table in memory has no path.
    let file = fault.path.as_deref().or(path).filter(|path| !path.as_os_str().is_empty());
    // A message that only says what a fault means comes before its details.
    let details = match (expected, found) {
        (Some(expected), Some(found)) if !message.contains(&**expected) => {
            format!(" (expected {expected}, found {found})")
        }
        _ => String::new(),
    };
    let text = match file.map(|file| escape_path(file).to_string()) {
        Some(file) if !message.starts_with(&file) => format!("{file}: {message}{details}"),
        _ => format!("{message}{details}"),
    };
    let exception = || {
        let details = PyDict::new(py);
        details.set_item("file", file.map(Path::as_os_str))?;
        details.set_item("offset", offset)?;
        details.set_item("expected", expected.as_deref())?;
        details.set_item("found", found.as_deref())?;
        py.import("filterblock._errors")?.getattr(class)?.call((text,), Some(&details))
    };
    exception().map_or_else(|error: PyErr| error, PyErr::from_value)
}

/// The exception for an argument of a wrong value.
pub(crate) fn wrong(name: &str, expected: impl Display, found: impl Display) -> PyErr {
    PyValueError::new_err(format!("{name}: expected {expected}, found {found}"))
}

/// The exception for an object of a wrong type.
pub(crate) fn wrong_type(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    match found.get_type().name() {
        Ok(found) => PyTypeError::new_err(format!("{expected}, found {found}")),
        Err(error) => error,
    }
}
