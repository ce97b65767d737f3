//! Looking up a user key in a database's table (LevelDB's `db/version_set.cc`, `SaveValue`).

use std::fmt;

use bytes::Bytes;

use super::Table;
use super::meter::Counter;
#[cfg(doc)]
use crate::Origin;
use crate::bytes::coding::put_fixed64;
use crate::key::comparator::SharedComparator;
use crate::key::parts::{DELETION, EXPIRING, MAX_SEQUENCE, TAG_LEN, TIMED, VALUE, kind};
use crate::table::block::{Block, Contents, Position};
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
    /// [`Error::InvalidOption`] if the table was opened without internal keys,
    /// [`Error::Unsupported`] if the entry is neither a value nor a deletion, and an error if the
    /// index or the data block is damaged, if the data block cannot be read, or if the metaindex cannot be read and
    /// the lookup meets a key that [only the metaindex tells how to split](Self::key_format).
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
}

/// The value of `key` in a block whose keys are in bytewise order.
#[inline(always)]
fn value_bytewise(block: Block<impl Contents>, key: &[u8]) -> Result<Option<Bytes>> {
    let mut at = Position::default();
    let found = at.find_bytewise(&block, key)?.filter(|found| found.is_equal);
    found.map(|_| at.into_value(block)).transpose()
}

/// A user key, and the internal key by which it is sought.
struct Sought<'k> {
    key: &'k [u8],
    user_key: &'k [u8],
    user_order: &'k SharedComparator,
    is_bashos: bool,
}

/// Appends to `to` the internal key by which a user key is sought.
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

/// The result for a user key, according to the first entry at or after the internal key sought.
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
