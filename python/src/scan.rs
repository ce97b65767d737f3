//! Scans: what `filterblock scan` finds.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use filterblock_cli::entries;
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

/// The arguments of `filterblock scan`.
pub(crate) struct Arguments(Vec<OsString>);

impl Arguments {
    /// Those for a range of keys.
    pub(crate) fn new(range: &Range<'_, '_>) -> PyResult<Self> {
        let mut arguments = vec!["--hex".into()];
        for (option, key) in [("prefix", range.prefix), ("from", range.start), ("to", range.stop)] {
            if let Some(key) = key {
                arguments.push(with_hex(option, &borrow(key)?).into());
            }
        }
        Ok(Self(arguments))
    }

    pub(crate) fn add(&mut self, argument: impl Into<OsString>) {
        self.0.push(argument.into());
    }

    /// Adds the order of the keys of a database without a sound MANIFEST.
    pub(crate) fn add_comparator(&mut self, comparator: Option<&str>) -> PyResult<()> {
        match comparator {
            None => Ok(()),
            Some("bytewise") => {
                self.add("--comparator=bytewise");
                Ok(())
            }
            Some(other) => {
                Err(PyValueError::new_err(format!("comparator: expected \"bytewise\", found {other:?}")))
            }
        }
    }

    /// Starts to scan what is at `path`.
    pub(crate) fn start(self, path: PathBuf) -> PyResult<Stream> {
        let Self(mut arguments) = self;
        arguments.extend(["--".into(), path.into_os_string()]);
        Ok(Stream::start(move |producer| entries::scan(arguments, producer))?)
    }
}

fn with_hex(option: &str, key: &[u8]) -> String {
    let mut argument = format!("--{option}=");
    for byte in key {
        // Writing to memory does not fail.
        let _ = write!(argument, "{byte:02x}");
    }
    argument
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
    let mut arguments = Arguments::new(&range)?;
    if !newest {
        arguments.add("--all");
    }
    if carve {
        arguments.add("--carve");
    }
    if let Some(limit) = limit {
        arguments.add(format!("--limit={limit}"));
    }
    if let Some(internal) = internal_keys {
        arguments.add(if internal { "--key-format=internal" } else { "--key-format=user" });
    }
    if let Some(bytes) = max_output {
        arguments.add(format!("--max-output={bytes}"));
    }
    arguments.add_comparator(comparator)?;
    Ok(Scan::new(arguments.start(path)?, on_error))
}
