//! Many keys as Python gives them: one by one, or end to end with offsets, as NumPy and Arrow have them.

use std::borrow::Cow;

use bytes::Bytes;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::bytes_like::{borrow, share};
use crate::columns::Columns;

/// Keys, held for a call.
pub(crate) enum Keys<'py> {
    Objects(Vec<Bound<'py, PyAny>>),
    /// Keys end to end, and their offsets: key `n` is from element `n` of the offsets to element `n + 1`.
    Joined(Bytes, Vec<usize>),
}

impl<'py> Keys<'py> {
    pub(crate) fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if let Ok(columns) = given.cast::<Columns>() {
            let (bytes, offsets) = columns.get().keys(py);
            return Self::joined(&bytes, &offsets)?.ok_or_else(not_offsets);
        }
        if let Ok(pair) = given.cast::<PyTuple>()
            && pair.len() == 2
            && let Some(joined) = Self::joined(&pair.get_item(0)?, &pair.get_item(1)?)?
        {
            return Ok(joined);
        }
        if !given.is_instance_of::<PyList>() && is_fixed_width(given) {
            return Err(PyTypeError::new_err(
                "keys: an array of NumPy's type S has no zero bytes at the end of keys, whatever was put in: \
                 give (bytes, offsets), or an array of objects",
            ));
        }
        given.try_iter()?.collect::<PyResult<_>>().map(Self::Objects)
    }

    /// Takes keys end to end. `None` if the second object is no array of integers: then both objects are keys.
    fn joined(bytes: &Bound<'py, PyAny>, offsets: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let Some(offsets) = integers(offsets)? else { return Ok(None) };
        let bytes = share(bytes)?;
        let is_sound = offsets.is_sorted() && offsets.last().is_some_and(|last| *last <= bytes.len());
        match is_sound {
            true => Ok(Some(Self::Joined(bytes, offsets))),
            false => Err(PyValueError::new_err(format!(
                "offsets: expected ascending ones of 0 to {}, one more than there are keys",
                bytes.len()
            ))),
        }
    }

    pub(crate) const fn are_joined(&self) -> bool {
        matches!(self, Self::Joined(..))
    }

    /// Calls `work` with the keys, which are copied only if they can change.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&[&[u8]]) -> T) -> PyResult<T> {
        match self {
            Self::Objects(objects) => {
                let keys: Vec<Cow<'_, [u8]>> = objects.iter().map(borrow).collect::<PyResult<_>>()?;
                Ok(work(&keys.iter().map(|key| &**key).collect::<Vec<_>>()))
            }
            Self::Joined(bytes, offsets) => {
                let ends = offsets.iter().zip(offsets.iter().skip(1));
                let keys = ends.map(|(start, end)| bytes.get(*start..*end).unwrap_or_default());
                Ok(work(&keys.collect::<Vec<_>>()))
            }
        }
    }
}

fn not_offsets() -> PyErr {
    PyTypeError::new_err("offsets: expected an array of integers")
}

/// Returns the elements of an array of integers of 32 or 64 bits. `None` if the object is no such array.
fn integers(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
    fn of<T: Element + TryInto<usize>>(object: &Bound<'_, PyAny>) -> Option<PyResult<Vec<usize>>> {
        let numbers = PyBuffer::<T>::get(object).ok()?.to_vec(object.py());
        Some(numbers.and_then(|numbers| {
            let negative = || PyValueError::new_err("offsets: expected none below 0");
            numbers.into_iter().map(|number| number.try_into().map_err(|_| negative())).collect()
        }))
    }
    of::<i64>(object)
        .or_else(|| of::<u64>(object))
        .or_else(|| of::<i32>(object))
        .or_else(|| of::<u32>(object))
        .transpose()
}

/// Returns true for an array of NumPy's type `S`.
fn is_fixed_width(object: &Bound<'_, PyAny>) -> bool {
    let kind = || object.getattr("dtype").ok()?.getattr("kind").ok()?.extract::<String>().ok();
    kind().is_some_and(|kind| kind == "S")
}
