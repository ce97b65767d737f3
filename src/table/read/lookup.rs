//! Looking up a key in a table (LevelDB's `table/table.cc`, `InternalGet`), and a user key in a database's table
//! (`db/version_set.cc`, `SaveValue`).

use std::fmt;

use bytes::Bytes;

use super::Table;
use super::meter::{Counter, FilterMeter};
use super::order::KeyOrder;
#[cfg(doc)]
use crate::Origin;
use crate::bytes::coding::put_fixed64;
use crate::key::comparator::SharedComparator;
use crate::key::parts::{DELETION, EXPIRING, MAX_SEQUENCE, TAG_LEN, TIMED, VALUE, kind};
use crate::table::block::{Block, Contents, Position};
use crate::table::format::BlockHandle;
use crate::table::source::ReadAt;
use crate::{Error, KeyFormat, Result, Structure};

/// The result of looking up a user key, in a table ([`Table::get_at`]) or in a database
/// ([`Database::get`](crate::database::Database::get)).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lookup {
    /// The key had this value. A value from a table may be a view of its data block, which then
    /// stays in memory as long as the value does.
    Value(Bytes),
    /// The key had been deleted. Older tables need not be searched.
    Deleted,
    /// The table, or the whole database, holds no entry of the key that is old enough.
    Absent,
}

impl<R: ReadAt> Table<R> {
    /// Looks `key` up as [`get`](Self::get) does, but returns the key and the value of the first
    /// entry at or after `key` in the one data block that may hold `key`.
    ///
    /// This is a lookup (LevelDB's `Table::InternalGet`), not the start of a range. It searches
    /// only that data block, and no block if the index or the filter excludes `key`. `None` therefore
    /// does not mean that no later keys follow; [`Cursor::seek`](crate::table::Cursor::seek) finds
    /// later keys.
    ///
    /// # Errors
    ///
    /// If the index or the data block is damaged.
    pub fn get_entry(&self, key: &[u8]) -> Result<Option<(Bytes, Bytes)>> {
        let found = self.find(key, ())?;
        Ok(found.map(|(block, at)| (at.key_bytes(&block), at.value_bytes(&block))))
    }

