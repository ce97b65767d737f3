//! How much work one file may make.

use std::sync::Arc;

use filterblock::table::Meter;

/// Bytes to decode, without a limit of the user's: so many times the file's size, but not less than the second.
const MAX_EXPANSION: u64 = 100;
const MIN_DECODED: u64 = 64 << 20;

/// Bytes to read: so many times the file's size. A sound table's blocks are read once.
const MAX_READINGS: u64 = 2;

/// What is left of the bytes of one file that may be read, and decoded, once it is open.
///
/// The bytes count whether or not they turn out to be a block: damage must not be a way to have them counted less.
pub(crate) struct Budget {
    meter: Arc<Meter>,
    /// What the meter showed to begin with.
    start: Work,
    max_read: u64,
    max_decoded: u64,
    /// Keys that were put together, which takes time as decoding does.
    key_bytes: u64,
}

#[derive(Clone, Copy)]
struct Work {
    read: u64,
    decoded: u64,
}

/// Which limit the file would exceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exceeded {
    Read(u64),
    Decoded(u64),
}

impl Budget {
    /// For a table whose work `meter` counts. `max_decoded`: the user's limit.
    pub(crate) fn new(meter: Arc<Meter>, max_decoded: Option<u64>, file_size: u64) -> Self {
        let in_proportion = || file_size.saturating_mul(MAX_EXPANSION).max(MIN_DECODED);
        Self {
            start: Work { read: meter.bytes_read(), decoded: meter.bytes_decoded() },
            meter,
            max_read: file_size.saturating_mul(MAX_READINGS),
            max_decoded: max_decoded.unwrap_or_else(in_proportion),
            key_bytes: 0,
        }
    }

    /// How many bytes may still be decoded.
    pub(crate) fn left(&self) -> u64 {
        self.max_decoded.saturating_sub(self.decoded())
    }

    /// Counts the bytes of keys that were put together.
    pub(crate) fn spend_keys(&mut self, bytes: usize) {
        self.key_bytes = self.key_bytes.saturating_add(bytes as u64);
    }

    /// Whether a block of so many bytes may be read besides.
    pub(crate) fn allows_reading(&self, bytes: u64) -> Result<(), Exceeded> {
        let read = self.meter.bytes_read().saturating_sub(self.start.read).saturating_add(bytes);
        if read > self.max_read { Err(Exceeded::Read(self.max_read)) } else { self.check() }
    }

    /// Whether what was decoded so far is within the limit.
    pub(crate) fn check(&self) -> Result<(), Exceeded> {
        let max = self.max_decoded;
        if self.decoded() > max { Err(Exceeded::Decoded(max)) } else { Ok(()) }
    }

    fn decoded(&self) -> u64 {
        self.meter.bytes_decoded().saturating_sub(self.start.decoded).saturating_add(self.key_bytes)
    }
}

impl Exceeded {
    /// What would have been in order.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Read(limit) => format!("at most {limit} bytes of blocks to read, twice the file's size"),
            Self::Decoded(limit) => {
                format!("at most {limit} bytes of blocks and keys to decode (--max-output)")
            }
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
            [(0, 64 << 20), (671_088, 64 << 20), (1 << 20, 100 << 20), (u64::MAX, u64::MAX)]
        {
            assert_eq!(budget(None, size).left(), expected, "{size}");
        }
        assert_eq!(budget(Some(7), 1 << 20).left(), 7);
        let of_1000 = budget(None, 1000);
        assert!(of_1000.allows_reading(2000).is_ok());
        assert_eq!(of_1000.allows_reading(2001), Err(Exceeded::Read(2000)));
        // Keys count up to the limit and not beyond.
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
