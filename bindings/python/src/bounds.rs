//! Ranges of keys, as plyvel names them.

use std::borrow::Cow;

use filterblock_engine::KeyRange;
use pyo3::prelude::*;

use crate::bytes_like::borrow;

/// The keys to show, and the direction.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    /// The first key that may be in the range.
    pub(crate) low: Option<Vec<u8>>,
    /// The first key after the range.
    pub(crate) high: Option<Vec<u8>>,
    pub(crate) reverse: bool,
}

/// Arguments for a range.
#[derive(Default)]
pub(crate) struct RangeArguments<'a, 'py> {
    pub(crate) prefix: Option<&'a Bound<'py, PyAny>>,
    pub(crate) start: Option<&'a Bound<'py, PyAny>>,
    pub(crate) stop: Option<&'a Bound<'py, PyAny>>,
    pub(crate) without_start: bool,
    pub(crate) with_stop: bool,
    pub(crate) reverse: bool,
}

impl RangeArguments<'_, '_> {
    pub(crate) fn bounds(&self) -> PyResult<Bounds> {
        let key =
            |key: Option<&Bound<'_, PyAny>>| key.map(|key| borrow(key).map(Cow::into_owned)).transpose();
        let (prefix, mut low, mut high) = (key(self.prefix)?, key(self.start)?, key(self.stop)?);
        if self.without_start {
            low.iter_mut().for_each(|low| low.push(0));
        }
        if self.with_stop {
            high.iter_mut().for_each(|high| high.push(0));
        }
        if let Some(prefix) = prefix {
            let end = behind(&prefix);
            low = low.max(Some(prefix));
            high = match (high, end) {
                (Some(high), Some(end)) => Some(high.min(end)),
                (high, end) => high.or(end),
            };
        }
        Ok(Bounds { low, high, reverse: self.reverse })
    }
}

/// Returns the first key after all keys that begin with `prefix`. `None` if there is no such key.
fn behind(prefix: &[u8]) -> Option<Vec<u8>> {
    let at = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix.get(..=at)?.to_vec();
    *end.last_mut()? += 1;
    Some(end)
}

impl Bounds {
    #[inline]
    pub(crate) fn is_below(&self, key: &[u8]) -> bool {
        self.low.as_ref().is_some_and(|low| key < low.as_slice())
    }

    #[inline]
    pub(crate) fn is_behind(&self, key: &[u8]) -> bool {
        self.high.as_ref().is_some_and(|high| high.as_slice() <= key)
    }

    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        !self.is_below(key) && !self.is_behind(key)
    }

    /// Narrows the range to the keys that follow `key` in its direction.
    pub(crate) fn go_on_after(&mut self, key: &[u8]) {
        match self.reverse {
            true => self.high = Some(key.to_vec()),
            false => self.low = Some([key, &[0]].concat()),
        }
    }

    /// Returns the same range for the engine, which goes forward.
    pub(crate) fn to_range(&self) -> KeyRange {
        KeyRange { prefix: None, from: self.low.clone(), to: self.high.clone() }
    }
}