    /// Returns the value of the entry whose stored key is equal to `key`, according to the table's
    /// comparator.
    ///
    /// In a database's tables, stored keys are internal keys: for a user key this returns `None`, and
    /// [`get_at`](Self::get_at) finds its entry.
    ///
    /// The value is a view of its data block, which stays in memory as long as the value does. If
    /// the keys are in bytewise order and the source [has](ReadAt::slice_at) the uncompressed block
    /// in memory, the value alone is read from the source instead.
    ///
    /// Apart from reading that block, a lookup with LevelDB's index allocates nothing if keys are
    /// in bytewise order. In other orders it allocates only a buffer for keys that share their
    /// beginning with the previous key.
    ///
    /// # Errors
    ///
    /// If the index or the data block is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if matches!(self.order, KeyOrder::Bytewise) {
            return self.get_bytewise(key);
        }
        let found = self.find(key, ())?.filter(|(block, at)| self.order.compare(at.key(block), key).is_eq());
        found.map(|(block, at)| at.into_value(block)).transpose()
    }

    /// Returns true if `key` may be stored, and false if it is after all keys of the index or the
    /// filter rules it out. Without a filter only the index decides.
    ///
    /// In a database's tables, `key` is an internal key, as for [`get`](Self::get): for a user key, the answer may be
    /// false though an entry is stored. [`may_contain_at`](Self::may_contain_at) takes user keys.
    ///
    /// This reads nothing and, with LevelDB's index, allocates nothing.
    ///
    /// # Errors
    ///
    /// If the index is damaged.
    pub fn may_contain(&self, key: &[u8]) -> Result<bool> {
        Ok(self.locate(key, ())?.is_some())
    }

    /// Returns true if an entry of `user_key` with a sequence number of at most `sequence` may be stored, like
    /// [`may_contain`](Self::may_contain) of its internal key.
    ///
    /// # Errors
    ///
    /// If the index is damaged, and [`Error::InvalidOption`] if the table was opened without internal keys.
    pub fn may_contain_at(&self, user_key: &[u8], sequence: u64) -> Result<bool> {
        self.user_order()?;
        let mut key = Vec::new();
        put_sought(&mut key, user_key, sequence, self.key_format() == KeyFormat::Basho);
        self.may_contain(&key)
    }

    /// The handle of the data block that may hold `key`, or `None` if the index or the filter
    /// excludes the key.
    pub(in crate::table) fn locate(&self, key: &[u8], counter: impl Counter) -> Result<Option<BlockHandle>> {
        let handle = || {
            let mut at = Position::default();
            if !self.order.seek(&mut at, &self.index.block, key)? {
                return Ok(None);
            }
            let handle = at.handle(&self.index.block)?;
            self.blocks.span(handle, self.index.footer.index.offset)?;
            Ok(Some(handle))
        };
        let handle = handle().map_err(|error| self.in_file(error))?;
        let denied = |offset| {
            self.filter().is_some_and(|filter| {
                let passes = filter.key_may_match(offset, key);
                counter.answered(passes);
                !passes
            })
        };
        Ok(handle.filter(|handle| !denied(handle.offset)))
    }

    /// The first entry at or after `key` in the one data block that may hold `key`, and that block.
    pub(in crate::table) fn find(
        &self,
        key: &[u8],
        counter: impl Counter,
    ) -> Result<Option<(Block, Position)>> {
        let Some(handle) = self.locate(key, counter)? else { return Ok(None) };
        let block = self.block(handle, Block::default())?;
        let mut at = Position::default();
        let found = self.order.seek(&mut at, &block, key).map_err(|error| self.in_file(error))?;
        counter.passed(|| self.holds(&block, found.then_some(&at), key))?;
        Ok(found.then_some((block, at)))
    }

    /// Looks up `user_key` as of `sequence`: finds its newest entry with a sequence number of at
    /// most `sequence`. A `sequence` beyond the greatest sequence number, 2^56 - 1, counts as that
    /// number, so `u64::MAX` finds the newest entry.
    ///
    /// The table has to be a database's, opened with
    /// [`ReadOptions::internal_keys`](crate::table::ReadOptions::internal_keys). The lookup
    /// proceeds as [`get`](Self::get) does, filter included. Apart from reading the data block, it
    /// allocates the internal key that it seeks, and a buffer for keys that share their beginning
    /// with the previous key. In [Basho's](Origin::Basho) tables a value may have expired, which is
    /// not checked here.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidOption`] if the table was opened without internal keys.
    /// - [`Error::Unsupported`] if the entry is neither a value nor a deletion.
    /// - Any error of an index or data block that is damaged or cannot be read.
    /// - The metaindex's error, if the lookup meets a key that [only the metaindex shows how to
    ///   split](Self::key_format).
    pub fn get_at(&self, user_key: &[u8], sequence: u64) -> Result<Lookup> {
        self.try_get_at(user_key, sequence, ()).map_err(|error| self.in_file(error))
    }

    pub(super) fn try_get_at(&self, user_key: &[u8], sequence: u64, counter: impl Counter) -> Result<Lookup> {
        let user_order = self.user_order()?;
        let is_bashos = self.key_format() == KeyFormat::Basho;
        let mut key = Vec::with_capacity(user_key.len().saturating_add(2 * TAG_LEN));
        put_sought(&mut key, user_key, sequence, is_bashos);

        let Some(handle) = self.locate(&key, counter)? else { return Ok(Lookup::Absent) };
        let sought = Sought { key: &key, user_key, user_order, is_bashos };
        match self.block_in_place(handle)? {
            Some(block) => self.look_up_in(block, &sought, counter),
            None => self.look_up_in(self.block(handle, Block::default())?, &sought, counter),
        }
    }

    /// Like [`get`](Self::get), but only for keys in bytewise order, which need not be put together.
    pub(super) fn get_bytewise(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let Some(handle) = self.locate(key, ())? else { return Ok(None) };
        let found = match self.block_in_place(handle)? {
            Some(block) => value_bytewise(block, key),
            None => value_bytewise(self.block(handle, Block::default())?, key),
        };
        found.map_err(|error| self.in_file(error))
    }

    #[inline(always)]
    fn look_up_in(
        &self,
        block: Block<impl Contents>,
        sought: &Sought<'_>,
        counter: impl Counter,
    ) -> Result<Lookup> {
        let &Sought { key, user_key, user_order, is_bashos } = sought;
        let mut at = Position::default();
        let found = self.order.seek(&mut at, &block, key)?;
        counter.passed(|| self.holds(&block, found.then_some(&at), key))?;
        if !found {
            return Ok(Lookup::Absent);
        }
        self.check_form(at.key(&block))?;
        lookup_of(block, at, user_key, user_order, is_bashos)
    }

    /// Fails if it is not certain how the stored key that a lookup has found is split.
    #[inline]
    pub(super) fn check_form(&self, stored: &[u8]) -> Result<()> {
        self.doubt_about(stored).map_or(Ok(()), Err)
    }

    /// The order of user keys, or an error if the keys are not internal keys.
    pub(super) fn user_order(&self) -> Result<&SharedComparator> {
        self.user_order.as_ref().ok_or_else(|| Error::InvalidOption {
            option: "internal_keys",
            expected: "true, for keys to be sought by sequence number".into(),
            found: "false".into(),
        })
    }

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
            // Versions of the key that are newer than the version looked up come before it.
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

