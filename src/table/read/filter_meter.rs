//! Lookups that count what filters are worth.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::{Lookup, Table};
use crate::key::parts::{EXPIRING, MAX_SEQUENCE, TAG_LEN, VALUE};
use crate::table::block::{Block, Position};
use crate::table::source::ReadAt;
use crate::{KeyFormat, Origin, Result};

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

/// Takes note of filters' answers; `()` of none, and costs nothing.
pub(in crate::table) trait Counter: Copy {
    /// A filter let the key pass, or denied it.
    #[inline]
    fn answered(self, _passes: bool) {}

    /// The data block has been read. `at`: the entry at or after `key`.
    #[inline]
    fn passed<R>(self, _: &Table<R>, _: &Block, _at: Option<&Position>, _key: &[u8]) -> Result<()> {
        Ok(())
    }
}

impl Counter for () {}

impl Counter for &FilterMeter {
    fn answered(self, passes: bool) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.denied.fetch_add(u64::from(!passes), Ordering::Relaxed);
    }

    fn passed<R>(self, table: &Table<R>, block: &Block, at: Option<&Position>, key: &[u8]) -> Result<()> {
        if table.filter().is_none() {
            return Ok(());
        }
        let is_it = |at: &Position| table.is_same_key(at.key(block), key);
        let mut is_stored = at.is_some_and(is_it);
        if !is_stored && table.user_order.is_some() {
            // Versions of the key that are newer than the one sought stand before it.
            let (time, greatest) = match table.origin() {
                Some(Origin::Basho) => (&[0; TAG_LEN][..], EXPIRING),
                _ => (&[][..], VALUE),
            };
            let tag = MAX_SEQUENCE << 8 | u64::from(greatest);
            let newest = [table.filtered(key), time, &tag.to_le_bytes()].concat();
            let mut at = Position::default();
            let found = at.seek(block, &newest, &*table.order).map_err(|error| table.in_file(error))?;
            is_stored = found && is_it(&at);
        }
        let count = if is_stored { &self.true_positives } else { &self.false_positives };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl<R: ReadAt> Table<R> {
    /// Looks a key up as [`get`](Self::get) does, and counts the filter's answer in `meter`.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get).
    pub fn get_metered(&self, key: &[u8], meter: &FilterMeter) -> Result<Option<Bytes>> {
        let found = self.find(key, meter)?;
        let found = found.filter(|(block, at)| self.order.compare(at.key(block), key).is_eq());
        Ok(found.map(|(block, at)| at.value_bytes(&block)))
    }

    /// Looks a user key up as [`get_at`](Self::get_at) does, and counts the filter's answer in
    /// `meter`.
    ///
    /// # Errors
    ///
    /// Those of [`get_at`](Self::get_at).
    pub fn get_at_metered(&self, user_key: &[u8], sequence: u64, meter: &FilterMeter) -> Result<Lookup> {
        self.try_get_at(user_key, sequence, meter).map_err(|error| self.in_file(error))
    }
}

impl<R> Table<R> {
    /// The part of a key that filters are made of: all of it if it is too short to be split.
    fn filtered<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        let is_bashos = self.origin() == Some(Origin::Basho);
        let format = if is_bashos { KeyFormat::Basho } else { KeyFormat::LevelDb };
        format.user_key(key).unwrap_or(key)
    }

    fn is_same_key(&self, a: &[u8], b: &[u8]) -> bool {
        match &self.user_order {
            Some(order) => order.compare(self.filtered(a), self.filtered(b)).is_eq(),
            None => self.order.compare(a, b).is_eq(),
        }
    }
}
