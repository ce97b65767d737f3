//! Lookups that count what filters are worth.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::lookup::seek_key;
use super::{Lookup, Table};
use crate::Result;
use crate::key::parts::MAX_SEQUENCE;
use crate::table::block::{Block, Position};
use crate::table::source::ReadAt;

/// Counts the answers of filters, and what came of them: the rate of false positives that a
/// program's own lookups get.
///
/// Given to [`Table::get_metered`] and [`Table::get_at_metered`], for any number of tables and
/// threads: one meter for all tables, or one for each level. Lookups without a meter count nothing,
/// and cost no instruction more.
///
/// A lookup counts if a filter was asked. If the filter let the key pass, the data block tells
/// whether that was right. A lookup that fails there counts as asked only.
///
/// ```
/// use filterblock::table::{FilterMeter, ReadOptions, Table};
///
/// let options = ReadOptions::default().internal_keys(true);
/// let table = Table::open_path("testdata/databases/levels/000005.ldb", &options)?;
/// let meter = FilterMeter::default();
/// for number in 0..1000 {
///     table.get_at_metered(format!("none {number}").as_bytes(), u64::MAX, &meter)?;
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

    /// The number of times that it denied the key, which saved reading a data block.
    pub fn denied(&self) -> u64 {
        self.denied.load(Ordering::Relaxed)
    }

    /// The number of times that it let a key pass of which the data block has an entry, of whatever
    /// sequence number.
    pub fn true_positives(&self) -> u64 {
        self.true_positives.load(Ordering::Relaxed)
    }

    /// The number of times that it let a key pass of which the data block has none.
    pub fn false_positives(&self) -> u64 {
        self.false_positives.load(Ordering::Relaxed)
    }

    /// The share of absent keys that passed, 0 to 1. `None` if no absent key was asked for.
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

impl<R: ReadAt> Table<R> {
    /// Looks a key up as [`get`](Self::get) does, and counts the filter's answer in `meter`.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get).
    pub fn get_metered(&self, key: &[u8], meter: &FilterMeter) -> Result<Option<Bytes>> {
        Ok(self.exact(self.find_metered(key, meter)?, key))
    }

    /// Looks a user key up as [`get_at`](Self::get_at) does, and counts the filter's answer in
    /// `meter`.
    ///
    /// # Errors
    ///
    /// Those of [`get_at`](Self::get_at).
    pub fn get_at_metered(&self, user_key: &[u8], sequence: u64, meter: &FilterMeter) -> Result<Lookup> {
        self.look_up(user_key, sequence, |key| self.find_metered(key, meter))
    }

    /// Finds what `find` does.
    fn find_metered(&self, key: &[u8], meter: &FilterMeter) -> Result<Option<(Block, Position)>> {
        let Some(handle) = self.candidate(key)? else { return Ok(None) };
        let filter = self.filter();
        if let Some(filter) = filter {
            meter.asked.fetch_add(1, Ordering::Relaxed);
            if !filter.key_may_match(handle.offset, key) {
                meter.denied.fetch_add(1, Ordering::Relaxed);
                return Ok(None);
            }
        }
        let block = self.block(handle, Block::default())?;
        let seek = |key: &[u8]| -> Result<_> {
            let mut at = Position::default();
            let found = at.seek(&block, key, &*self.order).map_err(|error| self.in_file(error))?;
            Ok(found.then_some(at))
        };
        let found = seek(key)?;
        if filter.is_some() {
            let is_it =
                |at: &Option<Position>| at.as_ref().is_some_and(|at| self.is_same_key(at.key(&block), key));
            // Versions of the key that are newer than the one sought stand before it.
            let is_stored = is_it(&found)
                || self.user_order.is_some()
                    && is_it(&seek(&seek_key(self.filtered(key), MAX_SEQUENCE, self.origin()))?);
            let count = if is_stored { &meter.true_positives } else { &meter.false_positives };
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(found.map(|at| (block, at)))
    }

    /// The part of a key that filters are made of: all of it if it is too short to be split.
    fn filtered<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        self.key_format().user_key(key).unwrap_or(key)
    }

    fn is_same_key(&self, a: &[u8], b: &[u8]) -> bool {
        match &self.user_order {
            Some(order) => order.compare(self.filtered(a), self.filtered(b)).is_eq(),
            None => self.order.compare(a, b).is_eq(),
        }
    }
}
