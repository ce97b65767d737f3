//! Lookups that count how often filters were right.

use bytes::Bytes;

use super::{FilterMeter, Lookup, Table};
use crate::key::parts::{EXPIRING, MAX_SEQUENCE, TAG_LEN, VALUE};
use crate::table::block::{Block, Position};
use crate::table::source::ReadAt;
use crate::{KeyFormat, Result};

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
    /// Returns `Some(true)` if a block has an entry of the key, with any sequence number,
    /// `Some(false)` if it has none, and `None` if the table has no filter. `at` is the block's first
    /// entry at or after `key`, if there is one.
    pub(super) fn holds(
        &self,
        block: &Block<impl AsRef<[u8]>>,
        at: Option<&Position>,
        key: &[u8],
    ) -> Result<Option<bool>> {
        if self.filter().is_none() {
            return Ok(None);
        }
        let is_it = |at: &Position| self.is_same_key(at.key(block), key);
        let mut is_stored = at.is_some_and(is_it);
        if !is_stored && self.user_order.is_some() {
            // Versions of the key that are newer than the version sought come before it.
            let (time, greatest) = match self.key_format() {
                KeyFormat::Basho => (&[0; TAG_LEN][..], EXPIRING),
                _ => (&[][..], VALUE),
            };
            let tag = MAX_SEQUENCE << 8 | u64::from(greatest);
            let newest = [self.filtered(key), time, &tag.to_le_bytes()].concat();
            let mut at = Position::default();
            let found = self.order.seek(&mut at, block, &newest).map_err(|error| self.in_file(error))?;
            is_stored = found && is_it(&at);
        }
        Ok(Some(is_stored))
    }

    /// The part of an internal key that filters are made from, or the whole key if it is too short to
    /// be split.
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
