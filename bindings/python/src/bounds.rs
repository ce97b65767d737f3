//! Ranges of keys, as plyvel names them.

use std::borrow::Cow;

use filterblock_engine::KeyRange;
use pyo3::prelude::*;

use crate::bytes_like::borrow;

type Given<'a, 'py> = &'a Option<Bound<'py, PyAny>>;

/// The keys to show, and the direction.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    /// Has no prefix.
    pub(crate) range: KeyRange,
    pub(crate) reverse: bool,
}

impl Bounds {
    /// The range of these keys. `start` and `stop` come with whether they are in the range themselves.
    pub(crate) fn of(
        prefix: Given<'_, '_>,
        (start, with_start): (Given<'_, '_>, bool),
        (stop, with_stop): (Given<'_, '_>, bool),
        reverse: bool,
    ) -> PyResult<Self> {
        let key = |key: Given<'_, '_>| key.as_ref().map(|key| borrow(key).map(Cow::into_owned)).transpose();
        let (prefix, mut from, mut to) = (key(prefix)?, key(start)?, key(stop)?);
        if !with_start {
            from.iter_mut().for_each(|from| from.push(0));
        }
        if with_stop {
            to.iter_mut().for_each(|to| to.push(0));
        }
        if let Some(prefix) = prefix {
            let end = behind(&prefix);
            from = from.max(Some(prefix));
            to = [to, end].into_iter().flatten().min();
        }
        Ok(Self { range: KeyRange { prefix: None, from, to }, reverse })
    }

    /// Returns true if neither `key` nor any key that follows it in the direction of the range is in it.
    pub(crate) fn is_past(&self, key: &[u8]) -> bool {
        match self.reverse {
            true => self.range.from.as_ref().is_some_and(|from| key < from.as_slice()),
            false => self.range.is_past(key),
        }
    }

    /// Narrows the range to the keys that follow `key` in its direction.
    pub(crate) fn go_on_after(&mut self, key: &[u8]) {
        match self.reverse {
            true => self.range.to = Some(key.to_vec()),
            false => self.range.from = Some([key, &[0]].concat()),
        }
    }
}

/// Returns the first key after all keys that begin with `prefix`. `None` if there is no such key.
fn behind(prefix: &[u8]) -> Option<Vec<u8>> {
    let at = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix.get(..=at)?.to_vec();
    *end.last_mut()? += 1;
    Some(end)
}
