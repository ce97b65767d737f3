//! LevelDB's Bloom filters.

use std::sync::Arc;

use filterblock::policy::default_read_policies;
use filterblock::{FilterPolicy as _, KeyBuf, SharedPolicy};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMemoryView};

use crate::bytes_like::{borrow, share};
use crate::errors::{from_error, wrong, wrong_type};
use crate::keys::Keys;

/// LevelDB's filter policy.
#[pyclass(frozen, module = "filterblock")]
pub(crate) struct BloomFilterPolicy {
    policy: filterblock::BloomFilterPolicy,
    bits_per_key: u32,
}

#[pymethods]
impl BloomFilterPolicy {
    #[new]
    #[pyo3(signature = (bits_per_key = 10))]
    fn new(bits_per_key: u32) -> Self {
        Self { policy: filterblock::BloomFilterPolicy::new(bits_per_key), bits_per_key }
    }

    /// Name that tables carry, without "filter."
    #[getter]
    fn name(&self) -> &str {
        self.policy.name()
    }

    /// Bits per key of filters that are made.
    #[getter]
    fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// Makes the filter of keys, byte for byte as LevelDB does.
    fn create_filter<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = keys.py();
        let made = Keys::of(keys)?.with(|keys| {
            py.detach(|| {
                let (mut all, mut filter) = (KeyBuf::new(), Vec::new());
                keys.iter().for_each(|key| all.push(key));
                self.policy.create_filter(all.as_keys(), &mut filter).map(|()| filter)
            })
        })?;
        made.map(|filter| PyBytes::new(py, &filter)).map_err(|error| from_error(py, &error))
    }

    /// Returns False if the filter rules the key out.
    fn key_may_match(&self, key: &Bound<'_, PyAny>, filter: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.policy.key_may_match(&borrow(key)?, &borrow(filter)?))
    }

    /// Answers for many keys as key_may_match does for one.
    fn keys_may_match<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        filter: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let filter = share(filter)?;
        let keys = Keys::of(keys)?;
        let answers = keys.with(|keys| {
            py.detach(|| {
                let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (*key, &*filter)).collect();
                let mut answers = vec![true; probes.len()];
                self.policy.keys_may_match(&probes, &mut answers);
                answers
            })
        })?;
        if keys.are_joined() {
            let answers: Vec<u8> = answers.into_iter().map(u8::from).collect();
            let view = PyMemoryView::from(&PyBytes::new(py, &answers))?;
            return view.call_method1("cast", ("?",));
        }
        Ok(PyList::new(py, answers)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("BloomFilterPolicy(bits_per_key={})", self.bits_per_key)
    }
}

/// Returns the policy that Python gives: an object, or the name of a known policy. `None` stands for LevelDB's policy.
pub(crate) fn policy(given: Option<&Bound<'_, PyAny>>) -> PyResult<SharedPolicy> {
    let Some(given) = given else { return Ok(Arc::new(filterblock::BloomFilterPolicy::new(10))) };
    if let Ok(policy) = given.cast::<BloomFilterPolicy>() {
        return Ok(Arc::new(policy.get().policy));
    }
    let Ok(name) = given.extract::<String>() else {
        return Err(wrong_type("policy: expected a BloomFilterPolicy or a name", given));
    };
    let known = default_read_policies();
    known.iter().find(|policy| policy.name() == name).cloned().ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|policy| policy.name()).collect();
        wrong("policy", format_args!("one of {}", names.join(", ")), format_args!("{name:?}"))
    })
}
