//! Counting the cost of reading tables, and how often filters were right.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Result;

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
    /// The number of times that sources were read. A block that is searched in place
    /// in the source's own memory counts as one read.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// The number of bytes read from sources. Checksums are computed over no other bytes.
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

/// Counts the answers of filters, and how many of them were right. This gives the rate of false
/// positives of a program's own lookups.
///
/// Pass a meter to [`Table::get_metered`](super::Table::get_metered) and
/// [`Table::get_at_metered`](super::Table::get_at_metered). It can count for any number of tables
/// and threads: use one meter for all tables, or one for each level. Lookups without a meter count
/// nothing, and cost no extra instruction.
///
/// A lookup counts if it checked a filter. If the key may match, the search of the data block shows whether it is
/// stored. A lookup that fails in the data block counts as a check only.
///
/// ```
/// use filterblock::table::{FilterMeter, ReadOptions, Table};
///
/// let options = ReadOptions::default().internal_keys(true);
/// let table = Table::open_path("testdata/databases/levels/000009.ldb", &options)?;
/// let meter = FilterMeter::default();
/// for number in 0..1000 {
///     table.get_at_metered(format!("item/0000/none {number}").as_bytes(), u64::MAX, &meter)?;
/// }
/// assert_eq!((meter.checks(), meter.true_positives()), (1000, 0));
/// assert!(meter.false_positive_rate().is_some_and(|rate| rate < 0.05));
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct FilterMeter {
    checks: AtomicU64,
    negatives: AtomicU64,
    true_positives: AtomicU64,
    false_positives: AtomicU64,
}

impl FilterMeter {
    /// The number of filters checked.
    pub fn checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }

    /// The number of times that a filter ruled out a key, which saved reading a data block.
    pub fn negatives(&self) -> u64 {
        self.negatives.load(Ordering::Relaxed)
    }

    /// The number of times that a key might match and the data block had an entry of it, with any sequence number.
    pub fn true_positives(&self) -> u64 {
        self.true_positives.load(Ordering::Relaxed)
    }

    /// The number of times that a key might match, but the data block had no entry of it.
    pub fn false_positives(&self) -> u64 {
        self.false_positives.load(Ordering::Relaxed)
    }

    /// The false-positive rate, 0 to 1. `None` if no filter was checked for an absent key.
    pub fn false_positive_rate(&self) -> Option<f64> {
        let passed = self.false_positives() as f64;
        let absent = passed + self.negatives() as f64;
        (absent > 0.0).then(|| passed / absent)
    }

    /// Adds the counts of `other`.
    pub fn add(&self, other: &Self) {
        self.checks.fetch_add(other.checks(), Ordering::Relaxed);
        self.negatives.fetch_add(other.negatives(), Ordering::Relaxed);
        self.true_positives.fetch_add(other.true_positives(), Ordering::Relaxed);
        self.false_positives.fetch_add(other.false_positives(), Ordering::Relaxed);
    }
}

/// Records the answers of filters. `()` records nothing and compiles to nothing.
pub(in crate::table) trait Counter: Copy {
    /// Records that the key may match, or that a filter ruled it out.
    #[inline]
    fn answered(self, _passes: bool) {}

    /// Records that the data block has been searched. `is_stored` returns `Some(true)` if the block
    /// has an entry of the key, `Some(false)` if it has none, and `None` if the table has no filter.
    #[inline]
    fn passed(self, _is_stored: impl FnOnce() -> Result<Option<bool>>) -> Result<()> {
        Ok(())
    }
}

impl Counter for () {}

impl Counter for &FilterMeter {
    fn answered(self, passes: bool) {
        self.checks.fetch_add(1, Ordering::Relaxed);
        self.negatives.fetch_add(u64::from(!passes), Ordering::Relaxed);
    }

    fn passed(self, is_stored: impl FnOnce() -> Result<Option<bool>>) -> Result<()> {
        let count = match is_stored()? {
            Some(true) => &self.true_positives,
            Some(false) => &self.false_positives,
            None => return Ok(()),
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
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
