//! Looking up many keys together, as RocksDB's `MultiGet` does.

mod group;

use bytes::Bytes;

use super::lookup::{lookup_of, put_sought};
use super::order::KeyOrder;
use super::{Lookup, Table};
use crate::key::comparator::SharedComparator;
use crate::table::block::{Block, Contents, Position, TOGETHER};
use crate::table::source::ReadAt;
use crate::{KeyFormat, Result};
use group::{Ask, Scratch};

/// A call with fewer keys than this looks up each key by itself, since too few cache misses would overlap.
const MIN_TOGETHER: usize = 16;

impl<R: ReadAt> Table<R> {
    /// Looks up many keys, given in any order, each as [`get`](Self::get) does. `values` is cleared first, and then
    /// filled with one result for each key, in the order of the keys.
    ///
    /// With 16 keys or more, this is faster than a call for each key if index, filters or blocks are not in the
    /// processor's caches, since the memory accesses of several keys overlap. The keys are then looked up in groups of
    /// 32. The blocks that a group needs are [announced](ReadAt::will_need) to the source beforehand, so that a disk
    /// can read these blocks at the same time. Keys of a group that follow each other and are in the same data block
    /// share it: if the keys are sorted, each group reads and decompresses nearly every block that it needs only once.
    ///
    /// In addition to the values that are returned, the blocks of a group are in memory together, or those of fewer
    /// keys if the blocks take more than 1 MiB.
    ///
    /// ```
    /// use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
    ///
    /// let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
    /// for number in 0..1000_u32 {
    ///     builder.add(&number.to_be_bytes(), format!("value {number}").as_bytes())?;
    /// }
    /// let table = Table::open(builder.finish()?.0, &ReadOptions::default())?;
    ///
    /// let keys: Vec<[u8; 4]> = (900..1100).map(u32::to_be_bytes).collect();
    /// let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    /// let mut values = Vec::new();
    /// table.get_many(&keys, &mut values);
    /// assert_eq!(values[7].as_ref().unwrap().as_deref(), Some(&b"value 907"[..]));
    /// assert_eq!(values.into_iter().filter(|value| matches!(value, Ok(None))).count(), 100);
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The result for a key is an error if [`get`](Self::get) would return an error for it. The other keys still get
    /// their results. [`Error::NeedRange`](crate::Error::NeedRange) thus names for each key the range that it lacks:
    /// fetch all of these ranges, and look the keys with this error up again.
    pub fn get_many(&self, keys: &[&[u8]], values: &mut Vec<Result<Option<Bytes>>>) {
        values.clear();
        if keys.len() < MIN_TOGETHER {
            return values.extend(keys.iter().map(|key| self.get(key)));
        }
        values.reserve(keys.len());
        let mut scratch = Scratch::default();
        for keys in keys.chunks(TOGETHER) {
            self.look_up_group(keys, &Get { table: self, keys }, values, &mut scratch);
        }
    }

    /// Looks up many user keys as of `sequence`, given in any order, each as [`get_at`](Self::get_at) does, and in
    /// groups like those of [`get_many`](Self::get_many). `lookups` is cleared first, and then filled with one result
    /// for each key, in the order of the keys.
    ///
    /// # Errors
    ///
    /// The result for a key is an error if [`get_at`](Self::get_at) would return an error for it.
    pub fn get_many_at(&self, user_keys: &[&[u8]], sequence: u64, lookups: &mut Vec<Result<Lookup>>) {
        lookups.clear();
        let user_order = match self.user_order() {
            Ok(user_order) if user_keys.len() >= MIN_TOGETHER => user_order,
            _ => return lookups.extend(user_keys.iter().map(|key| self.get_at(key, sequence))),
        };
        lookups.reserve(user_keys.len());
        let is_bashos = self.key_format() == KeyFormat::Basho;
        let (mut bytes, mut scratch) = (Vec::new(), Scratch::default());
        for user_keys in user_keys.chunks(TOGETHER) {
            bytes.clear();
            let mut ends = [0; TOGETHER];
            for (user_key, end) in user_keys.iter().zip(&mut ends) {
                put_sought(&mut bytes, user_key, sequence, is_bashos);
                *end = bytes.len();
            }
            let mut keys = [&[][..]; TOGETHER];
            let mut start = 0;
            for ((key, &end), _) in keys.iter_mut().zip(&ends).zip(user_keys) {
                *key = bytes.get(start..end).unwrap_or_default();
                start = end;
            }
            let keys = keys.get(..user_keys.len()).unwrap_or_default();
            let ask = GetAt { table: self, keys, user_keys, sequence, user_order, is_bashos };
            self.look_up_group(keys, &ask, lookups, &mut scratch);
        }
    }
}

/// Stored keys, as [`Table::get`] looks them up.
struct Get<'a, R> {
    table: &'a Table<R>,
    keys: &'a [&'a [u8]],
}

impl<R: ReadAt> Ask for Get<'_, R> {
    type Answer = Option<Bytes>;
    const ABSENT: Self::Answer = None;

    fn alone(&self, number: usize) -> Result<Self::Answer> {
        self.table.get(self.keys.get(number).copied().unwrap_or_default())
    }

    #[inline(always)]
    fn find(&self, number: usize, block: Block<impl Contents>, restart: usize) -> Result<Self::Answer> {
        let key = self.keys.get(number).copied().unwrap_or_default();
        let (order, mut at) = (&self.table.order, Position::default());
        let is_equal = if matches!(order, KeyOrder::Bytewise) {
            at.find_bytewise_from(&block, restart, key)?.is_some_and(|found| found.is_equal)
        } else {
            order.seek_from(&mut at, &block, restart, key)? && order.compare(at.key(&block), key).is_eq()
        };
        is_equal.then(|| at.into_value(block)).transpose()
    }
}

/// User keys, as [`Table::get_at`] looks them up.
struct GetAt<'a, R> {
    table: &'a Table<R>,
    /// The internal keys to look up for `user_keys`.
    keys: &'a [&'a [u8]],
    user_keys: &'a [&'a [u8]],
    sequence: u64,
    user_order: &'a SharedComparator,
    is_bashos: bool,
}

impl<R: ReadAt> Ask for GetAt<'_, R> {
    type Answer = Lookup;
    const ABSENT: Lookup = Lookup::Absent;

    fn alone(&self, number: usize) -> Result<Lookup> {
        self.table.get_at(self.user_keys.get(number).copied().unwrap_or_default(), self.sequence)
    }

    #[inline(always)]
    fn find(&self, number: usize, block: Block<impl Contents>, restart: usize) -> Result<Lookup> {
        let key = self.keys.get(number).copied().unwrap_or_default();
        let user_key = self.user_keys.get(number).copied().unwrap_or_default();
        let mut at = Position::default();
        if !self.table.order.seek_from(&mut at, &block, restart, key)? {
            return Ok(Lookup::Absent);
        }
        self.table.check_form(at.key(&block))?;
        lookup_of(block, at, user_key, self.user_order, self.is_bashos)
    }
}
