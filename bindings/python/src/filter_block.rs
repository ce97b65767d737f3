//! Filter blocks.

use bytes::Bytes;
use filterblock::{FilterPolicy as _, SharedPolicy};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::bytes_like::{borrow, share};
use crate::errors::from_error;
use crate::policy::policy;

/// Reader of a filter block.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct FilterBlockReader {
    pub(crate) reader: filterblock::FilterBlockReader<SharedPolicy>,
}

#[pymethods]
impl FilterBlockReader {
    #[new]
    #[pyo3(signature = (contents, policy = None))]
    fn new(contents: &Bound<'_, PyAny>, policy: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let contents: Bytes = share(contents)?;
        Ok(Self { reader: filterblock::FilterBlockReader::new(self::policy(policy)?, contents) })
    }

    /// Returns False if the filter for the data block at this offset rules the key out.
    fn key_may_match(&self, block_offset: u64, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.reader.key_may_match(block_offset, &borrow(key)?))
    }

    /// Looks many keys up, each with the offset of its data block.
    fn keys_may_match<'py>(&self, queries: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = queries.py();
        let objects = queries
            .try_iter()?
            .map(|query| query?.extract::<(u64, Bound<'py, PyAny>)>())
            .collect::<PyResult<Vec<_>>>()?;
        let keys = objects.iter().map(|(_, key)| borrow(key)).collect::<PyResult<Vec<_>>>()?;
        let answers = {
            let offsets = objects.iter().map(|(offset, _)| *offset);
            let queries: Vec<(u64, &[u8])> = offsets.zip(keys.iter().map(|key| &**key)).collect();
            py.detach(|| {
                let mut answers = Vec::new();
                self.reader.keys_may_match(&queries, &mut answers);
                answers
            })
        };
        PyList::new(py, answers)
    }

    /// Raises CorruptionError if the block is malformed.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.reader.check().map_err(|error| from_error(py, &error))
    }

    /// Binary logarithm of the range of offsets that a filter is for.
    #[getter]
    fn base_lg(&self) -> u8 {
        self.reader.base_lg()
    }

    /// Name of the filter policy.
    #[getter]
    fn policy_name(&self) -> &str {
        self.reader.policy().name()
    }

    /// The block as it was given.
    #[getter]
    fn contents<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.reader.contents())
    }

    /// Returns the bytes of a filter, or None if the filter is malformed or there are not so many filters.
    fn filter<'py>(&self, py: Python<'py>, index: usize) -> Option<Bound<'py, PyBytes>> {
        self.reader.filter(index).map(|filter| PyBytes::new(py, filter))
    }

    fn __len__(&self) -> usize {
        self.reader.num_filters()
    }

    fn __repr__(&self) -> String {
        let reader = &self.reader;
        format!(
            "<FilterBlockReader of {} filters, base_lg {}, {}>",
            reader.num_filters(),
            reader.base_lg(),
            reader.policy().name()
        )
    }
}
