//! The limits on the work that one file may cause.

use std::cell::Cell;
use std::sync::Arc;

use filterblock::table::{Meter, ReadOptions};

use crate::audit::reading::decode_limit_text;

/// Counts the bytes that are read and decoded, up to a limit. They count even if they are no block: damage must not
/// lower the count.
pub(crate) struct Budget {
    meter: Arc<Meter>,
    /// What the meter had counted before.
    read_before: u64,
    decoded_before: u64,
    /// Bytes of all keys read so far, which takes time as decoding does.
    keys: Cell<u64>,
    limit: u64,
}

impl Budget {
    /// Allows `limit` bytes of blocks and keys to be decoded.
    pub(crate) fn new(limit: u64) -> Self {
        Self::of_meter(Arc::default(), limit)
    }

    /// Allows `limit` bytes in addition to what `meter` has counted so far.
    pub(crate) fn of_meter(meter: Arc<Meter>, limit: u64) -> Self {
        let (read_before, decoded_before) = (meter.bytes_read(), meter.bytes_decoded());
        Self { meter, read_before, decoded_before, keys: Cell::new(0), limit }
    }

    /// Lets reads of blocks count against this budget.
    pub(crate) fn options(&self, options: &ReadOptions) -> ReadOptions {
        options.clone().meter(Arc::clone(&self.meter))
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    fn decoded(&self) -> u64 {
        self.meter.bytes_decoded().saturating_sub(self.decoded_before).saturating_add(self.keys.get())
    }

    /// Bytes that may still be decoded.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.decoded())
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.decoded() > self.limit
    }

    pub(crate) fn spend(&self, bytes: u64) {
        self.keys.set(self.keys.get().saturating_add(bytes));
    }

    /// Counts the key's bytes. `None` if the limit is exceeded.
    pub(crate) fn take(&self, key: &[u8]) -> Option<()> {
        self.spend(key.len() as u64);
        (!self.is_spent()).then_some(())
    }

    /// Fails, with what is expected, if the limit is exceeded.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_spent() { Err(decode_limit_text(self.limit)) } else { Ok(()) }
    }

    /// Like [`check`](Self::check). Fails also if with `bytes` more, more than twice the file's size would be read: a
    /// sound table's blocks are read once.
    pub(crate) fn allows_reading(&self, bytes: u64, file_size: u64) -> Result<(), String> {
        let (read, most) = (self.meter.bytes_read(), file_size.saturating_mul(2));
        if read.saturating_sub(self.read_before).saturating_add(bytes) > most {
            return Err(format!("at most {most} bytes of blocks to read, twice the file's size"));
        }
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::decode_limit;

    #[test]
    fn the_limit_is_in_proportion_to_the_file_unless_it_is_given() {
        for (size, expected) in
            [(0, 256 << 20), (2_684_354, 256 << 20), (3 << 20, 300 << 20), (u64::MAX, u64::MAX)]
        {
            assert_eq!(decode_limit(None, size), expected, "{size}");
        }
        assert_eq!(decode_limit(Some(7), 1 << 20), 7);
    }

    #[test]
    fn reading_is_limited_by_the_file_and_decoding_by_the_limit() {
        let of_1000 = Budget::new(u64::MAX);
        assert!(of_1000.allows_reading(2000, 1000).is_ok());
        let text = "at most 2000 bytes of blocks to read, twice the file's size";
        assert_eq!(of_1000.allows_reading(2001, 1000), Err(text.to_owned()));
        // Keys may take as many bytes as the limit, but no more.
        let small = Budget::new(10);
        assert_eq!(small.left(), 10);
        small.spend(10);
        assert_eq!((small.left(), small.check()), (0, Ok(())));
        assert_eq!(small.take(b"k"), None);
        assert_eq!(small.check(), Err(decode_limit_text(10)));
        assert_eq!(small.allows_reading(0, 1000), small.check());
    }
}
