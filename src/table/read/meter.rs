//! Counting the cost of reading tables.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the work of reading tables, to detect small files that cause much work, and to measure it
/// in tests.
///
/// Given to [`ReadOptions::meter`](crate::table::ReadOptions::meter), it counts for all tables
/// opened with these options, on any number of threads. Work that fails is counted as well.
///
/// ```
/// use std::sync::Arc;
///
/// use filterblock::table::{Meter, ReadOptions, Table};
/// # let file: &[u8] = b"";
/// let meter = Arc::new(Meter::default());
/// let options = ReadOptions::default().meter(Arc::clone(&meter));
/// # let _ =
/// Table::open(file, &options);
/// println!("{} bytes in {} reads", meter.bytes_read(), meter.reads());
/// ```
#[derive(Debug, Default)]
pub struct Meter {
    reads: AtomicU64,
    bytes_read: AtomicU64,
    bytes_decoded: AtomicU64,
}

impl Meter {
    /// The number of times that sources were asked for bytes. A block that is searched where it lies
    /// in the source's own memory counts as one read.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// The number of bytes that sources were asked for. Checksums are computed over no other bytes.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The number of bytes that blocks held once decompressed. A block that could not be
    /// decompressed counts as roughly the number of bytes that the codecs made before they failed.
    pub fn bytes_decoded(&self) -> u64 {
        self.bytes_decoded.load(Ordering::Relaxed)
    }

    /// Adds the counts of `other`.
    pub fn add(&self, other: &Self) {
        self.reads.fetch_add(other.reads(), Ordering::Relaxed);
        self.bytes_read.fetch_add(other.bytes_read(), Ordering::Relaxed);
        self.bytes_decoded.fetch_add(other.bytes_decoded(), Ordering::Relaxed);
    }

    pub(in crate::table) fn count_read(&self, bytes: usize) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(in crate::table) fn count_decoded(&self, bytes: u64) {
        self.bytes_decoded.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::table::{ReadOptions, Table, TableBuilder, WriteOptions};

    #[test]
    fn every_read_and_every_block_counts() {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(64));
        for key in 0..100_u8 {
            builder.add(&[key], &[0; 100]).unwrap();
        }
        let (mut file, _) = builder.finish().unwrap();
        let meter = Arc::new(Meter::default());
        let counts = || (meter.reads(), meter.bytes_read(), meter.bytes_decoded());
        let options = ReadOptions::default().meter(Arc::clone(&meter)).tail_size(48);
        let table = Table::open(file.clone(), &options).unwrap();
        // The footer, then index and metaindex together.
        let opened = counts();
        let read = 48 + table.index_handle().end().unwrap() - table.metaindex_handle().offset;
        assert_eq!((opened.0, opened.1), (2, read));
        let first = table.data_blocks().next().unwrap().unwrap();
        let block = table.block_cursor(first).unwrap();
        let after = (opened.0 + 1, opened.1 + first.size + 5, opened.2 + block.size() as u64);
        assert_eq!(counts(), after);
        // A block with a wrong checksum is read, but not decoded.
        file[3] ^= 1;
        let table = Table::open(file, &options).unwrap();
        let opened = counts();
        assert!(table.block_cursor(first).is_err());
        assert_eq!(counts(), (opened.0 + 1, opened.1 + first.size + 5, opened.2));
        let sum = Meter::default();
        sum.add(&meter);
        sum.add(&meter);
        assert_eq!(sum.bytes_read(), 2 * meter.bytes_read());
        assert_eq!((sum.reads(), sum.bytes_decoded()), (2 * counts().0, 2 * counts().2));
    }
}
