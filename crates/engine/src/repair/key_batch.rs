//! Keys on their way from the merge to the thread that makes tables of them.

use std::mem;
use std::sync::mpsc::SyncSender;

use super::decide::{KeySink, SavedKey};
use crate::write::{Failure, Result};

/// Bytes of keys and values that go together.
const BATCH: usize = 256 << 10;

/// Keys with their values, in order.
#[derive(Default)]
pub(super) struct KeyBatch {
    bytes: Vec<u8>,
    keys: Vec<Extents>,
}

/// The parts of a batch's bytes that are a key and its value, which begins where the key ends.
struct Extents {
    key: usize,
    value: usize,
    end: usize,
    sequence: u64,
}

impl KeyBatch {
    pub(super) fn put_all(&self, sink: &mut impl KeySink) -> Result<()> {
        self.keys.iter().try_for_each(|&Extents { key, value, end, sequence }| {
            let part = |from, to| self.bytes.get(from..to).unwrap_or_default();
            sink.put(SavedKey { user_key: part(key, value), sequence, value: part(value, end) })
        })
    }
}

/// Passes keys on in batches.
pub(super) struct KeyQueue {
    batch: KeyBatch,
    queue: SyncSender<KeyBatch>,
}

impl KeyQueue {
    pub(super) fn new(queue: SyncSender<KeyBatch>) -> Self {
        Self { batch: KeyBatch::default(), queue }
    }

    /// Passes on what is left.
    pub(super) fn finish(&mut self) -> Result<()> {
        // The other thread ends at the first fault, which it tells.
        self.queue.send(mem::take(&mut self.batch)).map_err(|_| Failure::interrupted())
    }
}

impl KeySink for KeyQueue {
    fn put(&mut self, SavedKey { user_key, sequence, value }: SavedKey<'_>) -> Result<()> {
        let KeyBatch { bytes, keys } = &mut self.batch;
        let key = bytes.len();
        bytes.extend_from_slice(user_key);
        let value_at = bytes.len();
        bytes.extend_from_slice(value);
        keys.push(Extents { key, value: value_at, end: bytes.len(), sequence });
        if bytes.len() < BATCH { Ok(()) } else { self.finish() }
    }
}
