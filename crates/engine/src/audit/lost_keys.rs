//! The range of the keys that cannot be read because of damage.

use std::fmt::{self, Display};

use filterblock::database::LiveTable;
use filterblock::table::{BlockHandle, Table};
use filterblock::{escape, quote};
use serde::{Serialize, Serializer};

use super::key_encoding::KeyEncoding;
use crate::report::json_text;

/// Bytes to keep of a key.
const MAX_KEPT: usize = 256;
/// Bytes that a message shows of a longer key.
const MAX_SHOWN: usize = 48;

/// A key, or the start of a long key: there can be many keys, and those of a damaged file can be
/// long.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct TruncatedKey {
    /// The first bytes of the key.
    pub start: Vec<u8>,
    /// The length of the whole key.
    pub len: usize,
}

impl TruncatedKey {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self { start: key.get(..MAX_KEPT).unwrap_or(key).to_vec(), len: key.len() }
    }

    /// Returns true if the key is longer than what is kept of it.
    pub fn is_cut(&self) -> bool {
        self.start.len() < self.len
    }
}

/// The text of the key, with its length if it is cut.
impl Serialize for TruncatedKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let start = json_text(&self.start);
        match self.is_cut() {
            true => serializer.collect_str(&format_args!("{start}... ({} bytes)", self.len)),
            false => serializer.serialize_str(&start),
        }
    }
}

impl Display for TruncatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start.get(..MAX_SHOWN) {
            Some(start) if self.is_cut() => write!(f, "\"{}\"... ({} bytes)", escape(start), self.len),
            _ => quote(&self.start).fmt(f),
        }
    }
}

/// A range of keys, as far as it is known.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostKeys {
    /// The first key of the range, according to the MANIFEST. `None`: not known.
    pub from: Option<TruncatedKey>,
    /// A key of the index that comes before the whole range. `None`: not known.
    pub after: Option<TruncatedKey>,
    /// The last key of the range, or a key after it and before the next block. `None`: not known.
    pub up_to: Option<TruncatedKey>,
}

impl LostKeys {
    /// The keys between two keys of the index. `None` if neither is known.
    pub fn between(after: Option<&[u8]>, up_to: Option<&[u8]>, encoding: KeyEncoding) -> Option<Self> {
        let shown = |key: &[u8]| TruncatedKey::new(encoding.filtered(key).unwrap_or(key));
        let (after, up_to) = (after.map(shown), up_to.map(shown));
        (after.is_some() || up_to.is_some()).then_some(Self { from: None, after, up_to })
    }

    /// The keys of the data block at `offset`, by the index. `None`: the index, as far as it can be read, does not list
    /// it.
    pub fn of_block<R>(table: &Table<R>, offset: u64, encoding: KeyEncoding) -> Option<Self> {
        Self::around(table, offset, encoding).filter(|(block, _)| *block == offset)?.1
    }

    /// The offset of the data block that has the byte at `offset`, in its trailer too, and the keys of that block.
    pub(crate) fn around<R>(
        table: &Table<R>,
        offset: u64,
        encoding: KeyEncoding,
    ) -> Option<(u64, Option<Self>)> {
        let mut index = table.index();
        let mut before: Option<Vec<u8>> = None;
        while let Ok(true) = index.next() {
            let handle = index.handle().ok();
            let has =
                |handle: &BlockHandle| (handle.offset..handle.end().unwrap_or(u64::MAX)).contains(&offset);
            if let Some(handle) = handle.filter(has) {
                return Some((handle.offset, Self::between(before.as_deref(), Some(index.key()), encoding)));
            }
            let before = before.get_or_insert_default();
            before.clear();
            before.extend_from_slice(index.key());
        }
        None
    }

    /// A table's user keys, by the MANIFEST. `None`: its first or last entry is neither a value nor a deletion.
    pub fn of_table(table: &LiveTable) -> Option<Self> {
        let (smallest, largest) = table.user_keys()?;
        Some(Self {
            from: Some(TruncatedKey::new(smallest)),
            after: None,
            up_to: Some(TruncatedKey::new(largest)),
        })
    }
}

impl Display for LostKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys")?;
        for (word, key) in [("from", &self.from), ("after", &self.after), ("up to", &self.up_to)] {
            if let Some(key) = key {
                write!(f, " {word} {key}")?;
            }
        }
        Ok(())
    }
}
