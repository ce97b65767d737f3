//! A limit on the work that a file may cause while it is corrected or salvaged.

use std::cell::Cell;
use std::sync::Arc;

use filterblock::table::{Meter, ReadOptions};

/// Counts the bytes of blocks and keys that are decoded from a file, up to a limit.
pub(crate) struct Budget {
    meter: Arc<Meter>,
    /// The number of bytes of all keys looked at so far. Looking at keys takes time, as decoding
    /// does.
    keys: Cell<u64>,
    limit: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { meter: Arc::default(), keys: Cell::new(0), limit }
    }

    /// The options for reading blocks within this budget.
    pub(crate) fn options(&self, options: &ReadOptions) -> ReadOptions {
        options.clone().meter(Arc::clone(&self.meter))
    }

    /// The work of reading blocks so far.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns true if the limit is exceeded.
    pub(crate) fn is_spent(&self) -> bool {
        self.meter.bytes_decoded().saturating_add(self.keys.get()) > self.limit
    }

    /// Counts the bytes of a key that is looked at. Returns `None` if the limit is exceeded.
    pub(crate) fn take(&self, key: &[u8]) -> Option<()> {
        self.keys.set(self.keys.get().saturating_add(key.len() as u64));
        (!self.is_spent()).then_some(())
    }
}
