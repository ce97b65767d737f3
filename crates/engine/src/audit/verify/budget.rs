//! The limits on the work that one file may cause.

use std::sync::Arc;

use filterblock::table::Meter;

use crate::audit::reading::{decode_limit, decode_limit_text};

/// Bytes to read, as a multiple of the file's size. A sound table's blocks are read once.
const MAX_PASSES: u64 = 2;

/// The bytes that may still be read and decoded. They count even if they are no block: damage must not lower the count.
pub(super) struct Budget {
    meter: Arc<Meter>,
    start: Spent,
    max_read: u64,
    max_decoded: u64,
    /// Bytes of all keys read so far, which takes time as decoding does.
    key_bytes: u64,
}

#[derive(Clone, Copy)]
struct Spent {
    read: u64,
    decoded: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exceeded {
    Read(u64),
    Decoded(u64),
}

impl Budget {
    /// `max_decoded`: the user's limit.
    pub(super) fn new(meter: Arc<Meter>, max_decoded: Option<u64>, file_size: u64) -> Self {
        Self {
            start: Spent { read: meter.bytes_read(), decoded: meter.bytes_decoded() },
            meter,
            max_read: file_size.saturating_mul(MAX_PASSES),
            max_decoded: decode_limit(max_decoded, file_size),
            key_bytes: 0,
        }
    }

    /// Bytes that may still be decoded.
    pub(super) fn left(&self) -> u64 {
        self.max_decoded.saturating_sub(self.decoded())
    }

    pub(super) fn spend_keys(&mut self, bytes: usize) {
        self.key_bytes = self.key_bytes.saturating_add(bytes as u64);
    }

    /// Checks that a block of `bytes` bytes may be read, and the bytes decoded so far.
    pub(super) fn allows_reading(&self, bytes: u64) -> Result<(), Exceeded> {
        let read = self.meter.bytes_read().saturating_sub(self.start.read).saturating_add(bytes);
        if read > self.max_read { Err(Exceeded::Read(self.max_read)) } else { self.check() }
    }

    pub(super) fn check(&self) -> Result<(), Exceeded> {
        let max = self.max_decoded;
        if self.decoded() > max { Err(Exceeded::Decoded(max)) } else { Ok(()) }
    }

    fn decoded(&self) -> u64 {
        self.meter.bytes_decoded().saturating_sub(self.start.decoded).saturating_add(self.key_bytes)
    }
}

impl Exceeded {
    pub(super) fn expected(self) -> String {
        match self {
            Self::Read(limit) => format!("at most {limit} bytes of blocks to read, twice the file's size"),
            Self::Decoded(limit) => decode_limit_text(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_in_proportion_to_the_file() {
        let budget = |given, size| Budget::new(Arc::default(), given, size);
        for (size, expected) in
            [(0, 256 << 20), (2_684_354, 256 << 20), (3 << 20, 300 << 20), (u64::MAX, u64::MAX)]
        {
            assert_eq!(budget(None, size).left(), expected, "{size}");
        }
        assert_eq!(budget(Some(7), 1 << 20).left(), 7);
        let of_1000 = budget(None, 1000);
        assert!(of_1000.allows_reading(2000).is_ok());
        assert_eq!(of_1000.allows_reading(2001), Err(Exceeded::Read(2000)));
        // Keys may take as many bytes as the limit, but no more.
        let mut small = budget(Some(10), 1000);
        small.spend_keys(10);
        assert_eq!((small.left(), small.check()), (0, Ok(())));
        small.spend_keys(1);
        assert_eq!(
            (small.check(), small.allows_reading(0)),
            (Err(Exceeded::Decoded(10)), Err(Exceeded::Decoded(10)))
        );
    }
}
