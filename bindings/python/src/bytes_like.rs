//! Bytes that Python gives: used where they lie if they cannot change, else copied.

use std::borrow::Cow;

use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::errors::wrong_type;

/// Borrows `bytes`, and copies what any other object with a buffer holds.
pub(crate) fn borrow<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(Cow::Borrowed(bytes.as_bytes())),
        Err(_) => copy(object).map(Cow::Owned),
    }
}

/// Shares `bytes`, also those that a view shows, and copies what any other object with a buffer holds.
pub(crate) fn share(object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(Bytes::from_owner(PyBackedBytes::from(bytes.clone()))),
        Err(_) => match share_view(object)? {
            Some(shared) => Ok(shared),
            None => copy(object).map(Bytes::from),
        },
    }
}

/// Shares the part of `bytes` that a memoryview, or an array of NumPy, shows. `None` if the object shows no `bytes`.
fn share_view(object: &Bound<'_, PyAny>) -> PyResult<Option<Bytes>> {
    let Some(owner) = owner(object) else { return Ok(None) };
    let Ok(buffer) = PyBuffer::<u8>::get(object) else { return Ok(None) };
    if !buffer.is_c_contiguous() || buffer.len_bytes() == 0 {
        return Ok(None);
    }
    let start = (buffer.buf_ptr() as usize).wrapping_sub(owner.as_bytes().as_ptr() as usize);
    let end = start.wrapping_add(buffer.len_bytes());
    let shared = Bytes::from_owner(PyBackedBytes::from(owner));
    Ok((start <= end && end <= shared.len()).then(|| shared.slice(start..end)))
}

/// Returns the `bytes` that a view shows, directly or through other views. `None` if eight steps find no `bytes`.
fn owner<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    let mut object = object.clone();
    for _ in 0..8 {
        object = match object.cast_into::<PyBytes>() {
            Ok(bytes) => return Some(bytes),
            Err(other) => {
                let other = other.into_inner();
                let name = if other.is_instance_of::<PyMemoryView>() { "obj" } else { "base" };
                other.getattr(name).ok()?
            }
        };
    }
    None
}

/// Returns true if `object` has a buffer of bytes, as `bytes`, `bytearray` and `memoryview` do.
pub(crate) fn is_bytes_like(object: &Bound<'_, PyAny>) -> bool {
    PyBuffer::<u8>::get(object).is_ok()
}

fn copy(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let Ok(buffer) = PyBuffer::<u8>::get(object) else {
        return Err(wrong_type("expected a bytes-like object", object));
    };
    buffer.to_vec(object.py())
}
