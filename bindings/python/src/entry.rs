//! Entries: a version of a key, and where it lies.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use filterblock_engine::report::{EntryTag, FileRole};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::errors::wrong;
use crate::producer::Place;

/// The attributes of an entry, in the order of `_asdict`.
const NAMES: [&str; 8] = ["key", "value", "sequence", "type", "deleted", "state", "file", "offset"];
/// The attributes that an entry unpacks into, unless others were asked for.
const USUAL: [&str; 2] = ["key", "value"];

/// The attributes that entries unpack into. `None`: key and value.
pub(crate) type Fields = Option<Arc<[&'static str]>>;

/// Returns the attributes of these names.
pub(crate) fn fields(names: Option<Vec<String>>) -> PyResult<Fields> {
    let Some(names) = names else { return Ok(None) };
    let known = |name: &String| {
        let expected = || format!("names among {}", NAMES.join(", "));
        let known = NAMES.into_iter().find(|known| known == name);
        known.ok_or_else(|| wrong("fields", expected(), format_args!("'{name}'")))
    };
    names.iter().map(known).collect::<PyResult<Vec<_>>>().map(|fields| Some(fields.into()))
}

/// A version of a key, and where it is.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct Entry {
    /// User key, or the stored key of a table whose keys are no internal keys.
    #[pyo3(get)]
    pub(crate) key: Py<PyBytes>,
    /// Value; None for a deletion.
    #[pyo3(get)]
    pub(crate) value: Option<Py<PyBytes>>,
    /// Path of the file.
    #[pyo3(get)]
    pub(crate) file: Py<PyString>,
    pub(crate) place: Place,
    pub(crate) fields: Fields,
}

impl Entry {
    fn names(&self) -> &[&'static str] {
        self.fields.as_deref().unwrap_or(&USUAL)
    }

    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match name {
            "key" => self.key.bind(py).into_bound_py_any(py),
            "value" => self.value.as_ref().map(|value| value.bind(py)).into_bound_py_any(py),
            "sequence" => self.sequence().into_bound_py_any(py),
            "type" => self.r#type().into_bound_py_any(py),
            "deleted" => self.deleted().into_bound_py_any(py),
            "state" => self.state().into_bound_py_any(py),
            "file" => self.file.bind(py).into_bound_py_any(py),
            _ => self.offset().into_bound_py_any(py),
        }
    }

    fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let values = self.names().iter().map(|name| self.attribute(py, name));
        PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    fn bytes<'a>(&'a self, py: Python<'a>) -> (&'a [u8], Option<&'a [u8]>) {
        (self.key.as_bytes(py), self.value.as_ref().map(|value| value.as_bytes(py)))
    }
}

#[pymethods]
impl Entry {
    /// Offset in the file of the data block, or of the log's record.
    #[getter]
    fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Sequence number; None if the keys are no internal keys.
    #[getter]
    fn sequence(&self) -> Option<u64> {
        self.place.version.map(|version| version.sequence)
    }

    /// "value", "deletion" or "type N"; None if the keys are no internal keys.
    #[getter]
    fn r#type(&self) -> Option<String> {
        self.place.version.map(|version| version.type_name().into_owned())
    }

    /// True for a deletion.
    #[getter]
    fn deleted(&self) -> bool {
        self.place.version.is_some_and(EntryTag::is_deletion)
    }

    /// "live", "obsolete", "unlisted", "unknown" or "log"; None for a file that was given by itself.
    #[getter]
    fn state(&self) -> Option<&'static str> {
        self.place.state.map(FileRole::name)
    }

    /// Names of the attributes that the entry unpacks into, as a named tuple has them.
    #[getter]
    fn _fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.names())
    }

    /// All attributes as a dictionary.
    fn _asdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        NAMES.iter().try_for_each(|name| dict.set_item(name, self.attribute(py, name)?))?;
        Ok(dict)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.tuple(py)?.try_iter().map(Bound::into_any)
    }

    fn __len__(&self) -> usize {
        self.names().len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.tuple(index.py())?.as_any().get_item(index)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let (a, b) = (&self.place, &other.place);
        let is_equal = self.bytes(py) == other.bytes(py)
            && (a.offset, a.version, a.state) == (b.offset, b.version, b.state)
            && self.file.bind(py).as_any().eq(other.file.bind(py))?;
        is_equal.into_py_any(py)
    }

    fn __hash__(&self, py: Python<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.bytes(py), self.place.offset, self.sequence()).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the function with which `pickle` and `copy` make the entry anew, and the function's arguments.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("filterblock._filterblock")?.getattr("_entry")?;
        let kind = self.place.version.map(|version| version.kind);
        let fields = self.fields.as_deref().map(<[&str]>::to_vec);
        let (key, value, file) = (&self.key, &self.value, &self.file);
        let arguments = (key, value, file, self.offset(), self.sequence(), kind, self.state(), fields)
            .into_pyobject(py)?;
        Ok((make, arguments))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = match &self.value {
            Some(value) => value.bind(py).repr()?.to_string(),
            None => "None".to_owned(),
        };
        Ok(format!(
            "<Entry {}: {value}, sequence {}, at {} in {}>",
            self.key.bind(py).repr()?,
            self.sequence().map_or_else(|| "None".to_owned(), |sequence| sequence.to_string()),
            self.offset(),
            self.file.bind(py).repr()?
        ))
    }
}

/// Makes an entry that was pickled.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "an entry has as many parts")]
pub(crate) fn _entry(
    key: Py<PyBytes>,
    value: Option<Py<PyBytes>>,
    file: Py<PyString>,
    offset: u64,
    sequence: Option<u64>,
    kind: Option<u8>,
    state: Option<&str>,
    names: Option<Vec<String>>,
) -> PyResult<Entry> {
    let version = sequence.zip(kind).map(|(sequence, kind)| EntryTag { sequence, kind });
    let states = [FileRole::Live, FileRole::Obsolete, FileRole::Unlisted, FileRole::Unknown, FileRole::Log];
    let state = state.and_then(|name| states.into_iter().find(|state| state.name() == name));
    let place = Place { file: 0, offset, version, state };
    Ok(Entry { key, value, file, place, fields: fields(names)? })
}
