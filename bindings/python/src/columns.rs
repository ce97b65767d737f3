//! Many keys and values as bytes end to end with offsets, which NumPy takes without a copy.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// Keys and values of many entries, each end to end. The key of entry `n` is in `key_bytes`, from
/// `key_offsets[n]` to `key_offsets[n + 1]`, and its value likewise.
#[pyclass(frozen, get_all, module = "filterblock")]
pub(crate) struct Columns {
    /// All keys, end to end.
    key_bytes: Py<PyBytes>,
    /// Offset of each key, and the end of the last one: integers of 64 bits.
    key_offsets: Py<PyAny>,
    /// All values, end to end. Those of deletions are empty.
    value_bytes: Py<PyBytes>,
    /// Offset of each value, and the end of the last one: integers of 64 bits.
    value_offsets: Py<PyAny>,
}

/// Entries that become columns.
pub(crate) struct Gathered {
    keys: Vec<u8>,
    key_ends: Vec<i64>,
    values: Vec<u8>,
    value_ends: Vec<i64>,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { keys: Vec::new(), key_ends: vec![0], values: Vec::new(), value_ends: vec![0] }
    }
}

impl Gathered {
    pub(crate) fn len(&self) -> usize {
        self.key_ends.len() - 1
    }

    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.keys.extend_from_slice(key);
        self.key_ends.push(self.keys.len() as i64);
        self.values.extend_from_slice(value);
        self.value_ends.push(self.values.len() as i64);
    }

    pub(crate) fn finish(self, py: Python<'_>) -> PyResult<Columns> {
        Ok(Columns {
            key_bytes: PyBytes::new(py, &self.keys).unbind(),
            key_offsets: offsets(py, &self.key_ends)?,
            value_bytes: PyBytes::new(py, &self.values).unbind(),
            value_offsets: offsets(py, &self.value_ends)?,
        })
    }
}

/// Makes a view of integers of 64 bits.
fn offsets(py: Python<'_>, numbers: &[i64]) -> PyResult<Py<PyAny>> {
    let bytes = PyBytes::new_with(py, size_of_val(numbers), |bytes| {
        for (to, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })?;
    Ok(PyMemoryView::from(&bytes)?.call_method1("cast", ("q",))?.unbind())
}

impl Columns {
    /// The keys and their offsets.
    pub(crate) fn keys<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        (self.key_bytes.bind(py).clone().into_any(), self.key_offsets.bind(py).clone())
    }
}

#[pymethods]
impl Columns {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.key_offsets.bind(py).len()?.saturating_sub(1))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Columns of {} entries>", self.__len__(py)?))
    }
}
