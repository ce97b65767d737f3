//! Counters for the effectiveness of filters.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Result;

/// Counts the answers of filters, and how many of them were right. This gives the rate of false
/// positives of a program's own lookups.
///
/// Pass a meter to [`Table::get_metered`](super::Table::get_metered) and
/// [`Table::get_at_metered`](super::Table::get_at_metered). It can count for any number of tables
/// and threads: use one meter for all tables, or one for each level. Lookups without a meter count
/// nothing, and cost no extra instruction.
///
/// A lookup counts if a filter was asked. If the filter let the key pass, the search of the data block
/// decides whether that was right. A lookup that fails in the data block is counted as asked only.
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
/// assert_eq!((meter.asked(), meter.true_positives()), (1000, 0));
/// assert!(meter.false_positive_rate().is_some_and(|rate| rate < 0.05));
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct FilterMeter {
    asked: AtomicU64,
    denied: AtomicU64,
    true_positives: AtomicU64,
    false_positives: AtomicU64,
}

impl FilterMeter {
    /// The number of times that a filter was asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The number of times that a filter denied a key, which saved reading a data block.
    pub fn denied(&self) -> u64 {
        self.denied.load(Ordering::Relaxed)
    }

    /// The number of times that a filter let a key pass and the data block had an entry of the key,
    /// with any sequence number.
    pub fn true_positives(&self) -> u64 {
        self.true_positives.load(Ordering::Relaxed)
    }

    /// The number of times that a filter let a key pass, but the data block had no entry of the
    /// key.
    pub fn false_positives(&self) -> u64 {
        self.false_positives.load(Ordering::Relaxed)
    }

    /// The share of absent keys that the filters let pass, 0 to 1. `None` if no filter was asked about
    /// an absent key.
    pub fn false_positive_rate(&self) -> Option<f64> {
        let passed = self.false_positives() as f64;
        let absent = passed + self.denied() as f64;
        (absent > 0.0).then(|| passed / absent)
    }

    /// Adds the counts of `other`.
    pub fn add(&self, other: &Self) {
        self.asked.fetch_add(other.asked(), Ordering::Relaxed);
        self.denied.fetch_add(other.denied(), Ordering::Relaxed);
        self.true_positives.fetch_add(other.true_positives(), Ordering::Relaxed);
        self.false_positives.fetch_add(other.false_positives(), Ordering::Relaxed);
    }
}

/// Records the answers of filters. `()` records nothing and compiles to nothing.
pub(in crate::table) trait Counter: Copy {
    /// Records that a filter let the key pass, or denied it.
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
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.denied.fetch_add(u64::from(!passes), Ordering::Relaxed);
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
