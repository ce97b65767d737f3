//! Looking up a user key in a database's table (LevelDB's `db/version_set.cc`, `SaveValue`).

use std::fmt;

use bytes::Bytes;

use super::Table;
use crate::Origin;
use crate::bytes::coding::put_fixed64;
use crate::key::parts::{DELETION, EXPIRING, MAX_SEQUENCE, TAG_LEN, TIMED, VALUE, kind};
use crate::table::block::{Block, Position};
use crate::table::source::ReadAt;
use crate::{Error, KeyFormat, Result, Structure};

/// The result of [`Table::get_at`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lookup {
    /// The key had this value. The value is a view of its data block, which stays in memory as long
    /// as the value does.
    Value(Bytes),
    /// The key had been deleted. Older tables need not be asked.
    Deleted,
    /// This table holds no entry of the key that is old enough.
    Absent,
}

impl<R: ReadAt> Table<R> {
    /// Looks up `user_key` as of `sequence`: its newest entry whose sequence number is not greater.
    /// A `sequence` beyond 2^56 - 1, the greatest there is, counts as that, so `u64::MAX` asks for
    /// the newest entry.
    ///
    /// The table has to be a database's, opened with
    /// [`ReadOptions::internal_keys`](crate::table::ReadOptions::internal_keys). The lookup takes
    /// the way of [`get`](Self::get), filter included. Besides the data block it allocates the key
    /// to seek. In [Basho's](Origin::Basho) tables a value may have expired, which is not checked
    /// here.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if the table was opened without internal keys,
    /// [`Error::Unsupported`] if the entry is neither a value nor a deletion, and an error if the
    /// index or the data block is damaged.
    pub fn get_at(&self, user_key: &[u8], sequence: u64) -> Result<Lookup> {
        self.look_up(user_key, sequence, |key| self.find(key))
    }

    /// Looks `user_key` up. `find` finds the entry at or after an internal key.
    #[inline]
    pub(super) fn look_up(
        &self,
        user_key: &[u8],
        sequence: u64,
        find: impl FnOnce(&[u8]) -> Result<Option<(Block, Position)>>,
    ) -> Result<Lookup> {
        self.try_look_up(user_key, sequence, find).map_err(|error| self.in_file(error))
    }

    fn try_look_up(
        &self,
        user_key: &[u8],
        sequence: u64,
        find: impl FnOnce(&[u8]) -> Result<Option<(Block, Position)>>,
    ) -> Result<Lookup> {
        let Some(user_order) = &self.user_order else {
            return Err(Error::InvalidOption {
                option: "internal_keys",
                expected: "true, for keys to be sought by sequence number".into(),
                found: "false".into(),
            });
        };
        let is_bashos = self.origin() == Some(Origin::Basho);
        let key = seek_key(user_key, sequence, self.origin());
        let Some((block, at)) = find(&key)? else { return Ok(Lookup::Absent) };
        let Some((found, tag)) = self.key_format().split(at.key(&block)) else {
            let found = format!("{} bytes", at.key(&block).len());
            let expected = format!("at least {TAG_LEN} bytes");
            return Err(Error::corrupt(Structure::InternalKey, block.offset(), expected, found));
        };
        if user_order.compare(found, user_key).is_ne() {
            return Ok(Lookup::Absent);
        }
        match kind(tag) {
            VALUE => Ok(Lookup::Value(at.value_bytes(&block))),
            DELETION => Ok(Lookup::Deleted),
            kind if is_bashos && [TIMED, EXPIRING].contains(&kind) => {
                Ok(Lookup::Value(at.value_bytes(&block)))
            }
            other => Err(Error::Unsupported {
                what: Structure::InternalKey,
                offset: block.offset(),
                expected: "type 0 (deletion) or 1 (value)".into(),
                found: format!("type {other}").into(),
            }),
        }
    }
}

impl<R> Table<R> {
    /// The format of the table's internal keys, if it has any.
    #[inline]
    pub(super) fn key_format(&self) -> KeyFormat {
        if self.origin() == Some(Origin::Basho) { KeyFormat::Basho } else { KeyFormat::LevelDb }
    }
}

/// The first internal key that an entry of `user_key` may have whose sequence number is not above
/// `sequence`.
#[inline]
pub(super) fn seek_key(user_key: &[u8], sequence: u64, origin: Option<Origin>) -> Vec<u8> {
    let is_bashos = origin == Some(Origin::Basho);
    let mut key = Vec::with_capacity(user_key.len().saturating_add(2 * TAG_LEN));
    key.extend_from_slice(user_key);
    // Among the entries of one sequence number, the one of the greatest type comes first.
    if is_bashos {
        put_fixed64(&mut key, 0);
    }
    let greatest = if is_bashos { EXPIRING } else { VALUE };
    put_fixed64(&mut key, sequence.min(MAX_SEQUENCE) << 8 | u64::from(greatest));
    key
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
