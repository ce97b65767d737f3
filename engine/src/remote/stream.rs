//! A table that is read from its start to its end, with a window of it in memory.

use std::{cell::RefCell, io, sync::Arc};

use bytes::Bytes;
use filterblock::table::ReadAt;
use tokio::runtime::Handle;

use super::object::Object;
use crate::walk::{PathError, part};

/// The number of bytes to fetch with one request while reads are not in order, unless a read is longer.
const LEAST_WINDOW: usize = 64 << 10;
/// A read that begins in the window, or no further than this after the window, counts as in order.
const MAX_GAP: u64 = 64 << 10;

/// An object as a source for one thread, which waits for the requests.
///
/// Reads in order get larger and larger windows. Other reads get a small window. An object that is no larger
/// than the largest window is fetched completely.
pub(super) struct Stream {
    object: Arc<Object>,
    runtime: Handle,
    largest: usize,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// The window: its offset in the object, and its bytes.
    window: (u64, Bytes),
    /// The size of the next window.
    ahead: usize,
    /// The failure of the first request that failed. No request is made after it.
    failure: Option<PathError>,
}

impl Stream {
    pub(super) fn new(object: Arc<Object>, runtime: Handle, largest: usize) -> Self {
        Self { object, runtime, largest: largest.max(LEAST_WINDOW), state: RefCell::default() }
    }

    /// The reason why a request failed, if one did.
    pub(super) fn into_failure(self) -> Option<PathError> {
        self.state.into_inner().failure
    }
}

impl ReadAt for Stream {
    fn len(&self) -> io::Result<u64> {
        Ok(self.object.size())
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let size = self.object.size();
        let end = offset.checked_add(len as u64).filter(|end| *end <= size);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if len == 0 {
            return Ok(Bytes::new());
        }
        let state = &mut *self.state.borrow_mut();
        if let Some(bytes) = part(&state.window, offset, len) {
            return Ok(bytes);
        }
        if let Some(failure) = &state.failure {
            return Err(io::Error::other(failure.to_string()));
        }
        let range = if size <= self.largest as u64 {
            0..size
        } else {
            let (start, before) = &state.window;
            let before_end = start.saturating_add(before.len() as u64);
            let goes_on = offset >= *start && offset <= before_end.saturating_add(MAX_GAP);
            let grown = state.ahead.saturating_mul(2).clamp(LEAST_WINDOW, self.largest);
            state.ahead = if goes_on { grown } else { LEAST_WINDOW };
            offset..offset.saturating_add(state.ahead as u64).min(size).max(end)
        };
        // The memory of the window is freed before more is fetched.
        state.window = (range.start, Bytes::new());
        match self.runtime.block_on(self.object.get(range)) {
            Ok(bytes) => state.window.1 = bytes,
            Err(error) => return Err(io::Error::other(state.failure.insert(error).to_string())),
        }
        part(&state.window, offset, len).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
