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
#[derive(Default)]
pub(crate) struct Gathered {
    keys: Column,
    values: Column,
}

#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    ends: Vec<i64>,
}

impl Gathered {
    pub(crate) fn len(&self) -> usize {
        self.keys.ends.len()
    }

    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.keys.add(key);
        self.values.add(value);
    }

    pub(crate) fn finish(self, py: Python<'_>) -> PyResult<Columns> {
        let (key_bytes, key_offsets) = self.keys.finish(py)?;
        let (value_bytes, value_offsets) = self.values.finish(py)?;
        Ok(Columns { key_bytes, key_offsets, value_bytes, value_offsets })
    }
}

impl Column {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len() as i64);
    }

    /// The bytes, and the offsets as a view of integers of 64 bits.
    fn finish(self, py: Python<'_>) -> PyResult<(Py<PyBytes>, Py<PyAny>)> {
        // The first offset is 0.
        let offsets = PyBytes::new_with(py, 8 + size_of_val(&*self.ends), |bytes| {
            for (to, end) in bytes.chunks_exact_mut(8).skip(1).zip(&self.ends) {
                to.copy_from_slice(&end.to_ne_bytes());
            }
            Ok(())
        })?;
        let offsets = PyMemoryView::from(&offsets)?.call_method1("cast", ("q",))?;
        Ok((PyBytes::new(py, &self.bytes).unbind(), offsets.unbind()))
    }
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