/// The value of `key` in a block whose keys are in bytewise order.
#[inline(always)]
fn value_bytewise(block: Block<impl Contents>, key: &[u8]) -> Result<Option<Bytes>> {
    let mut at = Position::default();
    let found = at.find_bytewise(&block, key)?.filter(|found| found.is_equal);
    found.map(|_| at.into_value(block)).transpose()
}

/// A user key, and the internal key to look it up by.
struct Sought<'k> {
    key: &'k [u8],
    user_key: &'k [u8],
    user_order: &'k SharedComparator,
    is_bashos: bool,
}

/// Appends to `to` the internal key to look up a user key by.
#[inline]
pub(super) fn put_sought(to: &mut Vec<u8>, user_key: &[u8], sequence: u64, is_bashos: bool) {
    to.extend_from_slice(user_key);
    if is_bashos {
        put_fixed64(to, 0);
    }
    // Among the entries of one sequence number, the one with the greatest type comes first.
    let greatest = if is_bashos { EXPIRING } else { VALUE };
    put_fixed64(to, sequence.min(MAX_SEQUENCE) << 8 | u64::from(greatest));
}

/// The result for a user key, according to the first entry at or after the internal key looked up.
#[inline]
pub(super) fn lookup_of(
    block: Block<impl Contents>,
    at: Position,
    user_key: &[u8],
    user_order: &SharedComparator,
    is_bashos: bool,
) -> Result<Lookup> {
    let format = if is_bashos { KeyFormat::Basho } else { KeyFormat::LevelDb };
    let Some((found, tag)) = format.split(at.key(&block)) else {
        let found = format!("{} bytes", at.key(&block).len());
        let expected = format!("at least {TAG_LEN} bytes");
        return Err(Error::corrupt(Structure::InternalKey, block.offset(), expected, found));
    };
    if user_order.compare(found, user_key).is_ne() {
        return Ok(Lookup::Absent);
    }
    match kind(tag) {
        VALUE => Ok(Lookup::Value(at.into_value(block)?)),
        DELETION => Ok(Lookup::Deleted),
        kind if is_bashos && [TIMED, EXPIRING].contains(&kind) => Ok(Lookup::Value(at.into_value(block)?)),
        other => Err(Error::Unsupported {
            what: Structure::InternalKey,
            offset: block.offset(),
            expected: "type 0 (deletion) or 1 (value)".into(),
            found: format!("type {other}").into(),
        }),
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "Value({} bytes)", value.len()),
            Self::Deleted => f.write_str("Deleted"),
            Self::Absent => f.write_str("Absent"),
        }
    }
}
